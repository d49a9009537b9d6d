"""The door to package indexes: whole pages, and byte ranges of files, over HTTP or from a directory.

No message and no result holds credentials: they are taken out of every URL before it is used, and given apart.
"""

from __future__ import annotations

import io
import math
import os
import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

import requests
from urllib3.exceptions import InsecureRequestWarning

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from doctor.commands.refresh.index import BadIndex, Connection, Index

PAGE_BYTES = 64 << 20  # the largest known page, of a project with daily builds, has 20 MB
_WHOLE_FILE_BYTES = 8 << 20  # without byte ranges, only a small file is read
_TAIL_BYTES = 64 << 10  # the directory of most wheels; a zip file is read from its end
_AHEAD_AT_MOST_BYTES = 2 << 20
_READ_AT_MOST_BYTES = 64 << 20
_PIECE_BYTES = 64 << 10
JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = f"{JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1, */*;q=0.01"  # PEP 691


class Unreachable(GpudoctorError):
    """An index or a file of it could not be read; the message is a reason a user can act on."""


class Page(NamedTuple):
    """What was read from one URL."""

    url: str  # after redirects, without credentials
    kind: str  # content type, "" for a local file
    content: bytes


class Web:
    """All connections of one run."""

    def __init__(self, connection: Connection, seconds: float = math.inf) -> None:
        """`seconds` from now on nothing more is asked of anybody: one deadline for all that a run reads."""
        self._connection = connection
        self._seconds, self._until = seconds, time.monotonic() + seconds
        self._session = requests.Session()
        if connection.trusted_hosts:  # urllib3 warns of a host that the user has called trusted
            warnings.simplefilter("ignore", InsecureRequestWarning)
        if connection.proxy:
            self._session.proxies.update({"http": connection.proxy, "https": connection.proxy})
        self._session.cert = connection.client_certificate or None
        self._dead: dict[str, str] = {}  # hosts that gave no answer: one time-out is enough
        self._credentials = {
            urlsplit(one.url).netloc: (one.user, one.password) for one in connection.indexes if one.user
        }

    @property
    def is_over(self) -> bool:
        """Whether the time is used up: what was read by then may lack a part."""
        return time.monotonic() >= self._until

    def stop(self) -> None:
        """Ask nothing more of anybody."""
        self._until = -math.inf

    @property
    def over(self) -> str:
        """Why nothing more is read then."""
        return f"the time limit of {self._seconds:g} s is over (raise it with --timeout)"

    def page(self, url: str, limit_bytes: int = PAGE_BYTES) -> Page | None:
        """A page or a small file, None where there is none; raises Unreachable."""
        if is_local(url):
            return _local_page(url, limit_bytes)
        with self._get(url, {"Accept": _ACCEPT}) as response:
            if response.status_code in {404, 410}:
                return None
            _demand(response, url, 200)
            kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            return Page(without_credentials(response.url), kind, _bounded(response, url, limit_bytes))

    def file(self, url: str) -> io.BufferedIOBase:
        """A file to read in pieces, open for reading; raises Unreachable, also where the server gives no ranges."""
        if is_local(url):
            try:
                return open(local_path(url), "rb")
            except OSError as error:
                raise Unreachable(f"{shown(url)}: {error.strerror}") from error
        return self._remote(url)

    def _remote(self, url: str) -> io.BufferedIOBase:
        headers = {"Range": f"bytes=-{_TAIL_BYTES}", "Accept-Encoding": "identity"}
        with self._get(url, headers) as response:
            if response.status_code == 200:
                return io.BytesIO(_whole(response, url))
            _demand(response, url, 206)
            start, size = _content_range(response, url)
            tail = _bounded(response, url, _TAIL_BYTES)
        return io.BufferedReader(RemoteFile(self, url, size, start, tail), 4096)

    def part(self, url: str, start: int, stop: int) -> bytes:
        """The bytes from `start` up to `stop`; raises Unreachable."""
        with self._get(url, {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}) as response:
            _demand(response, url, 206)
            if _content_range(response, url)[0] != start:
                raise Unreachable(f"{shown(url)}: the server sent another range than requested")
            return _bounded(response, url, stop - start)

    @contextmanager
    def _get(self, url: str, headers: dict[str, str]) -> Iterator[requests.Response]:
        host = urlsplit(url).netloc
        if self.is_over:
            raise Unreachable(self.over)
        if host in self._dead:
            raise Unreachable(f"{shown(url)}: {self._dead[host]}")
        trusted = {urlsplit(url).hostname, host} & set(self._connection.trusted_hosts)
        # Given with every request: requests would prefer REQUESTS_CA_BUNDLE to the session's, and pip does not.
        options: dict[str, Any] = {"verify": False if trusted else self._connection.certificates or None}
        if host in self._credentials:
            options["auth"] = self._credentials[host]  # without, requests looks into netrc
        patience = min(self._connection.timeout_s, max(self._until - time.monotonic(), 0.1))
        try:
            response = self._session.get(url, headers=headers, timeout=patience, stream=True, **options)
        except (requests.RequestException, OSError, ValueError) as error:
            if isinstance(error, (requests.ConnectionError, requests.Timeout)):
                self._dead[host] = _reason(error)
            raise Unreachable(f"{shown(url)}: {_reason(error)}") from error
        with response:
            yield response


