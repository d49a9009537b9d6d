"""What words of the loader, statuses and signals mean: the finding's code, and one sentence."""

from __future__ import annotations

import re

from compat.base.record import NamedTuple

INCOMPLETE = "cudnn-install-incomplete"
PART_MISSING = "cudnn-sublibrary-missing"
CUDNN_MISSING = "cudnn-missing"
MIXED = "cudnn-sublibrary-mixed"
SHADOWED = "ld-library-path-shadowing"
CUDA_MISSING = "cudart-soname-missing"
NVRTC_MISSING = "nvrtc-missing"
CUBLAS = "cublas-mismatch"
ZLIB_MISSING = "zlibwapi-missing"
GLIBC = "glibc-too-old"
ARCH = "cudnn-arch-mismatch"
NOT_IN_BUILD = "gpu-arch-not-in-build"
OLD_DRIVER = "driver-too-old-for-runtime"
DRIVER_MIXED = "driver-library-mismatch"
DRIVER_MISSING = "driver-libraries-missing"
DRIVER_HANG = "driver-hang"
DRIVER_CRASH = "driver-library-crash"
FABRIC = "fabric-manager-not-running"
COMPAT = "forward-compat-mistake"
STUB = "stub-libcuda-on-path"
HARDWARE = "ecc-xid-hardware-fault"
MEMORY = "out-of-memory-not-a-stack-fault"
WRONG = "cudnn-wrong-result"
HANG = "cudnn-hang"
CRASH = "cudnn-crash"
NOT_LOADABLE = "cudnn-load-failed"
CALL = "cudnn-call-failed"
CUDA_CALL = "cuda-call-failed"
BUSY = "gpu-compute-mode"
MPS = "mps-server-unreachable"
SUSPENDED = "uvm-broken-after-suspend"
UNUSED = "framework-without-gpu"
NOT_CUDNN = "cudnn-not-used"
NOT_PROVEN = "cuda-library-not-used"
CUDA_DAMAGED = "cuda-library-damaged"
GPU_WRONG = "gpu-wrong-result"
NCCL = "nccl-failed"
OURS = "check-error"


class Cause(NamedTuple):
    """What one failure comes from."""

    code: str
    why: str  # a sentence without its full stop
    library: str = ""  # the library that it is about, as it is named in the words
    advice: str = ""  # what to do by hand, where the code alone does not say


# The first that matches. Sources: glibc's elf/dl-load.c, elf/dl-version.c and elf/dl-lookup.c, musl's ldso/dynlink.c,
# Microsoft's list of system error codes (126, 127, 193) as CPython words them.
_LOADER = (
    (GLIBC, r"version [`'](?P<lib>GLIBC(?:XX)?_[\d.]+)' not found", "this system's C library does not have {lib}"),
    (MIXED, r"version [`'](?P<lib>libcudnn[\w.]+)' not found", "a part needs another version of {lib}"),
    (MIXED, r"undefined symbol: [\w@.]*, version (?P<lib>libcudnn[\w.]+)", "a part needs another version of {lib}"),
    (MIXED, r"(?P<lib>libcudnn[\w.]*): undefined symbol: \w*cudnn", "{lib} does not fit the other parts"),
    (CUBLAS, r"undefined symbol: \S+, version (?P<lib>libcublas[\w.]+)", "{lib} has another version"),
    (
        INCOMPLETE,
        (
            r"(?<![^\s:])(?P<lib>[^\s:]+): "
            r"(?:file too short|invalid ELF header|cannot read file data|ELF (?:load command|file's)|"
            "object file has no|Exec format error)"
        ),
        "{lib} is damaged",
    ),
    (INCOMPLETE, r"\[WinError 193\].*?(?P<lib>\w*cudnn\w*\.dll)?", "{lib} is not a 64-bit library, or is damaged"),
    (
        INCOMPLETE,
        r"(?<![^\s:])(?P<lib>[^\s:]+): cannot open shared object file: Permission denied",
        "no permission to read {lib}",
    ),
    (NOT_LOADABLE, r"(?<![^\s:])(?P<lib>[^\s:]+): wrong ELF class", "{lib} is built for another processor"),
    (NOT_LOADABLE, r"(?<![^\s:])(?P<lib>[^\s:]+): failed to map segment", "{lib} cannot be mapped for execution"),
    (MIXED, r"\[WinError 127\]", "a DLL of another version comes first"),
)
_ABSENT = re.compile(
    r"(?<![^\s:`'])(?P<lib>[^\s:`']+): cannot open shared object file: No such file"
    r"|Error loading shared library (?P<musl>[^\s:]+): No such file"
    r"|Could not find module '(?P<dll>[^']+)'"
    r"|Unable to load any of \{(?P<any>[^,}]+)"
)


