"""The report for people: the answer first, how it is known, what to do; then the stack; then what is not known."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from doctor.commands.check.stack import stack_lines
from doctor.diagnose import NO_GPU
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.finding import Finding, Report, Severity, Status
from doctor.output.document import TextStyle
from doctor.output.page import Page, as_windows_writes, show_remedies

_NO_FRAMEWORK = "The Python environment has no GPU framework"
_NO_FRAMEWORKS = "The Python environments have no GPU framework"
_NO_PLANNED = "No line that was read installs a GPU framework"
_NO_PYTHON = "No Python environment found"
_OPEN = "Some checks could not run"
_WITHOUT_GPU = "No fault found in the files"
_VERBOSE = "gpudoctor check -v"
_CODES_AT_MOST = 4  # of the rules that one reason leaves open
_MARKS = {Severity.ERROR: ("✗", "x", "red"), Severity.WARNING: ("!", "!", "yellow"), Severity.INFO: ("·", "-", "dim")}


def render(
    report: Report, terminal: TextStyle, *, is_verbose: bool = False, changes: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the report as text; commands and paths are never broken. `is_verbose` lists every unknown."""
    page = Page(terminal)
    roots = _roots(report)
    if not any(finding.severity is not Severity.INFO for finding in roots):
        _headline(page, report)
    for finding in roots:
        if finding.severity is not Severity.INFO:
            show_finding(page, finding, changes.get(finding.code, ""))
    if not is_verbose:  # what may change the verdict stands before notices
        _open_questions(page, report, is_verbose=False)
    for finding in roots:
        if finding.severity is Severity.INFO:
            show_finding(page, finding, changes.get(finding.code, ""))
    page.gap()
    page.line(page.paint("bold", "The stack"))
    for label, text in stack_lines(report.facts):
        page.row(label, text)
    if is_verbose:
        _open_questions(page, report, is_verbose=True)
    page.gap()
    dot = f" {page.symbol('·', '-')} "
    page.paragraph(dot.join(counts(report, is_verbose=is_verbose)), colour="dim")
    return page.text()


def _roots(report: Report) -> list[Finding]:
    """The findings that no other one explains; that no GPU was expected is a line of the stack."""
    return [
        one
        for one in report.findings
        if not one.explained_by and not (one.code == NO_GPU and one.severity is Severity.INFO)
    ]


def in_short(report: Report, terminal: TextStyle) -> str:
    """Return the findings and their fixes, without the stack and what is unknown."""
    page = Page(terminal)
    roots = [one for one in _roots(report) if one.severity is not Severity.INFO]
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
    roots = [one for one in _roots(report) if one.severity is not Severity.INFO]
    if not roots:
        _headline(page, report, "gpudoctor check lists them")
        return " ".join(page.text().split()) + "\n"
    symbol, plain, colour = _MARKS[roots[0].severity]
    more = f" (and {len(roots) - 1} more)" if len(roots) > 1 else ""
    page.line(page.paint(colour, f"{page.symbol(symbol, plain)} {as_windows_writes(roots[0].summary)}{more}"))
    return page.text()


def _headline(page: Page, report: Report, where: str = "listed below") -> None:
    """Show a tick only where everything that matters was checked, and there was something to check."""
    if any(answer.kind is Status.UNKNOWN and answer.blocks_verdict for answer in report.answers):
        page.paragraph(f"? {_OPEN} ({where})", colour="yellow", hang=2)
    elif (missing := _nothing_to_judge(report)) != "":
        page.paragraph(f"{page.symbol('·', '-')} {missing}; nothing else is wrong", hang=2)
    elif report.facts.machine.is_running and report.facts.has_gpu is False:
        page.paragraph(f"{page.symbol('·', '-')} {_WITHOUT_GPU}", hang=2)
    else:
        page.line(page.paint("green", page.symbol("✓", "ok") + " No fault found"))


def _nothing_to_judge(report: Report) -> str:
    """Return that no framework was seen; "" where there is one or that is unknown."""
    environments = report.facts.environments
    if isinstance(environments, Unseen):
        return ""
    if report.facts.machine.kind in {"dockerfile", "lock"}:
        has_some = any(value_or(one.frameworks, ()) for one in environments.value)
        return "" if has_some else _NO_PLANNED
    if not environments.value:
        return _NO_PYTHON
    seen = (one.frameworks for one in environments.value)
    if not all(isinstance(one, Seen) and not one.value for one in seen):
        return ""
    return _NO_FRAMEWORK if len(environments.value) == 1 else _NO_FRAMEWORKS


def show_finding(page: Page, finding: Finding, change: str = "") -> None:
    """What is wrong, how it is known, what changed before, what to do."""
    symbol, plain, colour = _MARKS[finding.severity]
    page.gap()
    page.paragraph(f"{page.symbol(symbol, plain)} {finding.summary}", colour=colour, hang=2)
    page.line(page.paint("dim", f"  {finding.code} {page.symbol('·', '-')} {as_windows_writes(finding.subject)}"))
    for evidence in finding.evidence:
        detail = "" if evidence.detail == finding.summary else evidence.detail  # no text stands twice
        source = f"[{evidence.source}]" if evidence.source else ""
        page.paragraph("    " + "  ".join(filter(None, (detail, source))), hang=6)
    if change:
        page.paragraph(f"    {change}", colour="yellow", hang=6)
    if finding.explains:
        page.paragraph("    explains " + ", ".join(sorted({one.code for one in finding.explains})), hang=6)
    show_remedies(page, finding.remedies)
    page.line(page.paint("dim", f"  More: {finding.docs}"))


def _open_questions(page: Page, report: Report, *, is_verbose: bool) -> None:
    answers = [one for one in report.answers if one.kind is Status.UNKNOWN and (is_verbose or one.blocks_verdict)]
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
        shown = codes if is_verbose else codes[:_CODES_AT_MOST]
        more = f" and {len(codes) - len(shown)} more ({_VERBOSE})" if len(shown) < len(codes) else ""
        page.paragraph(f"    {', '.join(shown)}{more}", colour="dim", hang=4)


def counts(report: Report, *, is_verbose: bool = True) -> list[str]:
    """Return how many there are of each, how long it took, and the date of the matrix."""
    severities = [finding.severity for finding in report.findings if not finding.explained_by]
    explained = len(report.findings) - len(severities)
    kinds = [answer.kind for answer in report.answers]
    hidden = sum(one.kind is Status.UNKNOWN and not one.blocks_verdict for one in report.answers)
    how = f" (to list them: {_VERBOSE})" if hidden and not is_verbose else ""
    return [
        plural(severities.count(Severity.ERROR), "error"),
        plural(severities.count(Severity.WARNING), "warning"),
        *([f"{explained} more explained by them"] if explained else []),
        f"{kinds.count(Status.OK)} fine",
        f"{kinds.count(Status.NOT_APPLICABLE)} not applicable",
        f"{kinds.count(Status.UNKNOWN)} unknown{how}",
        f"{report.elapsed_s:.2f} s",
        f"matrix of {report.matrix_as_of}",
    ]


def plural(number: int, noun: str) -> str:
    """Return "1 error", "2 errors"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
