"""Replace a text file: a link to it stays, and so do mode and owner."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from compat.base.anchored import anchored, is_regular, open_file, resolved
from installers.errors import CannotChange, written

if TYPE_CHECKING:
    from installers.run import Run

_LARGEST_TEXT_BYTES = 16 << 20  # of a file that settings are merged into


def directory_of(path: str) -> str:
    """The directory in which a file or link is made again; "~" is the user's."""
    return os.path.dirname(os.path.realpath(os.path.expanduser(path)))


def replace_text(path: str, made_of: Callable[[str], str], run: Run) -> None:
    """Give a file the text that is made of what it holds now; raises CannotChange, OSError.

    A link to the file that somebody keeps elsewhere stays, but for one of another user: root would write into a file
    that he chose.
    """
    from installers.transaction import Item  # late: printing needs none of it

    path = os.path.expanduser(path)
    path = resolved(path) if os.name == "posix" else os.path.realpath(path)
    before = _text_of(path)
    text = made_of(before or "")
    if text != before:
        run.put([Item(path, partial(_write, text, path))])


def _text_of(path: str) -> str | None:
    """None where there is no file yet; raises CannotChange for what is no text."""
    try:
        descriptor = open_file(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not is_regular(descriptor):
        os.close(descriptor)
        raise CannotChange(f"{path} is not a text file")
    with open(descriptor, "rb") as file:
        data = file.read(_LARGEST_TEXT_BYTES + 1)
    if len(data) > _LARGEST_TEXT_BYTES or b"\0" in data:
        raise CannotChange(f"{path} is not a text file")
    return data.decode("utf-8", "surrogateescape")


def _write(text: str, path: str, to: str) -> None:
    """With the mode and owner of the file whose place it takes."""
    with written(to), open(to, "xb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    import stat  # late: printing needs none of it

    with contextlib.suppress(FileNotFoundError), anchored(path) as there:
        seen = os.lstat(there)
        os.chmod(to, stat.S_IMODE(seen.st_mode))
        if hasattr(os, "chown") and (seen.st_uid, seen.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):
                os.chown(to, seen.st_uid, seen.st_gid)
