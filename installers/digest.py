"""SHA-256 of files, and the errors of a file that is not the expected one."""

from __future__ import annotations

import errno
import hashlib
import os

from installers.errors import InstallError, written
from installers.progress import Progress, Report, silent

CHUNK_BYTES = 1 << 20
_PAGE_STARTS = (b"<!doctype", b"<html", b"<head", b"<?xml")


class NoDigest(InstallError):
    """No digest is known for a file, so nobody could say whether it is the right one."""

    hint = "Compare the file with its publisher's page, then give its checksum with --sha256."

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: the SHA-256 of this file is unknown")


class DigestMismatch(InstallError):
    """A file is not the file that the plan names."""

    hint = "Try again. If it repeats, do not install the file: report it."

    def __init__(self, name: str, *, expected: tuple[str, ...], observed: str) -> None:
        super().__init__(f"{name}: SHA-256 is {observed}, expected {' or '.join(expected)}")


class LoginPage(InstallError):
    """A web page where an archive was expected."""

    hint = "The download needs a login: get the file with a browser, then give it with --archive FILE."

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is a web page (HTML), not an archive: probably a login page")


def looks_like_page(start: bytes) -> bool:
    """Whether a file's first bytes are those of a web page."""
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:9].lower().startswith(_PAGE_STARTS)


def sha256_of(path: str, report: Report = silent) -> str:
    """The digest of a file, in lower-case hexadecimal; raises OSError."""
    found = hashlib.sha256()
    done_bytes = 0
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            found.update(chunk)
            done_bytes += len(chunk)
            report(Progress("verify", path, done_bytes, None))
    return found.hexdigest()


def copy_verified(path: str, to: str, expected: tuple[str, ...], report: Report = silent) -> None:
    """Copy a file while it is hashed; raises LoginPage, NoDigest, DigestMismatch, OSError, and leaves no copy then.

    A pipe would be waited for without an end, and a device read without one: they are errors, as other kinds are.
    """
    if not expected:
        raise NoDigest(path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "it is not a file", path)
    found, done_bytes = hashlib.sha256(), 0
    with open(path, "rb") as file, written(to), open(to, "xb") as copy:
        total_bytes = os.fstat(file.fileno()).st_size
        while chunk := file.read(CHUNK_BYTES):
            if done_bytes == 0 and looks_like_page(chunk[:512]):
                raise LoginPage(path)
            found.update(chunk)
            copy.write(chunk)
            done_bytes += len(chunk)
            report(Progress("verify", path, done_bytes, total_bytes))
    try:
        require(path, found.hexdigest(), expected)
    except DigestMismatch:
        os.unlink(to)
        raise


def require(name: str, observed: str, expected: tuple[str, ...]) -> None:
    """Raise DigestMismatch unless the observed digest is one of the expected ones, and NoDigest without any."""
    if not expected:
        raise NoDigest(name)
    if observed.lower() not in {one.lower() for one in expected}:
        raise DigestMismatch(name, expected=expected, observed=observed)


def verify_file(path: str, expected: tuple[str, ...], report: Report = silent) -> None:
    """Verify a file that is here; raises LoginPage, NoDigest, DigestMismatch, OSError."""
    with open(path, "rb") as file:
        if looks_like_page(file.read(512)):
            raise LoginPage(path)
    if not expected:
        raise NoDigest(path)
    require(path, sha256_of(path, report), expected)
