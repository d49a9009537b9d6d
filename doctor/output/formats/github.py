"""Annotations of a GitHub workflow: commands in its log, each on a line of its own.

Source: GitHub Docs, "Workflow commands for GitHub Actions"; what is escaped: actions/toolkit,
packages/core/src/command.ts, escapeData and escapeProperty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.output.document import Format, TextStyle

if TYPE_CHECKING:
    from doctor.model.facts import Machine
    from doctor.model.finding import Finding
    from doctor.output.finding_views import Judged

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(document: Judged, style: TextStyle) -> str:
    """Worst first: GitHub shows ten of a kind for a step. A line of plain text says the verdict, also a good one."""
    from doctor.output.finding_views import line, open_questions

    lines = [_annotation(one, document.machine) for one in document.findings]
    for code, why in sorted({(one.code, line(one.why)) for one in open_questions(document)}):
        lines.append(_command("warning", {"title": f"{code}: unknown"}, why))
    return "\n".join([*lines, f"gpudoctor: {document.verdict}"]) + "\n"


def _annotation(finding: Finding, machine: Machine) -> str:
    from doctor.output.finding_views import line, place_of, told

    place = place_of(finding, machine)
    where = {"file": place.file, **({"line": str(place.line)} if place.line else {})} if place else {}
    title = f"{finding.code}: {line(finding.subject)}"
    return _command(_COMMANDS[finding.severity.value], {**where, "title": title}, "\n".join(told(finding)))


def _command(name: str, properties: dict[str, str], message: str) -> str:
    said = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties.items())
    return f"::{name} {said}::{message.translate(_DATA)}"


FORMAT = Format("annotations of a GitHub workflow", render, needs="findings")
