"""Unpack a .tar.gz, .tar.xz or .zip that nobody trusts, into an empty directory.

Refused: names that are absolute or climb out, links that point outside, members that go through a link, devices and
the like, names twice, archives that unpack to far more than they are. Nothing is written through a link, and a big
member is never in memory as a whole.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable

from compat.base.paths import is_below
from compat.base.record import NamedTuple
from installers.archive import Member, UnsafeArchive, clean_name, damage_named, is_absolute, members
from installers.errors import written
from installers.progress import Progress, Report, silent


class Bounds(NamedTuple):
    """What an archive may unpack to."""

    entries: int = 200_000
    total_bytes: int = 64 << 30
    ratio: int = 200  # unpacked to packed, beyond `free_bytes`; CUDA's own archives stay below 10
    free_bytes: int = 256 << 20


BOUNDS = Bounds()


class _Tree:
    """The directory that fills up, and what it must not become."""

    def __init__(self, root: str, packed_bytes: int, bounds: Bounds, tell: Callable[[], None]) -> None:
        self._root = root
        self._bounds = bounds
        self._limit_bytes = min(bounds.total_bytes, bounds.free_bytes + bounds.ratio * packed_bytes)
        self._tell = tell
        self._kinds: dict[str, str] = {"": "directory"}
        self._directories: list[Member] = []
        self._written_bytes = 0

    def add(self, member: Member) -> None:
        """Write one member; raises UnsafeArchive."""
        known = self._kinds.get(_key(member.name))
        if known == member.kind == "directory":
            return
        if known is not None:
            raise UnsafeArchive(f"the archive contains {member.name!r} twice")
        self._make_parents(member.name)
        self._note(member.name, member.kind)
        {"file": self._file, "directory": self._directory, "link": self._link, "same": self._same}[member.kind](member)

    def finish(self) -> None:
        """Look at every link once all are there; directories get their times and modes last."""
        root = os.path.realpath(self._root)
        for name, kind in self._kinds.items():
            if kind == "link" and not is_below(os.path.realpath(self._path(name)), root):
                raise UnsafeArchive(f"the link {name!r} in the archive points outside of it")
        for member in reversed(self._directories):
            os.chmod(self._path(member.name), member.mode | stat.S_IRWXU)
            os.utime(self._path(member.name), (member.mtime_s, member.mtime_s))

    def _path(self, name: str) -> str:
        return os.path.join(self._root, *name.split("/"))

    def _note(self, name: str, kind: str) -> None:
        self._kinds[_key(name)] = kind
        if len(self._kinds) > self._bounds.entries:
            raise UnsafeArchive(f"the archive contains more than {self._bounds.entries} entries")

    def _make_parents(self, name: str) -> None:
        parts = name.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            parent = "/".join(parts[:depth])
            kind = self._kinds.get(_key(parent))
            if kind is None:
                os.mkdir(self._path(parent))
                self._note(parent, "directory")
            elif kind != "directory":
                raise UnsafeArchive(f"{name!r} in the archive is below {parent!r}, which is not a directory")

    def _directory(self, member: Member) -> None:
        os.mkdir(self._path(member.name))
        self._directories.append(member)

    def _file(self, member: Member) -> None:
        path = self._path(member.name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with written(path), open(os.open(path, flags, 0o600), "wb") as file:
            for chunk in member.chunks:
                self._written_bytes += len(chunk)
                if self._written_bytes > self._limit_bytes:
                    raise UnsafeArchive(f"the archive unpacks to more than {self._limit_bytes} bytes")
                file.write(chunk)
                self._tell()
        os.chmod(path, member.mode)
        os.utime(path, (member.mtime_s, member.mtime_s))

    def _link(self, member: Member) -> None:
        if not member.link or is_absolute(member.link):
            raise UnsafeArchive(f"the link {member.name!r} in the archive points to {member.link!r}")
        above = os.path.normpath(os.path.join(os.path.dirname(member.name), member.link)).replace("\\", "/")
        if above == ".." or above.startswith("../"):
            raise UnsafeArchive(f"the link {member.name!r} in the archive points to {member.link!r}, outside of it")
        os.symlink(member.link, self._path(member.name))
        with contextlib.suppress(NotImplementedError):  # a link's own time cannot be set everywhere
            os.utime(self._path(member.name), (member.mtime_s, member.mtime_s), follow_symlinks=False)

    def _same(self, member: Member) -> None:
        target = clean_name(member.link)
        if self._kinds.get(_key(target)) not in {"file", "same"}:
            raise UnsafeArchive(
                f"{member.name!r} in the archive is a hard link to {member.link!r}, which is not a file of it"
            )
        os.link(self._path(target), self._path(member.name), follow_symlinks=False)


def unpack(archive: str, into: str, report: Report = silent, bounds: Bounds = BOUNDS) -> None:
    """Unpack into the directory `into`, which is made; raises UnsafeArchive, BadArchive, LoginPage, OSError.

    After an error `into` holds what was unpacked until then. What is reported is how far the archive is read.
    """
    os.makedirs(into, exist_ok=True)
    with open(archive, "rb") as file, damage_named(archive):
        packed_bytes = os.fstat(file.fileno()).st_size
        tree = _Tree(
            into, packed_bytes, bounds, lambda: report(Progress("extract", archive, file.tell(), packed_bytes))
        )
        for member in members(file):
            tree.add(member)
    tree.finish()


def _key(name: str) -> str:
    """Two names with one key are one file: where the file system folds case, case does not count."""
    return os.path.normcase(name).replace("\\", "/")
