"""What the rules answer, and what becomes of it: answers, findings, remedies, the report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import groupby
from typing import Any

from compat.base.record import NamedTuple
from compat.need import Need
from doctor.model.facts import Facts
from doctor.model.facts.failure import Failure
from doctor.model.facts.seen import Fact, Place, Seen, WhyNot
from installers.plan import Plan

CHECK_ERROR = "check-error"


class Status(Enum):
    """How a rule answers."""

    OK = "ok"
    BAD = "bad"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not-applicable"


class Severity(Enum):
    """How bad BAD is: an error stops training or moves it to the CPU; a warning will bite; info explains."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return ("error", "warning", "info").index(self.value)


class Evidence(NamedTuple):
    """One link of the chain that a reader can check by hand: what was read, and where."""

    detail: str  # what it says
    file: str = ""  # the file or directory that says it
    line: int = 0  # 0 where no line is known
    label: str = ""  # how the source is printed where it is not a file ("NVML", a matrix row), or more than a file

    @property
    def source(self) -> str:
        """Return where it was read, as it is printed."""
        return self.label or (str(Place(self.file, self.line)) if self.file or self.line else "")

    @classmethod
    def at(cls, place: Place | str | None, detail: str, label: str = "") -> Evidence:
        """Return what a place says, or what is read where a text names no place."""
        if isinstance(place, Place):
            return cls(detail, place.file, place.line, label or place.label)
        return cls(detail, label=place or label)

    @classmethod
    def of(cls, fact: Fact[Any], detail: str, label: str = "") -> Evidence:
        """Return a fact as evidence; `label` is printed for a fact that was not seen."""
        return cls.at(fact.how, detail) if isinstance(fact, Seen) else cls(detail, label=label)


class Symptom(NamedTuple):
    """A finding that another one explains."""

    code: str
    subject: str = ""  # label of the subject; "" is every subject


class Answer(NamedTuple):
    """What one rule says of one subject. `judge` fills in code and subject."""

    kind: Status
    why: str
    severity: Severity = Severity.ERROR
    evidence: tuple[Evidence, ...] = ()
    needs: tuple[Need, ...] = ()  # alternatives, best first
    explains: tuple[Symptom, ...] = ()
    code: str = ""
    subject: str = ""
    blocks_verdict: bool = True  # whether this being UNKNOWN leaves the verdict open
    why_not: WhyNot = WhyNot.ANY  # of UNKNOWN, where somebody decides by it
    places: tuple[str, ...] = ()  # what it is about beside the files of its evidence: paths, labels of copies


class Remedy(NamedTuple):
    """One way to bring about a need."""

    summary: str
    need: Need
    plan: Plan
    commands: tuple[str, ...]
    proven: bool = False  # the rules find the fault gone after it, and nothing new
    left_open: str = ""  # what can only be told when it is done, "" for nothing
    by_fix: bool = False  # `check --fix` shows its steps, on this machine

    def lead(self, *, first: bool, where: str = "") -> str:
        """What stands before it: only what can be pasted is to be done as it stands, the rest is told to a person."""
        if any(line.strip() and not line.startswith("#") for line in self.commands):
            return f"Do this {where}".rstrip() if first else "Or"
        return f"By hand {where}".rstrip() if first else "Or by hand"


def parts(commands: Iterable[str]) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Split what is to be done into text and commands, in turns; True for commands.

    An interactive zsh runs a pasted comment line as a command (zshoptions(1), INTERACTIVE_COMMENTS), even what stands
    between its backquotes. A comment inside a here-document stays.
    """
    end = ""
    turns: list[tuple[bool, str]] = []
    for line in (part for one in commands for part in one.splitlines()):
        is_text = not end and line.startswith("# ")
        turns.append((not is_text, line.removeprefix("# ") if is_text else line))
        opened = re.search(r"<<-?\s*(['\"]?)(\w+)\1\s*$", line) if not end else None
        end = opened[2] if opened else "" if line.strip() == end else end
    for is_command, group in groupby(turns, key=lambda one: one[0]):
        yield is_command, tuple(line for _, line in group)


def page_command(code: str) -> str:
    """The command that prints the page of a code, offline."""
    return f"gpudoctor explain {code}"


class Finding(NamedTuple):
    """A BAD answer, with its remedies, in its place among the others."""

    code: str
    severity: Severity
    subject: str
    summary: str
    evidence: tuple[Evidence, ...]
    explains: tuple[Symptom, ...]  # the findings of this report that it explains
    explained_by: str  # code of the root cause, "" for a root
    remedies: tuple[Remedy, ...]
    docs: str  # `page_command`


class Report(NamedTuple):
    """Everything that `check` has to say."""

    facts: Facts
    answers: tuple[Answer, ...]
    findings: tuple[Finding, ...]  # worst first, roots before what they explain
    verdict: str  # "healthy", "warnings", "broken", "no-gpu", "unknown"
    matrix_as_of: str
    elapsed_s: float
    made_at: str = ""  # "2026-11-27T08:00:00Z"; "" where nobody asked for it


def ok(why: str) -> Answer:
    """Looked at, and in order."""
    return Answer(Status.OK, why)


def bad(
    why: str,
    *needs: Need,
    severity: Severity = Severity.ERROR,
    evidence: tuple[Evidence, ...] = (),
    explains: tuple[Symptom, ...] = (),
    places: tuple[str, ...] = (),
) -> Answer:
    """Wrong: one sentence, what it was read from, what must become true, and which findings it explains."""
    return Answer(
        kind=Status.BAD, why=why, severity=severity, evidence=evidence, needs=needs, explains=explains, places=places
    )


def unknown(why: str, why_not: WhyNot = WhyNot.ANY) -> Answer:
    """Return the answer UNKNOWN with its reason."""
    return Answer(Status.UNKNOWN, why, why_not=why_not)


def not_applicable(why: str) -> Answer:
    """There is nothing here that the rule is about."""
    return Answer(Status.NOT_APPLICABLE, why)


def failed(failure: Failure) -> Answer:
    """A fault of ours as an answer."""
    answer = bad(f"{failure.label} failed: {failure.error} ({failure.where})", severity=Severity.WARNING)
    return answer._replace(code=CHECK_ERROR, subject=failure.label)
