"""The report for people: the answer first, how it is known, what to do; then the stack; then what is not known."""

from __future__ import annotations

from doctor.finding import Finding, Kind, Report, Severity
from doctor.formats import Format, Look
from doctor.page import Page
from doctor.stack import stack_lines

_HEADLINES = {
    "healthy": "No fault found",
    "warnings": "Nothing is broken; see the warnings",
    "unknown": "No fault found, but not everything could be judged",
}
_MARKS = {Severity.ERROR: ("✗", "x", "red"), Severity.WARNING: ("!", "!", "yellow"), Severity.INFO: ("·", "-", "dim")}


def render(report: Report, look: Look) -> str:
    """Text for 80 columns; commands and paths are never broken."""
    page = Page(look)
    roots = [finding for finding in report.findings if not finding.explained_by]
    if not any(finding.severity is not Severity.INFO for finding in roots):
        page.line(page.paint("green", page.symbol("✓", "ok") + " " + _HEADLINES[report.verdict]))
    for finding in roots:
        show_finding(page, finding)
    page.gap()
    page.line(page.paint("bold", "The stack"))
    for label, text in stack_lines(report.facts):
        page.row(label, text)
    _open_questions(page, report)
    page.gap()
    page.paragraph(_totals(report, page), colour="dim")
    return page.text()


def show_finding(page: Page, finding: Finding) -> None:
    """What is wrong, how it is known, what to do."""
    symbol, plain, colour = _MARKS[finding.severity]
    page.gap()
    page.paragraph(f"{page.symbol(symbol, plain)} {finding.summary}", colour=colour, hang=2)
    page.line(page.paint("dim", f"  {finding.code} {page.symbol('·', '-')} {finding.subject}"))
    for evidence in finding.evidence:
        detail = "" if evidence.detail == finding.summary else evidence.detail  # nothing is said twice
        source = f"[{evidence.source}]" if evidence.source else ""
        page.paragraph("    " + "  ".join(filter(None, (detail, source))), hang=6)
    if finding.explains:
        page.paragraph("    explains " + ", ".join(sorted({one.code for one in finding.explains})), hang=6)
    _remedies(page, finding)


def _remedies(page: Page, finding: Finding) -> None:
    for number, remedy in enumerate(finding.remedies):
        lead = "Do this" if number == 0 else "Or"
        page.paragraph(f"  {lead}: {remedy.summary}", colour="bold", hang=4)
        for command in remedy.commands:
            if command.removeprefix("# ") != remedy.summary:  # a single thing to do by hand is its own summary
                page.verbatim(command, indent=4)


def _open_questions(page: Page, report: Report) -> None:
    answers = [answer for answer in report.answers if answer.kind is Kind.UNKNOWN and answer.matters]
    if not answers:
        return
    page.gap()
    page.line(page.paint("bold", "Could not be told"))
    by_reason: dict[str, list[str]] = {}
    for answer in answers:
        codes = by_reason.setdefault(answer.why, [])
        if answer.code not in codes:
            codes.append(answer.code)
    for why, codes in by_reason.items():
        page.paragraph(f"  {why}", hang=4)
        page.paragraph(f"    {', '.join(codes)}", colour="dim", hang=4)


def _totals(report: Report, page: Page) -> str:
    severities = [finding.severity for finding in report.findings if not finding.explained_by]
    explained = len(report.findings) - len(severities)
    kinds = [answer.kind for answer in report.answers]
    dot = f" {page.symbol('·', '-')} "
    return dot.join(
        [
            _plural(severities.count(Severity.ERROR), "error"),
            _plural(severities.count(Severity.WARNING), "warning"),
            *([f"{explained} more explained by them"] if explained else []),
            f"{kinds.count(Kind.OK)} fine",
            f"{kinds.count(Kind.NOT_APPLICABLE)} not applicable",
            f"{kinds.count(Kind.UNKNOWN)} unknown",
            f"{report.elapsed_s:.2f} s",
            f"matrix of {report.matrix_as_of}",
        ]
    )


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


FORMAT = Format("for people, 80 columns", render)
