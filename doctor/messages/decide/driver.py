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
        built = f", but this framework is built with {clues.build_cuda}" if clues.build_cuda else ""
        yield Means(_OLD, f"the driver supports CUDA up to {serves}{built}", 0.95)


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
        yield Means(_OLD, f"this build (CUDA {clues.build_cuda}) needs driver {floor}; {release} is installed", 0.93)


def by_number(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """Ollama prints the number alone that cuInit or the CUDA runtime answered; its image runs it as root."""
    number = found["number"] or found["code"]
    if number in _WITHOUT_DRIVER and clues.has(rf"{BOXED}|/root/\.ollama|/tmp/ollama\d+/runners"):
        yield Means(_CONTAINER, f"the container was started without the GPU: CUDA returns {number} there", 0.82)
    elif number in _NOT_STARTED and clues.has(BOXED):
        yield Means("container-lost-gpu-cgroup", f"the container may have lost the GPU: CUDA returns {number}", 0.45)
    if number in _NOT_STARTED and clues.has(BLACKWELL):
        yield Means("open-kernel-module-required", "a Blackwell card does not start with the proprietary module", 0.55)
    if number in _NUMBERS:
        yield Means(*_NUMBERS[number])


_WITHOUT_DRIVER, _NOT_STARTED = ("34", "35", "100"), ("3", "46", "999")
_NUMBERS = {
    "3": ("no-device-nodes", "the driver does not start: device nodes may be missing, or nvidia_uvm refuses", 0.5),
    "35": (_OLD, "the driver is missing, or older than the CUDA runtime of this program needs", 0.8),
    "46": ("gpu-compute-mode", "another process holds the GPU, or its compute mode allows only one process", 0.6),
    "100": ("cuda-visible-devices-empty-or-invalid", "CUDA sees no card: CUDA_VISIBLE_DEVICES may hide it", 0.5),
    "802": ("fabric-manager-not-running", "the fabric manager is not running, or has another version", 0.9),
    "500": (_CONTAINER, "CUDA starts with only a part of the driver: usually an old container in WSL", 0.6),
    "803": (_MIXED, "the kernel module and libcuda have different versions", 0.8),
    "804": (_COMPAT, "the image's cuda-compat comes first, but it works only on datacentre cards", 0.9),
    "999": ("uvm-broken-after-suspend", "CUDA cannot start: after suspend, nvidia_uvm does not answer", 0.6),
}
_SEES_NO_GPU = r"Is CUDA available *: (?:No|False)|is_available\(\)\)?[\s.>)]*False"


def refused(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """The kernel refuses a module without a signature; which one is named, and it may be somebody else's."""
    module = found["module"] or found["other"]
    if not module or "nvidia" in module.lower():
        says = "Secure Boot refuses the driver's module: it has no signature of an enrolled key"
        yield Means("secure-boot-unsigned-module", says, 0.97)
