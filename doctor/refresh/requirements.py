"""What a wheel requires of CUDA's libraries and of its companions, and what that says of the CUDA it needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from compat.record import NamedTuple
from doctor.probes.metadata import COMPANIONS, fields

_REQUIREMENTS_AT_MOST = 500
_LIBRARIES = ("nvidia-", "cuda-toolkit")
_SYSTEMS = {"linux": ("Linux", "linux", "posix"), "windows": ("Windows", "win32", "nt"),
            "macos": ("Darwin", "darwin", "posix")}  # fmt: skip
_MACHINES = {("linux", "sbsa"): "aarch64", ("macos", "sbsa"): "arm64", ("windows", "x86_64"): "AMD64"}


class Platform(NamedTuple):
    """What a wheel runs on."""

    os_family: str
    arch: str


class Needs(NamedTuple):
    """The requirements that matter to a GPU stack."""

    own: dict[str, str]  # distribution -> specifier, in the order of the metadata
    libraries: dict[str, str]  # CUDA's libraries that an extra asks for
    extra: str  # the extra that asks for CUDA's libraries, "" where the package itself does, or nothing

    @property
    def pins(self) -> dict[str, str]:
        """Both together."""
        return {**self.own, **self.libraries}

    def of(self, prefix: str) -> str:
        """The specifier of the first requirement below a prefix, "" for none or any version."""
        return next((specifier for name, specifier in self.pins.items() if name.startswith(prefix)), "")

    @property
    def has_libraries(self) -> bool:
        """Whether CUDA's libraries come from wheels."""
        return any(name.startswith(_LIBRARIES) for name in self.pins)


def needs_of(header: str, platform: Platform, pythons: Iterable[str], companions: tuple[str, ...] = ()) -> Needs:
    """The requirements that hold on a platform for one of these Python versions.

    `companions` are distributions whose versions matter to this package alone, as numpy's does to Numba.
    Of extras, only CUDA's own libraries count: that is how TensorFlow, JAX and ONNX Runtime name theirs.
    """
    environments = _environments(*platform, tuple(pythons))
    extras = fields(header, "Provides-Extra")
    own: dict[str, str] = {}
    libraries: dict[str, str] = {}
    used = ""
    for line in fields(header, "Requires-Dist")[:_REQUIREMENTS_AT_MOST]:
        requirement = _parsed(line)
        if requirement is None:
            continue
        name = canonicalize_name(requirement.name)
        matters = name.startswith(COMPANIONS) or name in companions
        if matters and _holds(requirement, environments, ""):
            own[name] = str(requirement.specifier)
        elif name.startswith(_LIBRARIES):
            extra = next((one for one in extras if _holds(requirement, environments, one)), "")
            if extra:
                libraries[name] = str(requirement.specifier)
                used = used or extra
    return Needs(own, libraries, used)


def _parsed(line: str) -> Requirement | None:
    try:
        return Requirement(line)
    except InvalidRequirement:  # wheels of before PEP 508 hold some: a row without them is still right
        return None


def _holds(requirement: Requirement, environments: list[dict[str, str]], extra: str) -> bool:
    marker = requirement.marker
    if marker is None:
        return True
    try:
        return any(marker.evaluate({**environment, "extra": extra}) for environment in environments)
    except (UndefinedComparison, UndefinedEnvironmentName, InvalidVersion):
        return False


def _environments(os_family: str, arch: str, pythons: tuple[str, ...]) -> list[dict[str, str]]:
    system, platform, os_name = _SYSTEMS[os_family]
    base = {
        "platform_system": system,
        "sys_platform": platform,
        "os_name": os_name,
        "platform_machine": _MACHINES.get((os_family, arch), "x86_64"),
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    versions = [python.rstrip("t") for python in pythons] or ["3.12"]
    return [{**base, "python_version": one, "python_full_version": f"{one}.0"} for one in versions]


def cuda_of(pins: Mapping[str, str]) -> str | None:
    """The CUDA versions that the required runtime admits, a PEP 440 specifier; None where nothing says it.

    The runtime's wheels and the toolkit's carry the toolkit's own version: nvidia-cuda-runtime-cu12 12.4.127 is of
    CUDA 12.4. A newer minor version runs what an older one was built with, up to the next major one (NVIDIA, "CUDA
    Compatibility", minor version compatibility).
    """
    said = next((pins[name] for name in pins if name == "cuda-toolkit" or "-cuda-runtime" in name), "")
    if re.fullmatch(r"==\d+\.\*", said):
        return said
    lower = re.search(r"(?:>=|==|~=)(\d+)\.(\d+)", said)
    return f">={lower[1]}.{lower[2]},<{int(lower[1]) + 1}" if lower else None


def spelled_out(specifier: str) -> str:
    """The same with "~=9.1" written as ">=9.1,<10", which the tables compare without `packaging`."""
    compatible = re.fullmatch(r"~=(\d+)\.(\d+)", specifier)
    if not compatible:
        return specifier
    lower = compatible[1] if compatible[2] == "0" else f"{compatible[1]}.{compatible[2]}"
    return f">={lower},<{int(compatible[1]) + 1}"
