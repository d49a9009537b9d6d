"""What a wheel requires of CUDA's libraries and of its companions, and what that says of the CUDA it needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compat.base.record import NamedTuple
from compat.traits import traits_of
from doctor.pyenv.metadata import fields, matters

_LINE_AT_MOST_CHARS = 4000  # int() refuses 4,300 digits with an error that is not the parser's
_REQUIREMENTS_AT_MOST = 500
# What frameworks disagree about when they are installed together, although it has no GPU code.
_DECIDING = {"llvmlite", "ml-dtypes", "numpy", "protobuf"}
_PYTHON_MINORS = range(5, 16)
_LIBRARIES = ("nvidia-", "cuda-toolkit")
_NO_LIBRARY = {"nvidia-ml-py"}  # Python alone: it opens the driver's NVML
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
    Of extras, only CUDA's own libraries count, which is how TensorFlow, JAX and ONNX Runtime name theirs, and
    companions in the extra of their name.
    """
    environments = _environments(*platform, tuple(pythons) or admitted(header))
    extras = fields(header, "Provides-Extra")
    own: dict[str, dict[int, set[str]]] = {}  # by the place of the environment
    libraries: dict[str, str] = {}
    used = ""
    for line in fields(header, "Requires-Dist")[:_REQUIREMENTS_AT_MOST]:
        requirement = _parsed(line)
        if requirement is None:
            continue
        name = canonicalize_name(requirement.name)
        if name in _NO_LIBRARY and name not in companions:
            continue
        is_wanted = matters(name) or name in _DECIDING or name in companions
        extra = name if name in companions else ""  # transformers[torch]: the torch that it runs on
        holding = [at for at, one in enumerate(environments) if _holds(requirement, [one], extra)]
        if is_wanted and holding:
            for at in holding:
                own.setdefault(name, {}).setdefault(at, set()).update(map(str, requirement.specifier))
        elif name.startswith(_LIBRARIES):
            asking = next((one for one in extras if _holds(requirement, environments, one)), "")
            if asking:
                libraries[name] = str(requirement.specifier)
                used = used or asking
    found = {name: _for_every_python(list(clauses.values())) for name, clauses in own.items()}
    return Needs({name: one for name, one in found.items() if one or not _only_decides(name)}, libraries, used)


def _only_decides(name: str) -> bool:
    """Whether it says nothing unless it names a release: what has no GPU code, or compiles for another framework."""
    traits = traits_of(name)
    return name in _DECIDING or (traits.compiles and bool(traits.runs_on))


def _for_every_python(clauses: list[set[str]]) -> str:
    """What holds for each Python that asks for it: the clauses that all have, and the widest of differing bounds."""
    each = [_tightest(one) for one in clauses]
    common = set.intersection(*each)
    bounds = []
    for sign, written, widest in ((">=", ">=", min), ("<", "<", max), ("==", ">=", min), ("==", "<=", max)):
        differing = [bound for own in each for bound in _bounds(own - common, sign)]
        if len(differing) == len(each):
            bounds.append(f"{written}{widest(differing)}")
    return ",".join(sorted(common | set(bounds)))


def _tightest(clauses: set[str]) -> set[str]:
    """The same without bounds that another one implies."""
    found = set(clauses)
    for sign, tightest in ((">=", max), ("<", min)):
        bounds = _bounds(clauses, sign)
        found -= {f"{sign}{bound}" for bound in bounds if bound != tightest(bounds)}
    return found


def _bounds(clauses: set[str], sign: str) -> list[Version]:
    return [Version(one[len(sign) :]) for one in clauses if re.fullmatch(rf"{sign}\d[^*]*", one)]


def _parsed(line: str) -> Requirement | None:
    if len(line) > _LINE_AT_MOST_CHARS:
        return None
    try:
        return Requirement(line)
    except (
        InvalidRequirement,
        RecursionError,
    ):  # wheels of before PEP 508 hold some: a row without them is still right
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


def admitted(header: str) -> tuple[str, ...]:
    """The Python versions from 3.5 on that Requires-Python admits, where the file names do not say them."""
    said = fields(header, "Requires-Python")
    try:
        specifier = SpecifierSet(said[0] if said else "")
    except InvalidSpecifier:
        return ()
    return tuple(one for one in (f"3.{minor}" for minor in _PYTHON_MINORS) if specifier.contains(f"{one}.0"))


def cuda_of(pins: Mapping[str, str]) -> str | None:
    """The CUDA versions that the required runtime admits, a PEP 440 specifier; None where nothing says it.

    The runtime's wheels and the toolkit's carry the toolkit's own version: nvidia-cuda-runtime-cu12 12.4.127 is of
    CUDA 12.4. A newer minor version runs what an older one was built with, up to the next major one (NVIDIA, "CUDA
    Compatibility", minor version compatibility).
    """
    name = next((name for name in pins if name == "cuda-toolkit" or "-cuda-runtime" in name), "")
    said = pins.get(name, "")
    major = re.search(r"-cu(\d\d)$", name)
    if major and not said:  # the distribution of one CUDA major, whichever release of it
        return f"=={major[1]}.*"
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
