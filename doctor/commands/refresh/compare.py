"""What a row that was read says differently from the shipped one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from packaging.version import Version

from compat.artefact import ComponentRow
from compat.base.record import NamedTuple
from compat.load import columns_of
from compat.matrix import Matrix, accepts
from compat.row import CudnnBuildRow, CudnnRow, CudnnWheelRow, FrameworkRow
from compat.version import CudnnVersion
from doctor.model.encode import encode

# Identity, provenance and prose are no statements about the product.
_NOT_COMPARED = {"id", "package", "versions", "build", "os", "arch", "source", "read_on", "confidence", "note"}
_NOT_COMPARED |= {"unsure", "ended_earlier"}
NEW, SAME, MORE, DIFFERS = "new", "same", "more", "differs"


class Difference(NamedTuple):
    """One column on which two rows do not agree; null is what a row does not know."""

    column: str
    shipped: Any  # as JSON
    read: Any


class Change(NamedTuple):
    """What one row that was read means for the matrix."""

    row: Any
    kind: str  # "new", "same" (also where the shipped row knows more), "more" (it knows less), "differs"
    shipped: tuple[str, ...]  # ids of the shipped rows of the same build
    differences: tuple[Difference, ...]


def compare(row: Any, matrix: Matrix) -> Change:
    """A row beside the shipped ones (`matrix`); what the wheel does not say is no difference."""
    shipped = _counterparts(row, matrix)
    found = tuple(dict.fromkeys(str(one.id) for one in shipped))
    differences: dict[str, Difference] = {}
    for one in shipped:
        for name in columns_of(type(row)):
            if name not in _NOT_COMPARED and not _agree(name, getattr(one, name), getattr(row, name), matrix):
                differences.setdefault(name, _difference(name, getattr(one, name), getattr(row, name)))
    return Change(row, _kind(shipped, list(differences.values())), found, tuple(differences.values()))


def _difference(column: str, shipped: Any, read: Any) -> Difference:
    """Of a list that only grows, what is new in it: that the shipped row has no word of."""
    if column == "releases":
        return Difference(column, None, encode(tuple(one for one in read if one not in shipped)))
    return Difference(column, encode(shipped), encode(read))


def _kind(shipped: list[Any], differences: list[Difference]) -> str:
    if not shipped:
        return NEW
    if not differences:
        return SAME
    return MORE if all(one.shipped is None for one in differences) else DIFFERS


def _counterparts(row: Any, matrix: Matrix) -> list[Any]:
    if isinstance(row, FrameworkRow):
        release = row.versions.removeprefix("==")
        rows = [
            one
            for one in matrix.framework_rows(row.package, release)
            if set(one.os) & set(row.os) and set(one.arch) & set(row.arch)
        ]
        return [one for one in rows if one.build == row.build] or [one for one in rows if _is_renamed(row, one, matrix)]
    if isinstance(row, CudnnRow):
        return [one for one in matrix.rows("cudnn", "releases") if one.version == row.version]
    if isinstance(row, CudnnBuildRow):
        key = (row.version, row.cuda_major)
        return [one for one in matrix.rows("cudnn", "builds") if (one.version, one.cuda_major) == key]
    if isinstance(row, CudnnWheelRow):
        return [one for one in matrix.rows("cudnn", "wheels") if one.id == row.id]
    if isinstance(row, ComponentRow):
        of_id = {one.id: one for one in matrix.rows("redist-component", "components")}
        return [of_id[row.id]] if row.id in of_id else []
    return [one for one in matrix.rows("cuda", "toolkits") if one.release == row.release]


def _is_renamed(row: FrameworkRow, shipped: FrameworkRow, matrix: Matrix) -> bool:
    """Whether a shipped row of this very release speaks of the same build by another name ("cpu", "cu118", none)."""
    if shipped.versions != row.versions or shipped.cuda is None:
        return False
    if row.libraries and shipped.libraries and row.libraries != shipped.libraries:
        return False
    if not row.cuda or not shipped.cuda:
        return not row.cuda and not shipped.cuda
    return _same_range(shipped.cuda, row.cuda, _known_versions("cuda", matrix))


def _agree(column: str, shipped: Any, read: Any, matrix: Matrix) -> bool:
    if read is None or shipped == read or (column == "glibc" and not read):  # a row for Linux and others names it
        return True
    if shipped is None:
        return False
    if column in {"cuda", "cudnn_accepts"}:
        return _same_range(shipped, read, _known_versions(column, matrix))
    return column in _SAME_MEANING and _SAME_MEANING[column](shipped, read)


def _same_range(shipped: str, read: str, known: set[Any]) -> bool:
    """Two specifiers that admit the same of the versions there are; an empty one is no range but none at all."""
    if not shipped or not read:
        return False
    return all(accepts(shipped, version) == accepts(read, version) for version in known)


def _known_versions(column: str, matrix: Matrix) -> set[Any]:
    if column == "cuda":
        return {row.cuda for row in matrix.rows("cuda", "toolkits")}
    return {full for row in matrix.rows("cudnn", "releases") for full in row.full_versions}


def same_pins(shipped: dict[str, str], read: dict[str, str]) -> bool:
    """Shipped rows name fewer companions: the ones they name must be pinned alike."""
    return all(name in read and _clauses(pin) == _clauses(read[name]) for name, pin in shipped.items())


def _clauses(specifier: str) -> set[str]:
    return {clause.strip() for clause in specifier.split(",")}


def _same_members(shipped: tuple[Any, ...], read: tuple[Any, ...]) -> bool:
    return set(shipped) == set(read)


_SAME_MEANING: dict[str, Callable[[Any, Any], bool]] = {
    "cudnn": CudnnVersion.agrees_with,  # one may be known to more parts than the other
    "pins": same_pins,
    "targets": _same_members,
    "parts_linux": _same_members,
    "parts_windows": _same_members,
    # the libraries may ask for a newer one than the file's name promises (vLLM, whose tag is given by hand)
    "glibc": lambda shipped, read: bool(shipped) and Version(shipped) > Version(read),
    # an index may lack a build that was published all the same
    "full_versions": lambda shipped, read: set(read) <= set(shipped),
}
