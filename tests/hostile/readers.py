"""Every reader that the project has, with real content to damage: those of a machine's files, and those of bytes."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from doctor.host.root import RootHost
from doctor.model.facts.seen import value_or
from doctor.probes import ProbeRequest, look, private
from tests.hostile import odd
from tests.hostile.texts import TEXTS
from tests.hostile.trees import lay, more_files, scratch
from tests.hostile.watch import Call, Reading, Still, Watched, few_of_each
from tests.lab.cases import CASES
from tests.machine import report_on

_WITH_THEIR_OWN = {"server", "torch-and-cupy", "inference-server", "cluster-module"}  # kinds of files


class Reader(NamedTuple):
    """What reads some content; `read` raises what the reader may raise for no content at all."""

    name: str
    content: bytes
    read: Callable[[bytes], None]


class Readers(NamedTuple):
    """All of them, and the functions (module, name) that were at work when they read what is whole."""

    all: tuple[Reader, ...]
    seen: frozenset[tuple[str, str]]


@contextlib.contextmanager
def readers() -> Iterator[Readers]:
    """Lay machines of the lab, and find what reads them; they go with the context."""
    found: dict[tuple[str, bytes], Reading] = {}
    seen: set[tuple[str, str]] = set()
    _forget()
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        for host in _machines(Path(folder)):
            host.found = found
            _look_at(host)
            seen |= host.seen
        every = (*map(_of_file, few_of_each(found)), *of_texts())
        yield Readers(every, frozenset(seen | _called_by(every)))


def _forget() -> None:
    """Begin as every process does: what functions remember is read again; what an import reads was read before."""
    importlib.import_module("doctor.commands.policy.form")
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("compat", "doctor", "installers"):
            for one in vars(module).values():
                if isinstance(one, functools._lru_cache_wrapper):
                    one.cache_clear()


def of_texts() -> tuple[Reader, ...]:
    """Those of bytes alone."""
    return tuple(_of_text(name, content, read) for name, (read, *samples) in TEXTS.items() for content in samples)


def _machines(folder: Path) -> Iterator[Watched]:
    """A third of the lab's, and those of Windows."""
    for case in CASES:
        number = zlib.crc32(case.name.encode())  # which of them, another case does not change
        if number % 3 == 0 or "windows" in case.name or case.name in _WITH_THEIR_OWN:
            root = case.build(folder / case.name)
            if number % 15 == 0:
                lay(more_files(), os.fsencode(root))
            yield Watched(RootHost(str(root), case.variables()) if case.where == "root" else Still(root, case))
    root = folder / "odd"
    lay({path[1:].encode(): content for path, content in odd.FILES.items()}, os.fsencode(root))
    yield Watched(Still(root, CASES[0]))


def _look_at(host: Watched) -> None:
    if str(host.name) == "lab" and host.exists("/odd"):
        for call in odd.CALLS:
            call(host)
        return
    facts = look(host, ProbeRequest())
    private.look(host)
    for one in value_or(facts.cudnn, ()):
        _verified(one, host)
    found, host.found = host.found, None  # what follows reads the same files again
    report_on(facts, host)
    host.found = found


def _verified(copy: Any, host: Watched) -> None:
    from doctor.commands.verify.contents import changed

    changed(copy, host, every=True)


def _of_file(reading: Reading) -> Reader:
    def read(content: bytes) -> None:
        reading.host.lent = {reading.path: content}
        try:
            _first_that_ends(reading.calls[_AS_OFTEN[zlib.crc32(content) % len(_AS_OFTEN)] :] or reading.calls)
        finally:
            reading.host.lent = {}

    return Reader(reading.name, reading.content, read)


_AS_OFTEN = (0, 0, 0, 0, 0, 0, 1, 1, 1, 2)  # the innermost function costs least; what it returns is read by others


def _first_that_ends(calls: tuple[Call, ...]) -> None:
    """A function may leave an error to who called it; what not even the probe catches is raised."""
    for number, call in enumerate(calls, 1):
        try:
            call.repeat()
        except Exception:
            if number == len(calls):
                raise
        else:
            return


def _of_text(name: str, content: bytes, read: Callable[[bytes], object]) -> Reader:
    def call(damaged: bytes) -> None:
        found = read(damaged)
        if isinstance(found, Iterator):
            for _ in found:
                pass

    return Reader(name, content, call)


def _called_by(all_of: tuple[Reader, ...]) -> set[tuple[str, str]]:
    """Every function that runs while the readers of bytes read."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add((str(frame.f_globals.get("__name__")), frame.f_code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for one in all_of:
            one.read(one.content)
    finally:
        sys.setprofile(before)
    return seen
