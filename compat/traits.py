"""What is true of a framework whatever its release: whose CUDA it runs on, what brings it, what shares a directory."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from compat.load import RowReader, load_file
from compat.row import TraitsRow
from compat.specifier import accepts
from compat.version import CudaVersion


@lru_cache(maxsize=1024)
def traits_of(name: str) -> TraitsRow:
    """The traits of the framework that a distribution belongs to; those that most packages have where no row names it.

    The shipped rows alone count: they belong to the code that reads a package, which no row of a user's replaces.
    """
    exact, patterns = _by_name()
    row = exact.get(name) or next((row for one, row in patterns if is_among(name, (one,))), None)
    return row or _default(name)


def is_for_gpus(name: str) -> bool:
    """Whether a distribution is published for GPUs only: tensorflow and ctranslate2 serve the CPU as well."""
    traits = traits_of(name)
    return "cuda" in name or (name in traits.gpu and name != traits.id)


def module_of(name: str) -> str:
    """The directory, below site-packages, of the package that a distribution installs."""
    major = name.partition("cuda")[2].partition("-")[0]
    return traits_of(name).module.format(major=major) or name.replace("-", "_")


def is_known(name: str) -> bool:
    """Whether a row names a distribution, as one of a framework or as one that changes with it."""
    return name in _followers() or traits_of(name).source != ""


@lru_cache(maxsize=1)
def frameworks_by_module() -> dict[str, str]:
    """The directories of frameworks below site-packages, each with the first distribution that installs it."""
    found: dict[str, str] = {}
    for row in _shipped():
        for name in (one for one in row.distributions if "*" not in one):
            if "/" not in module_of(name):
                found.setdefault(module_of(name), name)
    return found


def nearest_library(name: str, version: str, cuda: CudaVersion, there: Collection[str]) -> str:
    """The digits of the library that is opened where that of torch's CUDA is missing, "" for none.

    Releases that take the nearest of torch's major take the newest older one first; `there` are digits, "128".
    """
    if not _is_of(traits_of(name).nearest, version):
        return ""
    minors = sorted(int(digits[-1]) for digits in there if digits[:-1] == str(cuda.major))
    older = [minor for minor in minors if minor < cuda.minor]
    return f"{cuda.major}{(older or minors)[-1 if older else 0]}" if minors else ""


def takes_the_runtime_that_it_finds(name: str, version: str) -> bool:
    """Whether a release takes the library for the libcudart.so that it finds, not for torch's CUDA."""
    return _is_of(traits_of(name).finds_runtime, version)


def _is_of(releases: str, version: str) -> bool:
    return releases != "" and version[:1].isdigit() and accepts(releases, version)


@lru_cache(maxsize=1)
def _by_name() -> tuple[dict[str, TraitsRow], tuple[tuple[str, TraitsRow], ...]]:
    """The rows by the names without a star, and those with one: an environment has hundreds of distributions."""
    named = [(name, row) for row in _shipped() for name in row.distributions]
    return {name: row for name, row in named if "*" not in name}, tuple(pair for pair in named if "*" in pair[0])


@lru_cache(maxsize=1)
def _followers() -> frozenset[str]:
    return frozenset(name for row in _shipped() for name in row.followers)


def is_among(name: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns, with one star at most, stands for a distribution's name."""
    for pattern in patterns:
        start, star, end = pattern.partition("*")
        if name == pattern or (star and name.startswith(start) and name[len(start) :].endswith(end)):
            return True
    return False


@lru_cache(maxsize=1)
def _shipped() -> tuple[TraitsRow, ...]:
    reader = RowReader(TraitsRow, "frameworks.traits")
    return tuple(map(reader.read, load_file("frameworks")["tables"]["traits"]))


def _default(name: str) -> TraitsRow:
    return TraitsRow(
        id=name,
        distributions=(name,),
        one_directory=False,
        runs_on="",
        gpu=(),
        compiles=False,
        driver_compiles="",
        tagged=False,
        any_python=False,
        asked_as={},
        followers=(),
        module="",
        opens="",
        finds_wheels="",
        nearest="",
        finds_runtime="",
        preload={},
        instead={},
        own_tools=False,
        extended=False,
        cudnn_with=(),
        brings={},
        dependency=False,
        cpu_for=(),
        same_minor=False,
        source="",
        read_on="",
        confidence="",
        note="",
    )
