"""A package index as it is configured, and how to reach it."""

from __future__ import annotations

import os
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import pathname2url

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple


class BadIndex(GpudoctorError):
    """What is configured is not the address of an index; the address is not repeated, for it may hold a password."""


class Index(NamedTuple):
    """One place that serves packages."""

    url: str  # without credentials; "file:" for a directory
    is_flat: bool  # one page or directory of files (find-links), not a page for each project (PEP 503)
    said_by: str  # "PIP_INDEX_URL", "/etc/pip.conf [global] index-url"
    user: str = ""
    password: str = ""

    @classmethod
    def of(cls, url: str, said_by: str, *, is_flat: bool = False) -> Index:
        """An index by a URL that may hold credentials; a plain path is a directory. Raises BadIndex."""
        try:
            parts = urlsplit(url)
            _ = parts.port  # raises for what is no number
        except ValueError as error:
            raise BadIndex(f"{said_by or 'a link'} does not hold a URL") from error
        if parts.scheme not in {"http", "https", "file"}:
            return cls("file://" + pathname2url(os.path.abspath(os.path.expanduser(url))), is_flat, said_by)
        host = parts.netloc.rpartition("@")[2]
        bare = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
        return cls(bare, is_flat, said_by, unquote(parts.username or ""), unquote(parts.password or ""))

    def page_of(self, project: str) -> str:
        """The address of the page that lists a project's files (PEP 503: the project's normalised name)."""
        if self.is_flat:
            return self.url
        path, mark, query = self.url.partition("?")
        return f"{path.rstrip('/')}/{project}/{mark}{query}"

    @property
    def shown(self) -> str:
        """The URL as a person may read it: a query may hold a token."""
        return self.url.partition("?")[0]


class Connection(NamedTuple):
    """The indexes of a configuration, and what a connection to them needs."""

    indexes: tuple[Index, ...]
    has_default: bool  # whether an index takes the place of the installer's built-in one, or none may be used
    certificates: str = ""  # file or directory of certification authorities
    client_certificate: str = ""
    trusted_hosts: tuple[str, ...] = ()
    proxy: str = ""
    timeout_s: float = 30.0
    notes: tuple[str, ...] = ()  # what could not be read
