"""Containers and WSL: a GPU that was not passed on, or was taken away."""

from __future__ import annotations

from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import IS_WSL

_WITHOUT, _LOST, _BAKED, _WSL = (
    "container-without-gpu-runtime",
    "container-lost-gpu-cgroup",
    "container-image-bakes-driver-libs",
    "wsl-libcuda-missing",
)
_LATE = r"rpc error: timed out"
_NO_MODULE, _NO_NODES = "no-kernel-module", "no-device-nodes"

FAMILY = Family(
    Signature(
        r"GPU access blocked by the operating system",
        Means(_WSL, "Windows keeps the GPU from WSL: its driver is too old or was replaced while WSL ran", 0.7),
        Means(_WITHOUT, "the container was started without the GPU", 0.5, given=r"docker|podman"),
        asks="Does nvidia-smi.exe work in Windows, and does it work in WSL after `wsl --shutdown`?",
        source="NVML, nvmlErrorString(17)",
    ),
    Signature(
        r"libdxcore\.so",
        Means(
            _WSL,
            "WSL's directory of the driver has no libcuda: the Windows driver or Windows itself is too old",
            0.8,
            given=r"/usr/lib/wsl/lib",
            unless=r"libcuda\.so",
        ),
        source="Microsoft, GPU in WSL",
    ),
    Signature(
        r"could not select device driver \S*[\"'] ?with capabilities: \[\[gpu\]\]"
        r"|unknown (?:or invalid )?runtime(?: name| specified)?:? \"?nvidia|unknown flag: --gpus"
        r"|failed to discover GPU vendor from CDI|unresolvable CDI devices nvidia\.com/gpu"
        r"|no runtime for \"nvidia\" is configured|OCI runtime \"nvidia\" not found"
        r"|\"?nvidia-container-(?:cli|toolkit|runtime(?:-hook)?)\"?: executable file not found",
        Means(_WITHOUT, "the container engine does not know NVIDIA's container toolkit, or no such GPU", 0.95),
        source=(
            "moby/moby: daemon/devices.go; containers/podman: libpod/oci_conmon_common.go; containerd: contrib/nvidia; "
            "cncf-tags/container-device-interface; NVIDIA/nvidia-container-toolkit"
        ),
    ),
    Signature(
        r"stat nvidia\.com/gpu|nvidia\.com/gpu=\S+ is not an absolute path"
        r"|adding custom device \"?nvidia\.com/gpu",
        Means(_WITHOUT, "this container engine is older than CDI, by which nvidia.com/gpu names a GPU", 0.93),
        source="podman before 4.1; buildah before 1.31; Docker before 25: docker/cli: cli/command/container/opts.go",
    ),
    Signature(
        r"failed to stat CDI host device \"?(?P<node>[\w./-]{1,80})",
        Means(
            _WITHOUT,
            "the CDI specification names {node}, which is not there: it is older than the devices (nvidia-ctk cdi "
            "generate makes it anew)",
            0.88,
        ),
        Means(_NO_NODES, "the driver's module is not loaded, or {node} was not made", 0.6, given=r"/dev/nvidia"),
        asks="Does `ls -l /dev/nvidia*` on the host list the card?",
        source="cncf-tags/container-device-interface: pkg/cdi/container-edits_unix.go",
    ),
    Signature(
        r"stat /dev/nvidia\w*: no such file|(?:adding custom|stating) device[^\n]{0,20} \"?/dev/nvidia",
        Means(
            _NO_NODES, "the container is to get /dev/nvidia*, which is not there: the host has no driver loaded", 0.85
        ),
        source="podman 4; moby/moby: daemon/oci_linux.go; containerd: cmd/ctr",
    ),
    Signature(
        r"The NVIDIA Driver was not detected\. GPU functionality will not be available",
        Means(_WITHOUT, "the container was started without the GPU (--gpus all)", 0.93),
        source="NVIDIA's image entry point: 50-gpu-driver-check.sh",
    ),
    Signature(
        r"nvidia-smi: command not found|exec: \"?nvidia-smi\"?: executable file not found|Container command "
        r"'nvidia-smi' not found",
        Means(
            _WITHOUT,
            "the container was started without the GPU: nvidia-smi comes with it",
            0.85,
            given=r"docker|podman|container|/workspace|image",
        ),
        Means(
            "no-kernel-module",
            "no driver is installed, or its programs are not on PATH",
            0.4,
            unless=r"docker|podman|container|image",
        ),
        source="bash; runc",
    ),
    Signature(
        r"nvidia-container-cli(?:\.real)?: (?:initialization error: )?(?:load library failed: libnvidia-ml\.so\.1"
        r"|nvml error: driver not loaded|driver error: failed to process request)",
        Means(_NO_MODULE, "the host itself has no driver that answers", 0.75, unless=r"snap|desktop|wsl"),
        Means(
            _WITHOUT, "the daemon does not see the host's driver (a snap, Docker Desktop)", 0.85, given=r"snap|desktop"
        ),
        source="NVIDIA/libnvidia-container: src/nvc.c",
    ),
    Signature(
        r"nvidia-container-cli(?:\.real)?: detection error:[^\n]{0,80}nvml error: (?!driver not loaded)",
        Means(_NO_MODULE, "NVML of the host answers with an error: the driver itself does not work there", 0.6),
        Means("driver-library-mismatch", "the host's module and libraries may be of different releases", 0.5),
        asks="what does nvidia-smi say on the host itself?",
        source="NVIDIA/libnvidia-container: src/cli/configure.c, src/nvc_info.c",
    ),
    Signature(
        r"nvidia-container-cli(?:\.real)?: device error: (?P<device>[\w.:-]+): unknown device",
        Means(
            "cuda-visible-devices-empty-or-invalid",
            "the container is given GPU {device} (NVIDIA_VISIBLE_DEVICES, --gpus), and there is none of that name",
            0.85,
        ),
        source="NVIDIA/libnvidia-container: src/cli/common.c",
    ),
    Signature(
        r"nvidia-container-cli(?:\.real)?: ldcache error: process \S+ "
        r"(?:failed with error code|terminated with signal)",
        Means(
            _WITHOUT,
            "the toolkit cannot run ldconfig in the image: it is of another processor or system, or the toolkit's own "
            "ldconfig (config.toml) is not there",
            0.7,
        ),
        source="NVIDIA/libnvidia-container: src/cli/configure.c, src/nvc_ldcache.c",
    ),
    Signature(
        r"libdxcore\.so not found|WSL environment detected but no adapters were found",
        Means(_WITHOUT, "Docker runs where WSL's GPU is not (a snap, an old daemon)", 0.88),
        source="NVIDIA/libnvidia-container: src/dxcore.c",
    ),
    Signature(
        r"/run/snap\.docker|snap/docker",
        Means(_WITHOUT, "Docker from a snap does not see the host's GPU libraries", 0.7, given=r"gpu|nvidia"),
        source="NVIDIA container toolkit, installation guide",
    ),
    Signature(
        r"mount error: file creation failed: [^\n]{0,200}libnvidia|libcuda\.so[^\n]{0,100}: file exists"
        r"|libnvidia-ml[^\n]{0,100}: file exists",
        Means(_BAKED, "the image holds libraries of the driver, which must come from the host", 0.95),
        source="NVIDIA/libnvidia-container: src/nvc_mount.c",
    ),
    Signature(
        r"systemctl daemon-reload",
        Means(
            _LOST,
            "a running container lost its GPU when systemd reloaded its units",
            0.9,
            given=r"NVML|nvidia-smi|no CUDA",
        ),
        source="NVIDIA/nvidia-container-toolkit, notice on 'Failed to initialize NVML: Unknown Error'",
    ),
    Signature(
        r"libcuda\.so(?:\.1)?:? cannot open shared object file|Failed to dlopen libcuda\.so"
        r"|libcuda\.so(?:\.1)? (?:is )?not found|Could not load dynamic library 'libcuda\.so"
        r"|/usr/lib/wsl/lib/libcuda\.so\.1 is not a symbolic link|cannot find -lcuda\b"
        r"|libcuda\.so cannot found",
        Means(
            _WSL,
            "WSL's libcuda (/usr/lib/wsl/lib) is not on the loader's path",
            0.9,
            given=r"\bWSL|microsoft-standard|/mnt/c/|/usr/lib/wsl",
        ),
        Means(
            _WITHOUT,
            "the container was started without the GPU: libcuda comes from the host",
            0.7,
            given=r"docker|podman|container|FROM nvidia/",
            unless=r"\bWSL|/usr/lib/wsl",
        ),
        Means(
            "driver-libraries-missing",
            "the driver's library libcuda is not found",
            0.55,
            unless=r"\bWSL|docker|podman|container",
        ),
        Means(_NO_MODULE, "or no NVIDIA driver is installed at all", 0.5, unless=r"\bWSL|docker|podman|container"),
        Means(
            _WSL,
            "in WSL, libcuda lies in /usr/lib/wsl/lib, which the loader may not know",
            0.5,
            unless=r"\bWSL|microsoft-standard|docker|/usr/lib/wsl",
        ),
        asks="Is this WSL, a container, or a machine of its own? What does `ldconfig -p | grep libcuda.so` say?",
        source="glibc: elf/dl-load.c; NVIDIA/cuda-python; tensorflow: dso_loader.cc",
    ),
    Signature(
        r"Failed to initialize NVML: N/A",
        Means(_WSL, "in WSL, an NVML of Linux's driver answers in place of WSL's own", 0.7, given=IS_WSL),
        Means(_NO_MODULE, "NVML does not start, and cannot say why", 0.5, unless=IS_WSL),
        source="nvidia-smi; microsoft/WSL#11755",
    ),
    Signature(
        r"\b(?:3\.4\.0|4\.4\.0-\d+)-Microsoft\b|WSL(?: version)? 1\b",
        Means("wsl1-no-gpu", "WSL 1 has no GPU", 0.85, given=r"cuda|nvidia|gpu"),
        source="Microsoft: GPU support is part of WSL 2",
    ),
    Signature(
        r"nvidia-container-cli(?:\.real)?: initialization error: (?:driver rpc error|cuda error|nvml error): "
        r"(?!driver not loaded)(?P<why>[\w ]{1,60})",
        Means(_NO_MODULE, "the host's own driver does not answer the container toolkit: {why}", 0.6),
        Means("driver-hang", "the host's driver takes longer than the 10 s that the toolkit waits", 0.7, given=_LATE),
        Means("uvm-broken-after-suspend", "CUDA does not start on the host itself", 0.62, given=r"cuda error: unknown"),
        asks="how long does nvidia-smi take on the host, and what does `sudo dmesg | grep -i nvrm` say?",
        source="NVIDIA/libnvidia-container: src/rpc.c (10 s), src/driver.c, src/nvc.c; to 1.0.x: libcuda",
    ),
    Signature(
        r"Insufficient nvidia\.com/(?:gpu|mig-)|no healthy devices present; cannot allocate unhealthy devices nvidia"
        r"|Requested: \d+, Available: \d+, which is unexpected",
        Means("gpu-operator-not-ready", "no node offers the GPU: the device plugin does not run, or sees none", 0.55),
        Means("not-a-stack-problem", "all GPUs of the nodes are taken", 0.45),
        asks="does `kubectl describe node` list nvidia.com/gpu under Allocatable, and how many are allocated?",
        source="kubernetes/kubernetes: pkg/scheduler/framework/plugins/noderesources; pkg/kubelet/cm/devicemanager",
    ),
    Signature(
        r"CUDA Minor Version Compatibility mode ENABLED",
        Means("not-a-stack-problem", "a notice: the driver serves this container by minor-version compatibility", 0.7),
        source="NVIDIA's image entry point: cudaCheck",
    ),
)
