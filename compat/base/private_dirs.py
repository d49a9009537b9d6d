"""Directories of this user's own: for what one run leaves to the next (cache, overlay, journal).

By sudo, HOME is often another user's, and that user may have put a link, or a directory that he can change, where we
are about to write. So each directory is entered from the descriptor of the one above it, links are not followed, and
every level must belong to root or to this user, with nobody else allowed to write there (a sticky directory, /tmp, is
enough above the last). Sources: openat(2), mkdirat(2); the same rules as sshd's StrictModes (auth_secure_path).
"""

from __future__ import annotations

import os
import stat

from compat.base.trust import NotTrusted, others_may_write, refuse


class NotOurs(OSError):
    """Another user could change what lies there."""


def own_directory(path: str) -> None:
    """Make sure that a directory is there and this user's own; raises OSError, NotOurs."""
    if os.open in os.supports_dir_fd:
        os.close(open_own(path, make=True))
    else:
        os.makedirs(path, exist_ok=True)


def open_own(path: str, *, make: bool = False) -> int:
    """The descriptor of a directory of this user's own, with mode 0700 where it is made; raises OSError, NotOurs.

    A link on the way is looked through first, and what it leads to is judged. Root follows no link that another user
    could replace: what is opened by this path afterwards would be elsewhere.
    """
    real = os.path.realpath(path)
    if os.geteuid() == 0 and real != os.path.abspath(path):
        _refuse_links(os.path.abspath(path))
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = os.open("/", flags)
    parts = [part for part in real.split("/") if part]
    for number, part in enumerate(parts, 1):
        above = here
        try:
            here = _enter(part, above, flags, make=make)
        finally:
            os.close(above)
        if not _is_ours(here, is_last=number == len(parts)):
            os.close(here)
            raise NotOurs(f"another user can change {'/' + '/'.join(parts[:number])}")
    return here


def _refuse_links(path: str) -> None:
    """Raise NotOurs where another user could change a link on the way; what is not there yet is not looked at."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    try:
        refuse(path)
    except NotTrusted as error:
        raise NotOurs(f"another user can change {error.place}") from error


def _enter(name: str, above: int, flags: int, *, make: bool) -> int:
    try:
        return os.open(name, flags, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise
    try:
        os.mkdir(name, 0o700, dir_fd=above)
    except FileExistsError:
        pass  # another run of ours was faster
    return os.open(name, flags, dir_fd=above)


def _is_ours(descriptor: int, *, is_last: bool) -> bool:
    """Whether nobody but root and this user can put something else there."""
    found = os.fstat(descriptor)
    if found.st_uid != os.geteuid() and (is_last or found.st_uid != 0):
        return False
    if found.st_mode & stat.S_ISVTX and not is_last:
        return True
    private_group = os.getegid() if os.getegid() == os.geteuid() else 0  # as most distributions give to each user
    return not others_may_write(descriptor, found, private_group)
