"""What stops an installation: the base of its errors, and what can be known of a place before it is changed."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

from compat.base.errors import GpudoctorError
from compat.base.trust import NotTrusted


class InstallError(GpudoctorError):
    """An installation could not be carried out; nothing was changed."""


class CannotChange(InstallError):
    """The system refuses a change: no space, no permission, a read-only file system."""


class NotUndone(InstallError):
    """What a run changed could not be put back; its journal and backups are kept."""

    hint = "After you fix that, run `gpudoctor install rollback`: it restores the rest."


def nearest(path: str) -> str:
    """The directory itself, or the nearest one above that is there."""
    while not os.path.lexists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def require_writable(path: str) -> None:
    """Raise CannotChange for a directory in which this user cannot make files."""
    there = nearest(path)
    if not os.path.isdir(there):
        raise CannotChange(f"{there} is not a directory")
    if hasattr(os, "statvfs") and os.statvfs(there).f_flag & os.ST_RDONLY:
        raise refused(OSError(errno.EROFS, "", there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise refused(OSError(errno.EACCES, "", there))


def require_space(path: str, needed_bytes: int) -> None:
    """Raise CannotChange where the file system has not so many bytes free."""
    import shutil  # late: printing needs none of it

    there = nearest(path)
    if shutil.disk_usage(there).free < needed_bytes:
        raise refused(OSError(errno.ENOSPC, "", there))


@contextlib.contextmanager
def plainly() -> Iterator[None]:
    """Errors of the system as one line that says where and what to do."""
    try:
        yield
    except OSError as error:
        raise refused(error) from error


_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def written(path: str) -> Iterator[None]:
    """That there is no room names the file: what fails in a write through a descriptor names none."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL and error.filename is None:
            error.filename = path
        raise


_HIGHER = (
    "End the programs that have it open (a running Python). Or run the same command as administrator (right-click "
    "the terminal), or choose your own directory."
    if os.name == "nt"
    else "Run the same command as root, or choose your own directory."
)


_IN_USE = (32, 33)  # ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION: no right helps, not even an administrator's


def refused(error: OSError) -> CannotChange:
    """The same as an error of ours, with a hint."""
    if isinstance(error, NotTrusted):
        found = CannotChange(error.why)
        found.hint = "Run the same command as that user, or choose another file."
        return found
    code = errno.EBUSY if getattr(error, "winerror", 0) in _IN_USE else error.errno or 0
    what, hint = {
        errno.ENOSPC: ("no space is left", "Free some space there, or choose another directory."),
        errno.EDQUOT: ("the disk quota is used up", "Free some space there, or choose another directory."),
        errno.EROFS: ("the file system is read-only", "Mount it for writing, or choose another directory."),
        errno.EACCES: ("permission denied", _HIGHER),
        errno.EPERM: ("permission denied", _HIGHER),
        errno.EBUSY: ("it is in use", "End the programs that use it, then run the same command again."),
    }.get(code, (error.strerror or str(error), ""))
    where = error.filename2 or error.filename
    found = CannotChange(f"{os.fsdecode(where)}: {what}" if isinstance(where, (str, bytes)) else what)
    found.hint = hint
    return found
