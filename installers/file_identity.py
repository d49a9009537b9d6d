"""What lies at a path: as much as is needed to know it again and to put it back."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable

from compat.base.anchored import anchored, name_of, resolved, set_mode
from compat.base.record import NamedTuple

_CHUNK_BYTES = 1 << 20


class Stamp(NamedTuple):
    """One thing in the file system; two stamps are equal where nothing was changed in between."""

    kind: str  # "file", "link", "directory", "other"
    mode: int  # permission bits
    mtime_ns: int
    size_bytes: int
    link: str = ""  # text of a link


def stamp_of(path: str) -> Stamp | None:
    """None where nothing lies; raises OSError."""
    try:
        seen = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    mode = stat.S_IMODE(seen.st_mode)
    if stat.S_ISDIR(seen.st_mode):
        return Stamp("directory", mode, 0, 0)  # its time and size follow from what is put into it
    if stat.S_ISLNK(seen.st_mode):
        return Stamp(kind="link", mode=mode, mtime_ns=seen.st_mtime_ns, size_bytes=0, link=os.readlink(path))
    return Stamp("file" if stat.S_ISREG(seen.st_mode) else "other", mode, seen.st_mtime_ns, seen.st_size)


def change_mode(path: str, seen: Stamp | None, mode: int) -> None:
    """Change the permission bits of a file that is still as it was seen, and never those behind a link; OSError."""
    with anchored(resolved(path) if os.name == "posix" else path) as there:
        if stamp_of(there) != seen:
            return
        set_mode(there, mode)


def is_same(path: str, other: str) -> bool:
    """Whether two names are one file or link: renaming one over the other would leave both. Raises OSError."""
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except (FileNotFoundError, NotADirectoryError):
        return False


def copy_as_it_is(source: str, to: str) -> None:
    """Copy a file or a link to a new name with mode, times, owner and extended attributes, as far as this user may."""
    if os.path.islink(source):
        shutil.copy2(source, to, follow_symlinks=False)
        _copy_owner(source, to, lambda *ids: os.lchown(to, *ids))
        return
    with open(source, "rb") as content, open(to, "xb") as copy:  # what somebody else put there is not written to
        shutil.copyfileobj(content, copy, _CHUNK_BYTES)
        copy.flush()
        _copy_owner(source, to, lambda *ids: os.fchown(copy.fileno(), *ids))
        shutil.copystat(source, name_of(copy.fileno()) or to)


def _copy_owner(source: str, to: str, change: Callable[[int, int], None]) -> None:
    seen, made = os.lstat(source), os.lstat(to)
    if hasattr(os, "lchown") and (seen.st_uid, seen.st_gid) != (made.st_uid, made.st_gid):
        with contextlib.suppress(PermissionError):
            change(seen.st_uid, seen.st_gid)


def link_or_copy(source: str, to: str) -> None:
    """A second name of the same file where the file system allows it, else a copy that has reached the disk."""
    try:
        os.link(source, to, follow_symlinks=False)
    except (OSError, NotImplementedError):  # another file system, or hard links are not for this user
        copy_as_it_is(source, to)
        sync(to)


def sync(path: str) -> None:
    """Wait until a file or directory is on the disk; links have nothing of their own to wait for."""
    if os.path.islink(path) or (os.name == "nt" and os.path.isdir(path)):  # directories cannot be opened there
        return
    try:  # Windows syncs only what is open for writing
        descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    except PermissionError:
        if os.name != "nt":
            raise
        return  # a file with the read-only attribute, which nothing can be waited for
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EBADF, errno.EINVAL}:  # a file system that has nothing to wait for
            raise
    finally:
        os.close(descriptor)
