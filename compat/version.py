"""The version numbers of the stack: parsed once, at the edge, and ordered."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple

V = TypeVar("V", bound="tuple[Any, ...]")


class VersionError(GpudoctorError, ValueError):
    """A text is not the version it should be."""

    def __init__(self, text: str, kind: str) -> None:
        super().__init__(f"{text!r} is not a {kind}")


def _of_one_kind(kind: type[V]) -> type[V]:
    """Two versions of different kinds are never equal and have no order, though both are tuples of numbers.

    Plain tuples, such as the bounds that a program writes down, compare as ever.
    """

    def compared(name: str) -> Callable[[Any, Any], Any]:
        of_tuples = getattr(tuple, name)

        def compare(one: Any, other: Any) -> Any:
            of = other.__class__
            return of_tuples(one, other) if of is kind or of is tuple else NotImplemented

        return compare

    for name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
        setattr(kind, name, compared(name))
    kind.__hash__ = tuple.__hash__  # type: ignore[method-assign]
    return kind


def _numbers(text: str, kind: str, *, at_most: int) -> tuple[int, ...]:
    parts = text.strip().split(".")
    if len(parts) > at_most or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise VersionError(text, kind)
    return tuple(map(int, parts))


@_of_one_kind
class CudaVersion(NamedTuple):
    """A CUDA version such as 12.4; drivers report no patch level, and compatibility ignores it."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> CudaVersion:
        """Read "12.4", "12.4.1" or "12.4.131"; raises VersionError."""
        numbers = _numbers(text, "CUDA version", at_most=4)
        if len(numbers) < 2:
            raise VersionError(text, "CUDA version")
        return cls(*numbers[:2])

    @classmethod
    def from_encoded(cls, encoded: int) -> CudaVersion:
        """Decode 1000 * major + 10 * minor: 13020 is 13.2.

        Source: CUDA driver API, cuDriverGetVersion.
        """
        return cls(encoded // 1000, encoded % 1000 // 10)

    @classmethod
    def from_tag(cls, tag: str) -> CudaVersion:
        """Decode a wheel's build tag: cu92 is 9.2, cu101 is 10.1, cu128 is 12.8; raises VersionError."""
        match = re.fullmatch(r"cu(\d{1,2})(\d)", tag)
        if not match:
            raise VersionError(tag, "CUDA build tag")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@_of_one_kind
class DriverRelease(tuple[int, ...]):
    """An NVIDIA driver release: 580.65.06 on Linux, 581.15 on Windows; a branch is 580.

    Parts compare as numbers; a branch is at or below each of its releases.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> DriverRelease:
        """Read one to three dotted numbers; raises VersionError."""
        return cls(_numbers(text, "driver release", at_most=3))

    @property
    def branch(self) -> int:
        """The driver branch, 580 for 580.65.06."""
        return self[0]

    def __str__(self) -> str:
        return ".".join([str(self[0]), *(f"{part:02d}" for part in self[1:])])

    def __repr__(self) -> str:
        return f"DriverRelease({self})"


@_of_one_kind
class CudnnVersion(tuple[int, ...]):
    """A cuDNN version of one to four parts: 9.10.2.21, 8.9.7, 5.1."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> CudnnVersion:
        """Read one to four dotted numbers; raises VersionError."""
        return cls(_numbers(text, "cuDNN version", at_most=4))

    @classmethod
    def from_encoded(cls, encoded: int) -> CudnnVersion:
        """Decode CUDNN_VERSION: 8907 is 8.9.7, 91002 is 9.10.2, 5005 is 5.0.5.

        Source: cudnn_version.h; from 9.0 on it is 10000 * major + 100 * minor + patch, before 1000 * major.
        """
        unit = 10000 if encoded >= 90000 else 1000
        return cls((encoded // unit, encoded % unit // 100, encoded % 100))

    @property
    def major(self) -> int:
        """The first part, which the SONAME carries."""
        return self[0]

    @property
    def release(self) -> CudnnVersion:
        """Major, minor and patch level, without the build number."""
        return CudnnVersion(self[:3])

    def agrees_with(self, other: CudnnVersion) -> bool:
        """Whether both are the same as far as both are known (9.10.2 and 9.10.2.21 agree)."""
        known = min(len(self), len(other))
        return self[:known] == other[:known]

    def __str__(self) -> str:
        return ".".join(map(str, self))

    def __repr__(self) -> str:
        return f"CudnnVersion({self})"


@_of_one_kind
class ComputeCapability(NamedTuple):
    """A GPU's compute capability such as 8.9."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> ComputeCapability:
        """Read "8.9"; raises VersionError."""
        numbers = _numbers(text, "compute capability", at_most=2)
        if len(numbers) != 2:
            raise VersionError(text, "compute capability")
        return cls(*numbers)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def sm(self) -> str:
        """The name of its real architecture, sm_89."""
        return f"sm_{self.major}{self.minor}"


class CodeTarget(NamedTuple):
    """What a piece of GPU code was built for: sm_90a, compute_80, sm_100f.

    Source of the rules: CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility" and
    "Family-Specific and Architecture-Specific Features".
    """

    kind: str  # "sm" (SASS) or "compute" (PTX)
    capability: ComputeCapability
    suffix: str = ""  # "", "a" (this architecture only) or "f" (this family)

    @classmethod
    def parse(cls, text: str) -> CodeTarget:
        """Read "sm_89", "compute_90", "sm_100a", "sm_120f"; raises VersionError."""
        match = re.fullmatch(r"(sm|compute)_(\d{1,2})(\d)([af]?)", text.strip())
        if not match:
            raise VersionError(text, "GPU code target")
        return cls(match[1], ComputeCapability(int(match[2]), int(match[3])), match[4])

    def runs_on(self, gpu: ComputeCapability) -> bool:
        """Whether a GPU executes this code: as it is (sm) or compiled at load (compute)."""
        if self.suffix == "a":
            return gpu == self.capability
        if self.kind == "sm" or self.suffix == "f":
            return gpu.major == self.capability.major and gpu.minor >= self.capability.minor
        return gpu >= self.capability

    def __str__(self) -> str:
        return f"{self.kind}_{self.capability.major}{self.capability.minor}{self.suffix}"
