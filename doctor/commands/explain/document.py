"""The explanation, as every format takes it."""

from __future__ import annotations

import re
from typing import Any

from doctor.commands.explain.post import text_to_post
from doctor.messages import pages
from doctor.messages.causes import NOTHING_TO_INSTALL, Cause
from doctor.messages.reading import Reading
from doctor.model.encode import encode_facts, encode_remedy
from doctor.model.facts import Facts
from doctor.model.finding import page_command
from doctor.output.document import TextStyle
from doctor.output.page import Page, clean, show_remedies
from doctor.rules.shared.engine import codes as rule_codes

SCHEMA = "gpudoctor.explanation/1"
STACK, NOT_STACK, UNKNOWN = "stack-fault", "not-a-stack-fault", "unknown"
STATUS = {STACK: 1, NOT_STACK: 0, UNKNOWN: 4}
_SHOWN = 3  # causes in the text; JSON has them all
_SURE = 0.8  # from here on the text may say that the stack needs nothing
# A command of several words, which a paragraph may break; it is repeated on a line of its own, to be copied.
_COMMAND = re.compile(r"`((?:gpudoctor|python -m pip|pip|sudo|env|export|docker|nvidia-ctk) [^`]+)`")
_CLOSE = 0.35  # a cause that is this much less sure than the first is not worth a reader's time


class ExplainDocument:
    """The causes of one text; see `doctor.output.document.Document`."""

    indent = 2
    offers_post = False  # whether the text is redacted, so that it can be shown elsewhere

    def __init__(self, reading: Reading, causes: tuple[Cause, ...], facts: Facts | None = None) -> None:
        """`facts`: what the text shows of a machine, None where it holds no dump of one."""
        self._reading, self._causes, self._facts = reading, causes, facts

    @property
    def verdict(self) -> str:
        """What the surest cause is about."""
        if not self._causes:
            return UNKNOWN
        return STACK if self._causes[0].blames_stack else NOT_STACK

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.explanation/1`; `causes` is empty only for "unknown"."""
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "read": {
                "bytes": self._reading.size_bytes,
                "lines_kept": len(self._reading.lines),
                "whole": self._reading.whole,
                "problem": self._reading.problem,
            },
            "causes": [_plain(one) for one in self._causes],
            "facts": encode_facts(self._facts) if self._facts else None,
        }

    def text(self, style: TextStyle) -> str:
        """The surest cause first, by which lines, what fixes it; then what else it may be, and what decides."""
        page = Page(style)
        if self._reading.problem:
            page.paragraph(f"{self._reading.problem}: only the text before that was read", colour="yellow", hang=2)
        if not self._causes:
            _unknown(page, shows_machine=self._facts is not None)
            if self.offers_post:
                page.gap()
                page.verbatim(text_to_post(self._reading), indent=0)
            return page.text()
        best = self._causes[0]
        shown = [one for one in self._causes if one.confidence >= best.confidence - _CLOSE][:_SHOWN]
        for number, cause in enumerate(shown):
            _show(page, cause, first=number == 0)
        asks = next((one.asks for one in shown if one.asks), "")
        if asks and len(shown) > 1:
            page.gap()
            page.paragraph(f"To decide: {asks}", hang=2)
        page.gap()
        if best.confidence >= _SURE and best.code in NOTHING_TO_INSTALL and not any(one.blames_stack for one in shown):
            page.paragraph("You do not need to reinstall the driver, CUDA or cuDNN.")
        page.paragraph(f"More: {page_command(best.code)}", colour="dim")
        return page.text()


def _plain(cause: Cause) -> dict[str, Any]:
    return {
        "code": cause.code,
        "confidence": cause.confidence,
        "summary": cause.summary,
        "matched": [one._asdict() for one in cause.matched],
        "source": cause.source,
        "asks": cause.asks,
        "mends": cause.mends or pages.mends(cause.code),
        "remedies": [encode_remedy(one) for one in cause.remedies],
        "page": page_command(cause.code),
    }


def _show(page: Page, cause: Cause, *, first: bool) -> None:
    mark, plain, colour = ("✗", "x", "red") if cause.blames_stack else ("·", "-", "bold")
    page.gap()
    lead = f"{page.symbol(mark, plain)} " if first else "  Or: "
    page.paragraph(lead + clean(cause.summary), colour=colour if first else "", hang=2)
    page.line(page.paint("dim", f"  {cause.code} {page.symbol('·', '-')} {round(cause.confidence * 100)} % sure"))
    for one in cause.matched[: 3 if first else 1]:
        text = clean(one.text)
        short = text if len(text) <= 200 else text[:199] + "…"
        page.paragraph(f"    line {one.line}: {short}", hang=6)
    if any(not line.startswith("#") for one in cause.remedies for line in one.commands):
        show_remedies(page, cause.remedies, "there")
    elif first and (mends := cause.mends or pages.mends(cause.code)):
        # The page of the code has the other paragraphs, which are about other forms of this fault.
        fix = " ".join(mends.split("\n\n")[0].split())
        page.paragraph("  Fix: " + fix, hang=4)
        if cause.mends:
            page.verbatim("\n".join(_COMMAND.findall(fix)), indent=6)
        if cause.blames_stack and cause.code in rule_codes():
            page.paragraph("  To get the commands, run on that machine: gpudoctor check", hang=4)


def _unknown(page: Page, *, shows_machine: bool) -> None:
    says = (
        "gpudoctor sees no fault of the machine in this text"
        if shows_machine
        else "This text has no message that gpudoctor knows"
    )
    page.paragraph(f"? {says}", colour="yellow", hang=2)
    page.gap()
    page.paragraph("Check the machine itself: gpudoctor check", hang=2)
    page.paragraph("To ask in a forum, make a text without private names: gpudoctor explain --redact FILE", hang=2)
