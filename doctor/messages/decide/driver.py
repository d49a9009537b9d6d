"""The kernel driver: too old, of two releases, not loaded, not for this card, without its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Uncovered
from compat.version import CudaVersion, DriverRelease, VersionError
from doctor.messages.clues import Clues
from doctor.messages.decide._words import BLACKWELL, BOXED
from doctor.messages.signature import Means

_OLD, _MIXED, _COMPAT = (
    "driver-too-old-for-runtime",
    "driver-library-mismatch",
    "forward-compat-mistake",
)
_CONTAINER = "container-without-gpu-runtime"


def found_version(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """torch prints what cuDriverGetVersion answers: 1000 * major + 10 * minor."""
    told = found["encoded"]
    if told and int(told):
        serves = CudaVersion.from_encoded(int(told))
        built = f", and this framework is built with {clues.build_cuda}" if clues.build_cuda else ""
        yield Means(_OLD, f"the driver serves CUDA up to {serves}{built}", 0.95)


def of_dump(found: re.Match[str], clues: Clues) -> Iterator[Means]:
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


def by_number(found: re.Match[str], clues: Clues) -> Iterator[Means]:
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
_SEES_NO_GPU = r"Is CUDA available *: (?:No|False)|is_available\(\)\)?[\s.>)]*False"


def refused(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """The kernel refuses a module without a signature; which one is named, and it may be somebody else's."""
    module = found["module"] or found["other"]
    if not module or "nvidia" in module.lower():
        says = "Secure Boot refuses the driver's module, which no enrolled key has signed"
        yield Means("secure-boot-unsigned-module", says, 0.97)
