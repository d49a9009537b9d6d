"""A machine as one look sees it: what was answered once is not asked again, and what files said is remembered.

The probes ask for the same directories and links over and over, each for its own purpose; nothing may depend on an
answer that changes in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from doctor.host import READ_LIMIT_BYTES, FileStatus, Host, HostError, Missing, Ran, Unreadable
from doctor.host.base import StatusHost
from doctor.host.cache import Cache, cache_for
from doctor.model.facts.failure import Unread
from doctor.model.facts.seen import Unseen

T = TypeVar("T")

_LISTED_AT_MOST_BYTES = 24 << 20  # of all directories together: a workstation's take 1 MiB
_DEEP = 100  # components of a path; each takes a call of ours
_NAME_BYTES = 50  # that a text takes besides its characters


class Snapshot(StatusHost):
    """A `Host` in front of another one, for a single look."""

    def __init__(self, host: Host) -> None:
        self.memory = cache_for(host)
        self.kind, self.name, self.os_family = host.kind, host.name, host.os_family
        self.environ, self.is_live = host.environ, host.is_live
        self.open, self.drain = host.open, host.drain
        self.link_status, self.link_target = host.link_status, host.link_target
        self.may_access, self.refuse_unsafe = host.may_access, host.refuse_unsafe
        self.kernel_machine, self.libc_version, self.space_bytes = (
            host.kernel_machine,
            host.libc_version,
            host.space_bytes,
        )
        self.set_by = getattr(host, "set_by", None)  # of an image: the line of its history that set a variable
        self.image_facts = getattr(host, "image_facts", Unseen("no image was looked at"))
        self.left_out: dict[Unread, None] = {}  # what a bound of ours left out
        self._host = host
        self._status: dict[str, FileStatus | HostError | None] = {}  # None: Missing
        self._names: dict[str, tuple[str, ...] | HostError | None] = {}
        self._listed_bytes = 0
        self._real: dict[str, str | HostError | None] = {}
        # What the overlays of this look share: what links say, "" for what is none, None for what is not there; where
        # paths lead, and what is passed on the way; of files what is remembered, by kind, and small contents, by limit.
        self.links: dict[str, str | None] = {}
        self.ways: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.said: dict[tuple[str, str], Any] = {}
        self.contents: dict[tuple[str, int], bytes] = {}
        self._ran: dict[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], Ran] = {}

    @property
    def unread(self) -> tuple[Unread, ...]:
        """What was not read: file systems that do not answer, what a bound left out, what of an image had no room."""
        return (*getattr(self._host, "unread", ()), *self.left_out)

    def run(self, argv: tuple[str, ...], timeout_s: float = 5.0, env: Mapping[str, str] | None = None) -> Ran:
        """See Host; what ended is not run again."""
        key = argv, tuple(sorted((env or {}).items()))
        if key not in self._ran:
            self._ran[key] = self._host.run(argv, timeout_s, env)
        return self._ran[key]

    def read_bytes(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """See Host."""
        return self._host.read_bytes(path, limit_bytes)

    def status(self, path: str) -> FileStatus:
        """See Host."""
        if path not in self._status:
            try:
                self._status[path] = self._host.status(path)
            except HostError as error:
                self._status[path] = _kept(error)
        return _told(self._status[path], path)

    def names(self, path: str) -> tuple[str, ...]:
        """See Host."""
        if path not in self._names:
            try:
                self._names[path] = self._within_bounds(path, self._host.names(path))
            except HostError as error:
                self._names[path] = _kept(error)
        return _told(self._names[path], path)

    def _within_bounds(self, path: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names, unless all that were listed in this look would take too much memory; raises Unreadable."""
        self._listed_bytes += sum(map(len, names)) + _NAME_BYTES * len(names)
        if self._listed_bytes > _LISTED_AT_MOST_BYTES:
            raise Unreadable(path, f"with it, {_LISTED_AT_MOST_BYTES >> 20} MiB of names were listed")
        return names

    def real_path(self, path: str) -> str:
        """See Host."""
        if path not in self._real:
            try:
                self._real[path] = self._below_its_directory(path) or self._host.real_path(path)
            except HostError as error:
                self._real[path] = _kept(error)
        return _told(self._real[path], path)

    def _below_its_directory(self, path: str) -> str:
        """The real path of what is no link itself, from that of its directory; "" where that does not tell it.

        A Windows disk is asked itself: it knows how the name is really spelled.
        """
        folder, _, name = path.rpartition("/")
        if not folder or name in {"", ".", ".."} or self.os_family == "windows" or path.count("/") > _DEEP:
            return ""
        try:
            place = f"{self.real_path(folder).rstrip('/')}/{name}"
            return "" if self.link_status(place).kind == "link" else place
        except HostError:
            return ""


def _kept(error: HostError) -> HostError | None:
    """To be remembered, a hundred thousand times in a hostile tree: None for Missing, others without their frames."""
    if isinstance(error, Missing):
        return None
    if error.__cause__:
        error.__cause__.__traceback__ = None
    return error.with_traceback(None)


def _told(answer: T | HostError | None, path: str) -> T:
    if answer is None:
        raise Missing(path)
    if isinstance(answer, HostError):
        raise answer.with_traceback(None)
    return answer


_NOTHING = Cache("")


def memory_of(host: Host) -> Cache:
    """What is remembered of files during this look; a host that is asked outside of one remembers nothing."""
    memory: object = getattr(host, "memory", _NOTHING)
    return memory if isinstance(memory, Cache) else _NOTHING


def remembered(host: Host, path: str, kind: str, read: Callable[[], T], is_such: Callable[[Any], bool]) -> T:
    """What `read` makes of a file, as JSON, from an earlier run where the file is the same and can still be read.

    `is_such` tells what `read` returned from what somebody else wrote. Raises HostError, and what `read` raises;
    TypeError where a file that is not there yet was foretold in a form that `read` would never return.
    """
    foretold = getattr(host, "foretold", None)  # an overlay's: of files that are not there yet, or were read before
    if foretold is None:
        return _remembered(host, path, kind, read, is_such)
    said: T | None = foretold(path, kind)
    if said is None:
        said = _remembered(host, path, kind, read, is_such)
        cast("Any", host).keep(path, kind, said)
    elif not is_such(said):
        raise TypeError(f"what was foretold of {path} ({kind}) has another form than what is read: {said!r}")
    return said


def _remembered(host: Host, path: str, kind: str, read: Callable[[], T], is_such: Callable[[Any], bool]) -> T:
    memory = memory_of(host)
    if memory is _NOTHING:
        return read()
    status = host.status(path)
    known: T = memory.get(kind, status)
    if is_such(known) and (memory.is_of_this_run(kind, status) or host.may_access(path, "r")):
        return known
    found = read()
    memory.put(kind, status, found)
    return found