def of_loader(text: str) -> Cause:
    """What an error of dlopen means, by its words."""
    for code, pattern, sentence in _LOADER:
        match = re.search(pattern, text)
        if match:
            named = match.groupdict().get("lib") or "a library"
            return Cause(code, sentence.format(lib=named), named)
    absent = _ABSENT.search(text)
    if absent:
        return of_absent(next(filter(None, absent.groups())))
    one_line = " ".join(text.split())[:300]
    return Cause(NOT_LOADABLE, f"the loader refuses it: {one_line}")


def of_absent(library: str) -> Cause:
    """What it means that the loader finds no library of this name, or cannot use the one at this path."""
    name = re.split(r"[/\\]", library)[-1]
    if "/" in library and "cudnn" in name:
        return Cause(NOT_LOADABLE, f"{library} is missing, or is built for another processor", library)
    for code, start in _MISSING:
        if name.lower().startswith(start):
            return Cause(code, f"{name} is not found", name)
    return Cause(NOT_LOADABLE, f"{name}, which it needs, was not found", name)


_MISSING = (
    (CUDNN_MISSING, ("libcudnn.so", "cudnn64_")),
    (PART_MISSING, ("libcudnn", "cudnn")),
    (NVRTC_MISSING, ("libnvrtc", "nvrtc")),
    (ZLIB_MISSING, ("zlibwapi",)),
    (DRIVER_MISSING, ("libcuda.so", "nvcuda", "libnvidia-")),
    (CUDA_MISSING, ("libcu", "libnvjitlink", "libnv", "cudart", "cublas", "cufft")),
)

# What cuDNN writes before it calls abort(), 8 and 9.
_LAST_WORDS = (
    re.compile(r"Could not load library (?P<lib>\S+?)\.? Error: (?P<error>[^\n]*)"),
    re.compile(r"Unable to load any of \{(?P<lib>[^,}]+)[^\n]*"),
    re.compile(r"(?:Invalid handle\. )?Cannot load symbol (?P<symbol>\w+)"),
)


def of_last_words(stderr: str) -> Cause | None:
    """Why cuDNN ended the process, by what it wrote; None where it wrote nothing that is known."""
    could_not, unable, symbol = (pattern.search(stderr) for pattern in _LAST_WORDS)
    if could_not:
        cause = of_loader(could_not["error"])
        known = cause.code != NOT_LOADABLE
        return cause if known else Cause(PART_MISSING, f"{could_not['lib']} cannot be opened", could_not["lib"])
    if unable:
        return Cause(PART_MISSING, f"{unable['lib']} cannot be opened", unable["lib"])
    if symbol:
        return Cause(PART_MISSING, f"the part with {symbol['symbol']} cannot be opened")
    return None


# By the ends of cuDNN's names, the longer before the shorter; cudnn.h of 7, 8 and 9.
_STATUSES = (
    ("SUBLIBRARY_UNAVAILABLE", PART_MISSING, "a part of it cannot be opened"),
    ("SUBLIBRARY_LOADING_FAILED", PART_MISSING, "a part of it cannot be opened"),
    ("SUBLIBRARY_VERSION_MISMATCH", MIXED, "parts of different versions are loaded together"),
    ("SERIALIZATION_VERSION_MISMATCH", CALL, "it refuses"),
    ("VERSION_MISMATCH", MIXED, "parts of different versions are loaded together"),
    ("INCOMPATIBLE_CUDA_DRIVER", OLD_DRIVER, "the driver is too old for it"),
    ("INCOMPATIBLE_CUDART", CUDA_MISSING, "the CUDA runtime that it found does not fit"),
    ("RUNTIME_PREREQUISITE_MISSING", NVRTC_MISSING, "a library that it opens at run time was not found"),
    ("ARCH_MISMATCH", ARCH, "it has no code for this GPU"),
    ("HOST_ALLOCATION_FAILED", MEMORY, "the machine's memory is full"),
    ("ALLOCATION_FAILED", MEMORY, "the GPU's memory is full"),
    ("ALLOC_FAILED", MEMORY, "memory is full"),
)


