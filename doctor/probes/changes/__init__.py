"""What happened to a machine, from the records that it keeps by itself: package managers, installers, boots, files.

One source is one file with `SOURCE`. Times in logs without a zone are local ones; a mounted disk's are read as if this
machine's zone were its own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from compat.base.discover import load_one, names_in
from compat.base.record import NamedTuple
from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Place

_LOG_BYTES = 64 << 20  # of one file, unpacked; apt's is some 100 KB a month
_LINE_BYTES, _PIECE_BYTES = 64 << 10, 256 << 10
_SAME_S = 3600.0  # within which two records of one change are one: apt writes when it starts, dpkg while it works


class Change(NamedTuple):
    """One thing that changed."""

    at_s: float  # seconds since the epoch
    what: str  # "installed", "upgraded", "downgraded", "removed", "changed", "built", "started"
    name: str  # of a package, a file or a kernel module
    source: Place
    old: str = ""  # release
    new: str = ""
    by: str = ""  # the command line, "pip"; "" where no record says
    where: str = ""  # prefix of the Python environment


class Records(NamedTuple):
    """What the machine recorded."""

    changes: tuple[Change, ...]  # oldest first
    begin_s: tuple[tuple[str, float], ...]  # the first time that each log knows of
    unread: tuple[tuple[str, str], ...]  # sources that are there and could not be read, and why


class Source(NamedTuple):
    """A kind of record."""

    title: str  # "apt"
    read: Callable[[Host, tuple[Environment, ...], float], Iterable[Change]]  # since a time; raises HostError
    is_log: bool = True  # False: it shows the last change of each thing only, so that it has no beginning


def records(host: Host, environments: tuple[Environment, ...], since_s: float = 0.0) -> Records:
    """Read every source; what one lacks or cannot be read never costs the others.

    Parts of a log that were last written before `since_s` are skipped.
    """
    found: list[Change] = []
    begins, unread = [], []
    package = sys.modules[__name__]
    for name in names_in(package):
        source = load_one(package, name, "SOURCE", Source)
        changes: list[Change] = []
        try:
            for one in source.read(host, environments, since_s):
                changes.append(one)  # noqa: PERF402 - what was read before an error stays
        except HostError as error:
            unread.append((source.title, str(error)))
        if changes and source.is_log:
            begins.append((source.title, min(one.at_s for one in changes)))
        found += changes
    return Records(tuple(_once(found)), tuple(begins), tuple(unread))


def _once(changes: list[Change]) -> Iterator[Change]:
    """Each change once, by the record that knows who did it."""
    kept: dict[tuple[str, str, str, str], Change] = {}
    for one in sorted(changes, key=lambda one: (one.at_s, not one.by)):
        key = (one.what, one.name, one.new or one.old, one.where)
        before = kept.get(key)
        if before is not None and one.at_s - before.at_s < _SAME_S and not (one.by and before.by):
            continue
        kept[key] = one
        yield one


def log_lines(host: Host, path: str, since_s: float) -> Iterator[tuple[int, str, Place]]:
    """Yield the lines of a log and of its rotated parts, oldest first: number, text, place. A cut file ends early.

    A part that was last written before `since_s` is skipped, unread. Raises HostError for a part that cannot be read,
    when the others have been.
    """
    folder, _, name = path.rpartition("/")
    parts = [one for one in names_of(host, folder) if one == name or _is_rotated(one, name)]
    failed: HostError | None = None
    for part in sorted(parts, key=lambda one: (one == name, -_number(one, name))):
        try:
            if since_s and host.status(f"{folder}/{part}").mtime < since_s:
                continue
            for number, line in enumerate(_text_lines(host, f"{folder}/{part}"), 1):
                yield number, line, Place(f"{folder}/{part}", number)
        except HostError as error:
            failed = failed or error
    if failed:
        raise failed


def _is_rotated(part: str, name: str) -> bool:
    rest = part.removeprefix(f"{name}.").removesuffix(".gz")
    return part.startswith(f"{name}.") and rest.isdecimal()


def _number(part: str, name: str) -> int:
    return int(part.removeprefix(f"{name}.").removesuffix(".gz")) if part != name else 0


def _text_lines(host: Host, path: str) -> Iterator[str]:
    """The lines of a file, packed by gzip or not, up to what is kept of one; a cut file ends early."""
    rest, left_bytes = b"", _LOG_BYTES
    with host.open(path) as file:
        pieces: Iterable[bytes] = iter(lambda: file.read(_PIECE_BYTES), b"")
        for piece in _unpacked(pieces) if path.endswith(".gz") else pieces:
            left_bytes -= len(piece)
            *whole, rest = (rest + piece.replace(b"\0", b"")).split(b"\n")  # a crash leaves runs of zeros in a log
            yield from map(_text, whole)
            if left_bytes < 0:
                return
            rest = rest[:_LINE_BYTES]  # of a longer line no more is shown; what follows it is newer
    yield _text(rest)


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    try:
        from compat.base.compression import Unpackable, unpacked  # late: zlib may be what is broken on this machine
    except ImportError:
        return
    with suppress(Unpackable):
        yield from unpacked(pieces, "gzip")


def _text(line: bytes) -> str:
    return line[:_LINE_BYTES].decode("utf-8", "replace").rstrip("\r")


def local_time(text: str, form: str = "%Y-%m-%d %H:%M:%S") -> float | None:
    """The seconds since the epoch of a local time; None for a text that is none."""
    try:
        return time.mktime(time.strptime(" ".join(text.split()), form))
    except (ValueError, OverflowError):
        return None


def zoned_time(text: str) -> float | None:
    """The same of a time with its zone, "2024-05-01T10:00:00+0000"."""
    from datetime import datetime  # late: only these logs need it

    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except (ValueError, OverflowError):
        return None
