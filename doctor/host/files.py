"""Reading files and directories so that no FIFO, device or huge file can hang or exhaust the reader."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from doctor.host import LISTING_LIMIT, FileStatus, Host, HostError, LinkLoop, Missing, Unreadable
from doctor.host.tree import Place

_WRITER_WITHIN_S = 30.0
_LINE_AT_MOST_BYTES = 16 << 10  # paths have 4 KiB

_DESCRIPTORS = "/proc/self/fd"
_CAN_LOOK = hasattr(os, "O_PATH") and os.path.isdir(_DESCRIPTORS)
_ABSENT = {errno.ENOENT, errno.ENOTDIR}
_RECORD_AT_MOST_BYTES = 8192  # a record of /dev/kmsg is never longer: CONSOLE_EXT_LOG_MAX in the kernel


def reason(path: str, error: OSError) -> HostError:
    """The error of the system in our words."""
    if error.errno in _ABSENT:
        return Missing(path)
    if error.errno == errno.ELOOP:
        return LinkLoop(path)
    return Unreadable(path, os.strerror(error.errno).lower() if error.errno else str(error))


def status_of(found: os.stat_result) -> FileStatus:
    """What `os.stat` or `os.lstat` answered, in our type."""
    mode = found.st_mode
    kind = "other"
    if stat.S_ISREG(mode):
        kind = "file"
    elif stat.S_ISDIR(mode):
        kind = "dir"
    elif stat.S_ISLNK(mode):
        kind = "link"
    return FileStatus(
        kind=kind,
        size_bytes=found.st_size,
        mode=stat.S_IMODE(mode),
        uid=found.st_uid,
        gid=found.st_gid,
        mtime=found.st_mtime,
        device=found.st_dev,
        inode=found.st_ino,
        rdev=getattr(found, "st_rdev", 0),
    )


def open_regular(real: Place, shown: str, *, follow: bool) -> BinaryIO:
    """Open a regular file; `real` is where it lies, `shown` what the user knows it as. Raises Missing, Unreadable."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = _opened(real, flags) if _CAN_LOOK else os.open(real.path, flags, dir_fd=real.directory)
    except OSError as error:
        raise reason(shown, error) from error
    if descriptor < 0:
        raise Unreadable(shown, "not a regular file")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable(shown, "not a regular file")
    return os.fdopen(descriptor, "rb")


def read_regular(path: str, at_most_bytes: int) -> bytes:
    """Read the first bytes of a regular file that the user names; raises OSError for any other, and waits for none."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a file", path)
        return file.read(at_most_bytes)


def open_named(path: str) -> BinaryIO:
    """Open a file or a pipe that the user names, and no device; raises OSError.

    A named pipe that nobody writes to would be waited for without end.
    """
    mode = os.stat(path).st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not os.path.samefile(path, os.devnull) and not _is_terminal(path)):
        raise OSError(errno.EINVAL, "it is a device", path)
    if os.name != "posix" or not stat.S_ISFIFO(mode) or os.path.realpath(path).startswith("/proc/"):
        return open(path, "rb")
    import select  # late: few runs are given a pipe

    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not select.select([descriptor], [], [], _WRITER_WITHIN_S)[0]:
        os.close(descriptor)
        raise OSError(errno.EAGAIN, f"no data came through this pipe for {_WRITER_WITHIN_S:.0f} s", path)
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "rb")


def _is_terminal(path: str) -> bool:
    with open(path, "rb", buffering=0) as stream:
        return stream.isatty()


def _opened(real: Place, flags: int) -> int:
    """The descriptor of a regular file, -1 for anything else; raises OSError.

    An image can hold device nodes, and already opening one does something: /dev/watchdog restarts the machine, a tape
    is rewound. So it is looked at by a descriptor that opens nothing (O_PATH), and then that very file is opened.
    """
    followed = flags & getattr(os, "O_NOFOLLOW", 0)
    looked = os.open(real.path, os.O_PATH | os.O_CLOEXEC | followed, dir_fd=real.directory)
    try:
        mode = os.fstat(looked).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return os.open(f"{_DESCRIPTORS}/{looked}", flags & ~followed) if stat.S_ISREG(mode) else -1
    finally:
        os.close(looked)


def read_bounded(real: Place, shown: str, limit_bytes: int, *, follow: bool) -> bytes:
    """At most `limit_bytes` of a regular file; raises Unreadable when there is more."""
    with open_regular(real, shown, follow=follow) as stream:
        try:
            content = stream.read(limit_bytes + 1)
        except OSError as error:
            raise reason(shown, error) from error
    if len(content) > limit_bytes:
        raise Unreadable(shown, f"larger than the {limit_bytes} bytes that such a file may have")
    return content


def names_in(real: Place, shown: str) -> tuple[str, ...]:
    """Sorted names in a directory; raises Missing, Unreadable (also for a directory beyond all measure)."""
    try:
        found = _listed(real.path) if real.directory is None else _listed_below(real.path, real.directory)
    except OSError as error:
        raise reason(shown, error) from error
    if len(found) > LISTING_LIMIT:
        raise Unreadable(shown, f"the directory has more than {LISTING_LIMIT} entries")
    return tuple(sorted(found))


def _listed(directory: str | int) -> list[str]:
    with os.scandir(directory) as entries:
        return [entry.name for entry in islice(entries, LISTING_LIMIT + 1)]


def _listed_below(name: str, directory: int) -> list[str]:
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        return _listed(descriptor)
    finally:
        os.close(descriptor)


def drain(real: str, shown: str, limit_bytes: int) -> bytes:
    """What a device that gives one record a read has ready, oldest first; raises Missing, Unreadable."""
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise reason(shown, error) from error
    try:
        return _records(descriptor, shown, limit_bytes)
    finally:
        os.close(descriptor)


def _records(descriptor: int, shown: str, limit_bytes: int) -> bytes:
    found = []
    size = 0
    while size < limit_bytes:
        try:
            record = os.read(descriptor, _RECORD_AT_MOST_BYTES)
        except BrokenPipeError:
            continue  # /dev/kmsg: records were overwritten before they were read; the next read goes on
        except BlockingIOError:
            break
        except OSError as error:
            raise reason(shown, error) from error
        if not record:
            break
        found.append(record)
        size += len(record)
    return b"".join(found)


def lines_of(host: Host, path: str, limit_bytes: int, lines_at_most: int) -> Iterator[str]:
    """The lines without their ends; raises Missing, Unreadable (also where there is more, or a line without end)."""
    with host.open(path) as stream:
        left = limit_bytes
        for _ in range(lines_at_most + 1):
            try:
                line = stream.readline(_LINE_AT_MOST_BYTES)
            except OSError as error:
                raise Unreadable(path, str(error)) from error
            if not line:
                return
            left -= len(line)
            if left < 0 or (len(line) == _LINE_AT_MOST_BYTES and not line.endswith(b"\n")):
                break
            yield line.decode("utf-8", "replace").rstrip("\r\n")
    raise Unreadable(path, f"larger than the {limit_bytes} bytes and {lines_at_most} lines that such a list may have")
