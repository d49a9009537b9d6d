"""What the formats for machines take of a report: what was judged, and where a finding can be seen."""

from __future__ import annotations

import os
from typing import Protocol

from doctor.model.facts import Machine
from doctor.model.facts.seen import Place
from doctor.model.finding import Answer, Evidence, Finding, Remedy, Status, parts
from doctor.output.document import Document
from doctor.output.page import as_windows_writes, clean


class Judged(Document, Protocol):
    """A document with findings; formats ask for it by the view `findings`."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Worst first, roots before what they explain."""

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Everything that was asked."""

    @property
    def machine(self) -> Machine:
        """What was looked at."""

    @property
    def verdict(self) -> str:
        """The word of its command for all of it."""


def place_of(finding: Finding, machine: Machine) -> Place | None:
    """The first file that its evidence names, one with a line before the others; None where there is none.

    A Dockerfile is named as the user named it, for its evidence has only the last part of that; it is the place of
    every finding about it.
    """
    found = [place for one in finding.evidence if (place := _place(one, machine)) is not None]
    own = (Place(slashed(machine.name), 0),) if machine.kind in {"dockerfile", "lock"} else ()
    return next((one for one in found if one.line), next(iter((*own, *found)), None))


def _place(evidence: Evidence, machine: Machine) -> Place | None:
    if not evidence.file:
        return None
    if machine.kind == "dockerfile" and evidence.file == os.path.basename(machine.name):
        return Place(slashed(machine.name), evidence.line)
    return Place(clean(evidence.file), evidence.line)


def slashed(path: str) -> str:
    """A path of this machine as it is written everywhere else."""
    return clean(os.path.normpath(path).replace(os.sep, "/"))


def line(text: str) -> str:
    """A machine's text as one line: nothing in it ends a line, drives a terminal or is no character."""
    return " ".join(as_windows_writes(clean(text.replace("\n", " "))).split())


def open_questions(document: Judged) -> tuple[Answer, ...]:
    """Return what matters and is unknown."""
    return tuple(one for one in document.answers if one.kind is Status.UNKNOWN and one.blocks_verdict)


def parts_of(remedy: Remedy) -> list[tuple[bool, list[str]]]:
    """Return what a person reads for it and what they paste (True); a single thing to do by hand is its own summary."""
    rest = (one for one in remedy.commands if one != f"# {remedy.summary}")
    return [(is_command, [*map(clean, lines)]) for is_command, lines in parts(rest)]


def detail_of(evidence: Evidence, finding: Finding) -> str:
    """What it adds to the finding, "" for what that says already."""
    return "" if evidence.detail == finding.summary else line(evidence.detail)


def _told_by(evidence: Evidence, finding: Finding) -> str:
    source = f"({line(evidence.source)})" if evidence.source else ""
    return " ".join(filter(None, (detail_of(evidence, finding), source)))


def told(finding: Finding) -> list[str]:
    """The finding in lines of plain text: what is wrong, how it is known, what explains it, what to do first."""
    lines = [line(finding.summary), *(_told_by(one, finding) for one in finding.evidence)]
    if finding.explained_by:
        lines.append(f"explained by {finding.explained_by}")
    for remedy in finding.remedies[:1]:
        lines.append(f"{remedy.lead(first=True)}: {line(remedy.summary)}")
        lines += [f"  {one}" for _, part in parts_of(remedy) for one in part]
    return [one for one in lines if one]
