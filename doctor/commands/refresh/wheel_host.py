"""A wheel seen as a machine on which it is installed, so that the framework readers read it as they read any other.

Nothing is unpacked: a name is an entry of the archive's directory, and a file's content is fetched when a reader opens
it. Members are read in bounded pieces; a wheel is hostile input like any image.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from typing import BinaryIO, cast

from doctor.commands.refresh.listing import Wheel
from doctor.commands.refresh.web import Unreachable, Web
from doctor.host import READ_LIMIT_BYTES, FileStatus, Missing, Unreadable
from doctor.host.base import StatusHost
from doctor.host.offline import OfflineHost
from doctor.model.facts.environment import Distribution

_MEMBERS_AT_MOST = 200_000
_METADATA_BYTES = 4 << 20
_LOADERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "sbsa": "/lib/ld-linux-aarch64.so.1"}


class WheelHost(OfflineHost, StatusHost):
    """One wheel of an index in the site directory of an empty machine of its platform; a `Host`."""

    def __init__(self, wheel: Wheel, web: Web, os_family: str, arch: str, python: str) -> None:
        """`python` is "3.12", or "" where the wheel is for several."""
        self.name = wheel.name
        self.os_family = os_family
        self.environ: Mapping[str, str] = {}
        self.site = f"/usr/lib/python{python}/site-packages"
        self.members_read: list[str] = []
        self._loader = _LOADERS.get(arch, "") if os_family == "linux" else ""
        self._wheel, self._web = wheel, web
        self._metadata: bytes | None = None
        self._stream: io.BufferedIOBase | None = None
        self._archive: zipfile.ZipFile | None = None
        self._files: dict[str, zipfile.ZipInfo] = {}
        self._folders: dict[str, set[str]] = {}
        self._failure = ""

    @property
    def distribution(self) -> Distribution:
        """The wheel as an installed distribution; its version is that of the file's name."""
        project, version = self._wheel.name.split("-")[:2]
        info = f"{self.site}/{project}-{version}.dist-info"
        name = project.lower().replace("_", "-").replace(".", "-")
        return Distribution(
            name=name, version=str(self._wheel.version), site=self.site, metadata=info, kind="wheel", hidden_by=""
        )

    def open(self, path: str) -> BinaryIO:
        """See Host: METADATA as it is served apart, anything else from the archive."""
        if path == f"{self.distribution.metadata}/METADATA" and self._wheel.has_metadata:
            served = self._served_metadata()
            if served:
                self._note("METADATA")
                return io.BytesIO(served)
        info = self._member(path)
        self._note(info.filename)
        return cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", _Member(self._opened(), info, path))))

    def _note(self, member: str) -> None:
        if member not in self.members_read:
            self.members_read.append(member)

    def _served_metadata(self) -> bytes:
        if self._metadata is None:
            try:
                page = self._web.page(f"{self._wheel.url.partition('#')[0]}.metadata", _METADATA_BYTES)
            except Unreachable:
                page = None  # announced and not served: the archive has it too
            self._metadata = page.content if page else b""
        return self._metadata

    def _opened(self) -> zipfile.ZipFile:
        """The archive, its directory read; raises Unreadable, the same way every time."""
        if self._archive is None and not self._failure:
            try:
                self._stream = self._web.file(self._wheel.url.partition("#")[0])
                self._archive = zipfile.ZipFile(cast("BinaryIO", self._stream))
                self._list(self._archive)
            except (Unreachable, OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
                self._failure = str(error) or type(error).__name__
        if self._archive is None or self._failure:
            raise Unreadable(self._wheel.name, self._failure)
        return self._archive

    def _list(self, archive: zipfile.ZipFile) -> None:
        members = archive.infolist()
        if len(members) > _MEMBERS_AT_MOST:
            raise zipfile.BadZipFile(f"more than {_MEMBERS_AT_MOST} members")
        for info in members:
            path = f"{self.site}/{_installed_as(info.filename)}".rstrip("/")
            if not info.filename.endswith("/"):  # is_dir() fails for a member without a name
                self._files[path] = info
            while path:
                folder, _, name = path.rpartition("/")
                if name in self._folders.setdefault(folder, set()):
                    break
                self._folders[folder].add(name)
                path = folder

    def _member(self, path: str) -> zipfile.ZipInfo:
        self._opened()
        if path not in self._files:
            raise Missing(path)
        return self._files[path]

    def close(self) -> None:
        """Close the archive and its file."""
        for opened in (self._archive, self._stream):
            if opened is not None:
                opened.close()

    def paths(self) -> Iterator[str]:
        """The paths of all files; raises Unreadable."""
        self._opened()
        return iter(self._files)

    def read_bytes(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """See Host."""
        with self.open(path) as stream:
            content = stream.read(limit_bytes + 1)
        if len(content) > limit_bytes:
            raise Unreadable(path, f"larger than {limit_bytes} bytes")
        return content

    def names(self, path: str) -> tuple[str, ...]:
        """See Host."""
        self._opened()
        if path not in self._folders:
            raise Missing(path)
        return tuple(sorted(self._folders[path]))

    def status(self, path: str) -> FileStatus:
        """See Host."""
        if path == self._loader:
            return FileStatus(kind="file", size_bytes=0, mode=0o755, uid=0, gid=0, mtime=0.0, device=0, inode=0)
        if path == f"{self.distribution.metadata}/variant.json":
            raise Missing(path)  # a variant has a label in its file's name (`variants`): this is none
        self._opened()
        if path in self._folders:
            return FileStatus(kind="dir", size_bytes=0, mode=0o755, uid=0, gid=0, mtime=0.0, device=0, inode=0)
        return FileStatus(
            kind="file", size_bytes=self._member(path).file_size, mode=0o644, uid=0, gid=0, mtime=0.0, device=0, inode=0
        )

    link_status = status

    def link_target(self, path: str) -> str:
        """See Host: no file of a wheel is a link."""
        raise Unreadable(path, "not a symbolic link")

    def real_path(self, path: str) -> str:
        """See Host."""
        self.status(path)
        return path


class _Member(io.RawIOBase):
    """A member open for reading, whose failures are OSErrors as those of any file."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str) -> None:
        try:
            self._stream = archive.open(info)
        except (zipfile.BadZipFile, Unreachable, OSError, RuntimeError, ValueError, EOFError) as error:
            raise Unreadable(path, str(error)) from error  # ValueError: the directory places it before the file's start

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """See io.RawIOBase; raises OSError."""
        import lzma
        import zlib

        try:
            piece = self._stream.read(len(buffer))
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError, Unreachable) as error:
            raise OSError(str(error)) from error
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the member."""
        if not self.closed:
            self._stream.close()
        super().close()


def _installed_as(member: str) -> str:
    """Where an installer lays a member: torch-2.9.1.data/purelib/torch/x.py is torch/x.py (PEP 427)."""
    first, _, rest = member.partition("/")
    scheme, _, below = rest.partition("/")
    return below if first.endswith(".data") and scheme in {"purelib", "platlib"} and below else member
