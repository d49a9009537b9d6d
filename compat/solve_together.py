"""Whether builds go together in one environment, and what is against it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compat.build import release_key
from compat.matrix import Matrix
from compat.overlap import inside, overlap
from compat.reason import BAD, UNKNOWN, Circumstances, Reason
from compat.record import NamedTuple
from compat.row import ConflictRow
from compat.solve_builds import Candidate
from compat.solve_cudnn import cudnn_wheel

_HARMLESS = "info"
_ANY_PYTHON = frozenset({"keras", "jax"})  # pure Python: one wheel for all
# "nvidia-cudnn-cu12" and "nvidia-cudnn-cu13" unpack into one directory, nvidia/cudnn, and own the same files there.
_MAJOR = re.compile(r"(.+)-cu(\d\d)")
# Distributions of one import package; the conflicts that the matrix knows of name some of the pairs.
_TWIN = re.compile(r"(cupy|mxnet|onnxruntime|paddlepaddle|tensorflow)(-cpu|-gpu|-cuda?\d+x?)?")


class Clash(NamedTuple):
    """Why some builds do not go together, or nobody knows whether they do."""

    about: str  # the same for clashes of one kind: the distribution, "python"
    reason: Reason  # bad or unknown
    lasts: bool = True  # whatever joins them; False where a third build may narrow things down to what is known


Wanted = dict[str, list[tuple[str, Candidate]]]


def clashes(chosen: Sequence[Candidate], circumstances: Circumstances, matrix: Matrix) -> Iterator[Clash]:
    """Everything against these builds in one environment, the cheapest to find first; none where they go together."""
    yield from _pythons(chosen)
    wanted = _wanted(chosen)
    yield from _twins(wanted)
    yield from _shared_directories(wanted)
    yield from _unsaid(chosen)
    yield from _pins(wanted)
    yield from _cudnn(wanted, circumstances, matrix)
    yield from _known(wanted, matrix)


def common_pythons(chosen: Sequence[Candidate]) -> tuple[str, ...] | None:
    """The Pythons that all of them have a wheel for, newest first; None where no row says any."""
    said = [set(one.row.python) for one in chosen if one.row.python]
    if not said:
        return None
    return tuple(sorted(set.intersection(*said), key=_python_key, reverse=True))


def _python_key(python: str) -> tuple[bool, tuple[int, ...]]:
    """Free-threaded builds ("3.13t") last."""
    return not python.endswith("t"), tuple(map(int, python.rstrip("t").split(".")))


def _wanted(chosen: Sequence[Candidate]) -> Wanted:
    wanted: Wanted = {}
    for one in chosen:
        for name, specifier in one.wants.items():
            wanted.setdefault(name, []).append((specifier, one))
    return wanted


def _reason(kind: str, what: str, owners: Sequence[Candidate], *more: str) -> Reason:
    """A reason whose source is that of the rows concerned."""
    named = tuple(dict.fromkeys(one.name for one in owners))
    sources = dict.fromkeys((*(one.row.source for one in owners), *more))
    return Reason(kind, what, named, "; ".join(sources))


def _pythons(chosen: Sequence[Candidate]) -> Iterator[Clash]:
    silent = [one for one in chosen if one.row.python is None and one.row.package not in _ANY_PYTHON]
    for one in silent if len(silent) < len(chosen) else ():
        yield Clash("python", _reason(UNKNOWN, f"for which Pythons {one.label} has a wheel is not recorded", [one]))
    if common_pythons(chosen) == ():
        spans = ", ".join(f"{one.label} {_span(one.row.python or ())}" for one in chosen if one.row.python)
        yield Clash("python", _reason(BAD, f"no Python has wheels of all: {spans}", chosen))


def _span(pythons: Sequence[str]) -> str:
    plain = sorted((one for one in pythons if not one.endswith("t")), key=_python_key)
    return f"{plain[0]} to {plain[-1]}" if len(plain) > 1 else ", ".join(plain or pythons)


def _twins(wanted: Wanted) -> Iterator[Clash]:
    """Distributions of one import package."""
    imported: dict[str, list[str]] = {}
    for name in wanted:
        found = _TWIN.fullmatch(name)
        if found:
            imported.setdefault(found[1], []).append(name)
    for package, names in imported.items():
        if len(names) > 1:
            what = f"{' and '.join(names)} are one import package, {package}: they overwrite each other"
            yield Clash(package, _reason(BAD, what, [wanted[name][0][1] for name in names]))


def _shared_directories(wanted: Wanted) -> Iterator[Clash]:
    """Wheels of two CUDA majors that own the same files; one clash for all of them."""
    majors: dict[str, list[str]] = {}
    for name in wanted:
        found = _MAJOR.fullmatch(name)
        if found:
            majors.setdefault(found[1], []).append(name)
    shared = [sorted(names) for _, names in sorted(majors.items()) if len(names) > 1]
    if not shared:
        return
    names = next((one for one in shared if one[0].startswith("nvidia-cudnn")), shared[0])
    owners = [wanted[name][0][1] for name in names]
    asked = " and ".join(f"{name} ({owner.label})" for name, owner in zip(names, owners, strict=True))
    more = f", as do {len(shared) - 1} more of that kind" if len(shared) > 1 else ""
    yield Clash("directory", _reason(BAD, f"{asked} unpack into one directory and overwrite each other{more}", owners))


def _pins(wanted: Wanted) -> Iterator[Clash]:
    """Requirements on one distribution that no version meets."""
    for name, asked in wanted.items():
        common = overlap(specifier for specifier, _ in asked) if len(asked) > 1 else "yes"
        if common == "yes":
            continue
        spelled = ", ".join(f"{owner.label} asks for {name}{specifier}" for specifier, owner in asked)
        kind = BAD if common == "no" else UNKNOWN
        doubt = "" if kind == BAD else "whether a release lies between is not recorded: "
        yield Clash(name, _reason(kind, f"{doubt}{spelled}", [owner for _, owner in asked]), lasts=kind == BAD)


def _cudnn(wanted: Wanted, circumstances: Circumstances, matrix: Matrix) -> Iterator[Clash]:
    """The one cuDNN that all of them are left with, on these cards."""
    for name, asked in wanted.items():
        against = cudnn_wheel(name, (specifier for specifier, _ in asked), circumstances, matrix).against
        if against:
            reason = _reason(against.kind, against.what, [owner for _, owner in asked], against.source)
            yield Clash(name, reason._replace(rows=(*reason.rows, *against.rows)))


def pins_to_add(chosen: Sequence[Candidate], circumstances: Circumstances, matrix: Matrix) -> tuple[str, ...]:
    """Requirements that keep pip from taking a release that has no code for the cards."""
    wanted = _wanted(chosen).items()
    wheels = (cudnn_wheel(name, (one for one, _ in asked), circumstances, matrix) for name, asked in wanted)
    return tuple(wheel.pin for wheel in wheels if wheel.pin)


def _known(wanted: Wanted, matrix: Matrix) -> Iterator[Clash]:
    """Conflicts that the matrix knows of, where all the distributions they name are there."""
    for row in matrix.conflicts():
        answer = _holds(row, wanted)
        if row.severity == _HARMLESS or answer == "no":
            continue
        owners = [wanted[name][0][1] for name in row.when]
        kind, doubt = (BAD, "") if answer == "yes" else (UNKNOWN, "in some of the versions that they admit: ")
        reason = _reason(kind, f"{doubt}{row.summary}", owners, row.source)
        reason = reason._replace(rows=(*reason.rows, f"conflicts.known[{row.id}]"))
        yield Clash(row.id, reason, lasts=kind == BAD)


def _holds(row: ConflictRow, wanted: Wanted) -> str:
    """Whether a conflict is there: "yes", "no", or "unknown" where some of the admitted versions have it."""
    if not row.when.keys() <= wanted.keys():
        return "no"
    answers = {inside([one for one, _ in wanted[name]], specifier) for name, specifier in row.when.items()}
    return "no" if "no" in answers else "unknown" if "unknown" in answers else "yes"


def remarks(chosen: Sequence[Candidate], matrix: Matrix) -> tuple[str, ...]:
    """What to know of a set that works: harmless conflicts, and CUDA that the system must bring."""
    wanted = _wanted(chosen)
    harmless = [row for row in matrix.conflicts() if row.severity == _HARMLESS and _holds(row, wanted) == "yes"]
    return (
        *(f"{row.summary}: {row.remedy}" for row in harmless),
        *(_from_system(one) for one in chosen if one.row.libraries == "system" and one.row.cuda),
    )


def _from_system(one: Candidate) -> str:
    cudnn = one.row.cudnn_accepts or (f"=={one.row.cudnn}" if one.row.cudnn else "")
    also = f" and cuDNN {cudnn}" if cudnn else ""
    return f"{one.label} takes CUDA {one.row.cuda}{also} from the system: install them beside it"


def _unsaid(chosen: Sequence[Candidate]) -> Iterator[Clash]:
    """What the rows leave open about libraries that several builds use."""
    users = [one for one in chosen if one.row.libraries in {None, "wheels"} and one.row.cuda]
    for one in users if len(users) > 1 else ():
        if one.row.pins is None:
            what = f"what {one.label} requires of NVIDIA's wheels is not recorded"
            yield Clash("unsaid", _reason(UNKNOWN, what, [one]))
    yield from _mixed(chosen)


def _mixed(chosen: Sequence[Candidate]) -> Iterator[Clash]:
    """A CUDA of the system in the process of one of another major version that is in the environment."""
    bringing = [one for one in chosen if one.row.libraries != "system" and one.row.cuda]
    for one in chosen:
        if one.row.libraries != "system" or not one.row.cuda:
            continue
        for other in bringing:
            if overlap((one.row.cuda, f"=={release_key(other.row.cuda or '')[0]}.*")) == "no":
                what = (
                    f"{one.label} takes CUDA {one.row.cuda} from the system, {other.label} brings CUDA "
                    f"{other.row.cuda}: which of the two a library finds is not certain"
                )
                yield Clash("system", _reason(UNKNOWN, what, [one, other]))
