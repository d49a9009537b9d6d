"""What a lock file or a list of requirements selects for one platform."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compat.base.record import NamedTuple
from compat.spec import normal
from compat.specifier import marker_holds
from compat.version import CudaVersion
from doctor.host import BadRequest
from doctor.model.facts.seen import Place

_SPOKEN: dict[type, str] = {str: "text", list: "list", dict: "table"}
_TAG = re.compile(r"cu\d+|cpu|rocm[\d.]+|xpu")
_TAGS, _PYTHON = re.compile(r"-([^-]+)-([^-]+)-([^-]+)\.whl$"), re.compile(r"(cp|py)3(\d*)")
_WHEEL = re.compile(r"/([A-Za-z0-9_.]+)-([^-/]+)-[^/]*\.whl(?:#.*)?$")


class LockError(BadRequest):
    """A file that is no lock file that gpudoctor reads. One line and exit 2."""


class Package(NamedTuple):
    """One package that is installed."""

    name: str
    version: str  # with its local part, "2.7.1+cu128"
    source: Place
    build: str | None = ""  # by its package index: "cu128", "" for the default index, None for one that is unknown
    cuda: str = ""  # of conda's build, "12.6"
    tool: str = "pip"  # "conda" for a package of conda's
    is_installable: bool = True  # False if no locked wheel is for the platform and Python, and no source is locked


class Wanted(NamedTuple):
    """For what a lock file is read."""

    environment: Mapping[str, str]  # the names of PEP 508
    extras: frozenset[str]
    groups: frozenset[str]
    part: str = ""  # the member of a workspace, or the environment of pixi; "" for the default one
    main: bool = True  # whether what belongs to no group counts
    driver_cuda: CudaVersion | None = None  # that conda's solver sees

    def holds(self, marker: str) -> bool:
        """Return whether a marker holds for the platform; raises LockError for one that cannot be read."""
        if not marker:
            return True
        for one in (*self.extras, ""):
            holds = marker_holds(marker, {**self.environment, "extra": one})
            if holds is None:
                raise LockError(f"the marker {marker[:80]!r} cannot be read")
            if holds:
                return True
        return False


def refuse_other_shape(value: object, shape: Any, file: str, name: str = "the file") -> None:
    """Raise LockError for a value of another type than its tool writes; a key may be missing, "*" is any key."""
    wanted = shape if isinstance(shape, type) else type(shape)
    if not isinstance(value, wanted):
        raise LockError(f"{file}: {name} is no {_SPOKEN[wanted]}")
    if isinstance(shape, type):
        return
    if isinstance(value, list):
        for one in value:
            refuse_other_shape(one, shape[0], file, f"an entry of {name}")
    elif isinstance(value, dict):
        for key, one in value.items():
            if (below := shape.get(key, shape.get("*"))) is not None:
                refuse_other_shape(one, below, file, f"`{key[:80]}`")


def build_of(address: str) -> str | None:
    """Return the build that an index serves, by its address; "" for the default index and its mirrors."""
    last = address.rstrip("/").rpartition("/")[2]
    if not address or last == "simple":
        return ""
    return last if _TAG.fullmatch(last) else None


def of_wheel(address: str) -> tuple[str, str] | None:
    """Return the name and version that the address of a wheel tells."""
    found = _WHEEL.search(address.replace("%2B", "+").replace("%2b", "+"))
    return (normal(found[1]), found[2]) if found else None


def has_file_for(files: Iterable[str], environment: Mapping[str, str]) -> bool:
    """Return whether one of the locked files can be installed; a source can, and so can what lists none."""
    names = [one.partition("#")[0].rpartition("/")[2] for one in files]
    return not names or any(not one.endswith(".whl") or _fits(one, environment) for one in names)


def _fits(wheel: str, environment: Mapping[str, str]) -> bool:
    """Whether the tags of a wheel are of the platform and of CPython (PEP 425, PEP 600)."""
    found = _TAGS.search(wheel)
    if found is None:
        return True
    minor = int(environment["python_version"].partition(".")[2])
    is_stable = "abi3" in found[2]
    pythons = [(one[1], int(one[2] or 0)) for one in _PYTHON.finditer(found[1])]
    fits = any(one == "py" or at == minor or (is_stable and at <= minor) for one, at in pythons)
    families = {"linux": ("manylinux", "linux"), "win32": ("win_", "win32"), "darwin": ("macosx",)}
    machine = {"arm64": ("arm64", "universal2"), "AMD64": ("amd64",), "ARM64": ("arm64",)}
    system = environment["sys_platform"]
    ends = machine.get(environment["platform_machine"], (environment["platform_machine"],))
    ends = (*ends, "universal2", "intel") if system == "darwin" else ends
    return fits and any(
        one == "any" or (one.startswith(families[system]) and one.endswith(ends)) for one in found[3].split(".")
    )


class Lines:
    """The lines in which packages begin, by their name; of several of one name in the order of the file."""

    def __init__(self, text: str, pattern: str) -> None:
        """`pattern` has the name as its first group."""
        self._lines: dict[str, list[int]] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            if said := re.match(pattern, line):
                self._lines.setdefault(said[1], []).append(number)

    def of(self, name: str, which: int = 0) -> int:
        """Return the line of the package with this name that comes at this place; 0 if there is none."""
        found = self._lines.get(name, [])
        return found[which] if which < len(found) else 0


def tables(document: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of an array; raises LockError where it is none."""
    listed = document.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise LockError(f"{name} is no list of packages")
    yield from listed


def texts(value: object) -> Iterable[str]:
    """Return the texts of a list; nothing for anything else."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
