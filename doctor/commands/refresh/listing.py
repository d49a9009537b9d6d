"""What an index has of a project: simple pages in HTML (PEP 503) and JSON (PEP 691), and plain directories."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from packaging.utils import canonicalize_name, parse_wheel_filename

from compat.base.record import NamedTuple
from doctor.commands.refresh.index import Index
from doctor.commands.refresh.variants import notes
from doctor.commands.refresh.web import JSON, Page, Unreachable, Web, joined, shown

if TYPE_CHECKING:
    from packaging.tags import Tag
    from packaging.utils import BuildTag
    from packaging.version import Version

_FILES_AT_MOST = 100_000


class Wheel(NamedTuple):
    """One wheel that an index serves."""

    name: str  # of the file
    url: str  # without credentials
    version: Version  # with its local part
    build_number: BuildTag
    tags: frozenset[Tag]
    has_metadata: bool  # whether METADATA is served apart (PEP 658)
    is_yanked: bool


class _File(NamedTuple):
    name: str
    url: str
    has_metadata: bool
    is_yanked: bool


def wheels_of(project: str, indexes: Iterable[Index], web: Web) -> tuple[tuple[Wheel, ...], tuple[str, ...]]:
    """Every wheel of a project, each file name once (the first index wins), and what could not be read."""
    found: dict[str, Wheel] = {}
    problems: list[str] = []
    for index in indexes:
        try:
            files = _files_of(project, index, web)
            for wheel in (wheel for wheel in map(_wheel, files) if wheel):
                found.setdefault(wheel.name, wheel)
            problems += notes(((file.name, file.url) for file in files), web)
        except Unreachable as error:
            problems.append(str(error))
    return tuple(found.values()), tuple(problems)


def _files_of(project: str, index: Index, web: Web) -> list[_File]:
    """The files of a project on one index; raises Unreachable."""
    name = canonicalize_name(project)
    page = web.page(index.page_of(name))
    if page is None:
        if index.is_flat:
            raise Unreachable(f"{shown(index.url)}: no such file or directory (named by {index.said_by})")
        return []
    return [file for file in _files(page) if canonicalize_name(file.name.partition("-")[0]) == name]


def _wheel(file: _File) -> Wheel | None:
    if not file.name.endswith(".whl"):
        return None
    try:
        _, version, build, tags = parse_wheel_filename(file.name)
    except ValueError:  # an index may hold files that no installer takes; numbers of 5,000 digits among them
        return None
    return Wheel(
        name=file.name,
        url=file.url,
        version=version,
        build_number=build,
        tags=tags,
        has_metadata=file.has_metadata,
        is_yanked=file.is_yanked,
    )


def _files(page: Page) -> list[_File]:
    if page.kind == JSON:
        return _from_json(page)
    text = page.content.decode("utf-8", "replace")
    if not page.kind:
        return [_File(name, joined(page.url, "./" + quote(name)), False, False) for name in text.splitlines()]
    if page.kind not in {"text/html", "application/vnd.pypi.simple.v1+html", "application/xhtml+xml"}:
        raise Unreachable(f"{shown(page.url)}: this is not a page of a package index ({page.kind})")
    return _from_html(text, page.url)


def _from_json(page: Page) -> list[_File]:
    try:
        entries: Any = json.loads(page.content)["files"]
        return [
            _File(
                str(entry["filename"]),
                joined(page.url, str(entry["url"])),
                bool(entry.get("core-metadata", entry.get("dist-info-metadata"))),
                bool(entry.get("yanked")),
            )
            for entry in entries[:_FILES_AT_MOST]
        ]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise Unreachable(f"{shown(page.url)}: this is not a simple index in JSON (PEP 691)") from error


def _from_html(text: str, url: str) -> list[_File]:
    parser = _Links(url)
    parser.feed(text)
    parser.close()
    return parser.files


class _Links(HTMLParser):
    """The links of a page, named by the last part of their address as pip does it."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._base = url
        self.files: list[_File] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect <a href>; <base href> moves what follows; what is no address is passed over."""
        said = dict(attrs)
        link = said.get("href")
        if not link or tag not in {"a", "base"} or len(self.files) >= _FILES_AT_MOST:
            return
        try:
            address = joined(self._base, link)
        except Unreachable:
            return
        if tag == "base":
            self._base = address
        else:
            metadata = said.get("data-core-metadata", said.get("data-dist-info-metadata", "false"))
            last_part = unquote(re.split(r"[?#]", address)[0].rstrip("/").rpartition("/")[2])
            self.files.append(_File(last_part, address, metadata != "false", "data-yanked" in said))


def links_of(url: str, web: Web) -> tuple[tuple[str, str], ...]:
    """Name and address of every link on a page; raises Unreachable, also where there is no page."""
    page = web.page(url)
    if page is None:
        raise Unreachable(f"{shown(url)}: no such page")
    return tuple((file.name, file.url) for file in _files(page))
