"""The kernel driver: too old, of two releases, not loaded, not for this card, without its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Uncovered
from compat.version import CudaVersion, DriverRelease, VersionError
from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import BLACKWELL, BOXED, OTHER_MAKER, WINDOWS

_OLD, _MIXED, _COMPAT, _NO_MODULE = (
    "driver-too-old-for-runtime",
    "driver-library-mismatch",
    "forward-compat-mistake",
    "no-kernel-module",
)
_NO_GPU, _CONTAINER = "no-nvidia-gpu", "container-without-gpu-runtime"


def _found_version(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """torch prints what cuDriverGetVersion answers: 1000 * major + 10 * minor."""
    told = found["encoded"]
    if told and int(told):
        serves = CudaVersion.from_encoded(int(told))
        built = f", and this framework is built with {clues.build_cuda}" if clues.build_cuda else ""
        yield Means(_OLD, f"the driver serves CUDA up to {serves}{built}", 0.95)


def _of_dump(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """A dump names the driver's release and the CUDA of the build: the matrix knows the floor."""
    if clues.build_cuda is None or not clues.has(_SEES_NO_GPU):
        return
    os_family = "windows" if clues.has(r"OS: Microsoft Windows") else "linux"
    try:
        release = DriverRelease.parse(found["release"])
        floor = clues.matrix.driver_floor(clues.build_cuda, os_family)
    except (Uncovered, VersionError):
        return
    if release < floor:
        yield Means(_OLD, f"CUDA {clues.build_cuda} of this build needs driver {floor}; this is {release}", 0.93)


