"""A directory as a machine: a mounted image, a container's root, a Windows disk, a test's tree.

Nothing in it is executed, and no path leaves it: absolute symbolic links start again at the root, and ".." stops
there. A tree with a Windows folder is a Windows disk: its drive letter is the root, and names match in any case.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence

from compat.base.errors import GpudoctorError
from compat.base.mounts import answers, dead_mount, hanging_mounts, why_dead
from doctor.host import HostError, LinkLoop, Missing, Unreadable
from doctor.host.base import FileHost
from doctor.host.files import names_in, reason
from doctor.host.offline import OfflineHost
from doctor.host.tree import Place, Tree
from doctor.model.facts.failure import Unread

_LINKS_AT_MOST = 40  # as the Linux kernel: MAXSYMLINKS
_PATH_AT_MOST_CHARS = 4096  # as the Linux kernel: PATH_MAX
_LINKS_PARTS_AT_MOST = 200_000  # of all links that are followed in one look; a workstation's come to a thousand


class NotADirectory(GpudoctorError):
    """What was named as a root is no directory that can be read."""


class ResolvingHost(OfflineHost):
    """Files below a root that no path leaves: links are resolved here, over two questions that a subclass answers."""

    os_family = "linux"

    _links_parts = 0  # of the links that were followed

    @property
    def _any_case(self) -> bool:
        return self.os_family == "windows"

    def _text_at(self, parts: list[str]) -> str | None:
        """The text of the link at these components, None for anything else; raises OSError where nothing is there."""
        raise NotImplementedError

    def _names_at(self, parts: list[str], shown: str) -> tuple[str, ...]:
        """The names in the directory there; raises HostError."""
        raise NotImplementedError

    def real_path(self, path: str) -> str:
        """See Host."""
        parts = self._resolve(path, follow_last=True)
        if not self._is_there(parts):
            raise Missing(path)
        prefix = "C:/" if self._any_case else "/"
        return prefix + "/".join(parts)

    def _is_there(self, parts: list[str]) -> bool:
        try:
            self._text_at(parts)
        except OSError:
            return False
        return True

    def _resolve(self, path: str, *, follow_last: bool) -> list[str]:
        """The components below the root, links resolved by us so that none leaves the root."""
        todo = self._split(path)[::-1]
        done: list[str] = []
        links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                del done[-1:]
                continue
            part = self._spelling(done, part)
            wanted = follow_last or todo
            target = self._link_at([*done, part], path, is_last=not todo) if wanted else None
            if target is None:
                done.append(part)
                continue
            links += 1
            if links > _LINKS_AT_MOST:
                raise LinkLoop(path)
            self._links_parts += target.count("/") + 1
            if self._links_parts > _LINKS_PARTS_AT_MOST:
                raise Unreadable(path, f"with it, links of {_LINKS_PARTS_AT_MOST} components were followed")
            if self._is_absolute(target):
                done = []
            todo.extend(self._split(target)[::-1])
        return done

    def _link_at(self, parts: list[str], shown: str, *, is_last: bool) -> str | None:
        """The text of the link there, None for anything else; raises Missing for a directory that is not there."""
        try:
            return self._text_at(parts)
        except OSError as error:
            if is_last and error.errno == errno.ENOENT:
                return None  # nothing, which is for the caller to find out
            raise reason(shown, error) from error

    def _is_absolute(self, path: str) -> bool:
        return path.startswith("/") or (self._any_case and path[1:2] == ":")

    def _split(self, path: str) -> list[str]:
        if "\0" in path:
            raise Unreadable(path.replace("\0", "\\0"), "the path has a NUL byte")
        if len(path) > _PATH_AT_MOST_CHARS:
            raise Unreadable(f"{path[:40]}...", "a path that is too long")
        if self._any_case:
            path = path.replace("\\", "/")
            if path[1:2] == ":":
                path = path[2:]
        return [part for part in path.split("/") if part not in {"", "."}]

    def _spelling(self, done: list[str], part: str) -> str:
        """On a Windows disk, the name as it is really written."""
        if not self._any_case or self._is_there([*done, part]):
            return part
        try:
            present = self._names_at(done, part)
        except HostError:
            return part
        lowered = part.lower()
        return next((name for name in present if name.lower() == lowered), part)


class RootHost(ResolvingHost, FileHost):
    """The files of a machine under a directory."""

    _follow = False

    def __init__(self, root: str, environ: Mapping[str, str] | None = None) -> None:
        """Raises NotADirectory. `environ` is for tests: an image has no process to ask."""
        if not root:  # --root "$IMAGE" with no such variable: the working directory is not meant
            raise NotADirectory("the root directory's name is empty")
        self.name = root
        self.environ: Mapping[str, str] = dict(environ or {})
        if mount := dead_mount(root):
            raise NotADirectory(f"{root}: {why_dead(mount)}")
        try:
            self._tree = Tree(root)
            names = {name.lower() for name in names_in(self._tree.place(()), root)}
        except (OSError, ValueError, HostError) as error:
            raise NotADirectory(f"{root}: {_why_not(error)}") from error
        self.os_family = family_of(names)
        mounts = hanging_mounts()
        start = f"{os.path.realpath(root).rstrip('/')}/" if mounts else ""
        self._mounts = {tuple(one[len(start) :].split("/")): one for one in mounts if one.startswith(start)}
        self._dead: dict[str, None] = {}  # of them, those that do not answer

    @property
    def unread(self) -> tuple[Unread, ...]:
        """The file systems below the root that were asked for something and do not answer."""
        return tuple(Unread(mount, f"{why_dead(mount)}: nothing below it was read") for mount in self._dead)

    def _refuse_dead_mount(self, parts: Sequence[str]) -> None:
        """Raise Unreadable for a path in a mount that does not answer."""
        for at in range(len(parts)):
            mount = self._mounts.get(tuple(parts[: at + 1]), "")
            if mount and not answers(mount):
                self._dead[mount] = None
                raise Unreadable("/" + "/".join(parts), why_dead(mount))

    def _text_at(self, parts: list[str]) -> str | None:
        if self._mounts:
            self._refuse_dead_mount(parts)
        return self._tree.link_at(tuple(parts))

    def _names_at(self, parts: list[str], shown: str) -> tuple[str, ...]:
        return names_in(self._place(parts, shown), shown)

    def _real(self, path: str) -> Place:
        return self._place(self._resolve(path, follow_last=True), path)

    def _real_link(self, path: str) -> Place:
        return self._place(self._resolve(path, follow_last=False), path)

    def _place(self, parts: list[str], shown: str) -> Place:
        if self._mounts:
            self._refuse_dead_mount(parts)
        try:
            return self._tree.place(tuple(parts))
        except OSError as error:
            raise reason(shown, error) from error


def family_of(names: set[str]) -> str:
    """By the names at the top of a disk, in lower case."""
    if "windows" in names and not names & {"etc", "usr"}:
        return "windows"
    return "macos" if {"system", "applications"} <= names else "linux"


def _why_not(error: Exception) -> str:
    number = getattr(error, "errno", None) or getattr(error.__cause__, "errno", None)
    return "this user may not read it" if number in {errno.EACCES, errno.EPERM} else "not a directory"
