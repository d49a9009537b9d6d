"""Which cuDNN a framework's process gets on Windows, as far as its files tell.

By what the framework's own libraries import, what its `__init__.py` opens, and Microsoft's search order
(`doctor.loader.dlls`). A name holds cuDNN's major there, so the DLL of another major never answers.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.host import Host
from doctor.host.optional_reads import real_path_of
from doctor.loader.cards import Dlls, card_of
from doctor.loader.dlls import (
    PATH_UNKNOWN,
    Folder,
    answer,
    askers,
    imports_of,
    in_order,
    known_dlls,
    of_a_program,
    opened_at_once,
)
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import FoundBy, LoaderFacts, Outcome, Prediction, Way
from doctor.model.facts.seen import Fact, Seen, Unseen, value_or

_CUDNN = "cudnn64_"


class _Asked(NamedTuple):
    """A DLL that is asked for by its name."""

    name: str
    asker: str  # path of the library that imports it, "" where code opens it
    folders: tuple[Folder, ...]
    uses_path: bool


def predictions(
    host: Host, search: LoaderFacts, environments: Fact[tuple[Environment, ...]]
) -> Fact[tuple[Prediction, ...]]:
    """What every framework gets that is no CPU build."""
    if isinstance(environments, Unseen):
        return environments
    path = tuple(one.path for one in value_or(search.search, ()) if one.exists)
    to_windows = known_dlls(host)
    found = [
        one
        for environment in environments.value
        for framework in value_or(environment.frameworks, ())
        if not framework.is_cpu_build and not framework.is_planned
        for one in _of_framework(host, environment, framework, path, to_windows)
    ]
    return Seen(tuple(found), "the libraries' imports, and the search order of Windows")


def _of_framework(
    host: Host, environment: Environment, framework: Framework, path: tuple[str, ...], to_windows: frozenset[str]
) -> Iterator[Prediction]:
    card = card_of(framework.package)
    known = card.dlls if card else None
    if known is None:
        if isinstance(framework.cudnn, Seen):
            yield _told(environment, framework, "", Unseen(f"how {framework.package} opens DLLs is not known"))
        return
    opened = dict(_opened_at_once(host, framework, known))
    for name, there in opened.items():
        way = Way(FoundBy.ABSOLUTE, of=f"{framework.path}/__init__.py", entry=name)
        yield _told(environment, framework, name, Seen(there, there))._replace(way=way, intended=Seen(there, there))
    for asked in _asked(host, environment, framework, known, path):
        if asked.name.lower() not in {name.lower() for name in opened}:
            opened[asked.name] = ""
            folders = in_order(host, asked.name, asked.folders, to_windows)
            in_turn = asked._replace(folders=folders)
            yield _answer(host, environment, framework, in_turn, is_path_known=bool(path))


def _opened_at_once(host: Host, framework: Framework, known: Dlls) -> Iterator[tuple[str, str]]:
    """Name and path of cuDNN's DLLs in the package's lib folder, where its code opens them all by their paths."""
    for name in opened_at_once(host, framework, known):
        if name.lower().startswith("cudnn") and name.lower().endswith(".dll"):
            yield name, real_path_of(host, f"{framework.path}/lib/{name}")


def _asked(
    host: Host, environment: Environment, framework: Framework, known: Dlls, path: tuple[str, ...]
) -> Iterator[_Asked]:
    """By an import, or by code that opens cuDNN by its name when it is used."""
    for asking in askers(host, environment, framework, path):
        for name in imports_of(host, asking.path):
            if name.lower().startswith(_CUDNN):
                yield _Asked(name, asking.path, asking.folders, asking.uses_path)
    for name in known.opens(framework) if known.opens else ():
        if name.startswith(_CUDNN):
            yield _Asked(name, "", of_a_program(environment, path), uses_path=True)


def _answer(
    host: Host, environment: Environment, framework: Framework, asked: _Asked, *, is_path_known: bool
) -> Prediction:
    answered = answer(host, environment, asked.name, asked.folders)
    first = answered.folder
    if first:
        there = real_path_of(host, f"{first.path}/{asked.name}")
        own = there if there.startswith(f"{framework.path}/") else ""
        told = _told(environment, framework, asked.name, Seen(there, there))
        intended = Seen(own, own) if own else Unseen(f"{framework.label} brings no {asked.name} along")
        return told._replace(way=first.way, library=asked.asker, intended=intended)
    if asked.uses_path and not is_path_known:
        return _told(environment, framework, asked.name, Unseen(f"{asked.name}: {PATH_UNKNOWN}"))
    if answered.unsure:
        why = f"{answered.foreign} is for another type of machine, and whether the search goes on is not known"
        return _told(environment, framework, asked.name, Unseen(why))
    why = f"{asked.name}, which {asked.asker or framework.label} asks for, is in no directory that is searched"
    if answered.foreign:
        why += f"; {answered.foreign} is for another type of machine"
    told = _told(environment, framework, asked.name, Unseen(why))
    return told._replace(outcome=Outcome.MISSING, library=asked.asker, foreign=answered.foreign)


def _told(environment: Environment, framework: Framework, name: str, path: Fact[str]) -> Prediction:
    return Prediction(
        environment=environment.prefix,
        asker=framework.package,
        soname=name,
        path=path,
        intended=Unseen(f"{framework.label} brings no such DLL along"),
        outcome=Outcome.FOUND if isinstance(path, Seen) else Outcome.UNREAD,
    )
