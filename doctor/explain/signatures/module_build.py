"""The driver's module: built, signed, loaded, and what its installer says."""

from __future__ import annotations

from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import BOXED

_BUILD, _NO_MODULE, _NO_GPU, _NODES, _HARDWARE = (
    "kernel-updated-dkms-missing",
    "no-kernel-module",
    "no-nvidia-gpu",
    "no-device-nodes",
    "ecc-xid-hardware-fault",
)
_MIXED, _UNSUPPORTED, _USER = "driver-library-mismatch", "driver-does-not-support-gpu", "not-a-stack-problem"
_CONTAINER = "container-without-gpu-runtime"

FAMILY = Family(
    Signature(
        r"could not insert '?nvidia[\w-]*'?: (?:Exec format error|Invalid argument|Unknown symbol in module)"
        r"|\bnvidia\w*: (?:disagrees about version of symbol|version magic '|Unknown symbol)"
        r"|GPL-incompatible module nvidia\w*(?:\.ko)? uses GPL-only symbol|Compiler version check failed"
        r"|compiler used to compile the kernel[\s\S]{0,80}does not exactly match|gcc-version-check failed"
        r"|(?<![\w-])(?:nvidia(?:-(?:uvm|drm|modeset|peermem))?/[\w-]+\.[ch]|common/inc/nv[\w-]*\.h):\d+:\d+: "
        r"(?:fatal )?error"
        r"|(?<![\w-])nvidia(?:-(?:uvm|drm|modeset))?/[\w-]+\.c:\d+:\d+: note: in expansion of macro"
        r"|kernel header file '[^'\n]*' does not exist|Failed to find dkms on the system"
        r"|(?:dkms|NVIDIA-Linux|kernel-open)[^\n]{0,120}nvidia[^\n]{0,80}(?:fatal error|error:|Error \d)"
        r"|DKMS module '?nvidia[^\n]{0,80}(?:FAILED|failed to build)|error processing package nvidia-(?:kernel-)?dkms"
        r"|dkms/nvidia/[\w.-]+/build[\]/][^\n]{0,60}(?:Error \d|for more information)"
        r"|ERROR: module not found: '?nvidia|unable to locate the kernel source|--kernel-source-path"
        r"|unrecognized command-line option '-ftrivial-auto-var-init=zero'"
        r"|Unable to find the development tool `(?:cc|gcc|make|ld)`",
        Means(_BUILD, "the driver's module is not built for the kernel that runs", 0.88),
        source=(
            "kmod: tools/modprobe.c; Linux: kernel/module/version.c, scripts/mod/modpost.c; NVIDIA/nvidia-installer: "
            "kernel.c, misc.c; the module's conftest.sh, cc_version_check"
        ),
    ),
    Signature(
        r"could not insert '?nvidia[\w-]*'?: No such device|NVRM: None of the NVIDIA (?:devices|GPUs) were initialized"
        r"|insmod: ERROR: could not insert module \S*nvidia\S*: No such device",
        Means(_NO_GPU, "the driver's module finds no NVIDIA card that it may drive", 0.55),
        Means(_UNSUPPORTED, "or this release does not drive the card: the kernel's log names it", 0.53),
        Means("nouveau-in-use", "or another driver holds the card", 0.5),
        asks="what do `lspci -nnk | grep -iA3 nvidia` and `sudo dmesg | grep -i nvrm` say?",
        source="kmod; NVIDIA/open-gpu-kernel-modules: kernel-open/nvidia/nv.c, nvidia_init_module",
    ),
    Signature(
        r"do not appear to have an NVIDIA GPU supported by the|could not find compatible graphics hardware"
        r"|NVIDIA graphics driver is not compatible with this version of Windows",
        Means(_UNSUPPORTED, "this driver release does not drive the card", 0.7),
        Means(_NO_GPU, "or there is no NVIDIA card in this machine", 0.6),
        asks="what does `lspci -nn | grep -i nvidia` say?",
        source="NVIDIA/nvidia-installer: misc.c, check_for_nvidia_graphics_devices; NVIDIA's installer for Windows",
    ),
    Signature(
        r"Error running install command '[^'\n]{0,40}' for module nvidia"
        r"|NVIDIA kernel module (?:missing|not found)|Kernel module nvidia_uvm is not loaded|(?:nvml error: "
        r"|NVMLError_?)Driver ?Not ?Loaded|ERROR_DRIVER_NOT_LOADED"
        r"|Failed to initialize NVML: Not (?:Found|Supported)"
        r"|nvidia-smi[`'\"]*(?: failed\. Ensure|: No such file)"
        r"|'nvidia-smi' is not recognized|command not found: nvidia-smi",
        Means(_NO_MODULE, "the driver's kernel module is not loaded, or no driver is installed", 0.62),
        Means(_CONTAINER, "the container was started without the GPU", 0.66, given=r"docker|podman"),
        source=(
            "openxla/xla: cuda_diagnostics.cc; NVIDIA/enroot: 98-nvidia.sh; NVML; nvidia-smi; kmod; candle: "
            "bindgen_cuda"
        ),
    ),
    Signature(
        r"NVIDIA-SMI couldn't find (?:libnvidia-ml|nvml)",
        Means(
            _CONTAINER, "the container has no libraries of the driver: it was started without the GPU", 0.7, given=BOXED
        ),
        Means(
            "driver-libraries-missing", "nvidia-smi is there, and the library of the driver that it needs is not", 0.66
        ),
        Means(_NO_MODULE, "or no driver is installed", 0.5),
        source="nvidia-smi",
    ),
    Signature(
        r"kernel driver does not appear to be running on this host|no NVIDIA GPU device is present: /dev/nvidia",
        Means(_NO_MODULE, "TensorFlow sees no driver: its module is not loaded, or this is a container", 0.43),
        asks="does `cat /proc/driver/nvidia/version` name a driver?",
        source="openxla/xla: xla/stream_executor/cuda/cuda_diagnostics.cc",
    ),
    Signature(
        r"kernel version [\d.]+ does not match DSO version [\d.]+",
        Means(_MIXED, "the loaded kernel module and the driver's libraries are of different releases", 0.93),
        source="openxla/xla: xla/stream_executor/cuda/cuda_diagnostics.cc",
    ),
    Signature(
        r"(?:Waiting for|can't stat) gres\.conf file /dev/nvidia|device files \(/dev/nvidia\*\) exist"
        r"|failed to (?:create|determine)[^\n]{0,60}(?:nvidia device node|device node nvidia)"
        r"|stat failed: /dev/nvidia[\w-]*: no such file",
        Means(
            _NODES,
            "device nodes of the driver are missing: its module is not loaded, or nvidia-modprobe did not run",
            0.8,
        ),
        source="SchedMD/slurm: src/interfaces/gres.c; nvidia-persistenced; NVIDIA/libnvidia-container; gpu-operator",
    ),
    Signature(
        r"GPU requires (?:drain and )?reset|infoROM is corrupted|insufficiently powered"
        r"|Unable to determine the device handle for (?:GPU ?)?\S+ ?: Not Found|rm_init_adapter failed"
        r"|Error while waiting for GPU progress",
        Means("power-thermal", "a power cable of the card is missing or loose", 0.9, given=r"insufficiently powered"),
        Means(_HARDWARE, "the card or its seat is at fault, or it must be reset", 0.75),
        source="nvidia-smi; NVML, nvmlErrorString; NVIDIA/open-gpu-kernel-modules: nv.c",
    ),
    Signature(
        r"kernel module '[\w-]+' appears to (?:be )?already (?:be )?loaded|You appear to be running an X server"
        r"|Could not unload NVIDIA driver kernel modules|rmmod: ERROR: Module nvidia\w* is in use",
        Means(_USER, "the driver that is installed is in use: stop what uses it, then install", 0.7),
        source=(
            "NVIDIA/nvidia-installer: kernel.c, misc.c; NVIDIA's driver container: nvidia-driver; kmod: tools/rmmod.c"
        ),
    ),
)
