"""What is costly to read from a file, remembered from one run to the next.

A record counts only as long as device, inode, size and time of change of its file are the same. It holds nothing that
could not be read again: a cache that is missing, damaged, from another release, or not this user's own is no cache.
GPUDOCTOR_CACHE names another directory, and an empty one turns it off.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from compat.base.mounts import dead_mount
from compat.base.private_dirs import open_own
from compat.base.user_dirs import user_dir
from doctor import __version__
from doctor.host import FileStatus, Host

_VARIABLE = "GPUDOCTOR_CACHE"
_NAME = "files.json"
_AT_MOST_BYTES = 8 << 20
_RECORDS_AT_MOST = 5_000


def cache_directory(environ: Mapping[str, str], os_family: str) -> str:
    """Return where the cache of a user is, "" for nowhere."""
    named = environ.get(_VARIABLE)
    return user_dir(environ, os_family, "cache", "gpudoctor") if named is None else named


def cache_for(host: Host) -> Cache:
    """This user's cache for the live machine; none for a root, whose inodes say nothing from one mount to the next."""
    found = cache_directory(host.environ, host.os_family) if host.is_live else ""
    return Cache("" if found and dead_mount(found) else found)


class Cache:
    """Records by kind and file. They are read when the first is asked for, and written by `save`."""

    def __init__(self, directory: str) -> None:
        """`directory` "" keeps nothing for the next run."""
        self._directory = directory
        self._records: dict[str, Any] | None = None
        self._used: dict[str, Any] = {}
        self._new: set[str] = set()

    @property
    def is_in_use(self) -> bool:
        """Whether anything is kept for the next run."""
        return bool(self._directory)

    def get(self, kind: str, status: FileStatus) -> Any:
        """What was remembered of a file, as JSON; None for nothing. Its form is the caller's to check."""
        key = _key(kind, status)
        if key in self._used:
            return self._used[key]
        if self._records is None:
            self._records = _read(self._directory)
        found = self._records.get(key)
        if found is not None:
            self._used[key] = found
        return found

    def put(self, kind: str, status: FileStatus, record: Any) -> None:
        """Remember something of a file, as JSON."""
        key = _key(kind, status)
        self._used[key] = record
        self._new.add(key)

    def is_of_this_run(self, kind: str, status: FileStatus) -> bool:
        """Whether it was read in this run, by this user."""
        return _key(kind, status) in self._new

    def save(self) -> None:
        """Write what was added. Where that cannot be, the next run reads the files again."""
        if not self._new or not self._directory:
            return
        others = {key: record for key, record in (self._records or {}).items() if key not in self._used}
        newest = [*others.items(), *self._used.items()][-_RECORDS_AT_MOST:]
        try:
            _write(self._directory, {"gpudoctor": __version__, "records": dict(newest)})
        except OSError:
            return  # a full disk, a home that is read-only: not the user's concern here


def _key(kind: str, status: FileStatus) -> str:
    return f"{kind}:{status.mark}"


def _read(directory: str) -> dict[str, Any]:
    """The records of an earlier run, none where the file is not this user's own or not what this release writes."""
    if not directory:
        return {}
    import json

    try:
        with _Folder(directory, make=False) as folder:
            said = json.loads(folder.read(_NAME))
        records = said["records"] if said["gpudoctor"] == __version__ else {}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return {}
    return records if isinstance(records, dict) else {}


def _write(directory: str, content: Any) -> None:
    """Raises OSError."""
    import json

    with _Folder(directory, make=True) as folder:
        folder.replace(_NAME, json.dumps(content, separators=(",", ":")))


class _Folder:
    """The cache's directory, entered by its descriptor where the system can. Raises OSError."""

    def __init__(self, directory: str, *, make: bool) -> None:
        self._path = directory
        self._descriptor: int | None = None
        if os.open in os.supports_dir_fd:
            self._descriptor = open_own(directory, make=make)
            self._path = ""
        elif make:
            os.makedirs(directory, exist_ok=True)

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def read(self, name: str) -> bytes:
        """A regular file of this user's own."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(os.path.join(self._path, name), flags, dir_fd=self._descriptor), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or not (os.name != "posix" or status.st_uid == os.geteuid()):
                raise PermissionError(name)
            return stream.read(_AT_MOST_BYTES)

    def replace(self, name: str, text: str) -> None:
        """Write a file wholly or not at all."""
        scratch = os.path.join(self._path, f"{name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(scratch, flags, 0o600, dir_fd=self._descriptor)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            final = os.path.join(self._path, name)
            os.replace(scratch, final, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except OSError:
            os.unlink(scratch, dir_fd=self._descriptor)
            raise
