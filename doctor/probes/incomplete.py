"""Files that installed packages list in their RECORD, and that are not there, and libraries that were cut short.

Only frameworks and NVIDIA's wheels are looked at, and of their files those that a process loads: libraries, and the
Python modules of a framework, three directories deep: torch/nn/modules, tensorflow/python/ops (RECORD of torch 2.9.1
names 180 such directories, and all in all 15,000 files: headers, tests). A directory is listed once for all of its
modules. A file that somebody stripped or patched has another size and is whole all the same, so that only a shorter
one whose ELF headers speak of more counts. Source: PyPA, "Recording installed projects".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from doctor.binaries.elf import Elf, ElfError, ElfNotRead
from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import text_of
from doctor.host.snapshot import remembered
from doctor.model.facts.environment import Distribution, Incomplete
from doctor.model.facts.seen import Fact, Seen
from doctor.pyenv.metadata import RECORD_AT_MOST_BYTES, unquoted

_KIND, _MODULES = "libraries of RECORD", "modules of RECORD, three levels"
_ENDS = (".so", ".pyd,", ".dll,")
# path, digest, size; a path with a comma stands in quotes, and no library's has one
_LIBRARY = r"([^,\"\\]+\.(?:so(?:\.\d+)*|pyd|dll)),[^,]*,(\d{0,15})\r?"
_LIBRARIES_AT_MOST = 500  # of one distribution; jaxlib 0.7.2 lists 78
_CANDIDATES_AT_MOST = 5_000  # lines of one RECORD
_MODULE_ENDS = (".py,",)
_LEVELS_AT_MOST = 3  # of directories: listing those below, too, takes torch 3 ms more, and TensorFlow 10
_LEFT_OUT = frozenset({"benchmarks", "examples", "test", "testing", "tests"})  # directories that slim images go without
_NAME_BYTES = 64
_ELF = b"\x7fELF"
_OF_OTHER_RULES = "nvidia-cudnn"  # cudnn-install-incomplete looks at every file of it


def incomplete_among(
    host: Host, distributions: tuple[Distribution, ...], frameworks: Collection[str]
) -> Fact[tuple[Incomplete, ...]]:
    """What lacks libraries of its own; a distribution without a RECORD that can be read lists nothing."""
    asked = (one for one in distributions if one.kind == "wheel" and not one.hidden_by)
    found = [
        lacking
        for one in asked
        if one.name in frameworks or (one.name.startswith("nvidia-") and not one.name.startswith(_OF_OTHER_RULES))
        if (lacking := _lacking(host, one, has_modules=one.name in frameworks))
    ]
    return Seen(tuple(found), "RECORD files")


def _lacking(host: Host, one: Distribution, *, has_modules: bool) -> Incomplete | None:
    try:
        listed = listed_libraries(host, one)
        missing = list(_lost_modules(host, one)) if has_modules else []
    except HostError:
        return None
    damaged = []
    for name, size in listed[:_LIBRARIES_AT_MOST]:
        library = f"{one.site}/{name}"
        try:
            there = host.status(library).size_bytes
        except Missing:
            missing.append(library)
        except HostError:
            continue  # a directory that is closed to us says nothing about its files
        else:
            if there < size and _is_cut_short(host, library):
                damaged.append(library)
    if not (missing or damaged) or text_of(host, f"{one.metadata}/INSTALLER", _NAME_BYTES).strip() == "conda":
        return None
    return Incomplete(one.name, one.version, tuple(missing), tuple(damaged))


def listed_libraries(host: Host, one: Distribution) -> list[list[Any]]:
    """Return path below the site directory and size in bytes of each library of a RECORD; raises HostError."""
    return remembered(host, f"{one.metadata}/RECORD", _KIND, lambda: _libraries(host, one), _is_said)


def _libraries(host: Host, one: Distribution) -> list[list[Any]]:
    """Path below the site directory and size in bytes, 0 where it is not said; raises HostError."""
    text = _text(host, one)
    lines = dict.fromkeys(islice(_candidates(text, _ENDS), _CANDIDATES_AT_MOST))
    found = filter(None, map(re.compile(_LIBRARY).fullmatch, lines))
    return [[one[1], int(one[2] or 0)] for one in found if not one[1].startswith(("..", "/"))]


def _text(host: Host, one: Distribution) -> str:
    """Raises HostError."""
    return unquoted(host.read_bytes(f"{one.metadata}/RECORD", RECORD_AT_MOST_BYTES)).decode("utf-8", "replace")


def _lost_modules(host: Host, one: Distribution) -> Iterator[str]:
    """Modules whose source is gone, and of which no compiled form is there either; raises HostError."""
    path = f"{one.metadata}/RECORD"
    for folder, names in remembered(host, path, _MODULES, lambda: _modules(host, one), _are_modules).items():
        try:
            there = frozenset(host.names(f"{one.site}/{folder}"))
        except Missing:
            if not _LEFT_OUT.isdisjoint(folder.split("/")):
                continue
            there = frozenset()
        except HostError:
            continue  # a directory that is closed to us says nothing about its files
        for name in names:
            if name not in there and not any(each.startswith(name.removesuffix("py")) for each in there):
                yield f"{one.site}/{folder}/{name}"


def _modules(host: Host, one: Distribution) -> dict[str, list[str]]:
    """Names by directory, below the site directory: the packages, and what lies right in them; raises HostError."""
    text = _text(host, one)
    found: dict[str, list[str]] = {}
    for line in dict.fromkeys(islice(_candidates(text, _MODULE_ENDS), _CANDIDATES_AT_MOST)):
        folder, _, name = line.partition(",")[0].rpartition("/")
        if (
            folder
            and folder.count("/") < _LEVELS_AT_MOST
            and not folder.startswith(("..", "/", '"'))
            and "\\" not in line
        ):
            found.setdefault(folder, []).append(name)
    return found


def _are_modules(said: object) -> bool:
    return isinstance(said, dict) and all(
        not folder.startswith(("..", "/")) and isinstance(names, list) and all(isinstance(one, str) for one in names)
        for folder, names in said.items()
    )


def _candidates(text: str, ends: tuple[str, ...]) -> Iterator[str]:
    """The lines that may be such files': an expression over the whole text would take ten times as long."""
    for end in ends:
        place = text.find(end)
        while place >= 0:
            stop = text.find("\n", place)
            stop = len(text) if stop < 0 else stop
            yield text[text.rfind("\n", 0, place) + 1 : stop]
            place = text.find(end, stop)


def _is_said(said: object) -> bool:
    return isinstance(said, list) and all(
        isinstance(one, list) and [*map(type, one)] == [str, int] and not one[0].startswith(("..", "/")) for one in said
    )


def _is_cut_short(host: Host, path: str) -> bool:
    """Whether nothing is in it, or less than its own headers speak of."""
    try:
        with host.open(path) as stream:
            start = stream.read(len(_ELF))
            return not start or (start == _ELF and Elf(stream).is_truncated)
    except (HostError, ElfNotRead, OSError):
        return False  # nobody can tell
    except ElfError:
        return True
