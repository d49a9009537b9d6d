"""A report as a Markdown page that fits a comment on a pull request."""

from __future__ import annotations

import re

from doctor.model.finding import Finding, Severity
from doctor.output.finding_views import Judged, detail_of, line, open_questions, parts_of
from doctor.output.sections import Sectioned, is_sectioned

AT_MOST = 60_000  # characters; GitHub takes 65,536, GitLab a million
_MARK = "<!-- gpudoctor -->"  # by which a bot finds its comment again
_SIGNS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "ℹ️"}
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:=])")


def comment(document: Judged) -> str:
    """The answer first; what does not fit is counted."""
    roots = [one for one in document.findings if not one.explained_by]
    parts = [f"{_MARK}\n### gpudoctor: {_escaped(document.verdict)}\n"]
    parts += [_finding(one) for one in roots]
    parts += [_stack(document)] if is_sectioned(document) else []
    questions = sorted({(one.why, one.code) for one in open_questions(document)})
    if questions:
        parts.append("**Unknown**\n")
        parts += [f"- {_escaped(why)} (`{code}`)" for why, code in questions]
    if not roots and not questions:
        parts.insert(1, "No fault found.\n")
    return _fitting(parts)


def _stack(document: Sectioned) -> str:
    """A row for each line of the layers."""
    rows = [
        f"| {_escaped(one.name) if number == 0 else ''} | {_escaped(text)} |"
        for one in document.layers()
        for number, text in enumerate(one.lines)
    ]
    return "\n".join(["| layer | |", "| --- | --- |", *rows]) + "\n"


def _fitting(parts: list[str]) -> str:
    kept, room = [], AT_MOST
    for part in parts:  # one that is too long keeps no shorter one out
        if len(part) < room:
            kept.append(part)
            room -= len(part) + 1
    if left := len(parts) - len(kept):
        kept.append(f"\n… and {left} more part{'s' * (left > 1)}; `gpudoctor check` shows the whole report.")
    return "\n".join(kept) + "\n"


def _finding(finding: Finding) -> str:
    lines = [f"{_SIGNS[finding.severity]} **{_escaped(finding.summary)}**\n"]
    lines.append(f"`{finding.code}` · {_escaped(finding.subject)}\n")
    for one in finding.evidence:
        source = f" ({_escaped(one.source)})" if one.source else ""
        detail = _escaped(detail_of(one, finding))
        lines.append(f"- {detail}{source}" if detail or source else "")
    if finding.explains:
        lines.append("- explains " + ", ".join(f"`{code}`" for code in sorted({one.code for one in finding.explains})))
    for number, remedy in enumerate(finding.remedies):
        lines.append(f"\n{remedy.lead(first=number == 0)}: {_escaped(remedy.summary)}\n")
        for is_command, part in parts_of(remedy):
            lines += _fenced(part) if is_command else [*map(_escaped, part), ""]
    return "\n".join(lines) + "\n"


def _fenced(commands: list[str]) -> list[str]:
    """A block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", "\n".join(commands))), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}sh", *commands, fence]


def _escaped(text: str) -> str:
    """As text: no mark-up, no HTML, and nobody is called by "@name"."""
    text = line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _PUNCTUATION.sub(r"\\\1", text).replace("@", "@\u200b")
