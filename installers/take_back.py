"""Put one file back, or remove it, and never an edit that somebody made meanwhile.

What lies at the path is first moved away in one system call, and looked at only then: nobody can edit it in between.
An edit goes back to its place. Source: renameat2(2). Where a file system cannot exchange (NFS) and off Linux, the file
is compared immediately before it is replaced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import zlib
from collections.abc import Collection

from compat.base.anchored import anchored, resolved
from installers.file_identity import Stamp, copy_as_it_is, stamp_of

_CWD, _NO_REPLACE, _EXCHANGE = -100, 1, 2  # AT_FDCWD, RENAME_NOREPLACE, RENAME_EXCHANGE: linux/fcntl.h, linux/fs.h
_PART = ".part"
_CANNOT = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


def remove(path: str, known: Collection[Stamp | None], run: str) -> bool:
    """Remove a file or link if it is one of those; return whether the path is free. Raises OSError."""
    if not os.path.isdir(os.path.dirname(path)):
        return True
    with anchored(_real(path)) as there:
        aside = _aside(there, run)
        _settle(aside, there, known)
        try:
            os.rename(there, aside)
        except FileNotFoundError:
            return True
        if stamp_of(aside) in known:
            os.unlink(aside)
            return True
        _move_back(aside, there)
        return False


def settle(path: str, known: Collection[Stamp | None], run: str) -> None:
    """Clear what a rollback of this run left beside the path when it was killed. Raises OSError."""
    with anchored(_real(path)) as there:
        _settle(_aside(there, run), there, known)


def put_back(path: str, original: str, known: Collection[Stamp | None], run: str) -> bool:
    """Put an original in place of one of those; return whether it is in place. Raises OSError."""
    with anchored(_real(path)) as there:
        aside = _aside(there, run)
        _settle(aside, there, known)
        _copy(original, aside)
        ours = stamp_of(aside)
        if not exchange(aside, there):
            if stamp_of(there) not in known:
                os.unlink(aside)
                return False
            os.replace(aside, there)
            return True
        if stamp_of(aside) in known:
            os.unlink(aside)
            return True
        exchange(aside, there)
        if stamp_of(aside) == ours:
            os.unlink(aside)
        else:  # a second edit came meanwhile: both stay
            os.rename(aside, f"{there}.{run}.edited")
        return False


def exchange(one: str, other: str) -> bool:
    """Exchange two files in one step; return False where the system cannot or the second is missing. Raises OSError."""
    return _rename(one, other, _EXCHANGE)


def _rename(source: str, to: str, flags: int) -> bool:
    if sys.platform != "linux":
        return False
    try:
        import ctypes  # late: only a rollback needs it

        call = ctypes.CDLL(None, use_errno=True).renameat2  # glibc 2.28, musl 1.2.4
    except (ImportError, AttributeError):
        return False
    if call(_CWD, os.fsencode(source), _CWD, os.fsencode(to), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT or (number == errno.ENOENT and flags == _EXCHANGE):
        return False
    raise OSError(number, os.strerror(number), source, None, to)


def _real(path: str) -> str:
    return os.path.join(resolved(os.path.dirname(path)), os.path.basename(path)) if os.name == "posix" else path


def _aside(path: str, run: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".gpudoctor-{run}-undo-{zlib.crc32(os.fsencode(name)):08x}")


def _copy(original: str, to: str) -> None:
    try:
        os.link(original, to, follow_symlinks=False)
    except (OSError, NotImplementedError):
        part = f"{to}{_PART}"  # a copy that was cut short is no edit
        try:
            copy_as_it_is(original, part)
        except OSError:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)
            raise
        os.rename(part, to)


def _settle(aside: str, path: str, known: Collection[Stamp | None]) -> None:
    """Clear what a rollback that was killed left beside the path: if it is an edit, it goes back."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{aside}{_PART}")
    if (left := stamp_of(aside)) is None:
        return
    if left in known or exchange(aside, path):
        os.unlink(aside)
    else:
        _move_back(aside, path)


def _move_back(aside: str, path: str) -> None:
    """To its name; where somebody made a new file there, that one stays, and this one goes beside it."""
    try:
        if not _rename(aside, path, _NO_REPLACE):
            os.rename(aside, path)
    except FileExistsError:
        os.rename(aside, f"{path}.edited")
