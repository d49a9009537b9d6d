"""One lock file, checked for several platforms and GPUs: a table of targets and verdicts."""

from __future__ import annotations

import time
from typing import Any

from compat.base.record import NamedTuple
from doctor.commands.check.command import CheckSubject, ReportOptions, check, host_for, policy_of, report_of
from doctor.commands.lock.command import parse_platform
from doctor.diagnose import EXIT_BAD, EXIT_FINE, EXIT_UNKNOWN, exit_status
from doctor.host import BadRequest
from doctor.model.facts.seen import value_or
from doctor.model.finding import Report, Severity
from doctor.output.document import TextStyle
from doctor.output.page import Page, wrap
from doctor.output.write import deliver_all, deliveries
from doctor.script.locks.package import LockError

SCHEMA = "gpudoctor.targets/1"
EVERY = "all"
PLATFORMS = ("linux/amd64", "linux/arm64", "windows/amd64", "darwin/arm64")
_TARGETS_AT_MOST = 64
_VERDICTS = {EXIT_FINE: "fine", EXIT_BAD: "broken", EXIT_UNKNOWN: "unknown"}
_NOT_LOCKED = "not-locked"
_SIGNS = {"fine": (("✓", "+"), "green"), "broken": (("✗", "x"), "red"), "unknown": (("?", "?"), ""),
          _NOT_LOCKED: (("-", "-"), "")}  # fmt: skip
VERDICTS = (*_VERDICTS.values(), _NOT_LOCKED)
_GAP = 2  # columns between those of the table


class Target(NamedTuple):
    """One row."""

    platform: str  # "linux/amd64"; "" for this machine's
    gpu: str  # "" for none
    builds: tuple[str, ...]  # of its frameworks, "torch 2.8.0+cu129"
    verdict: str  # "fine", "broken", "unknown", "not-locked"
    summary: str  # the first finding, or what is unknown
    line: str  # "uv.lock:41"; "" for none


def several(subject: CheckSubject) -> tuple[CheckSubject, ...]:
    """Return the subject for each platform and GPU; one, if no more were named. Raises BadRequest."""
    if subject.lock is None:
        return (subject,)
    named = subject.platform.split(",") if subject.platform else [""]
    gpus = subject.assume_gpus or policy_of(subject.policy).gpus or ("",)
    platforms = _every(with_gpu=gpus != ("",)) if subject.platform == EVERY else [one.strip() for one in named]
    if len(platforms) * len(gpus) > _TARGETS_AT_MOST:
        raise BadRequest(f"more than {_TARGETS_AT_MOST} targets")
    return tuple(
        subject._replace(platform=platform, assume_gpus=(gpu,) if gpu else ()) for platform in platforms for gpu in gpus
    )


def _every(*, with_gpu: bool) -> list[str]:
    """The platforms of `all`: macOS runs no NVIDIA GPU."""
    return [one for one in PLATFORMS if not (with_gpu and one.startswith("darwin"))]


def check_targets(subject: CheckSubject, options: ReportOptions, terminal: TextStyle) -> tuple[str, int]:
    """Return the text to print and the exit status: a table for several targets, else what `check` says of the one."""
    host_for(subject)
    subjects = several(subject)
    if len(subjects) == 1:
        return check(subject, options, terminal)
    places = deliveries(options.style, options.outputs, TargetsDocument)
    document, status = check_each(subjects, options.severity)
    return deliver_all(document, places, terminal), status


class TargetsDocument:
    """See `doctor.output.document.Document`."""

    indent = 2

    def __init__(self, lock: str, targets: tuple[Target, ...]) -> None:
        self._lock, self._targets = lock, targets

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.targets/1`."""
        return {"schema": SCHEMA, "lock": self._lock, "targets": [one._asdict() for one in self._targets]}

    def rows(self) -> list[tuple[str, ...]]:
        """The table with its header."""
        head = ("platform", "GPU", "builds", "verdict", "finding", "line")
        return [head, *((*one[:2], ", ".join(one.builds), *one[3:]) for one in self._targets)]

    def text(self, style: TextStyle) -> str:
        """A line for each target, what is wrong below it."""
        page = Page(style)
        page.paragraph(f"{self._lock}: {len(self._targets)} targets", colour="bold")
        names = [" · ".join(filter(None, (one.platform or "this platform", one.gpu))) for one in self._targets]
        width = max(map(len, names)) + _GAP
        for name, one in zip(names, self._targets, strict=True):
            sign = {"fine": page.symbol("✓", "+"), "broken": page.symbol("✗", "x"), "unknown": "?"}.get(
                one.verdict, "-"
            )
            colour = {"fine": "green", "broken": "red"}.get(one.verdict, "")
            builds = ", ".join(one.builds) or "no GPU framework"
            page.line(
                page.paint(colour, f"{sign} {name.ljust(width)}") + (builds if one.verdict != _NOT_LOCKED else "")
            )
            if one.summary:
                where = f" ({one.line})" if one.line else ""
                for line in wrap(one.summary + where, page.width - 4):
                    page.line(f"    {line}")
        page.gap()
        page.paragraph("To see one with its evidence and fix, name it alone: --platform and --assume-gpu")
        return page.text()


def check_each(subjects: tuple[CheckSubject, ...], fail_on: Severity) -> tuple[TargetsDocument, int]:
    """Return the table, and the exit status: 1 if a target is broken, else 4 if one is unknown. Raises LockError."""
    made: list[Target] = []
    refused: LockError | None = None
    for one in subjects:
        parse_platform(one.platform)
        try:
            made.append(_target(one, report_of(one, time.perf_counter()), fail_on))
        except LockError as error:
            refused = error
            made.append(_row(one, _NOT_LOCKED, str(error)))
    if refused is not None and all(one.verdict == _NOT_LOCKED for one in made):
        raise refused
    verdicts = {one.verdict for one in made}
    status = EXIT_BAD if "broken" in verdicts else EXIT_UNKNOWN if "unknown" in verdicts else EXIT_FINE
    return TargetsDocument(subjects[0].lock or "", tuple(made)), status


def _target(subject: CheckSubject, report: Report, fail_on: Severity) -> Target:
    verdict = _VERDICTS[exit_status(report, fail_on)]
    frameworks = [one for each in value_or(report.facts.environments, ()) for one in value_or(each.frameworks, ())]
    first = next((one for one in report.findings if one.severity is not Severity.INFO and not one.explained_by), None)
    summary, line = "", ""
    if first is not None:
        summary = first.summary
        line = next((f"{one.file}:{one.line}" for one in first.evidence if one.file and one.line), "")
    elif verdict == "unknown":
        summary = next((one.why for one in report.answers if one.kind.value == "unknown" and one.blocks_verdict), "")
    builds = tuple(one.label for one in frameworks)
    return _row(subject, verdict, summary)._replace(builds=builds, line=line)


def _row(subject: CheckSubject, verdict: str, summary: str) -> Target:
    return Target(
        platform=subject.platform,
        gpu="".join(subject.assume_gpus),
        builds=(),
        verdict=verdict,
        summary=summary,
        line="",
    )
