"""Download one file: capped, resumed where it broke off, and hashed while it streams.

The file lies under `<to>.part` until its digest is the expected one, then it gets its name.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from compat.base.record import NamedTuple
from installers.digest import CHUNK_BYTES, DigestMismatch, LoginPage, looks_like_page, require
from installers.errors import InstallError, written
from installers.progress import Progress, Report, silent

if TYPE_CHECKING:
    import requests

    from installers.steps.download import Download

_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_MAX_REDIRECTS = 10
_OURSELVES = frozenset({"localhost", "127.0.0.1", "::1"})
_NETWORK_BYTES = 1 << 18


class FetchError(InstallError):
    """A download failed."""

    hint = "The part is kept: run the same command again to continue, or give the file with --archive FILE."


class BadAnswer(FetchError):
    """The server answered, but not with the file."""

    hint = "Check the address in a browser; if you have the file, give it with --archive FILE."


class BrokenOff(FetchError):
    """The connection failed, stalled, or ended before the file did."""


class TooSlow(FetchError):
    """Bytes come, but so few that the file would take months."""


class TooLarge(FetchError):
    """The server sends more than the file has."""

    hint = "The server sent another file. If it repeats, report the address."


class Limits(NamedTuple):
    """How long and how much to wait for."""

    connect_s: float = 15.0
    stall_s: float = 60.0  # without a byte
    tries: int = 5  # that bring nothing; one that brings bytes starts the count again
    pause_s: float = 1.0  # before the second try, doubled for each further one
    slow_s: float = 300.0  # in which `slow_bytes` at least must come, over all tries
    slow_bytes: int = 300 << 10  # a modem brings four times as much
    cap_bytes: int = 16 << 30  # for a file whose size is not known; the largest CUDA installer has 5 GB


PATIENT = Limits()


class _Part:
    """What has arrived, and its digest so far."""

    def __init__(self, path: str, report: Report, download: Download, limits: Limits) -> None:
        self.path = path
        self._report = report
        self._download = download
        self._limits = limits
        self._came_bytes, self._until = 0, time.monotonic() + limits.slow_s
        self._file = open(path, "ab+", opener=_not_by_a_link)  # noqa: SIM115 - closed by `close`
        self.restart(keep=True)

    def restart(self, *, keep: bool = False) -> None:
        """Begin again, from the first byte or after what is there."""
        if not keep:
            self._file.truncate(0)
        self.size_bytes = 0
        self.hash = hashlib.sha256()
        self._file.seek(0)
        while chunk := self._file.read(CHUNK_BYTES):
            self._count(chunk)

    def add(self, chunk: bytes) -> None:
        """Append; the file is in append mode, so where it was read does not matter. Raises TooSlow."""
        with written(self._download.to):
            self._file.write(chunk)
        self._count(chunk)
        self._report(Progress("download", self._download.to, self.size_bytes, self._download.size_bytes))
        self._refuse_slowness(len(chunk))

    def _refuse_slowness(self, size_bytes: int) -> None:
        self._came_bytes += size_bytes
        if time.monotonic() < self._until:
            return
        limits = self._limits
        if self._came_bytes < limits.slow_bytes:
            raise TooSlow(f"{self._download.url}: {self._came_bytes} bytes in {limits.slow_s:g} s is too slow")
        self._came_bytes, self._until = 0, time.monotonic() + limits.slow_s

    def _count(self, chunk: bytes) -> None:
        self.hash.update(chunk)
        self.size_bytes += len(chunk)

    def close(self) -> None:
        """Close the file; what arrived stays."""
        self._file.close()


def _not_by_a_link(path: str, flags: int) -> int:
    """A directory that others may write into can hold a link to a file of the user's under that name."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def fetch(download: Download, to: str, report: Report = silent, limits: Limits = PATIENT) -> str:
    """Fetch into the file `to` and return that path; raises FetchError, InstallError of the digest, OSError."""
    require_digest(download)
    part = _Part(f"{to}.part", report, download, limits)
    try:
        _fill(part, download, limits)
    finally:
        part.close()
    os.replace(part.path, to)
    return to


