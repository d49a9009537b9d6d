"""The one door to a machine: files, listings, environment, commands.

Every probe works through a `Host`, so every rule works on a live machine and on an offline root alike. Paths are
texts with forward slashes, absolute ("/usr/lib", "C:/Windows").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO, Protocol

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple

READ_LIMIT_BYTES = 4 << 20
LISTING_LIMIT = 100_000


class HostError(GpudoctorError):
    """The machine did not show what it was asked for; the message is a reason a user can act on."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class Missing(HostError):
    """There is no such file or directory."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "no such file or directory")


class Unreadable(HostError):
    """It is there and cannot be read: permissions, a loop of links, not a regular file, too large, dead mount."""


class LinkLoop(Unreadable):
    """Its symbolic links lead in a circle."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "its symbolic links form a loop")


class NotRunnable(HostError):
    """The command cannot or must not be run here."""


class TooSlow(NotRunnable):
    """The command did not end in time; what it had written by then."""

    def __init__(self, path: str, timeout_s: float, stdout: str, stderr: str) -> None:
        super().__init__(path, f"did not end within {timeout_s:g} s")
        self.stdout = stdout
        self.stderr = stderr


class BadRequest(GpudoctorError):
    """What the user asked to be looked at is not there: one clear line and exit 2, not a finding."""


class FileStatus(NamedTuple):
    """What lstat or stat says."""

    kind: str  # "file", "dir", "link" or "other" (FIFO, device, socket)
    size_bytes: int
    mode: int  # permission bits only
    uid: int
    gid: int
    mtime: float  # seconds since the epoch
    device: int
    inode: int
    rdev: int = 0  # device number of a device node

    @property
    def mark(self) -> str:
        """What tells the file from others, and from what it was before it was written to."""
        return f"{self.device:x}:{self.inode:x}:{self.size_bytes}:{self.mtime!r}"


class Ran(NamedTuple):
    """How a command ended. `status` is its exit status, negative for a signal."""

    status: int
    stdout: str
    stderr: str


class Host(Protocol):
    """A machine, or the files of one."""

    @property
    def kind(self) -> str:
        """ "live" or "root"."""

    @property
    def name(self) -> str:
        """The host name, or the directory."""

    @property
    def os_family(self) -> str:
        """ "linux", "windows" or "macos"."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of the process to be judged; empty on a root."""

    @property
    def is_live(self) -> bool:
        """Whether commands can be run and devices opened."""

    def read_bytes(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The content of a regular file; raises Missing, Unreadable (also when larger than the limit)."""

    def read_text(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> str:
        """The same as UTF-8 text, undecodable bytes replaced."""

    def open(self, path: str) -> BinaryIO:
        """A regular file, open for reading in pieces; raises Missing, Unreadable."""

    def names(self, path: str) -> tuple[str, ...]:
        """The sorted names in a directory; raises Missing, Unreadable."""

    def status(self, path: str) -> FileStatus:
        """stat, links followed; raises Missing, Unreadable."""

    def link_status(self, path: str) -> FileStatus:
        """lstat: links in the last component are not followed; raises Missing, Unreadable."""

    def link_target(self, path: str) -> str:
        """The text of a symbolic link; raises Missing, Unreadable."""

    def real_path(self, path: str) -> str:
        """The path with all links resolved; raises Missing, Unreadable (loops)."""

    def is_file(self, path: str) -> bool:
        """Whether a regular file can be reached there; never raises."""

    def is_dir(self, path: str) -> bool:
        """Whether a directory can be reached there; never raises."""

    def exists(self, path: str) -> bool:
        """Whether anything can be reached there; never raises."""

    def may_access(self, path: str, wanted: str) -> bool:
        """Whether this user may: `wanted` is made of "r", "w", "x"; on a root, always false."""

    def run(self, argv: tuple[str, ...], timeout_s: float = 5.0, env: Mapping[str, str] | None = None) -> Ran:
        """Run a command without a shell; raises Missing, NotRunnable (not live, not safe, too slow)."""

    def refuse_unsafe(self, path: str) -> None:
        """Raise NotRunnable where code of this file must not run: on a root, and where another user may have put it."""

    def kernel_machine(self) -> str:
        """What the running kernel calls its machine type, "x86_64"; raises Unreadable on a root."""

    def libc_version(self) -> str:
        """The C library of this process, "glibc 2.36"; raises Unreadable (a root, another C library)."""

    def space_bytes(self, path: str) -> int:
        """The size of the file system at a path; raises Missing, Unreadable (a root)."""

    def drain(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """What a character device such as /dev/kmsg gives without waiting; raises Missing, Unreadable (a root)."""
