"""Whether builds go together in one environment, and what is against it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import permutations

from compat.abi import distribution_limits
from compat.base.record import NamedTuple
from compat.build import compiles_alone, cudas_followed, is_default_build, release_key
from compat.matrix import Matrix
from compat.overlap import inside, overlap
from compat.reason import BAD, OK, UNKNOWN, Reason
from compat.row import ConflictRow, FrameworkRow
from compat.solve.candidates import SolveCandidate
from compat.solve.cudnn import CUDNN_WHEELS, cudnn_wheel
from compat.target import TargetMachine
from compat.traits import traits_of

_HARMLESS = "info"
_FIRST_WHOLE_MAJOR = 11
# "nvidia-cudnn-cu12" and "nvidia-cudnn-cu13" unpack into one directory, nvidia/cudnn, and own the same files there.
_MAJOR = re.compile(r"(.+)-cu(\d\d)")


class Conflict(NamedTuple):
    """Why some builds do not go together, or it is unknown whether they do."""

    about: str  # the same for clashes of one kind: the distribution, "python"
    kind: str  # bad or unknown
    tell: Callable[[], Reason]  # a search looks at thousands of clashes, and words are made for the few that are shown
    lasts: bool = True  # whatever joins them; False where a third build may narrow things down to what is known

    @property
    def reason(self) -> Reason:
        """It as text."""
        return self.tell()


Wanted = dict[str, list[tuple[str, SolveCandidate]]]


def clashes(chosen: Sequence[SolveCandidate], circumstances: TargetMachine, matrix: Matrix) -> Iterator[Conflict]:
    """Everything against these builds in one environment, the cheapest to find first; none where they go together.

    What installed ones disagree about among themselves is not of this set's making, and is left out.
    """
    held = [one for one in chosen if one.held]
    old = {clash.about for clash in _against(held, circumstances, matrix)} if held else set()
    yield from (clash for clash in _against(chosen, circumstances, matrix) if clash.about not in old)


def _against(chosen: Sequence[SolveCandidate], circumstances: TargetMachine, matrix: Matrix) -> Iterator[Conflict]:
    yield from _pythons(chosen)
    yield from _besides_pythons(chosen, circumstances, matrix, pins=True)


def besides_pins(two: Sequence[SolveCandidate], circumstances: TargetMachine, matrix: Matrix) -> Iterator[Conflict]:
    """The same but for what each requires of distributions and of Python; of builds that are not held."""
    return _besides_pythons(two, circumstances, matrix, pins=False)


def _besides_pythons(
    chosen: Sequence[SolveCandidate], circumstances: TargetMachine, matrix: Matrix, *, pins: bool
) -> Iterator[Conflict]:
    wanted = _wanted(chosen)
    yield from _twins(wanted)
    yield from _extensions(chosen, matrix)
    yield from _shared_directories(wanted)
    yield from _unsaid(chosen)
    if pins:
        yield from _pins(wanted)
    yield from _cudnn(wanted, circumstances, matrix)
    yield from _known(wanted, matrix)


def pythons_of(one: SolveCandidate) -> frozenset[str] | None:
    """Those that it has a wheel for, none where it takes any; None where no row says."""
    if one.row.python is None and not traits_of(one.row.package).any_python:
        return None
    return _set_of(one.row.python or ())


def same_python(one: frozenset[str] | None, other: frozenset[str] | None) -> str:
    """Whether two builds share a Python, by what `pythons_of` says of each: "yes", "no", "unknown"."""
    if one and other and not one & other:
        return "no"
    return "unknown" if (one is None) != (other is None) else "yes"


def pinned_apart(one: SolveCandidate, other: SolveCandidate) -> Conflict | None:
    """A distribution of which the two ask for different releases: most pairs that do not go together show it."""
    for name in sorted(one.wants.keys() & other.wants.keys()):
        if overlap((one.wants[name], other.wants[name])) == "no":
            asked = ((one.wants[name], one), (other.wants[name], other))
            return _clash(name, BAD, partial(_apart, name, asked, BAD), (one, other))
    return None


class Side(NamedTuple):
    """What of one build can be against another one, in the form that compares quickly."""

    wants: dict[str, str]
    package: str
    cuda: str  # "" where it brings none, or it is unknown which
    is_default: bool  # what pip takes without a word about an index
    host: str  # the package on whose CUDA it runs
    followed: tuple[frozenset[str], frozenset[str]] | None  # CUDAs of its host: see `cudas_followed`
    one_of_several: dict[str, str]  # import package -> the distribution of it that is there
    directories: dict[str, str]  # that wheels of every CUDA major own -> the wheel
    cudnn: frozenset[str]  # wheels of cuDNN
    conflicts: tuple[ConflictRow, ...]  # that speak of something it brings
    is_plain: bool  # it is not held, and at peace with itself


def side_of(one: SolveCandidate, matrix: Matrix) -> Side:
    """The side of one build."""
    row, names = one.row, one.wants.keys()
    several = {package: name for name in names for package in (_one_of_several(name),) if package}
    directories = {directory: name for name in names for directory in (_without_major(name),) if directory}
    single = len(several) == sum(bool(_one_of_several(name)) for name in names)
    single = single and len(directories) == sum(bool(_without_major(name)) for name in names)
    return Side(
        wants=one.wants,
        package=row.package,
        cuda=row.cuda or "",
        is_default=is_default_build(row),
        host="" if compiles_alone(row.package) else traits_of(row.package).runs_on,
        followed=cudas_followed(row, matrix),
        one_of_several=several,
        directories=directories,
        cudnn=frozenset(name for name in names if name.startswith(CUDNN_WHEELS)),
        conflicts=tuple(known for known in matrix.conflicts() if known.when.keys() & names),
        is_plain=single and not one.held,
    )


def worst_between(one: Side, other: Side, circumstances: TargetMachine, matrix: Matrix) -> str:
    """BAD, UNKNOWN or OK: the worst against two builds that lasts, besides their pins, Pythons and what is `unsaid`.

    It says the same as all clashes of the two, and is quick to find. Of builds that are plain.
    """
    if _are_twins(one, other) or _differ(one.directories, other.directories):
        return BAD
    if _on_another_cuda(one, other) or _on_another_cuda(other, one) or _meet(one, other):
        return BAD
    asked = ((name, _asks(name, (one, other))) for name in one.cudnn | other.cudnn)
    wheels = (cudnn_wheel(name, specifiers, circumstances, matrix) for name, specifiers in asked)
    against = {wheel.against.kind for wheel in wheels if wheel.against}
    return BAD if BAD in against else UNKNOWN if against else OK


def _on_another_cuda(one: Side, host: Side) -> bool:
    if one.host != host.package:
        return False
    if one.followed:
        return _is_unlike(one.followed, host.cuda, is_default=host.is_default)
    return _are_apart(one.cuda, host.cuda, paired=one.is_default and host.is_default)


def _is_unlike(followed: tuple[frozenset[str], frozenset[str]], brought: str, *, is_default: bool) -> bool:
    """Whether a follower that compares minors has no build for this CUDA where that of its host comes from."""
    return bool(brought) and brought not in followed[0 if is_default and followed[0] else 1]


def _are_apart(built: str, brought: str, *, paired: bool) -> bool:
    """Whether what is built for one CUDA is not for the other.

    What their makers pair on the package index need not be of the same minor: from 11 on one libcudart serves its major
    (vLLM 0.7.3 asks for the xformers built with 12.1, and for the torch with 12.4).
    """
    if not built or not brought or overlap((built, brought)) != "no":
        return False
    major = release_key(built)[0]
    return not paired or major < _FIRST_WHOLE_MAJOR or overlap((f"=={major}.*", brought)) == "no"


def _meet(one: Side, other: Side) -> bool:
    """Whether they have a conflict that the matrix knows of."""
    known = (*one.conflicts, *other.conflicts)
    there = one.wants.keys() | other.wants.keys() if known else set()
    found = (row.when for row in known if row.severity != _HARMLESS and row.when.keys() <= there)
    found = (when for when in found if not any(_yields(one, other, *two) for two in permutations(when, 2)))
    return any(
        all(inside(_asks(name, (one, other)), specifier) == "yes" for name, specifier in when.items()) for when in found
    )


def unsaid(one: SolveCandidate, other: SolveCandidate) -> Iterator[Conflict]:
    """What the rows of two builds leave open."""
    if one.row.pins is None or other.row.pins is None or "system" in (one.row.libraries, other.row.libraries):
        yield from _unsaid((one, other))


def _are_twins(one: Side, other: Side) -> bool:
    """Whether they bring two distributions of one import package, and neither does for both."""
    both = one.one_of_several.keys() & other.one_of_several.keys()
    pairs = ((one.one_of_several[name], other.one_of_several[name]) for name in both)
    return any(
        mine != others and not (_yields(one, other, mine, others) or _yields(one, other, others, mine))
        for mine, others in pairs
    )


def _yields(one: Side, other: Side, name: str, chosen: str) -> bool:
    """The same as `_gives_way`, of sides that are not held."""
    return name not in {one.package, other.package} and takes_the_place_of(chosen, name)


def _differ(one: dict[str, str], other: dict[str, str]) -> bool:
    return any(other[name] != one[name] for name in one.keys() & other.keys())


def _asks(name: str, sides: Iterable[Side]) -> list[str]:
    return [side.wants[name] for side in sides if name in side.wants]


def pairs_show_all(chosen: Sequence[SolveCandidate], matrix: Matrix) -> bool:
    """Whether what is against these builds shows between two of them: no subject is a matter of three.

    It is quick to see, and spares a search the whole comparison of most sets.
    """
    if len(chosen) < 3:
        return True
    wanted = _wanted(chosen)
    if any(len(asked) > 2 for asked in wanted.values()) or _share_no_python(chosen):
        return False
    there = wanted.keys()
    met = (row.when for row in matrix.conflicts() if row.when.keys() <= there)
    return not any(len({id(owner) for name in when for _, owner in wanted[name]}) > 2 for when in met)


def _share_no_python(chosen: Sequence[SolveCandidate]) -> bool:
    said = [_set_of(one.row.python) for one in chosen if one.row.python]
    return bool(said) and not frozenset.intersection(*said)


@lru_cache(maxsize=1024)
def _set_of(pythons: tuple[str, ...]) -> frozenset[str]:
    return frozenset(pythons)


def common_pythons(chosen: Sequence[SolveCandidate]) -> tuple[str, ...] | None:
    """The Pythons that all of them have a wheel for, newest first; None where no row says any."""
    said = [set(one.row.python) for one in chosen if one.row.python]
    if not said:
        return None
    return tuple(sorted(set.intersection(*said), key=_python_key, reverse=True))


@lru_cache(maxsize=256)
def _python_key(python: str) -> tuple[bool, tuple[int, ...]]:
    """Free-threaded builds ("3.13t") last."""
    return not python.endswith("t"), tuple(map(int, python.rstrip("t").split(".")))


def _wanted(chosen: Sequence[SolveCandidate]) -> Wanted:
    wanted: Wanted = {}
    for one in chosen:
        for name, specifier in one.wants.items():
            wanted.setdefault(name, []).append((specifier, one))
    return wanted


def _clash(
    about: str, kind: str, what: Callable[[], str], owners: Sequence[SolveCandidate], *, lasts: bool = True
) -> Conflict:
    """One whose reason has the rows concerned as its source."""
    return Conflict(about, kind, lambda: _reason(kind, what(), owners), lasts)


def _reason(kind: str, what: str, owners: Sequence[SolveCandidate], source: str = "", *more_rows: str) -> Reason:
    named = dict.fromkeys((*(one.name for one in owners if one.name), *more_rows))
    sources = dict.fromkeys((*(one.row.source for one in owners), *filter(None, (source,))))
    return Reason(kind, what, tuple(named), "; ".join(sources))


def _pythons(chosen: Sequence[SolveCandidate]) -> Iterator[Conflict]:
    silent = [one for one in chosen if one.row.python is None and not traits_of(one.row.package).any_python]
    for one in silent if len(silent) < len(chosen) else ():
        yield _clash("python", UNKNOWN, partial(_no_pythons_said, one), [one])
    if _share_no_python(chosen):
        yield _clash("python", BAD, partial(_no_python, chosen), chosen)


def _no_pythons_said(one: SolveCandidate) -> str:
    return f"the Pythons of {one.label}'s wheels are unknown"


def _no_python(chosen: Sequence[SolveCandidate]) -> str:
    spans = ", ".join(f"{one.label} {_span(one.row.python or ())}" for one in chosen if one.row.python)
    return f"no Python has wheels for all of them: {spans}"


def _span(pythons: Sequence[str]) -> str:
    plain = sorted((one for one in pythons if not one.endswith("t")), key=_python_key)
    return f"{plain[0]} to {plain[-1]}" if len(plain) > 1 else ", ".join(plain or pythons)


def _twins(wanted: Wanted) -> Iterator[Conflict]:
    """Distributions of one import package, but those that one of them requires itself: the files are in the latter."""
    imported: dict[str, list[str]] = {}
    for name, wishes in wanted.items():
        package = _one_of_several(name)
        if package and any(one.row.package == name or _one_of_several(one.row.package) != package for _, one in wishes):
            imported.setdefault(package, []).append(name)
    for package, named in imported.items():
        names = [name for name in named if not any(_gives_way(name, other, wanted) for other in named)]
        if len(names) > 1:
            what = partial(
                "{} are one import package, {}: they overwrite each other".format, " and ".join(names), package
            )
            yield _clash(package, BAD, what, [wanted[name][0][1] for name in names])


def takes_the_place_of(chosen: str, required: str) -> bool:
    """Whether a distribution with GPU code does for those who require the one for the CPU.

    pip installs both, so it must be installed last, after the other is removed: onnxruntime-gpu over onnxruntime.
    """
    package = _one_of_several(chosen)
    gpu = traits_of(chosen).gpu
    return bool(package) and package == _one_of_several(required) and chosen in gpu and required not in gpu


def displaced(chosen: Sequence[SolveCandidate]) -> dict[str, str]:
    """The distributions that are required and must give way, each with what takes its place."""
    names, wanted = {one.row.package for one in chosen}, _wanted(chosen)
    pairs = ((name, other) for name in wanted.keys() - names for other in sorted(names))
    return {name: other for name, other in sorted(pairs) if takes_the_place_of(other, name)}


@lru_cache(maxsize=4096)
def _one_of_several(name: str) -> str:
    """The import package for which there are several distributions, "" for any other."""
    traits = traits_of(name)
    return traits.id if traits.one_directory else ""


def _extensions(chosen: Sequence[SolveCandidate], matrix: Matrix) -> Iterator[Conflict]:
    """What is compiled against another framework runs in its process, on the CUDA that this one brings."""
    by_name = {one.row.package: one for one in chosen}
    for one in chosen:
        host = by_name.get(traits_of(one.row.package).runs_on)
        if host is None or compiles_alone(one.row.package):
            continue
        is_default = is_default_build(host.row)
        followed = cudas_followed(one.row, matrix)
        if followed and _is_unlike(followed, host.row.cuda or "", is_default=is_default):
            yield _clash("cuda", BAD, partial(_another_minor, one, host, followed[0] or followed[1]), [one, host])
        paired = is_default_build(one.row) and is_default
        if not followed and _are_apart(one.row.cuda or "", host.row.cuda or "", paired=paired):
            yield _clash("cuda", BAD, partial(_another_cuda, one, host), [one, host])


def _another_minor(one: SolveCandidate, host: SolveCandidate, cudas: Iterable[str]) -> str:
    built = ", ".join(sorted(each.removeprefix("==") for each in cudas))
    return f"{one.label} is built for CUDA {built} and refuses the CUDA {_plain(host)} of {host.label}"


def _plain(host: SolveCandidate) -> str:
    return (host.row.cuda or "").removeprefix("==")


def _another_cuda(one: SolveCandidate, host: SolveCandidate) -> str:
    return f"{one.label} is built for CUDA {one.row.cuda}, but {host.label} contains CUDA {host.row.cuda}"


def _shared_directories(wanted: Wanted) -> Iterator[Conflict]:
    """Wheels of two CUDA majors that own the same files; one clash for all of them."""
    majors: dict[str, list[str]] = {}
    for name in wanted:
        directory = _without_major(name)
        if directory:
            majors.setdefault(directory, []).append(name)
    shared = [sorted(names) for _, names in sorted(majors.items()) if len(names) > 1]
    if not shared:
        return
    names = next((one for one in shared if one[0].startswith(CUDNN_WHEELS)), shared[0])
    owners = [wanted[name][0][1] for name in names]
    yield _clash("directory", BAD, partial(_one_directory, names, owners, len(shared) - 1), owners)


@lru_cache(maxsize=4096)
def _without_major(name: str) -> str:
    found = _MAJOR.fullmatch(name)
    return found[1] if found else ""


@lru_cache(maxsize=4096)
def fills_a_place(name: str) -> bool:
    """Whether another distribution of another name may own the same files."""
    return bool(_one_of_several(name) or _without_major(name))


def _one_directory(names: Sequence[str], owners: Sequence[SolveCandidate], more: int) -> str:
    asked = " and ".join(f"{name} ({owner.label})" for name, owner in zip(names, owners, strict=True))
    others = f", as do {more} more of that kind" if more else ""
    return f"{asked} unpack into one directory and overwrite each other{others}"


def _pins(wanted: Wanted) -> Iterator[Conflict]:
    """Requirements on one distribution that no version meets."""
    for name, asked in wanted.items():
        if len(asked) == 1:
            continue
        common = overlap(specifier for specifier, _ in asked)
        if common == "yes":
            continue
        kind = BAD if common == "no" else UNKNOWN
        what = partial(_apart, name, asked, kind)
        yield _clash(name, kind, what, [owner for _, owner in asked], lasts=kind == BAD)


def _apart(name: str, asked: Sequence[tuple[str, SolveCandidate]], kind: str) -> str:
    doubt = "" if kind == BAD else "unknown: is there a version between them? "
    return doubt + ", ".join(_spelled(name, specifier, owner) for specifier, owner in asked)


def _spelled(name: str, specifier: str, owner: SolveCandidate) -> str:
    if owner.held and specifier.startswith("=="):
        return f"{name} {specifier[2:]} is installed"
    return f"{owner.label} requires {name}{specifier}"


def _cudnn(wanted: Wanted, circumstances: TargetMachine, matrix: Matrix) -> Iterator[Conflict]:
    """The one cuDNN that all of them are left with, on these cards."""
    for name, asked in wanted.items():
        if not name.startswith(CUDNN_WHEELS):
            continue
        against = cudnn_wheel(name, (specifier for specifier, _ in asked), circumstances, matrix).against
        if against:
            owners = [owner for _, owner in asked]
            tell = partial(_reason, against.kind, against.what, owners, against.source, *against.rows)
            yield Conflict(name, against.kind, tell)


def pins_to_add(
    chosen: Sequence[SolveCandidate], python: str, circumstances: TargetMachine, matrix: Matrix
) -> tuple[tuple[str, str], ...]:
    """Requirements that keep pip from taking what does not work, each with its reason."""
    wanted = _wanted(chosen).items()
    wheels = (cudnn_wheel(name, (one for one, _ in asked), circumstances, matrix) for name, asked in wanted)
    codes = ((wheel.pin, "newer releases of it have no code for these cards") for wheel in wheels if wheel.pin)
    limits = ((one, distribution_limits(one.row, one.versions, matrix, python).items()) for one in chosen)
    exact = {one.row.package for one in chosen if re.fullmatch(r"==[^,*]+", one.versions)}
    required = {name for one in chosen for name in one.row.pins or ()}
    abis = (
        (f"{name}{limit}", f"{one.label} needs it at its import")
        for one, each in limits
        for name, limit in each
        if name not in exact and (name in required or not matrix.has(name))  # no framework that nobody requires
    )
    return tuple(dict((*codes, *abis)).items())


def _known(wanted: Wanted, matrix: Matrix) -> Iterator[Conflict]:
    """Conflicts that the matrix knows of, where all the distributions they name are there."""
    for row in matrix.conflicts():
        if not row.when.keys() <= wanted.keys() or row.severity == _HARMLESS:
            continue
        if any(_gives_way(name, other, wanted) for name, other in permutations(row.when, 2)):
            continue
        answer = _holds(row, wanted)
        if answer == "no":
            continue
        owners = [wanted[name][0][1] for name in row.when]
        kind, doubt = (BAD, "") if answer == "yes" else (UNKNOWN, "in some of the versions that they allow: ")
        tell = partial(_reason, kind, f"{doubt}{row.summary}", owners, row.source, f"conflicts.known[{row.id}]")
        yield Conflict(row.id, kind, tell, lasts=kind == BAD)


def _gives_way(name: str, other: str, wanted: Wanted) -> bool:
    """Whether a distribution that others only require is removed for one that was chosen."""
    is_only_required = all(not one.held and one.row.package != name for _, one in wanted[name])
    return is_only_required and takes_the_place_of(other, name)


def _holds(row: ConflictRow, wanted: Wanted) -> str:
    """Whether a conflict is there: "yes", "no", or "unknown" where some of the admitted versions have it."""
    if not row.when.keys() <= wanted.keys():
        return "no"
    answers = {inside([one for one, _ in wanted[name]], specifier) for name, specifier in row.when.items()}
    return "no" if "no" in answers else "unknown" if "unknown" in answers else "yes"


def remarks(chosen: Sequence[SolveCandidate], matrix: Matrix) -> tuple[str, ...]:
    """What to know of a set that works: harmless conflicts, and CUDA that the system must bring."""
    wanted = _wanted(chosen)
    harmless = [row for row in matrix.conflicts() if row.severity == _HARMLESS and _holds(row, wanted) == "yes"]
    return (
        *(f"{row.summary}: {row.remedy}" for row in harmless),
        *(
            f"{name}, the build for the CPU, comes along: remove it and reinstall {other}, as below"
            for name, other in displaced(chosen).items()
        ),
        *needs_of_system(chosen),
    )


def needs_of_system(chosen: Sequence[SolveCandidate]) -> list[str]:
    """What the system must bring for each build of a set that brings no CUDA."""
    return [f"{one.label} {from_system(one.row)}" for one in chosen if one.row.libraries == "system" and one.row.cuda]


def from_system(row: FrameworkRow) -> str:
    """What the system must bring for a build that brings no CUDA."""
    cudnn = row.cudnn_accepts or (f"=={row.cudnn}" if row.cudnn else "")
    also = f" and cuDNN {cudnn}" if cudnn else ""
    return f"uses CUDA {row.cuda}{also} from the system: install them too"


def _unsaid(chosen: Sequence[SolveCandidate]) -> Iterator[Conflict]:
    """What the rows leave open about libraries that several builds use."""
    silent = [one for one in chosen if one.row.pins is None]
    users = [one for one in chosen if one.row.libraries in {None, "wheels"} and one.row.cuda] if silent else []
    installed = any(name.startswith("nvidia-") for one in chosen if one.held for name in one.row.pins or ())
    for one in users if len(users) > 1 or installed else ():
        if one in silent:
            what = partial("the NVIDIA wheels that {0.label} requires are unknown".format, one)
            yield _clash("unsaid", UNKNOWN, what, [one])
    yield from _mixed(chosen)


def _mixed(chosen: Sequence[SolveCandidate]) -> Iterator[Conflict]:
    """A CUDA of the system in the process of one of another major version that is in the environment."""
    users = [(one, one.row.cuda) for one in chosen if one.row.libraries == "system" and one.row.cuda]
    others = [one for one in chosen if one.row.libraries != "system" and one.row.cuda] if users else []
    bringing = [one for one in others if not traits_of(one.row.package).runs_on]  # on what another one brings
    for one, cuda in users:
        for other in bringing:
            if overlap((cuda, f"=={release_key(other.row.cuda or '')[0]}.*")) == "no":
                what = partial(_two_cudas, one, other)
                yield _clash("system", UNKNOWN, what, [one, other])


def _two_cudas(one: SolveCandidate, other: SolveCandidate) -> str:
    return (
        f"{one.label} uses CUDA {one.row.cuda} from the system, {other.label} contains "
        f"CUDA {other.row.cuda}: a library may find either"
    )