def of_status(name: str, text: str) -> Cause:
    """What a status of cuDNN means; its words decide where they name a library."""
    if _ABSENT.search(text) or "GLIBC_" in text:
        cause = of_loader(text)
        if cause.code != NOT_LOADABLE:
            return cause
    for end, code, why in _STATUSES:
        if name.endswith(end):
            return Cause(code, why)
    if re.search(r"out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY", text, re.IGNORECASE):
        return Cause(MEMORY, "the GPU's memory is full")
    return Cause(CALL, f"it answers {name}")


_LOOK_FOR_GPU = "Look at CUDA_VISIBLE_DEVICES, at the device nodes (ls -l /dev/nvidia*) and at nvidia-smi -L."
_LOOK_AT_NODES = (
    "Look at the device nodes (ls -l /dev/nvidia*, with nvidia-uvm) and at the kernel's log (journalctl -k)."
)
# By name; CUDA's documentation of cudaError_t and CUresult, which share most of their numbers.
_CUDA = {
    "cudaErrorMemoryAllocation": (MEMORY, "the GPU has no memory left for it"),
    "CUDA_ERROR_OUT_OF_MEMORY": (MEMORY, "the GPU has no memory left for it"),
    "cudaErrorInsufficientDriver": (OLD_DRIVER, "the driver is older than the CUDA runtime needs"),
    "cudaErrorUnsupportedPtxVersion": (OLD_DRIVER, "the driver is too old to compile this code"),
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": (OLD_DRIVER, "the driver is too old to compile this code"),
    "cudaErrorSystemDriverMismatch": (
        DRIVER_MIXED,
        "the kernel module and the driver libraries have different versions",
    ),
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": (
        DRIVER_MIXED,
        "the kernel module and the driver libraries have different versions",
    ),
    "cudaErrorStubLibrary": (STUB, "the libcuda that was found is the toolkit's stub"),
    "CUDA_ERROR_STUB_LIBRARY": (STUB, "the libcuda that was found is the toolkit's stub"),
    "cudaErrorSystemNotReady": (FABRIC, "the system is not ready: the fabric manager is not running"),
    "CUDA_ERROR_SYSTEM_NOT_READY": (FABRIC, "the system is not ready: the fabric manager is not running"),
    "cudaErrorCompatNotSupportedOnDevice": (COMPAT, "cuda-compat does not work on this GPU"),
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": (COMPAT, "cuda-compat does not work on this GPU"),
    "cudaErrorECCUncorrectable": (HARDWARE, "the GPU's memory has an error that cannot be corrected"),
    "CUDA_ERROR_ECC_UNCORRECTABLE": (HARDWARE, "the GPU's memory has an error that cannot be corrected"),
    "cudaErrorNoKernelImageForDevice": (NOT_IN_BUILD, "it has no code for this GPU"),
    "CUDA_ERROR_NO_BINARY_FOR_GPU": (NOT_IN_BUILD, "it has no code for this GPU"),
    "cudaErrorNoDevice": (CUDA_CALL, "CUDA sees no GPU, but this machine has one", "", _LOOK_FOR_GPU),
    "CUDA_ERROR_NO_DEVICE": (CUDA_CALL, "CUDA sees no GPU, but this machine has one", "", _LOOK_FOR_GPU),
    "cudaErrorCallRequiresNewerDriver": (OLD_DRIVER, "the driver is older than the CUDA runtime needs"),
    "cudaErrorDevicesUnavailable": (
        BUSY,
        "the GPU is in use by another process, or its compute mode allows only one process",
    ),
    "CUDA_ERROR_DEVICE_UNAVAILABLE": (
        BUSY,
        "the GPU is in use by another process, or its compute mode allows only one process",
    ),
    "cudaErrorSharedObjectInitFailed": (DRIVER_MISSING, "the driver's library cannot be opened"),
    "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED": (DRIVER_MISSING, "the driver's library cannot be opened"),
    "cudaErrorNvlinkUncorrectable": (HARDWARE, "NVLink has an error that cannot be corrected"),
    "CUDA_ERROR_NVLINK_UNCORRECTABLE": (HARDWARE, "NVLink has an error that cannot be corrected"),
    "cudaErrorContained": (HARDWARE, "the GPU reports an internal error"),
    "CUDA_ERROR_CONTAINED": (HARDWARE, "the GPU reports an internal error"),
    "cudaErrorOperatingSystem": (CUDA_CALL, "the operating system refuses a call that CUDA makes", "", _LOOK_AT_NODES),
    "CUDA_ERROR_OPERATING_SYSTEM": (
        CUDA_CALL,
        "the operating system refuses a call that CUDA makes",
        "",
        _LOOK_AT_NODES,
    ),
    "cudaErrorInitializationError": (CUDA_CALL, "the driver cannot be started", "", _LOOK_AT_NODES),
    "CUDA_ERROR_NOT_INITIALIZED": (CUDA_CALL, "the driver cannot be started", "", _LOOK_AT_NODES),
    "cudaErrorUnknown": (SUSPENDED, "CUDA cannot start: nvidia_uvm does not answer, as after suspend"),
    "CUDA_ERROR_UNKNOWN": (SUSPENDED, "CUDA cannot start: nvidia_uvm does not answer, as after suspend"),
}
_NUMBERS = {
    2: "cudaErrorMemoryAllocation",
    3: "cudaErrorInitializationError",
    34: "cudaErrorStubLibrary",
    35: "cudaErrorInsufficientDriver",
    36: "cudaErrorCallRequiresNewerDriver",
    46: "cudaErrorDevicesUnavailable",
    100: "cudaErrorNoDevice",
    209: "cudaErrorNoKernelImageForDevice",
    214: "cudaErrorECCUncorrectable",
    220: "cudaErrorNvlinkUncorrectable",
    222: "cudaErrorUnsupportedPtxVersion",
    226: "cudaErrorContained",
    303: "cudaErrorSharedObjectInitFailed",
    304: "cudaErrorOperatingSystem",
    802: "cudaErrorSystemNotReady",
    803: "cudaErrorSystemDriverMismatch",
    804: "cudaErrorCompatNotSupportedOnDevice",
    805: "cudaErrorMpsConnectionFailed",
    806: "cudaErrorMpsRpcFailure",
    807: "cudaErrorMpsServerNotReady",
    808: "cudaErrorMpsMaxClientsReached",
    809: "cudaErrorMpsMaxConnectionsReached",
    810: "cudaErrorMpsClientTerminated",
    999: "cudaErrorUnknown",
}
_OF_MPS = ("cudaErrorMps", "CUDA_ERROR_MPS_")
_KERNEL_DIED = (
    *("IllegalAddress", "LaunchFailure", "MisalignedAddress", "IllegalInstruction", "HardwareStackError"),
    *("ILLEGAL_ADDRESS", "LAUNCH_FAILED", "MISALIGNED_ADDRESS", "ILLEGAL_INSTRUCTION", "HARDWARE_STACK_ERROR"),
)


