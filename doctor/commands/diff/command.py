"""What differs between two reports, judged by today's rules."""

from __future__ import annotations

import time

from compat.base.record import NamedTuple
from compat.spec import normal
from doctor.changes.relevance import packages_of, parts_of
from doctor.changes.snapshot import Difference, differences
from doctor.commands.check.command import CheckSubject, report_of
from doctor.commands.diff.document import DiffDocument, Judged
from doctor.model.finding import Answer, Report, Severity, Status
from doctor.output.document import TextStyle
from doctor.output.write import deliver, format_for

SAME, DIFFERENT = 0, 1


class DiffRequest(NamedTuple):
    """What was asked; the defaults are those of the command line."""

    old: str
    new: str | None = None  # a saved report; None: this machine, now
    pythons: tuple[str, ...] = ()
    style: str = "text"
    output: str | None = None
    redact: bool = False


def diff(asked: DiffRequest, terminal: TextStyle) -> tuple[str, int]:
    """Return the text to print, "" where it went to a file, and the exit status: 1 for a new finding.

    Raises NoSuchName, BadRequest and NotWritten for what the user got wrong.
    """
    chosen = format_for(asked.style, DiffDocument)
    old = report_of(CheckSubject(source=asked.old), time.perf_counter())
    subject = CheckSubject(source=asked.new) if asked.new else CheckSubject(pythons=asked.pythons)
    new = report_of(subject, time.perf_counter())
    document = compared(old, new)
    if asked.redact:
        from doctor.host.choice import host_of  # late, as the patterns of redaction
        from doctor.output.redact import redact

        document = DiffDocument(*redact(document.parts, host_of(None), new.facts))
    return deliver(document, chosen, asked.output, terminal), DIFFERENT if document.came else SAME


def compared(old: Report, new: Report) -> DiffDocument:
    """Return what differs, that which bears on a new finding first, and the findings that came and went."""
    before, after = (_bad(one) for one in (old, new))
    came = tuple(after[key] for key in after if key not in before and not _is_explained(after[key], new))
    went = tuple(before[key] for key in before if key not in after and not _is_explained(before[key], old))
    judged = tuple(Judged(one, _bears_on(one, came)) for one in differences(old.facts, new.facts))
    return DiffDocument(tuple(sorted(judged, key=lambda one: not one.bears_on)), came, went)


def _bad(report: Report) -> dict[tuple[str, str], Answer]:
    """By code and subject; the machine has another name in a saved report. What is only told is no finding here."""
    told = (one for one in report.answers if one.kind is Status.BAD and one.severity is not Severity.INFO)
    own = report.facts.machine.label
    return {(one.code, "" if one.subject == own else one.subject): one for one in told}


def _is_explained(answer: Answer, report: Report) -> bool:
    return any(one.explained_by and (one.code, one.subject) == (answer.code, answer.subject) for one in report.findings)


def _bears_on(difference: Difference, came: tuple[Answer, ...]) -> tuple[str, ...]:
    """The new findings whose files, packages or part of the stack it is."""
    part, name, _ = difference.item
    found = []
    for one in came:
        files = [each.file for each in one.evidence if each.file]
        is_its_file = name.startswith("/") and any(f"{file}/".startswith(f"{name}/") for file in files)
        is_its_package = normal(name) in packages_of(one.needs) or one.subject.startswith(f"{name} ")
        if is_its_file or is_its_package or part in parts_of(one.needs) or one.subject == name:
            found.append(one.code)
    return tuple(dict.fromkeys(found))
