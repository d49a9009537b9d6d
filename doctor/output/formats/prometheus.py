"""Prometheus' text format 0.0.4, for the textfile collector of its node exporter.

Gauges without timestamps, which that collector refuses; when the file was written, node_textfile_mtime_seconds says.
Source: prometheus/node_exporter README, "Textfile Collector"; prometheus/docs, "Exposition formats".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.output.document import Format, TextStyle

if TYPE_CHECKING:
    from doctor.output.finding_views import Judged

_Labels = tuple[tuple[str, str], ...]
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def render(document: Judged, style: TextStyle) -> str:
    """One gauge after another, each with its help."""
    from doctor.model.finding import CHECK_ERROR, Severity, Status

    roots = [one for one in document.findings if not one.explained_by]
    counts = {severity.value: sum(one.severity is severity for one in roots) for severity in Severity}
    answers = {kind.value: sum(one.kind is kind for one in document.answers) for kind in Status}
    unknown = sum(one.kind is Status.UNKNOWN and one.blocks_verdict for one in document.answers)
    failed = sum(one.code == CHECK_ERROR for one in document.findings)
    details: dict[_Labels, int] = {
        (("code", one.code), ("severity", one.severity.value), ("subject", one.subject), ("root", one.explained_by)): 1
        for one in document.findings
    }
    return "".join(
        (
            _gauge("verdict_info", "1, with the verdict of the last run.", {(("verdict", document.verdict),): 1}),
            _gauge("findings", "Findings that no other one explains.", _by("severity", counts)),
            _gauge("finding_info", "1 for each finding; root is the code that explains it.", details),
            _gauge("answers", "Answers of the rules.", _by("answer", answers)),
            _gauge("open_questions", "Important checks that could not run.", {(): unknown}),
            _gauge("check_errors", "Checks of gpudoctor that failed themselves.", {(): failed}),
        )
    )


def _by(label: str, counts: dict[str, int]) -> dict[_Labels, int]:
    return {((label, name),): count for name, count in counts.items()}


def _gauge(name: str, says: str, samples: dict[_Labels, int]) -> str:
    """A name never occurs twice with the same labels: the collector would drop the whole file."""
    lines = [f"# HELP gpudoctor_{name} {says}", f"# TYPE gpudoctor_{name} gauge"]
    written = {_labelled(labels): value for labels, value in samples.items()}
    lines += [f"gpudoctor_{name}{labels} {value}" for labels, value in written.items()]
    return "\n".join(lines) + "\n"


def _labelled(labels: _Labels) -> str:
    from doctor.output.finding_views import line

    parts = (f'{name}="{line(value).translate(_ESCAPES)}"' for name, value in labels)
    return f"{{{','.join(parts)}}}" if labels else ""


FORMAT = Format("gauges for Prometheus' textfile collector", render, needs="findings", suffix=".prom")
