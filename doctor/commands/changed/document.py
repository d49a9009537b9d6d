"""The time line, as every format takes it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from doctor.changes import Group, History, minute
from doctor.output.document import TextStyle
from doctor.output.page import Page

SCHEMA = "gpudoctor.changed/1"
_SHOWN_AT_MOST = 30  # groups, of which those that bear on a finding are always shown


class ChangedDocument:
    """See `doctor.output.document.Document`."""

    indent = 2

    def __init__(self, history: History) -> None:
        self._history = history

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.changed/1`; times are seconds since the epoch."""
        history = self._history
        return {
            "schema": SCHEMA,
            "since": history.since_s,
            "started": history.started_s,
            "changes": [
                {**one._asdict(), "source": str(one.source), "part": group.part, "bears_on": list(group.bears_on)}
                for group in history.groups
                for one in group.changes
            ],
            "records_begin": dict(history.begin_s),
            "unread": dict(history.unread),
        }

    def text(self, style: TextStyle) -> str:
        """A line for each group, and what the records do not cover."""
        history, page = self._history, Page(style)
        page.paragraph(f"Changes since {_day(history.since_s)}, newest first", colour="bold")
        page.gap()
        shown = [one for number, one in enumerate(history.groups) if number < _SHOWN_AT_MOST or one.bears_on]
        for group in shown:
            _show(page, group)
        if len(shown) < len(history.groups):
            page.paragraph(f"  and {len(history.groups) - len(shown)} older ones: --format json lists all")
        if not shown:
            page.paragraph("  No record of a change to the GPU stack.")
        page.gap()
        for line in _limits(history):
            page.paragraph(line, colour="dim")
        return page.text()


def _show(page: Page, group: Group) -> None:
    first = group.changes[0]
    where = f" in {first.where}" if first.where else ""
    by = f" ({first.by})" if first.by else ""
    page.paragraph(f"  {minute(first.at_s):12}  {group.what}{where}{by}", hang=16)
    if group.bears_on:
        arrow = page.symbol("→", "->")
        page.paragraph(f"{'':16}{arrow} may explain {', '.join(group.bears_on)}", colour="yellow", hang=16)


def _limits(history: History) -> Iterator[str]:
    """What the time line cannot know."""
    if history.started_s is None:
        yield "No record says when the machine was started."
    elif history.waits_for_restart:
        yield f"Not restarted since {minute(history.started_s)}: a driver or kernel that came later is not in use."
    else:
        yield f"Last start: {minute(history.started_s)}."
    if history.begin_s:
        yield "Records begin: " + ", ".join(f"{name} {_day(at_s)}" for name, at_s in history.begin_s) + "."
    else:
        yield "This machine has no records that gpudoctor can read."
    for name, why in history.unread:
        yield f"Not read: {name}, {why}."


def _day(at_s: float) -> str:
    return time.strftime("%d %b %Y", time.localtime(at_s))
