"""A machine as it would be: the same, but for variables, links and files that a remedy changes.

Nothing is written anywhere. A library that is only foreseen has no content: what readers remember of a file they are
told (`doctor.host.snapshot.remembered` asks), and reading it otherwise fails with a reason.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO, TypeVar

from compat.record import NamedTuple
from doctor.host import READ_LIMIT_BYTES, FileStatus, Host, HostError, LinkLoop, Missing, Ran, Unreadable
from doctor.host.again import ALL, Asked, Difference, Earlier, Read, State, Variables, Watched, same
from doctor.host.base import StatusHost
from doctor.host.cache import Cache
from doctor.host.snapshot import memory_of

T = TypeVar("T")

_LINKS_AT_MOST = 40  # as the Linux kernel: MAXSYMLINKS
_CACHED = "/"  # what stands for `Changes.cached` among the variables
_FORESEEN = "it is not there yet: a remedy would bring it"
_MADE = FileStatus(kind="file", size_bytes=1, mode=0o755, uid=0, gid=0, mtime=0.0, device=0, inode=0)
_MADE_DIRECTORY = FileStatus(kind="dir", size_bytes=0, mode=0o755, uid=0, gid=0, mtime=0.0, device=0, inode=0)


class Changes(NamedTuple):
    """What differs from the machine that was looked at; paths are real ones."""

    environ: Mapping[str, str] | None = None  # the whole environment; None where it stays
    links: Mapping[str, str] = {}  # symbolic links by path, with what they say
    removed: frozenset[str] = frozenset()  # files, links and directories that are gone
    files: Mapping[str, bytes] = {}  # small files that are written
    cached: tuple[tuple[str, str], ...] = ()  # SONAME and path of what ldconfig would add to its cache
    foreseen: Mapping[str, Mapping[str, Any]] = {}  # by path: what is remembered of a library, by kind of memory

    @property
    def touch_files(self) -> bool:
        """Whether anything but the environment differs."""
        return bool(self.links or self.removed or self.files or self.foreseen)

    def without(self, paths: Iterable[str]) -> Changes:
        """With these paths, and what was foreseen there, gone."""
        gone = frozenset(paths)
        return self._replace(
            links={path: text for path, text in self.links.items() if path not in gone},
            files={path: content for path, content in self.files.items() if path not in gone},
            foreseen={path: said for path, said in self.foreseen.items() if path not in gone},
            removed=self.removed | gone,
        )


class Overlay(StatusHost):
    """A `Host` in front of another one."""

    def __init__(self, host: Host, changes: Changes) -> None:
        self.memory: Cache = memory_of(host)
        self.kind, self.name, self.os_family, self.is_live = host.kind, host.name, host.os_family, host.is_live
        self._asked = Asked()  # by the part of the look that is taken now
        said = host.environ if changes.environ is None else changes.environ
        self.environ: Mapping[str, str] = Variables(said, lambda: self._asked)
        self._host = host
        self._changes = changes
        self._is_windows = self.os_family == "windows"  # whose paths are one in any case of their letters
        self._touches = changes.touch_files or not self._is_windows
        made = (*changes.files, *changes.foreseen, *changes.links)
        self._folders = {parent for path in made for parent in _parents(path)}
        self._made = {*changes.files, *changes.foreseen, *self._folders}
        self._children: dict[str, list[str]] = {}  # names of what is made, by directory
        for path in {*made, *self._folders}:
            folder, _, name = path.rpartition("/")
            self._children.setdefault(folder or "/", []).append(name)
        # What the links of the machine as it is say that were met; "" for what is no link.
        self._texts: dict[str, str] = getattr(host, "links", {})
        self._directories: dict[str, tuple[str, set[str]]] = {}
        # What earlier looks at changes of this machine found, by part.
        self._known: dict[object, list[Earlier]] = getattr(host, "known", {})
        self._here: State | None = None
        self._apart: dict[int, Difference] = {}

    # --- what was looked at before --------------------------------------------------------------------------------

    def again(self, name: object, given: tuple[Any, ...], watched: Any, read: Callable[[Any], T]) -> T:
        """See `doctor.host.again`."""
        if self._is_windows:
            return read(watched)
        known = self._known.setdefault(name, [])
        for one in known:
            if one.given == given and same(one.read, watched) and not self._from(one.state).touches(one.asked):
                self._asked.add(one.asked)
                kept: T = one.answer
                return kept
        before, self._asked = self._asked, Asked()
        values: Read = {}
        try:
            answer = read(Watched(watched, values))
            known.append(Earlier(given, values, self._state(), self._asked, answer))
        finally:
            before.add(self._asked)
            self._asked = before
        return answer

    @property
    def cached(self) -> tuple[tuple[str, str], ...]:
        """What ldconfig would add to its cache: SONAME and path."""
        self._asked.variables.add(_CACHED)
        return self._changes.cached

    def _state(self) -> State:
        if self._here is None:
            changes = self._changes
            contents = (changes.links, changes.files, changes.foreseen)
            made = {path: tuple(each.get(path) for each in contents) for each in contents for path in each}
            folders = {path: () for path in self._folders if path not in made and not self._host.exists(path)}
            environ = self._host.environ if changes.environ is None else changes.environ
            said = {name: environ[name] for name in environ if name in environ}
            values = {**said, ALL: tuple(sorted(said.items())), _CACHED: changes.cached}
            self._here = State({**dict.fromkeys(changes.removed), **folders, **made}, values)
        return self._here

    def _from(self, state: State) -> Difference:
        if id(state) not in self._apart:
            self._apart[id(state)] = Difference(state, self._state())
        return self._apart[id(state)]

    def foretold(self, path: str, kind: str) -> Any:
        """What would be remembered of a library that is foreseen; None for any other file, and any other kind."""
        if not self._changes.foreseen:
            return None
        try:
            return self._changes.foreseen.get(self.real_path(path), {}).get(kind)
        except HostError:
            return None

    # --- where a path leads ---------------------------------------------------------------------------------------

    def real_path(self, path: str) -> str:
        """See Host."""
        if not self._touches:
            return self._host.real_path(path)
        real = self._located(path)
        if not self._is_made(real):
            self._host.link_status(real)  # raises Missing
        return real

    def _is_made(self, real: str) -> bool:
        return real in self._made

    def _located(self, path: str, *, follow_last: bool = True) -> str:
        """The path with its links resolved; what it leads to need not be there. Raises Missing, Unreadable."""
        folder, _, name = path.rpartition("/")
        places = self._asked.places
        if folder and name not in {"", ".", ".."}:
            if folder not in self._directories:
                passed: set[str] = set()
                try:
                    self._directories[folder] = self._walked(folder, passed, follow_last=True), passed
                finally:
                    places |= passed
            start, passed = self._directories[folder]
            places |= passed
            return self._walked(name, places, follow_last=follow_last, start=start, shown=path)
        return self._walked(path, places, follow_last=follow_last)

    def _walked(self, path: str, passed: set[str], *, follow_last: bool, start: str = "", shown: str = "") -> str:
        todo, done, links = [*reversed(path.split("/"))], start, 0
        while todo:
            part = todo.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                done = done.rpartition("/")[0]
                continue
            here = f"{done}/{part}" if done or self.os_family != "windows" else part
            passed.add(here)
            text = self._text_of(here, shown or path)
            if not text or not (follow_last or todo):
                done = here
                continue
            links += 1
            if links > _LINKS_AT_MOST:
                raise LinkLoop(shown or path)
            done = "" if text.startswith("/") else done
            todo.extend(reversed(text.split("/")))
        return done or "/"

    def _text_of(self, here: str, shown: str) -> str:
        """What the link at a path says, "" for none; raises Missing for what is removed."""
        if here in self._changes.links:
            return self._changes.links[here]
        if self._is_made(here):
            return ""
        if here in self._changes.removed:
            raise Missing(shown)
        if here not in self._texts:
            try:
                is_link = self._host.link_status(here).kind == "link"
                self._texts[here] = self._host.link_target(here) if is_link else ""
            except Missing:
                self._texts[here] = ""  # the question itself says so
        return self._texts[here]

    # --- the questions of a host ----------------------------------------------------------------------------------

    def status(self, path: str) -> FileStatus:
        """See Host."""
        if not self._touches:
            return self._host.status(path)
        real = self._located(path)
        if real in self._changes.files:
            return _MADE._replace(size_bytes=len(self._changes.files[real]))
        if real in self._changes.foreseen:
            return _MADE
        return _MADE_DIRECTORY if real in self._folders and not self._host.exists(real) else self._host.status(real)

    def link_status(self, path: str) -> FileStatus:
        """See Host."""
        if not self._touches:
            return self._host.link_status(path)
        real = self._located(path, follow_last=False)
        if real in self._changes.links:
            return _MADE._replace(kind="link")
        return self.status(real) if self._is_made(real) else self._host.link_status(real)

    def link_target(self, path: str) -> str:
        """See Host."""
        if not self._touches:
            return self._host.link_target(path)
        real = self._located(path, follow_last=False)
        return self._changes.links[real] if real in self._changes.links else self._host.link_target(real)

    def names(self, path: str) -> tuple[str, ...]:
        """See Host."""
        if not self._touches:
            return self._host.names(path)
        real = self._located(path)
        self._asked.listed.add(real)
        try:
            found = {name for name in self._host.names(real) if f"{real}/{name}" not in self._changes.removed}
        except Missing:
            if real not in self._folders:
                raise
            found = set()
        return tuple(sorted({*found, *self._children.get(real, ())}))

    def read_bytes(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """See Host."""
        real = self._readable(path)
        return self._changes.files.get(real) or self._host.read_bytes(real, limit_bytes)

    def open(self, path: str) -> BinaryIO:
        """See Host."""
        real = self._readable(path)
        if real in self._changes.files:
            return io.BytesIO(self._changes.files[real])
        return self._host.open(real)

    def _readable(self, path: str) -> str:
        if not self._touches:
            return path
        real = self._located(path)
        if real in self._changes.foreseen:
            raise Unreadable(path, _FORESEEN)
        return real

    def may_access(self, path: str, wanted: str) -> bool:
        """See Host; what a remedy brings is open to everybody for reading."""
        if not self._touches:
            return self._host.may_access(path, wanted)
        try:
            real = self._located(path)
        except HostError:
            return False
        return "w" not in wanted if self._is_made(real) else self._host.may_access(real, wanted)

    def run(self, argv: tuple[str, ...], timeout_s: float = 5.0, env: Mapping[str, str] | None = None) -> Ran:
        """See Host: what the machine as it is answered before."""
        return self._host.run(argv, timeout_s, env)

    def refuse_unsafe(self, path: str) -> None:
        """See Host."""
        self._host.refuse_unsafe(path)

    def kernel_machine(self) -> str:
        """See Host."""
        return self._host.kernel_machine()

    def libc_version(self) -> str:
        """See Host."""
        return self._host.libc_version()

    def space_bytes(self, path: str) -> int:
        """See Host."""
        return self._host.space_bytes(path)

    def drain(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """See Host."""
        return self._host.drain(path, limit_bytes)


def _parents(path: str) -> Iterable[str]:
    while path.count("/") > 1:
        path = path.rpartition("/")[0]
        yield path