def fetch_unknown(download: Download, to: str, report: Report = silent, limits: Limits = PATIENT) -> None:
    """Fetch a file of which no known checksum: whoever calls judges it by what it holds. Raises as `fetch`."""
    part = _Part(f"{to}.part", report, download, limits)
    try:
        with _session(download) as session:
            _fetch_all(session, part, download, limits)
    finally:
        part.close()
    os.replace(part.path, to)


def require_digest(download: Download) -> None:
    """Raise NoDigest for a download that nobody could verify."""
    if not download.sha256:
        require(download.url, "", ())


def _fill(part: _Part, download: Download, limits: Limits) -> None:
    """Fetch until the digest is right; a part of another file is thrown away once."""
    resumed = part.size_bytes > 0
    with _session(download) as session:
        _fetch_all(session, part, download, limits)
        try:
            require(download.url, part.hash.hexdigest(), download.sha256)
        except DigestMismatch:
            part.restart()
            if not resumed:
                raise
            _fetch_all(session, part, download, limits)
            _require_or_empty(part, download)


def _require_or_empty(part: _Part, download: Download) -> None:
    observed = part.hash.hexdigest()
    try:
        require(download.url, observed, download.sha256)
    except DigestMismatch:
        part.restart()
        raise


@contextmanager
def _session(download: Download) -> Iterator[requests.Session]:
    import requests  # late: only downloads need it

    with requests.Session() as session:
        session.mount("http://", _plain(_OURSELVES if urlsplit(download.url).scheme == "http" else frozenset()))
        session.max_redirects = _MAX_REDIRECTS
        # The bytes as they are: an archive that is served as "gzip-encoded tar" must not be unpacked on the way.
        session.headers["Accept-Encoding"] = "identity"
        yield session


def _plain(hosts: frozenset[str]) -> requests.adapters.BaseAdapter:
    """What is not encrypted is asked of these hosts only, also where a server sends us elsewhere."""
    from requests.adapters import HTTPAdapter

    class Plain(HTTPAdapter):
        def send(self, request: requests.PreparedRequest, *more: Any, **named: Any) -> requests.Response:
            if urlsplit(request.url or "").hostname not in hosts:
                raise BadAnswer(f"{request.url}: refused, because it is not encrypted")
            return super().send(request, *more, **named)

    return Plain()


def _fetch_all(session: requests.Session, part: _Part, download: Download, limits: Limits) -> None:
    failures = 0
    while True:
        before_bytes = part.size_bytes
        try:
            _fetch_once(session, part, download, limits)
        except BrokenOff:
            failures = 1 if part.size_bytes > before_bytes else failures + 1
            if failures >= limits.tries:
                raise
            time.sleep(limits.pause_s * 2 ** (failures - 1))
        else:
            return


def _fetch_once(session: requests.Session, part: _Part, download: Download, limits: Limits) -> None:
    if download.size_bytes is not None and part.size_bytes == download.size_bytes:
        return
    if part.size_bytes > _cap(download, limits):
        part.restart()
    with _answer(session, part, download, limits) as response:
        if response.status_code == 416:  # nothing after what we have: it is whole, or of another file
            total = re.fullmatch(r"bytes \*/(\d+)", response.headers.get("Content-Range", ""))
            if total is None or int(total[1]) != part.size_bytes:
                part.restart()
                raise BrokenOff(f"{response.url}: the server has no bytes after the first {part.size_bytes}")
            return
        total_bytes = _place(part, response, download)
        _refuse_page(part, response, download)
        _stream(part, response, download, limits)
    if total_bytes is not None and part.size_bytes < total_bytes:
        raise BrokenOff(f"{download.url}: the connection ended after {part.size_bytes} of {total_bytes} bytes")


def _cap(download: Download, limits: Limits) -> int:
    return limits.cap_bytes if download.size_bytes is None else download.size_bytes