class RemoteFile(io.RawIOBase):
    """A remote file as a seekable one; the more is read in one go, the larger are the pieces asked for."""

    def __init__(self, web: Web, url: str, size: int, start: int, content: bytes) -> None:
        """`content` are the bytes from `start` on that are known already."""
        self._web, self._url, self._size = web, url, size
        self._start, self._content = start, content
        self._position, self._ahead = 0, _PIECE_BYTES

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The position in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """See io.IOBase."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the file goes; raises Unreachable."""
        wanted = min(len(buffer), max(self._size - self._position, 0))
        if wanted > _READ_AT_MOST_BYTES:
            raise Unreachable(f"{shown(self._url)}: its directory is too large ({wanted} bytes)")
        if wanted and not self._start <= self._position <= self._start + len(self._content) - wanted:
            self._load(wanted)
        offset = self._position - self._start
        piece = self._content[offset : offset + wanted]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def _load(self, wanted: int) -> None:
        follows = self._start <= self._position <= self._start + len(self._content)
        self._ahead = min(self._ahead * 2, _AHEAD_AT_MOST_BYTES) if follows else _PIECE_BYTES
        stop = min(self._position + max(wanted, self._ahead), self._size)
        self._content = self._web.part(self._url, self._position, stop)
        self._start = self._position


def is_local(url: str) -> bool:
    """Whether a URL is of a file on this machine."""
    return url.startswith("file:")


def local_path(url: str) -> str:
    """The path of a "file:" URL."""
    return url2pathname(urlsplit(url).path)


def without_credentials(url: str) -> str:
    """The URL without user, password and fragment."""
    return Index.of(url, "").url if "://" in url else url


def shown(url: str) -> str:
    """A URL as a person may read it."""
    return without_credentials(url).partition("?")[0].partition("#")[0]


def joined(base: str, link: str) -> str:
    """The address of a link on a page, without credentials; raises Unreachable for what is no address."""
    try:
        url = without_credentials(urljoin(base, link))
    except (ValueError, BadIndex) as error:
        raise Unreachable(f"{shown(base)}: a link on it is not a valid address") from error
    if is_local(url) and not is_local(base):
        raise Unreachable(f"{shown(base)}: a link on it points to files of this machine")
    return url


def _local_page(url: str, limit_bytes: int) -> Page | None:
    """A file; for a directory its index.html, as pip reads it, else a page made of its names."""
    path = local_path(url)
    try:
        if os.path.isdir(path):
            url = url.rstrip("/") + "/"
            index = os.path.join(path, "index.html")
            if not os.path.isfile(index):
                return Page(url, "", "\n".join(sorted(os.listdir(path))).encode())
            path = index
        with open(path, "rb") as stream:
            return Page(url, "text/html", stream.read(limit_bytes))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreachable(f"{shown(url)}: {error.strerror}") from error


def _demand(response: requests.Response, url: str, status: int) -> None:
    if response.status_code == status:
        return
    advice = {
        401: ": it needs a user and password (in the URL, or in netrc)",
        403: ": it forbids this",
        200: ": the server supports no byte ranges",
    }.get(response.status_code, "")
    raise Unreachable(f"{shown(url)}: the server answered {response.status_code}{advice}")


def _content_range(response: requests.Response, url: str) -> tuple[int, int]:
    """First byte and size of the whole file, from "bytes 0-99/1000"."""
    try:
        span, _, size = response.headers["Content-Range"].removeprefix("bytes ").partition("/")
        return int(span.partition("-")[0]), int(size)
    except (KeyError, ValueError) as error:
        raise Unreachable(f"{shown(url)}: the server does not say which byte range it sent") from error


def _whole(response: requests.Response, url: str) -> bytes:
    """A small file whose server knows no ranges; raises Unreachable for a large one."""
    size = re.fullmatch(r"[0-9]{1,9}", response.headers.get("Content-Length", ""))
    if not size or int(size[0]) > _WHOLE_FILE_BYTES:
        raise Unreachable(
            f"{shown(url)}: the server supports no byte ranges, and gpudoctor does not download the whole file"
        )
    return _bounded(response, url, _WHOLE_FILE_BYTES)


def _bounded(response: requests.Response, url: str, limit_bytes: int) -> bytes:
    content = bytearray()
    try:
        for piece in response.iter_content(_PIECE_BYTES):
            content += piece
            if len(content) > limit_bytes:
                raise Unreachable(f"{shown(url)}: larger than {limit_bytes} bytes")
    except (requests.RequestException, OSError, ValueError) as error:
        raise Unreachable(f"{shown(url)}: {_reason(error)}") from error
    return bytes(content)


def _reason(error: Exception) -> str:
    """What went wrong in a word; the library's own text may hold a URL with credentials of a proxy."""
    kinds: tuple[tuple[type[Exception], str], ...] = (
        (requests.exceptions.ProxyError, "the proxy refuses or does not answer"),
        (requests.exceptions.SSLError, "the certificate is not trusted (PIP_CERT, REQUESTS_CA_BUNDLE)"),
        (requests.Timeout, "no answer in time"),
        (requests.ConnectionError, "no connection"),
        (requests.exceptions.InvalidURL, "not a URL"),
        (requests.exceptions.TooManyRedirects, "too many redirects"),
    )
    return next((text for kind, text in kinds if isinstance(error, kind)), type(error).__name__)
