"""The report for people: the answer first, how it is known, what to do; then the stack; then what is not known."""

from __future__ import annotations

from doctor.commands.check.stack import stack_lines
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.finding import Finding, Report, Severity, Status
from doctor.output.document import TextStyle
from doctor.output.page import Page, as_windows_writes, show_remedies

_NO_FRAMEWORK = "No GPU framework in the Python that was looked at"
_NO_PLANNED = "No line that was read installs a GPU framework"
_NO_PYTHON = "No Python environment was found to look at"
_OPEN = "Some checks could not run"
_MARKS = {Severity.ERROR: ("✗", "x", "red"), Severity.WARNING: ("!", "!", "yellow"), Severity.INFO: ("·", "-", "dim")}


def render(report: Report, terminal: TextStyle) -> str:
    """Return the report as text; commands and paths are never broken."""
    page = Page(terminal)
    roots = [finding for finding in report.findings if not finding.explained_by]
    if not any(finding.severity is not Severity.INFO for finding in roots):
        _headline(page, report)
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


def in_short(report: Report, terminal: TextStyle) -> str:
    """Return the findings and their fixes, without the stack and what is unknown."""
    page = Page(terminal)
    roots = [one for one in report.findings if not one.explained_by and one.severity is not Severity.INFO]
    if not roots:
        _headline(page, report)
    for finding in roots:
        show_finding(page, finding)
    page.gap()
    page.paragraph("The whole of it: gpudoctor check", colour="dim")
    return page.text()


def verdict_line(report: Report, terminal: TextStyle) -> str:
    """Return one line: the first finding and how many more there are, or that there is none."""
    page = Page(terminal)
    roots = [one for one in report.findings if not one.explained_by and one.severity is not Severity.INFO]
    if not roots:
        _headline(page, report, "gpudoctor check lists them")
        return " ".join(page.text().split()) + "\n"
    symbol, plain, colour = _MARKS[roots[0].severity]
    more = f" (and {len(roots) - 1} more)" if len(roots) > 1 else ""
    page.line(page.paint(colour, f"{page.symbol(symbol, plain)} {as_windows_writes(roots[0].summary)}{more}"))
    return page.text()


def _headline(page: Page, report: Report, where: str = "listed below") -> None:
    """A tick only where everything that matters was judged, and there was something to judge."""
    if any(answer.kind is Status.UNKNOWN and answer.blocks_verdict for answer in report.answers):
        page.paragraph(f"? {_OPEN} ({where})", colour="yellow", hang=2)
    elif (missing := _nothing_to_judge(report)) != "":
        page.paragraph(f"{page.symbol('·', '-')} {missing}; nothing else is wrong", hang=2)
    else:
        page.line(page.paint("green", page.symbol("✓", "ok") + " No fault found"))


def _nothing_to_judge(report: Report) -> str:
    """That no framework was seen, "" if there is one or that is unknown."""
    environments = report.facts.environments
    if isinstance(environments, Unseen):
        return ""
    if report.facts.machine.kind in {"dockerfile", "lock"}:
        has_some = any(value_or(one.frameworks, ()) for one in environments.value)
        return "" if has_some else _NO_PLANNED
    if not environments.value:
        return _NO_PYTHON
    seen = (one.frameworks for one in environments.value)
    return _NO_FRAMEWORK if all(isinstance(one, Seen) and not one.value for one in seen) else ""


def show_finding(page: Page, finding: Finding) -> None:
    """What is wrong, how it is known, what to do."""
    symbol, plain, colour = _MARKS[finding.severity]
    page.gap()
    page.paragraph(f"{page.symbol(symbol, plain)} {finding.summary}", colour=colour, hang=2)
    page.line(page.paint("dim", f"  {finding.code} {page.symbol('·', '-')} {as_windows_writes(finding.subject)}"))
    for evidence in finding.evidence:
        detail = "" if evidence.detail == finding.summary else evidence.detail  # no text stands twice
        source = f"[{evidence.source}]" if evidence.source else ""
        page.paragraph("    " + "  ".join(filter(None, (detail, source))), hang=6)
    if finding.explains:
        page.paragraph("    explains " + ", ".join(sorted({one.code for one in finding.explains})), hang=6)
    show_remedies(page, finding.remedies)
    page.line(page.paint("dim", f"  More: {finding.docs}"))


def _open_questions(page: Page, report: Report) -> None:
    answers = [answer for answer in report.answers if answer.kind is Status.UNKNOWN and answer.blocks_verdict]
    if not answers:
        return
    page.gap()
    page.line(page.paint("bold", "Could not run"))
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
            f"{kinds.count(Status.OK)} fine",
            f"{kinds.count(Status.NOT_APPLICABLE)} not applicable",
            f"{kinds.count(Status.UNKNOWN)} unknown",
            f"{report.elapsed_s:.2f} s",
            f"matrix of {report.matrix_as_of}",
        ]
    )


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
