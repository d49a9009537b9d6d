"""What words of the loader, statuses and signals mean: the finding's code, and one sentence."""

from __future__ import annotations

import json
import re

from compat.base.paths import text_beside
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


_TABLES = json.loads(text_beside(__file__, "cause.json"))
_ABSENT = re.compile(
    r"(?<![^\s:`'])(?P<lib>[^\s:`']+): cannot open shared object file: No such file"
    r"|Error loading shared library (?P<musl>[^\s:]+): No such file"
    r"|Could not find module '(?P<dll>[^']+)'"
    r"|Unable to load any of \{(?P<any>[^,}]+)"
)


def of_loader(text: str) -> Cause:
    """What an error of dlopen means, by its words."""
    for row in _TABLES["loader"]:
        match = re.search(row["pattern"], text)
        if match:
            named = match.groupdict().get("lib") or "a library"
            return Cause(row["code"], row["why"].format(lib=named), named)
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
    for row in _TABLES["missing"]:
        if name.lower().startswith(tuple(row["starts"])):
            return Cause(row["code"], f"{name} is not found", name)
    return Cause(NOT_LOADABLE, f"{name}, which it needs, was not found", name)


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


def of_status(name: str, text: str) -> Cause:
    """What a status of cuDNN means; its words decide where they name a library."""
    if _ABSENT.search(text) or "GLIBC_" in text:
        cause = of_loader(text)
        if cause.code != NOT_LOADABLE:
            return cause
    for row in _TABLES["statuses"]:
        if name.endswith(row["end"]):
            return Cause(row["code"], row["why"])
    if re.search(r"out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY", text, re.IGNORECASE):
        return Cause(MEMORY, "the GPU's memory is full")
    return Cause(CALL, f"it answers {name}")


_CUDA = {name: row for row in _TABLES["cuda"] for name in row["names"]}
_OF_MPS = ("cudaErrorMps", "CUDA_ERROR_MPS_")
_KERNEL_DIED = (
    *("IllegalAddress", "LaunchFailure", "MisalignedAddress", "IllegalInstruction", "HardwareStackError"),
    *("ILLEGAL_ADDRESS", "LAUNCH_FAILED", "MISALIGNED_ADDRESS", "ILLEGAL_INSTRUCTION", "HARDWARE_STACK_ERROR"),
)


def of_cuda(name: str, status: int = 0) -> Cause:
    """What an error of CUDA's runtime or driver means, by its name; drivers before CUDA 6 give the number alone."""
    name = name or _TABLES["numbers"].get(str(status), "")
    if name in _CUDA:
        row = _CUDA[name]
        return Cause(row["code"], row["why"], advice=row.get("advice", ""))
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
