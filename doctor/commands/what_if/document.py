"""The answer of what-if, as every format takes it."""

from __future__ import annotations

from typing import Any

from compat.base.record import NamedTuple
from doctor.commands.what_if.resolve import Change
from doctor.output.document import TextStyle
from doctor.output.page import Page

SCHEMA = "gpudoctor.what-if/1"
ANSWERS = {0: "harmless", 1: "breaks", 4: "unknown"}
OF_BUILD = "the build"  # why NVIDIA's wheels change
_SHOWN_AT_MOST = 12  # changes of the text


class Broken(NamedTuple):
    """A fault that an environment has after a command and not before, or the other way round."""

    code: str  # of its rule; "" for a requirement of another package, or a refusal of the installer
    severity: str  # "error", "warning"
    summary: str


class Answer(NamedTuple):
    """What a command does."""

    command: str
    where: str  # the environment
    changes: tuple[Change, ...] = ()
    breaks: tuple[Broken, ...] = ()
    fixes: tuple[Broken, ...] = ()
    unknown: tuple[str, ...] = ()
    instead: str = ""  # a command that breaks nothing
    by: str = "rows"  # "rows" or "dry run"


class WhatIfDocument:
    """See `doctor.output.document.Document`."""

    indent = 2

    def __init__(self, answer: Answer, status: int) -> None:
        self._answer, self._status = answer, status

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.what-if/1`."""
        told = self._answer
        return {
            "schema": SCHEMA,
            "command": told.command,
            "environment": told.where,
            "answer": ANSWERS[self._status],
            "resolved_by": told.by,
            "changes": [
                {"name": one.name, "before": one.before, "after": one.after, "required_by": one.because}
                for one in told.changes
            ],
            "breaks": [one._asdict() for one in told.breaks],
            "fixes": [one._asdict() for one in told.fixes],
            "unknown": list(told.unknown),
            "instead": told.instead,
        }

    def text(self, style: TextStyle) -> str:
        """What breaks, what changes, what to type instead."""
        page, told = Page(style), self._answer
        self._headline(page)
        for one in told.breaks:
            page.paragraph(f"  {one.summary}" + (f"  [{one.code}]" if one.code else ""), hang=4)
        if told.changes:
            page.gap()
            page.paragraph(f"Changes in {told.where}", colour="bold")
            own = [one for one in told.changes if one.because != OF_BUILD]
            for change in own[:_SHOWN_AT_MOST]:
                page.paragraph(f"  {_changed(change)}", hang=4)
            if more := len(told.changes) - len(own[:_SHOWN_AT_MOST]):
                page.line(f"  and {more} more that these require (--format json lists them)")
        if told.fixes:
            page.gap()
            page.paragraph("This also fixes", colour="bold")
            for one in told.fixes:
                page.paragraph(f"  {one.summary}", hang=4)
        if told.instead:
            page.gap()
            page.paragraph("Install this instead:", colour="bold")
            page.verbatim(told.instead, indent=4)
        if told.unknown:
            page.gap()
            page.paragraph("Unknown", colour="bold")
            for text in told.unknown:
                page.paragraph(f"  {text}", hang=4)
            if told.by == "rows":
                page.line("  To find out, add --online: it runs the installer's dry run")
        return page.text()

    def _headline(self, page: Page) -> None:
        command = self._answer.command
        if self._answer.breaks:
            page.paragraph(f"{page.symbol('✗', 'x')} {command} breaks something", colour="red", hang=2)
        elif self._answer.unknown:
            page.paragraph(f"? {command}: no problem found, but the answer is incomplete", hang=2)
        elif not self._answer.changes:
            page.paragraph(f"{page.symbol('✓', '+')} {command} changes nothing", colour="green", hang=2)
        else:
            page.paragraph(f"{page.symbol('✓', '+')} {command} breaks nothing", colour="green", hang=2)


def _changed(one: Change) -> str:
    if not one.after and one.before:
        return f"{one.name} {one.before} is removed"
    arrow = f"{one.name} {one.before} → {one.after}" if one.before else f"{one.name} {one.after}".rstrip() + " is added"
    return arrow + (f" (required by {one.because})" if one.because else "")