@contextmanager
def _answer(session: requests.Session, part: _Part, download: Download, limits: Limits) -> Iterator[requests.Response]:
    """The server's answer; every failure of the network inside the block becomes BrokenOff."""
    import requests
    import urllib3

    headers = {"Range": f"bytes={part.size_bytes}-"} if part.size_bytes else {}
    try:
        with session.get(
            download.url, headers=headers, stream=True, timeout=(limits.connect_s, limits.stall_s)
        ) as response:
            yield response
    except requests.TooManyRedirects as error:
        raise BadAnswer(f"{download.url}: more than {_MAX_REDIRECTS} redirects") from error
    except (
        requests.exceptions.InvalidURL,
        requests.exceptions.InvalidSchema,
        requests.exceptions.MissingSchema,
    ) as error:
        raise BadAnswer(f"{download.url}: not a valid download address") from error
    except ValueError as error:  # numbers of 5,000 digits, a negative length, an address that is no text
        raise BadAnswer(f"{download.url}: the server's answer is not HTTP") from error
    except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
        raise BrokenOff(f"{download.url}: the server stopped sending after {part.size_bytes} bytes") from error
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        what = f"the connection failed after {part.size_bytes} bytes" if part.size_bytes else "no connection"
        raise BrokenOff(f"{download.url}: {what} ({_reason(error)})") from error


def _reason(error: BaseException) -> str:
    """Return why a connection failed, in some words: the library's own text has several hundred characters."""
    import requests

    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy refuses or does not answer"
    if isinstance(error, requests.exceptions.SSLError):
        return "the certificate is not trusted; set REQUESTS_CA_BUNDLE to your certificate file"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


def _place(part: _Part, response: requests.Response, download: Download) -> int | None:
    """Begin where the answer begins; the size of the whole file as the server tells it."""
    _refuse_other_than_a_file(response, download)
    length = response.headers.get("Content-Length", "")
    sent_bytes = int(length) if length.isdecimal() else None
    if response.status_code == 206:
        start = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
        if start is None or int(start[1]) != part.size_bytes:
            part.restart()
            raise BrokenOff(f"{download.url}: the server sent another range than requested")
        return None if sent_bytes is None else part.size_bytes + sent_bytes
    part.restart()
    return sent_bytes


def _refuse_other_than_a_file(response: requests.Response, download: Download) -> None:
    if urlsplit(download.url).scheme == "https" and urlsplit(response.url).scheme != "https":
        raise BadAnswer(f"{download.url}: redirected to {response.url}, which is not encrypted")
    if response.status_code in _TRANSIENT:
        raise BrokenOff(f"{download.url}: the server answered {response.status_code} {response.reason}")
    if response.status_code not in {200, 206}:
        raise BadAnswer(f"{download.url}: the server answered {response.status_code} {response.reason}")


def _refuse_page(part: _Part, response: requests.Response, download: Download) -> None:
    if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/html":
        part.restart()
        raise LoginPage(response.url)
    if response.headers.get("Content-Encoding", "identity").lower() not in {"identity", "gzip", "x-gzip"}:
        raise BadAnswer(f"{download.url}: the server used an encoding that was not requested")


def _stream(part: _Part, response: requests.Response, download: Download, limits: Limits) -> None:
    cap_bytes = _cap(download, limits)
    first = part.size_bytes == 0
    for chunk in _pieces(response):
        if first and looks_like_page(chunk[:512]):
            raise LoginPage(response.url)
        first = False
        if part.size_bytes + len(chunk) > cap_bytes:
            part.restart()
            raise TooLarge(f"{download.url}: the file is larger than the expected {cap_bytes} bytes")
        part.add(chunk)


def _pieces(response: requests.Response) -> Iterator[bytes]:
    """What is there, as it comes: a whole piece at a time would hold back the bytes of a slow server for hours."""
    raw = response.raw
    if not hasattr(raw, "read1"):  # urllib3 before 2.1
        yield from raw.stream(_NETWORK_BYTES, decode_content=False)
        return
    while chunk := raw.read1(_NETWORK_BYTES, decode_content=False):
        yield chunk