def of_cuda(name: str, status: int = 0) -> Cause:
    """What an error of CUDA's runtime or driver means, by its name; drivers before CUDA 6 give the number alone."""
    name = name or _NUMBERS.get(status, "")
    if name in _CUDA:
        return Cause(*_CUDA[name])
    if name.startswith(_OF_MPS):
        return Cause(MPS, f"the MPS server does not answer, and CUDA uses it here: {name}")
    if name.endswith(_KERNEL_DIED):
        return Cause(CRASH, f"a kernel died on the GPU: {name}")
    return Cause(CUDA_CALL, f"CUDA returns {name or f'with error {status}'}")


SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}


def of_signal(number: int, doing: str, stderr: str) -> Cause:
    """Why a signal ended the process."""
    name = SIGNALS.get(number, f"signal {number}")
    said = of_last_words(stderr)
    if said:
        return said
    at = f" at {doing}" if doing else ""
    if name == "SIGBUS":
        library = doing if re.search(r"\.so|\.dll", doing) else ""
        when = "" if library else at
        return Cause(INCOMPLETE, f"{library or 'a library'} is cut short: reading it{when} raised SIGBUS", library)
    if name == "SIGILL":
        return Cause(CRASH, f"the process ends with SIGILL{at}: this processor lacks an instruction that it uses")
    return Cause(CRASH, f"the process ends with {name}{at}")
