"""A directory tree that is entered component by component, from the descriptor of one directory to the next.

A path that is handed to the kernel as a whole is looked up again each time: a directory that somebody exchanges with a
symbolic link meanwhile leads out of the tree. Here a link is never followed by the kernel (O_NOFOLLOW), so what was
looked at is what is opened. Where the system has no such calls (Windows), paths are handed over as a whole.

Sources: openat(2), open(2) on O_PATH and O_NOFOLLOW; path_resolution(7).
"""

from __future__ import annotations

import errno
import os
from collections import OrderedDict

from compat.base.record import NamedTuple

_KEPT_OPEN = 128  # directories: a check asks for the same ones over and over; far below the usual limit of 1,024
_CAN_ENTER = os.open in os.supports_dir_fd and hasattr(os, "O_PATH")


class Place(NamedTuple):
    """How the operating system is asked for a file: a path, below the directory of a descriptor if there is one."""

    path: str
    directory: int | None = None  # descriptor


class Tree:
    """The directories below one directory, as far as they were entered."""

    def __init__(self, root: str) -> None:
        """Raises OSError where `root` is no directory that can be entered. A last link of `root` is followed."""
        self._path = os.path.abspath(root)
        self._open: OrderedDict[tuple[str, ...], int] = OrderedDict()
        self._root = os.open(self._path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC) if _CAN_ENTER else -1

    def __del__(self) -> None:
        """Close what was kept open."""
        for descriptor in (*getattr(self, "_open", {}).values(), getattr(self, "_root", -1)):
            if descriptor >= 0:
                os.close(descriptor)

    def place(self, parts: tuple[str, ...]) -> Place:
        """Where these components lie, none of them a link but perhaps the last; raises OSError."""
        if not _CAN_ENTER:
            return Place(os.path.join(self._path, *parts))
        return Place(parts[-1], self._enter(parts[:-1])) if parts else Place(".", self._root)

    def link_at(self, parts: tuple[str, ...]) -> str | None:
        """The text of the link there, None for anything else; raises OSError where nothing is there."""
        if parts in self._open:
            return None
        place = self.place(parts)
        try:
            return os.readlink(place.path, dir_fd=place.directory)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return None
            raise

    def _enter(self, parts: tuple[str, ...]) -> int:
        """The descriptor of a directory, each component of which is one."""
        if not parts:
            return self._root
        if parts in self._open:
            self._open.move_to_end(parts)
            return self._open[parts]
        above = self._enter(parts[:-1])
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        found = self._open[parts] = os.open(parts[-1], flags, dir_fd=above)
        if len(self._open) > _KEPT_OPEN:
            os.close(self._open.popitem(last=False)[1])
        return found
