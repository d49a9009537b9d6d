"""The differences, as every format takes them."""

from __future__ import annotations

from typing import Any

from compat.base.record import NamedTuple
from doctor.changes.snapshot import Difference
from doctor.model.finding import Answer
from doctor.output.document import TextStyle
from doctor.output.page import Page

SCHEMA = "gpudoctor.diff/1"
_SHOWN_AT_MOST = 40  # differences; those that bear on a new finding come first


class Judged(NamedTuple):
    """A difference, and the new findings that it may explain."""

    difference: Difference
    bears_on: tuple[str, ...]  # codes


class DiffDocument:
    """See `doctor.output.document.Document`."""

    indent = 2

    def __init__(self, judged: tuple[Judged, ...], came: tuple[Answer, ...], went: tuple[Answer, ...]) -> None:
        """`came`, `went`: the findings that only the new report has, and only the old one."""
        self.judged, self.came, self.went = judged, came, went

    @property
    def parts(self) -> tuple[tuple[Judged, ...], tuple[Answer, ...], tuple[Answer, ...]]:
        """Return what it was made of."""
        return self.judged, self.came, self.went

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.diff/1`; "" as a value means that the item is not there."""
        return {
            "schema": SCHEMA,
            "new_findings": [_finding(one) for one in self.came],
            "gone_findings": [_finding(one) for one in self.went],
            "differences": [
                {**one.item._asdict(), "old": one.old, "new": one.new, "bears_on": list(bears_on)}
                for one, bears_on in self.judged
            ],
        }

    def text(self, style: TextStyle) -> str:
        """New findings, then the differences, then what is gone."""
        page = Page(style)
        for one in self.came:
            page.paragraph(f"{page.symbol('✗', 'x')} new: {one.why} ({one.code})", colour="red", hang=2)
        for one in self.went:
            page.paragraph(f"{page.symbol('✓', 'ok')} gone: {one.why} ({one.code})", colour="green", hang=2)
        if self.came or self.went:
            page.gap()
        if not self.judged:
            page.paragraph("Nothing differs that matters for the GPU stack.")
            return page.text()
        page.paragraph("What differs" + (", likely causes first" if self.came else ""), colour="bold")
        for difference, bears_on in self.judged[:_SHOWN_AT_MOST]:
            _show(page, difference, bears_on)
        if len(self.judged) > _SHOWN_AT_MOST:
            page.paragraph(f"  and {len(self.judged) - _SHOWN_AT_MOST} more: --format json lists all")
        return page.text()


def _show(page: Page, difference: Difference, bears_on: tuple[str, ...]) -> None:
    item, old, new = difference
    where = f" in {item.where}" if item.where else ""
    arrow = page.symbol("→", "->")
    change = f"added: {new}" if not old else f"removed: {old}" if not new else f"{old} {arrow} {new}"
    page.paragraph(f"  {item.name}{where}: {change}", hang=4)
    if bears_on:
        page.paragraph(f"    {arrow} may explain {', '.join(bears_on)}", colour="yellow", hang=6)


def _finding(answer: Answer) -> dict[str, str]:
    return {"code": answer.code, "subject": answer.subject, "summary": answer.why}
