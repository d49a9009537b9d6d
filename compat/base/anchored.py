"""Write where a path leads now, also while another user exchanges the links and directories on the way.

Each directory is opened from the descriptor of the one above it, and no link is followed. Links are resolved before
that: root follows none that another user made, and nobody follows such a link at the end of a path.
Linux refuses a part of them by itself (fs.protected_symlinks, proc(5)), but only where a path is opened as it is named.
Sources: openat(2), path_resolution(7), proc_pid_fd(5).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from compat.base.trust import NotTrusted, is_ours

_LINKS_AT_MOST = 40  # as the Linux kernel: MAXSYMLINKS
_DESCRIPTORS = "/proc/self/fd"


def resolved(path: str) -> str:
    """Return the path without links; what does not exist stays as it is named. Raises NotTrusted, OSError."""
    parts = _parts(os.path.abspath(path))
    here, links = "", 0
    while parts:
        part = parts.pop()
        if part == "..":
            here = os.path.dirname(here).rstrip("/")
            continue
        place = f"{here}/{part}"
        try:
            target = os.readlink(place)
        except OSError:  # no link, or it does not exist yet
            here = place
            continue
        if not parts and is_of_kernel(place):
            return place
        if (os.geteuid() == 0 or not parts) and not is_ours(place):
            raise NotTrusted(place, f"{place} is a link that another user made")
        links += 1
        if links > _LINKS_AT_MOST:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        here = "" if target.startswith("/") else here
        parts.extend(_parts(target))
    return here or "/"


def is_of_kernel(path: str) -> bool:
    """Return whether it is a process's descriptor: the text of such a link can be "pipe:[4711]", which is no path."""
    return path.startswith(("/proc/", "/dev/fd/")) and os.path.islink(path)


@contextlib.contextmanager
def anchored(path: str, *, is_own: bool = False) -> Iterator[str]:
    """Yield a name for a path without links that stays in its directory, whatever happens above; raises OSError.

    With `is_own` the directory must be this user's. Where the system has no such names (not Linux), it is the path.
    """
    if not _is_supported():
        yield path
        return
    folder, last = os.path.split(path)
    descriptor = open_folder(folder)
    there = name_of(descriptor)
    try:
        if is_own and os.fstat(descriptor).st_uid != os.geteuid():
            raise NotTrusted(folder, f"{folder} was exchanged by another user")
        yield f"{there}/{last}"
    except OSError as error:
        for name in ("filename", "filename2"):
            shown = str(getattr(error, name))
            if shown.startswith(f"{there}/"):
                setattr(error, name, f"{folder}{shown[len(there) :]}")
        raise
    finally:
        os.close(descriptor)


def open_folder(path: str) -> int:
    """Return the descriptor of a directory, by which it can be passed and not read; raises OSError for a link."""
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = os.open("/", flags)
    for part in reversed(_parts(path)):
        above = here
        try:
            here = os.open(part, flags, dir_fd=above)
        except OSError as error:
            error.filename = path
            raise
        finally:
            os.close(above)
    return here


def open_file(path: str, flags: int) -> int:
    """Open what a path without links names, and never a link; raises OSError."""
    with anchored(path) as there:
        return os.open(there, flags | getattr(os, "O_NOFOLLOW", 0))


def name_of(descriptor: int) -> str:
    """Return a name of what is open, for calls that take no descriptor; "" where the system has none."""
    return f"{_DESCRIPTORS}/{descriptor}" if _is_supported() else ""


def set_mode(path: str, mode: int) -> None:
    """Change the permission bits of what a path names, and never those behind a link; raises OSError."""
    if not _is_supported():
        os.chmod(path, mode)
        return
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.chmod(name_of(descriptor), mode)
    finally:
        os.close(descriptor)


def is_regular(descriptor: int) -> bool:
    """Return whether it is a file, and no pipe, device or directory."""
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _is_supported() -> bool:
    return hasattr(os, "O_PATH") and os.path.isdir(_DESCRIPTORS)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/")[::-1] if part not in {"", "."}]
