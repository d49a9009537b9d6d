"""A machine as it would be: the same, but for variables, links and files that a remedy changes.

Nothing is written anywhere. A library that is only foreseen has no content: what readers remember of a file they are
told (`doctor.host.snapshot.remembered` asks), and reading it otherwise fails with a reason.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from compat.base.record import NamedTuple
from doctor.host import READ_LIMIT_BYTES, FileStatus, Host, HostError, LinkLoop, Missing, Ran, Unreadable
from doctor.host.base import StatusHost
from doctor.host.cache import Cache
from doctor.host.snapshot import memory_of

Way = tuple[str, tuple[str, ...]]  # where a path leads, and every component of every path that was walked for it

_SMALL_BYTES, _CONTENTS_AT_MOST = 32 << 10, 200  # scripts and settings, which many looks read
_LINKS_AT_MOST = 40  # as the Linux kernel: MAXSYMLINKS
_FORESEEN = "it does not exist yet: the fix would create it"
_MADE = FileStatus(kind="file", size_bytes=1, mode=0o755, uid=0, gid=0, mtime=0.0, device=-1, inode=0)
_MADE_DIRECTORY = FileStatus(kind="dir", size_bytes=0, mode=0o755, uid=0, gid=0, mtime=0.0, device=0, inode=0)


def _made(path: str, content: bytes = b" ") -> FileStatus:
    """Each file is one of its own: the loader takes two names of one inode for one library, and so does a cache."""
    return _MADE._replace(size_bytes=len(content), inode=hash((path, content)))


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
        self.environ = host.environ if changes.environ is None else changes.environ
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
        self._own = {*self._made, *changes.links, *changes.removed}
        # What the links of the machine as it is say that were met; "" for what is no link, None for what is not there.
        self._texts: dict[str, str | None] = getattr(host, "links", {})
        self._directories: dict[str, Way] = {}
        self._ways: dict[str, Way] = {}
        self._shared: dict[str, Way] = getattr(host, "ways", {})  # of the machine as it is
        self._contents: dict[tuple[str, int], bytes] = getattr(host, "contents", {})
        self._said: dict[tuple[str, str], Any] = getattr(host, "said", {})

    @property
    def cached(self) -> tuple[tuple[str, str], ...]:
        """What ldconfig would add to its cache: SONAME and path."""
        return self._changes.cached

    def foretold(self, path: str, kind: str) -> Any:
        """What would be remembered of a library that is foreseen, and what was kept of a file; None for all else.

        Raises Missing.
        """
        try:
            real = self.real_path(path)
        except Missing:
            raise
        except HostError:
            return None
        return self._changes.foreseen.get(real, {}).get(kind) if real in self._made else self._said.get((kind, real))

    def keep(self, path: str, kind: str, said: Any) -> None:
        """What is remembered of a file, for other looks at changes of this machine; of one that is made, nothing."""
        real = self.real_path(path)
        if real not in self._made:
            self._said[kind, real] = said

    # --- where a path leads ---------------------------------------------------------------------------------------

    def real_path(self, path: str) -> str:
        """See Host."""
        if not self._touches:
            return self._host.real_path(path)
        real = self._located(path)
        if real in self._made:
            return real
        if real not in self._texts:
            self._host.link_status(real)  # raises Missing
        elif self._texts[real] is None:
            raise Missing(real)
        return real

    def _located(self, path: str) -> str:
        """The path with its links resolved; what it leads to need not be there. Raises Missing, Unreadable."""
        way = self._ways.get(path)
        if way is None:
            way = self._shared.get(path)
            if way is None or not self._own.isdisjoint(way[1]):
                way = self._way(path)
            self._ways[path] = way
        return way[0]

    def _way(self, path: str) -> Way:
        """The same, with all that was passed; shared with the other overlays where they would go that way, too."""
        folder, _, name = path.rpartition("/")
        passed: list[str] = []
        if folder and name not in {"", ".", ".."}:
            if folder not in self._directories:
                self._directories[folder] = self._walked(folder, passed, follow_last=True), tuple(passed)
            start, before = self._directories[folder]
            passed[:] = before
            real = self._walked(name, passed, follow_last=True, start=start, shown=path)
        else:
            real = self._walked(path, passed, follow_last=True)
        way = real, tuple(passed)
        if self._own.isdisjoint(passed):
            self._shared[path] = way
        return way

    def _named(self, path: str) -> str:
        """Where the path itself lies: a link that it names is left as it is."""
        return self._walked(path, [], follow_last=False)

    def _walked(self, path: str, passed: list[str], *, follow_last: bool, start: str = "", shown: str = "") -> str:
        todo, done, links = [*reversed(path.split("/"))], start, 0
        while todo:
            part = todo.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                done = done.rpartition("/")[0]
                continue
            here = f"{done}/{part}" if done or self.os_family != "windows" else part
            passed.append(here)
            text = None if here in self._own else self._texts.get(here)
            if text is None:
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
        if here in self._made:
            return ""
        if here in self._changes.removed:
            raise Missing(shown)
        if here not in self._texts:
            try:
                is_link = self._host.link_status(here).kind == "link"
                self._texts[here] = self._host.link_target(here) if is_link else ""
            except Missing:
                self._texts[here] = None  # the question itself says so
        return self._texts[here] or ""

    # --- the questions of a host ----------------------------------------------------------------------------------

    def status(self, path: str) -> FileStatus:
        """See Host."""
        if not self._touches:
            return self._host.status(path)
        real = self._located(path)
        if real in self._changes.files:
            return _made(real, self._changes.files[real])
        if real in self._changes.foreseen:
            return _made(real)
        return _MADE_DIRECTORY if real in self._folders and not self._host.exists(real) else self._host.status(real)

    def _kind(self, path: str) -> str:
        """Without the errors of a `status` for what is known not to be there: most of what is asked for is not."""
        if self._touches:
            try:
                real = self._located(path)
            except HostError:
                return ""
            if real not in self._made and self._texts.get(real, "") is None:
                return ""
        return super()._kind(path)

    def link_status(self, path: str) -> FileStatus:
        """See Host."""
        if not self._touches:
            return self._host.link_status(path)
        real = self._named(path)
        if real in self._changes.links:
            return _MADE._replace(kind="link")
        return self.status(real) if real in self._made else self._host.link_status(real)

    def link_target(self, path: str) -> str:
        """See Host."""
        if not self._touches:
            return self._host.link_target(path)
        real = self._named(path)
        return self._changes.links[real] if real in self._changes.links else self._host.link_target(real)

    def names(self, path: str) -> tuple[str, ...]:
        """See Host."""
        if not self._touches:
            return self._host.names(path)
        real = self._located(path)
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
        if not self._touches or real in self._changes.files:
            return self._changes.files.get(real) or self._host.read_bytes(real, limit_bytes)
        if (real, limit_bytes) not in self._contents:
            content = self._host.read_bytes(real, limit_bytes)
            if len(content) > _SMALL_BYTES or len(self._contents) == _CONTENTS_AT_MOST:
                return content
            self._contents[real, limit_bytes] = content
        return self._contents[real, limit_bytes]

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
        if real not in self._made and self._texts.get(real, "") is None:
            raise Missing(real)
        return real

    def may_access(self, path: str, wanted: str) -> bool:
        """See Host; what a remedy brings is open to everybody for reading."""
        if not self._touches:
            return self._host.may_access(path, wanted)
        try:
            real = self._located(path)
        except HostError:
            return False
        return "w" not in wanted if real in self._made else self._host.may_access(real, wanted)

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