def _by_number(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """Ollama prints the number alone that cuInit or the CUDA runtime answered; its image runs it as root."""
    number = found["number"] or found["code"]
    if number in _WITHOUT_DRIVER and clues.has(rf"{BOXED}|/root/\.ollama|/tmp/ollama\d+/runners"):
        yield Means(_CONTAINER, f"a container that was started without the GPU: CUDA answers {number} there", 0.82)
    elif number in _NOT_STARTED and clues.has(BOXED):
        yield Means("container-lost-gpu-cgroup", f"the container may have lost the GPU: CUDA answers {number}", 0.45)
    if number in _NOT_STARTED and clues.has(BLACKWELL):
        yield Means("open-kernel-module-required", "a Blackwell card does not start with the proprietary module", 0.55)
    if number in _NUMBERS:
        yield Means(*_NUMBERS[number])


_WITHOUT_DRIVER, _NOT_STARTED = ("34", "35", "100"), ("3", "46", "999")
_NUMBERS = {
    "3": ("no-device-nodes", "the driver does not start: device nodes may be missing, or nvidia_uvm refuses", 0.5),
    "35": (_OLD, "the driver is missing, or older than the CUDA runtime of this program needs", 0.8),
    "46": ("gpu-compute-mode", "another process holds the GPU, or its compute mode keeps others out", 0.6),
    "100": ("cuda-visible-devices-empty-or-invalid", "CUDA sees no card: CUDA_VISIBLE_DEVICES may hide it", 0.5),
    "802": ("fabric-manager-not-running", "the fabric manager does not run, or is of another release", 0.9),
    "500": (_CONTAINER, "CUDA starts with a part of the driver only: mostly a container in WSL, older than it", 0.6),
    "803": (_MIXED, "the kernel module and libcuda are of different releases", 0.8),
    "804": (_COMPAT, "cuda-compat of the image comes first, and it works on datacentre cards only", 0.9),
    "999": ("uvm-broken-after-suspend", "CUDA cannot start; after suspend nvidia_uvm does not answer", 0.6),
}
_ANSWERED = r"Failed call to cuInit: CUDA_ERROR|failed call to cuInit: CUDA_ERROR"  # by a driver that was found
_SEES_NO_GPU = r"Is CUDA available *: (?:No|False)|is_available\(\)\)?[\s.>)]*False"


_DEVICE_PLUGIN = (
    r"default runtime to `nvidia`|null CDI handler|Incompatible (?:platform|strategy) detected"
    r"|(?:start|initialize) nvml(?: with error)?: +could not load NVML"
)


def _refused(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """The kernel refuses a module without a signature; which one is named, and it may be somebody else's."""
    module = found["module"] or found["other"]
    if not module or "nvidia" in module.lower():
        says = "Secure Boot refuses the driver's module, which no enrolled key has signed"
        yield Means("secure-boot-unsigned-module", says, 0.97)


FAMILY = Family(
    Signature(
        r"(?:Nvidia driver version *:|Driver Version:) (?P<release>\d{3}\.\d+(?:\.\d+)?)",
        decide=_of_dump,
        source="pytorch/pytorch: torch/utils/collect_env.py; nvidia-smi",
    ),
    Signature(
        r"NVIDIA driver on your system is too old(?: \(found version (?P<encoded>\d{4,6})\))?",
        Means(_OLD, "the driver is older than the CUDA that this framework is built with", 0.93),
        decide=_found_version,
        source="pytorch/pytorch: c10/cuda/CUDAFunctions.cpp, torch/csrc/cuda/Module.cpp",
    ),
    Signature(
        r"Could not find cuda drivers on your machine",
        Means(
            "cudart-soname-missing",
            "no libcudart is found, whatever the words say: CUDA's own wheels (the extra and-cuda) are not installed",
            0.5,
            unless=_ANSWERED,
        ),
        Means(
            _CONTAINER,
            "the container was started without the GPU, so that it has no driver",
            0.5,
            given=BOXED,
            unless=_ANSWERED,
        ),
        Means(
            _NO_MODULE,
            "no NVIDIA driver is seen, so that the CPU computes: right where there is no GPU",
            0.45,
            unless=_ANSWERED,
        ),
        asks="is there an NVIDIA GPU, and does nvidia-smi list it where the program runs?",
        source="openxla/xla: xla/tsl/cuda/cudart_stub.cc; TensorFlow 2.21 prints it where a driver is and no libcudart",
    ),
    Signature(
        r"cuInit: UNKNOWN ERROR \(303\)",
        Means(_CONTAINER, "the container was started without the GPU: libcuda comes from the host", 0.8, given=BOXED),
        Means(_NO_MODULE, "libcuda is not found: no NVIDIA driver is installed", 0.65),
        Means("driver-libraries-missing", "libcuda is not where the loader looks", 0.5),
        asks="does `cat /proc/driver/nvidia/version` name a driver? If so, only its libraries are missing.",
        source="openxla/xla: xla/tsl/cuda/cuda_stub.cc; 303 is CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
    ),
    Signature(
        r"CUDA driver library cannot be found|libcuda\.so\S* (?:cannot be found|not found)"
        r"|Failure finding \"(?:libcuda\.so|nvcuda\.dll)",
        Means(_CONTAINER, "the container was started without the GPU, so that it has no driver", 0.75, given=BOXED),
        Means("windows-driver-missing", "no NVIDIA driver is installed: nvcuda.dll is not there", 0.7, given=WINDOWS),
        Means(_NO_MODULE, "no NVIDIA driver is installed: its library libcuda is not there", 0.6, unless=WINDOWS),
        Means(
            "driver-libraries-missing",
            "the driver's library libcuda is not where it is looked for",
            0.5,
            unless=WINDOWS,
        ),
        asks="does `cat /proc/driver/nvidia/version` name a driver? If so, only its libraries are missing.",
        source="numba/numba and NVIDIA/numba-cuda: numba/cuda/cudadrv/driver.py; cuda-pathfinder",
    ),
    Signature(
        r"CUDA driver version is insufficient for CUDA runtime version|cudaErrorInsufficientDriver"
        r"|CUDA_ERROR_INSUFFICIENT_DRIVER",
        Means(_OLD, "the driver is older than the CUDA runtime of this program needs", 0.9, unless=BOXED),
        Means(_OLD, "the driver is older than the CUDA runtime of this program needs", 0.7, given=BOXED),
        Means(
            _CONTAINER,
            "a container that was started without the GPU has no driver: CUDA calls that too old",
            0.6,
            given=BOXED,
        ),
        Means(_NO_MODULE, "there may be no driver at all: the CUDA runtime calls that too old", 0.5, unless=BOXED),
        asks="Does nvidia-smi work where the program runs (inside the container)? If not, the GPU was not given to it.",
        source="NVIDIA CUDA Runtime API, cudaGetErrorString of error 35",
    ),
    Signature(
        r"(?:cuda driver library|nvcuda|cudart) init failure: (?P<number>\d+)"
        r"|\b(?:cuInit|cudaSetDevice) err: (?P<code>\d+)",
        decide=_by_number,
        asks="What do nvidia-smi, `ls -l /dev/nvidia*` and `sudo dmesg | grep -i nvrm` say?",
        source="ollama/ollama: discover/gpu_info_nvcuda.c, gpu_info_cudart.c, docs/troubleshooting.mdx; cuda.h",
    ),
    Signature(
        r"nvml vram init failure: 999",
        Means("container-lost-gpu-cgroup", "NVML answers `unknown`: a running container lost the GPU", 0.5),
        Means("uvm-broken-after-suspend", "the driver does not answer, as after suspend", 0.4),
        asks="Does it work after the container is started anew?",
        source="ollama/ollama: gpu/gpu_info_nvml.c",
    ),
    Signature(
        r"symbol lookup for (?-i:cu[A-Z])\w+ failed|libcuda\.so[\w.]*: undefined symbol: (?-i:cu[A-Z])\w+"
        r"|Failed to get cuGetProcAddress_v2|Function \"(?-i:cu[A-Z])\w+\" not found",
        Means(_OLD, "the driver's libcuda lacks a call of newer releases: the driver is too old", 0.88),
        source="ollama/ollama: discover/gpu_info_nvcuda.c; glibc: elf/dl-lookup.c; NVIDIA/cuda-python: cuda_bindings",
    ),
    Signature(
        r"container was built for NVIDIA Driver Release (?P<wants>[\d.]+) or later, but version (?P<has>[\d.]+) was "
        r"detected and compatibility mode is UNAVAILABLE",
        Means(_OLD, "the image wants driver {wants}, and {has} is loaded", 0.9),
        source="NVIDIA's image entry point: nvidia_entrypoint.sh, 50-gpu-driver-check.sh",
    ),
    Signature(
        r"application ptx input, line \d+; *fatal *: Unsupported \.version (?P<ptx>[\d.]+); current version is "
        r"'(?P<knows>[\d.]+)'",
        Means(_OLD, "the driver compiles PTX up to {knows}, and the program brings {ptx}, of a newer CUDA", 0.95),
        source="libcuda's own compiler, in cuLink's and cuModuleLoad's log: numba, CuPy, JAX print it",
    ),
    Signature(
        r"(?:constraint|requires) __cuda (?:>=|==|=)?(?P<wants>[\d.]+)[^\n]{0,40}"
        r"conflicting with __cuda-(?P<has>[\d.]+)",
        Means(_OLD, "the package wants a driver that serves CUDA {wants}; this one serves {has}", 0.9),
        source="mamba-org/mamba: libmamba, libsolv's problem strings; conda: the virtual package __cuda",
    ),
    Signature(
        r"nothing provides (?:requested )?__cuda\b|__cuda\b[^\n]{0,60}which is missing on the system",
        Means(_NO_MODULE, "conda finds no driver here, which the CUDA build of the package wants", 0.7),
        Means(_OLD, "or the driver serves an older CUDA than the package wants", 0.5),
        asks="does nvidia-smi answer where conda runs? For an image without a GPU: CONDA_OVERRIDE_CUDA.",
        source="mamba-org/mamba: libmamba/src/solver/problems_graph.cpp; conda: plugins/virtual_packages/cuda.py",
    ),
    Signature(
        r"requires? (?:a )?(?:NVIDIA )?driver(?: version)? (?:>=|newer than"
        r"|at least)? ?\d{3}\.\d+[^\n]{0,60}(?:but|found|installed)"
        r"|unsatisfied condition: (?P<what>(?:cuda|driver) ?>= ?[\d.]+)",
        Means(_OLD, "the image or program asks for a newer driver", 0.9),
        source="NVIDIA/libnvidia-container: src/cli/configure.c (NVIDIA_REQUIRE_*)",
    ),
    Signature(
        r"provided PTX was compiled with an unsupported toolchain|cudaErrorUnsupportedPtxVersion"
        r"|CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
        r"|ptx was compiled with an unsupported toolchain",
        Means(_OLD, "the code (PTX) comes from a newer CUDA than the driver can compile", 0.93),
        source="NVIDIA CUDA Runtime API, error 222",
    ),
    Signature(
        r"Possibly insufficient driver version: (?P<release>[\d.]+)",
        Means(_OLD, "TensorFlow or XLA suspects driver {release}", 0.4, unless=r"Memory usage: \d{1,9} bytes free"),
        source="openxla/xla: xla/stream_executor/cuda/cuda_dnn.cc",
    ),
    Signature(
        r"Driver/library version mismatch|NVML_ERROR_LIB_RM_VERSION_MISMATCH|RmLibVersionMismatch"
        r"|API mismatch: the client has the version",
        Means(_MIXED, "the loaded kernel module and the driver's libraries are of different releases", 0.95),
        source="NVML, nvmlErrorString(18); NVIDIA/open-gpu-kernel-modules: nv.c, 'API mismatch'",
    ),
    Signature(
        r"unsupported display driver ?/ ?cuda driver combination|cudaErrorSystemDriverMismatch"
        r"|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|\berror 803\b",
        Means(
            _COMPAT,
            "a libcuda of another release comes first in the container, mostly cuda-compat of the image",
            0.85,
            given=BOXED + r"|LD_LIBRARY_PATH",
        ),
        Means(_MIXED, "the kernel module and libcuda are of different releases", 0.5, given=BOXED),
        Means(_MIXED, "the kernel module and libcuda are of different releases", 0.85, unless=BOXED),
        asks=(
            "Is this inside a container? Then look for /usr/local/cuda/compat in it; else reboot after the "
            "driver's update."
        ),
        source="NVIDIA CUDA Runtime API, error 803",
    ),
    Signature(
        r"forward compatibility was attempted on non supported HW|cudaErrorCompatNotSupportedOnDevice"
        r"|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|\berror 804\b",
        Means(
            _COMPAT,
            "cuda-compat of the image comes first, and it works on datacentre cards only",
            0.95,
            unless=r"Minor Version Compatibility mode ENABLED",
        ),
        source="NVIDIA CUDA Runtime API, error 804",
    ),
    Signature(
        r"Found no NVIDIA driver on your system",
        Means(_NO_GPU, "the text names a card of another maker, and CUDA is NVIDIA's", 0.95, given=OTHER_MAKER),
        Means(_CONTAINER, "this runs in a container that was not given the GPU", 0.8, given=BOXED, unless=OTHER_MAKER),
        Means(
            _NO_MODULE,
            "no NVIDIA driver answers: none is installed, or its module is not loaded",
            0.7,
            unless=OTHER_MAKER,
        ),
        Means(_NO_GPU, "there may be no NVIDIA card in this machine", 0.5, unless=OTHER_MAKER),
        asks="Does `lspci | grep -i nvidia` show a card, and does nvidia-smi answer?",
        source="pytorch/pytorch: c10/cuda/CUDAFunctions.cpp",
    ),
    Signature(
        r"(?:could not insert (?:module )?'?(?P<module>[^\s':]+)'?: |modprobe:? :?ERROR ?: [^\n]{0,40}'"
        r"(?P<other>[\w-]+)' ?: )?(?:Key was rejected by service|Required +key not available)"
        r"|module verification failed[^\n]{0,80}nvidia|Lockdown: [^\n]{0,60}unsigned module"
        r"|PKCS#7 signature not signed with a trusted key",
        decide=_refused,
        source="Linux: kernel/module/signing.c (EKEYREJECTED); Debian wiki, SecureBoot",
    ),
    Signature(
        r"Unable to load the kernel module 'nvidia\.ko'|Unable to load the 'nvidia-drm' kernel module",
        Means(
            "secure-boot-unsigned-module",
            "the module was built, and Secure Boot, which is on, refuses it",
            0.9,
            given=r"secure ?boot\W{0,3}(?:is )?enabled|SecureBoot enabled",
        ),
        Means(
            "nouveau-in-use",
            "another driver, nouveau, holds the card",
            0.9,
            given=(
                r"\bnouveau\b(?!, prevents)[^\n]{0,40}(?:loaded|in use|currently)|\bnouveau +\d{4,}"
                r"|Kernel driver in use: nouveau"
            ),
        ),
        Means(_NO_MODULE, "the driver's module could be built, but not loaded", 0.6),
        asks="What does `mokutil --sb-state` say, and does `lsmod` list nouveau?",
        source="NVIDIA-Linux-x86_64 installer",
    ),
    Signature(
        r"Nouveau (?:kernel )?driver is (?:currently )?(?:still )?(?:in use|loaded)"
        r"|Kernel driver in use: nouveau|Nouveau kernel driver is currently in use"
        r"|nouveau[^\n]{0,60}still loaded|NVRM: GPU \S+ is already bound to nouveau|Kernel driver in use: nova"
        r"|NVRM: nouveau, rivafb,[^\n]{0,40}(?:\s[^\n]{0,60})?was loaded and obtained"
        r"|This can occur when (?:a|another) driver[\s\S]{0,120}obtained ownership",
        Means("nouveau-in-use", "another kernel driver (nouveau, nova_core) holds the card", 0.93),
        source="NVIDIA-Linux-x86_64 installer; NVIDIA/open-gpu-kernel-modules: nv-pci.c; lspci -k",
    ),
    Signature(
        r"(?:couldn't|could not|cannot|unable to|failed to) communicate with the NVIDIA driver",
        Means(
            "kernel-updated-dkms-missing",
            "the module is not there for the kernel that runs",
            0.8,
            given=(
                r"dkms|linux-headers|kernel (?:was )?(?:update|upgrade)|\blinux-(?:cachyos|zen|lts|hardened)"
                r"|mainline kernel|after (?:a |the )?(?:kernel |apt )?(?:update|upgrade|reboot)"
            ),
        ),
        Means(_NO_MODULE, "the driver's kernel module is not loaded", 0.65),
        asks="What do `uname -r`, `dkms status` and `sudo modprobe nvidia` say?",
        source="nvidia-smi",
    ),
    Signature(
        r"(?:modprobe: FATAL: )?Module nvidia(?:-\w+)? not found in directory /lib/modules/(?P<kernel>\S+)"
        r"|dkms\S* (?:install|build|autoinstall)[^\n]{0,80}nvidia[^\n]{0,80}fail"
        r"|Failed to (?:run|install)[^\n]{0,60}(?:dkms build -m nvidia|kernel module through DKMS)"
        r"|Your kernel headers for kernel \S+ cannot be found"
        r"|Unable to find the kernel source tree for the currently running kernel",
        Means("kernel-updated-dkms-missing", "the driver's module is not built for the kernel that runs", 0.92),
        source="kmod; DKMS; NVIDIA-Linux-x86_64 installer",
    ),
    Signature(
        r"performing the step: \"(?:Building kernel modules|Checking to see whether the nvidia kernel module was)"
        r"|Unable to build the NVIDIA kernel module|Could not resolve Linux kernel version"
        r"|The NVIDIA kernel module interface was not created",
        Means("kernel-updated-dkms-missing", "the driver's module cannot be built for the kernel that runs", 0.85),
        source="NVIDIA/nvidia-installer: kernel.c; NVIDIA's driver container: nvidia-driver, _resolve_kernel_version",
    ),
    Signature(
        r"NVRM: No NVIDIA (?:graphics adapter|GPU|devices) found",
        Means(_NO_GPU, "the driver is loaded, and the kernel lists no NVIDIA card on the bus", 0.85),
        source="NVIDIA/open-gpu-kernel-modules: kernel-open/nvidia/nv.c, nvidia_init_module",
    ),
    Signature(
        r"Error! Bad return status for module build on kernel",
        Means(
            "kernel-updated-dkms-missing",
            "the driver's module is not built for the kernel that runs",
            0.92,
            given=r"dkms/nvidia|dkms[^\n]{0,80} nvidia/\d",
        ),
        Means(
            "kernel-updated-dkms-missing",
            "the driver's module is not built for the kernel that runs",
            0.92,
            given=r"nvidia",
            unless=r"/var/lib/dkms/(?!nvidia)|dkms install (?:--\S+ )?(?!nvidia)[\w-]+/",
        ),
        source="DKMS",
    ),
    Signature(
        r"requires use of the NVIDIA open kernel modules|NVIDIA open kernel modules? (?:is "
        r"|are )?(?:being )?required|installed in this system requires use of the NVIDIA open"
        r"|open kernel modules being required|open-source kernel modules? [^\n]{0,40}required",
        Means("open-kernel-module-required", "this card works with NVIDIA's open kernel modules only", 0.96),
        source="NVRM, kernel log: 'requires use of the NVIDIA open kernel modules'",
    ),
    Signature(
        r"is not supported by (?:the )?open nvidia\.ko|open nvidia\.ko because it does not include the required GPU",
        Means(
            "driver-does-not-support-gpu",
            "the open kernel module does not drive this card, which is older than Turing",
            0.95,
        ),
        source="NVIDIA/open-gpu-kernel-modules: nv.c",
    ),
    Signature(
        r"The NVIDIA (?:GPU|probe routine)[^\n]{0,160}is not supported by the \d+(?:\.\d+)+ NVIDIA driver "
        r"release|GPU at PCI[^\n]{0,80}is not supported"
        r"|is supported through the NVIDIA (?P<branch>\d+)\.xx Legacy drivers",
        Means("driver-does-not-support-gpu", "this driver release does not drive this card", 0.94),
        source="NVRM, kernel log: nv_check_gpu_is_supported",
    ),
    Signature(
        r"Driver Version: [\d.]+ +CUDA Version: (?:N/A|ERR!)",
        Means(
            _CONTAINER,
            "the container has NVML and no libcuda: NVIDIA_DRIVER_CAPABILITIES lacks compute, or libcuda is not "
            "passed on",
            0.75,
            given=BOXED,
        ),
        Means("driver-libraries-missing", "nvidia-smi does not find libcuda, or cannot start it", 0.6, unless=BOXED),
        source="nvidia-smi since 410",
    ),
    Signature(
        r"No devices were found",
        Means(
            "open-kernel-module-required",
            "a Blackwell card is there and the driver's proprietary module does not start it",
            0.8,
            given=BLACKWELL,
        ),
        Means(
            "bios-bar-settings",
            "the firmware may not give the card its room (Above 4G decoding, Resizable BAR)",
            0.5,
            given=r"RmInitAdapter|BAR\d|Above 4G",
        ),
        Means(_NO_MODULE, "the driver answers and starts no card; the kernel's log says why (RmInitAdapter, Xid)", 0.5),
        asks="What does `sudo dmesg | grep -i nvrm` say?",
        source="nvidia-smi",
    ),
    Signature(
        r"RmInitAdapter failed!|NVRM: This PCI I/O region assigned to your NVIDIA device is invalid"
        r"|BAR\d is 0M @ 0x0|can't assign mem [^\n]{0,40}pref",
        Means(
            "bios-bar-settings",
            "the card is not started: the firmware gives it no room in the address space",
            0.75,
            given=r"BAR\d|region assigned|Above 4G|Resizable|can't assign",
        ),
        Means(
            "open-kernel-module-required",
            "the card is not started: a Blackwell card needs the open kernel modules",
            0.6,
            given=BLACKWELL,
        ),
        Means("ecc-xid-hardware-fault", "the driver cannot start the card: a seat, power or hardware fault", 0.5),
        source="NVIDIA/open-gpu-kernel-modules: nv.c, osinit.c",
    ),
    Signature(
        r"/dev/nvidia-uvm[^\n]{0,40}No such file|/dev/nvidia(?:ctl|\d)[^\n]{0,40}No such file"
        r"|modprobe nvidia-uvm|cannot stat[^\n]{0,10}/dev/nvidia",
        Means("no-device-nodes", "the device nodes /dev/nvidia* are missing, often nvidia-uvm alone", 0.85),
        source="nvidia-modprobe(1)",
    ),
    Signature(
        r"Failed to initialize NVML: Insufficient Permissions|nvml: Insufficient Permissions"
        r"|NVML_ERROR_NO_PERMISSION|/dev/nvidia\S*[^\n]{0,30}Permission denied"
        r"|nvidia-container-cli: permission error|nvidia-container-cli: [^\n]{0,40}insufficient permissions",
        Means("device-permissions", "this user may not open /dev/nvidia*", 0.93),
        source="NVML, nvmlErrorString(4)",
    ),
    Signature(
        r"Failed to initialize NVML: Unknown Error",
        Means(
            "container-lost-gpu-cgroup",
            "a running container lost its right to the GPU when systemd reloaded its units",
            0.85,
        ),
        source="NVIDIA/nvidia-container-toolkit, notice on 'Failed to initialize NVML: Unknown Error'",
    ),
    Signature(
        r"NVML Shared Library Not Found|NVML_ERROR_LIBRARY_NOT_FOUND|NVMLError_?LibraryNotFound"
        r"|NVML: (?:ERROR_LIBRARY_NOT_FOUND|could not load NVML library)|nvml with error: could not load NVML library"
        r"|(?:Detected|Not a) non-NVML platform|libnvidia-ml\.so\S*: cannot open shared object",
        Means(
            "container-without-gpu-runtime",
            "the container was started without the driver's libraries, NVML among them",
            0.75,
            given=f"{BOXED}|{_DEVICE_PLUGIN}",
        ),
        Means("windows-driver-missing", "no NVIDIA driver is installed: nvml.dll is not there", 0.7, given=WINDOWS),
        Means("no-kernel-module", "no NVIDIA driver is installed: its library NVML is not there", 0.6, unless=WINDOWS),
        Means(
            "driver-libraries-missing", "the driver's library NVML is not where the loader looks", 0.5, unless=WINDOWS
        ),
        asks="does `cat /proc/driver/nvidia/version` name a driver? If so, only its libraries are missing.",
        source="NVML, nvmlErrorString(12); pynvml; NVIDIA/k8s-device-plugin: internal/rm, cmd/nvidia-device-plugin",
    ),
    Signature(
        r"Failed to initialize NVML: Driver Not Loaded|NVML_ERROR_DRIVER_NOT_LOADED",
        Means(_NO_MODULE, "the driver's kernel module is not loaded", 0.85),
        source="NVML, nvmlErrorString(9)",
    ),
    Signature(
        r"system not yet initialized|cudaErrorSystemNotReady|CUDA_ERROR_SYSTEM_NOT_READY|\berror 802\b"
        r"|Fabric ?Manager[^\n]{0,40}(?:not running|failed|inactive)",
        Means(
            "fabric-manager-not-running",
            "the fabric manager does not run, or is of another release than the driver",
            0.93,
        ),
        source="NVIDIA CUDA Runtime API, error 802; NVIDIA Fabric Manager user guide",
    ),
    Signature(
        r"libcuda\.dylib",
        Means(_NO_GPU, "there is no CUDA for this Mac", 0.85),
        source="macOS: dyld; NVIDIA served Macs to CUDA 10.2 and macOS 10.13",
    ),
    Signature(
        r"Error -1 calling cuDriverGetVersion",
        Means("stub-libcuda-on-path", "the toolkit's link-time stub of libcuda is loaded", 0.9, given=r"/stubs\b"),
        Means(
            "stub-libcuda-on-path", "a stub of libcuda answers in place of the driver's own", 0.6, unless=r"/stubs\b"
        ),
        source="JuliaGPU/CUDAdrv.jl 0.4: deps/build.jl; JuliaGPU/CUDAnative.jl#72",
    ),
    Signature(
        r"CUDA_ERROR_STUB_LIBRARY|cudaErrorStubLibrary|CUDA driver is a stub library",
        Means("stub-libcuda-on-path", "the toolkit's link-time stub of libcuda is loaded", 0.95),
        source="NVIDIA CUDA Runtime API, error 34",
    ),
)
