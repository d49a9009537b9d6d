"""What the live machine and a root directory have in common: every question but where a path really lies."""

from __future__ import annotations

import os
from typing import BinaryIO

from doctor.host import READ_LIMIT_BYTES, FileStatus, HostError
from doctor.host.files import names_in, open_regular, read_bounded, reason, status_of
from doctor.host.tree import Place


class StatusHost:
    """The questions of `Host` that follow from two others."""

    def read_bytes(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """See Host."""
        raise NotImplementedError

    def status(self, path: str) -> FileStatus:
        """See Host."""
        raise NotImplementedError

    def read_text(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> str:
        """See Host."""
        return self.read_bytes(path, limit_bytes).decode("utf-8", "replace")

    def is_file(self, path: str) -> bool:
        """See Host."""
        return self._kind(path) == "file"

    def is_dir(self, path: str) -> bool:
        """See Host."""
        return self._kind(path) == "dir"

    def exists(self, path: str) -> bool:
        """See Host."""
        return self._kind(path) != ""

    def _kind(self, path: str) -> str:
        try:
            return self.status(path).kind
        except HostError:
            return ""


class FileHost(StatusHost):
    """The file questions of `Host`, over two that a subclass answers: `_real` and `_real_link`."""

    _follow = True

    def _real(self, path: str) -> Place:
        """Where the file lies for the operating system, all links resolved or left to it; raises HostError."""
        raise NotImplementedError

    def _real_link(self, path: str) -> Place:
        """The same with the last component left as it is; raises HostError."""
        raise NotImplementedError

    def read_bytes(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """See Host."""
        return read_bounded(self._real(path), path, limit_bytes, follow=self._follow)

    def open(self, path: str) -> BinaryIO:
        """See Host."""
        return open_regular(self._real(path), path, follow=self._follow)

    def names(self, path: str) -> tuple[str, ...]:
        """See Host."""
        return names_in(self._real(path), path)

    def status(self, path: str) -> FileStatus:
        """See Host."""
        real = self._real(path)
        try:
            return status_of(os.stat(real.path, dir_fd=real.directory, follow_symlinks=self._follow))
        except OSError as error:
            raise reason(path, error) from error

    def link_status(self, path: str) -> FileStatus:
        """See Host."""
        real = self._real_link(path)
        try:
            return status_of(os.lstat(real.path, dir_fd=real.directory))
        except OSError as error:
            raise reason(path, error) from error

    def link_target(self, path: str) -> str:
        """See Host."""
        real = self._real_link(path)
        try:
            return os.readlink(real.path, dir_fd=real.directory)
        except OSError as error:
            raise reason(path, error) from error
