"""What a refresh found, as every format takes it."""

from __future__ import annotations

from datetime import date
from typing import Any

from compat.artefact import ComponentRow
from compat.base.record import NamedTuple
from compat.load import as_written
from doctor.commands.refresh.compare import DIFFERS, MORE, NEW, SAME, Change
from doctor.commands.refresh.index import Connection
from doctor.commands.refresh.run import Outcome
from doctor.model.encode import encode
from doctor.output.document import TextStyle
from doctor.output.page import Page

SCHEMA = "gpudoctor.refresh/1"
_KINDS = {NEW: "new", SAME: "as shipped", MORE: "as shipped, and more", DIFFERS: "differs"}


def days_between(earlier: str, later: str) -> int | None:
    """Days from one ISO date to another, None where one is not a date."""
    try:
        return (date.fromisoformat(later) - date.fromisoformat(earlier)).days
    except ValueError:
        return None


class Result(NamedTuple):
    """A whole refresh."""

    outcomes: tuple[Outcome, ...]
    connection: Connection
    folder: str  # where the rows are written
    today: str  # ISO date
    dry_run: bool


class RefreshDocument:
    """A refresh; see `doctor.output.document.Document`."""

    indent = 1

    def __init__(self, result: Result) -> None:
        self._result = result

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.refresh/1`."""
        return _encoded(self._result)

    def text(self, style: TextStyle) -> str:
        """What is new or different, then what is as it was."""
        return as_text(self._result, style)


def _encoded(result: Result) -> dict[str, Any]:
    """All of it; credentials are not part of an index as it is shown."""
    return {
        "schema": SCHEMA,
        "today": result.today,
        "dry_run": result.dry_run,
        "overlay": result.folder,
        "indexes": [{"url": one.shown, "said_by": one.said_by} for one in result.connection.indexes],
        "notes": list(result.connection.notes),
        "products": [_product(outcome, result.today) for outcome in result.outcomes],
    }


def _product(outcome: Outcome, today: str) -> dict[str, Any]:
    return {
        "product": outcome.product,
        "as_of": outcome.as_of,
        "age_days": days_between(outcome.as_of, today),
        "own_as_of": outcome.own_as_of,
        "newest_known": outcome.newest_known,
        "newest_served": outcome.newest_served,
        "rows": [_change(change) for change in outcome.changes],
        "problems": list(outcome.problems),
        "written": outcome.written,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "row": as_written(change.row, encode(change.row)),
        "shipped": list(change.shipped),
        "differences": [one._asdict() for one in change.differences],
    }


def as_text(result: Result, terminal: TextStyle) -> str:
    """Text for 80 columns: what is new or different, then what is as it was."""
    page = Page(terminal)
    for index in result.connection.indexes:
        page.row("index", f"{index.shown} ({index.said_by})")
    for note in result.connection.notes:
        page.row("note", note)
    page.row("rows", result.folder + (" (nothing is written: --dry-run)" if result.dry_run else ""))
    quiet = [outcome for outcome in result.outcomes if not outcome.changes and not outcome.problems]
    for outcome in result.outcomes:
        if outcome not in quiet:
            _section(page, outcome)
    page.gap()
    for title, served in (("Nothing newer", True), ("No index serves a wheel of", False)):
        names = [_known(outcome) for outcome in quiet if bool(outcome.newest_served) is served]
        if names:
            page.paragraph(f"{title}: {', '.join(names)}", hang=2)
    page.paragraph(_age(result), hang=2)
    return page.text()


def _known(outcome: Outcome) -> str:
    return f"{outcome.product} {outcome.newest_known}".strip()


def _section(page: Page, outcome: Outcome) -> None:
    page.gap()
    known = f"known up to {outcome.newest_known}" if outcome.newest_known else "no release known"
    served = f", served up to {outcome.newest_served}" if outcome.newest_served else ""
    page.line(page.paint("bold", outcome.product) + f"  {known}{served}")
    for release, parts in _components(outcome.changes).items():
        page.paragraph(f"  {_KINDS[NEW]}: {release}, archives of {len(parts)} components", hang=4)
        page.paragraph(f"    {'; '.join(parts)}", hang=4)
    for change in outcome.changes:
        if change.kind == NEW and isinstance(change.row, ComponentRow):
            continue
        page.paragraph(f"  {_KINDS[change.kind]}: {change.row.id}", hang=4)
        if change.kind == NEW:
            page.paragraph(f"    {_summary(change.row)}", hang=4)
        for one in change.differences:
            shipped = "" if one.shipped is None else f"shipped {_plain(one.shipped)}; read "
            page.paragraph(f"    {one.column}: {shipped}{_plain(one.read)}", hang=6)
    for problem in outcome.problems:
        page.paragraph(f"  not read: {problem}", colour="yellow", hang=4)
    if outcome.written:
        page.paragraph(f"  written: {outcome.written}", hang=4)


def _components(changes: tuple[Change, ...]) -> dict[str, list[str]]:
    """The new rows of components, which are many and have digests that nobody reads, as names by release."""
    found: dict[str, list[str]] = {}
    for change in changes:
        if change.kind == NEW and isinstance(change.row, ComponentRow):
            found.setdefault(change.row.release, []).append(f"{change.row.component} {change.row.version}")
    return found


def _summary(row: Any) -> str:
    """The judged columns in a line, as far as they are known."""
    skipped = {"id", "package", "versions", "build", "source", "read_on", "confidence", "note", "pins"}
    said = {name: value for name, value in encode(row).items() if name not in skipped and value not in (None, "", [])}
    return "; ".join(f"{name} {_plain(value)}" for name, value in said.items())


def _plain(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, dict):
        return ", ".join(f"{name}{pin}" for name, pin in value.items()) or "none"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return str(value) or "none"


def _age(result: Result) -> str:
    dates = sorted({outcome.as_of for outcome in result.outcomes if outcome.as_of})
    if not dates:
        return "No data of this is shipped."
    days = days_between(dates[0], result.today)
    own = sorted({outcome.own_as_of for outcome in result.outcomes if outcome.own_as_of})
    text = f"The shipped data is from {dates[0]}, {days} day{'' if days == 1 else 's'} ago"
    return text + (f"; yours was from {own[0]} before this run." if own else ".")
