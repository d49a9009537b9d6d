"""What `verify` comes to, as values."""

from __future__ import annotations

from compat.base.record import NamedTuple
from doctor.commands.verify.cudnn_trial.outcome import Outcome
from doctor.commands.verify.subject import Subject
from doctor.commands.verify.trial import Trial
from doctor.diagnose import EXIT_BAD, EXIT_FINE, EXIT_UNKNOWN
from doctor.model.facts import Facts
from doctor.model.finding import Answer, Finding, Severity, Status

PASSED, FAILED, INCOMPLETE = "passed", "failed", "incomplete"
_STATUS = {PASSED: EXIT_FINE, FAILED: EXIT_BAD, INCOMPLETE: EXIT_UNKNOWN}


class Tried(NamedTuple):
    """One copy on one GPU, and what came of it."""

    subject: Subject
    outcome: Outcome
    answers: tuple[Answer, ...]  # BAD: what is wrong; UNKNOWN: what stays open; () where it passed or lacks something
    lacks: str  # what was missing for the rest, as one sentence; "" for nothing

    @property
    def result(self) -> str:
        """In one word."""
        return _result(self.answers, is_complete=self.outcome.has_passed)


class FrameworkTried(NamedTuple):
    """One framework in its own interpreter, and what came of it."""

    trial: Trial
    answers: tuple[Answer, ...]
    lacks: str

    @property
    def result(self) -> str:
        """In one word."""
        return _result(self.answers, is_complete=self.trial.has_passed)


def _result(answers: tuple[Answer, ...], *, is_complete: bool) -> str:
    bad = [one for one in answers if one.kind is Status.BAD]
    if any(one.severity is Severity.ERROR for one in bad) or (bad and not is_complete):
        return FAILED
    return PASSED if is_complete and bad == list(answers) else INCOMPLETE


class GpuTried(NamedTuple):
    """What one GPU does for training besides cuDNN, at level node."""

    outcome: Outcome
    answers: tuple[Answer, ...]
    lacks: str

    @property
    def result(self) -> str:
        """In one word."""
        return _result(self.answers, is_complete=self.outcome.has_passed)


class Verification(NamedTuple):
    """Everything that `verify` has to say."""

    facts: Facts
    level: str
    copies: tuple[Tried, ...]
    frameworks: tuple[FrameworkTried, ...]
    answers: tuple[Answer, ...]  # those of the trials and those of the rules about the copies
    findings: tuple[Finding, ...]
    matrix_as_of: str
    elapsed_s: float
    gpus: tuple[GpuTried, ...] = ()  # of level node
    target: str = ""  # compute capability of the GPU that it was planned for, "" where none was asked for

    @property
    def tried(self) -> list[GpuTried | Tried | FrameworkTried]:
        """All of them."""
        return [*self.gpus, *self.copies, *self.frameworks]

    @property
    def verdict(self) -> str:
        """PASSED only where something was tried, every stage was gone through and nothing is wrong or open."""
        results = [one.result for one in self.tried]
        if FAILED in results or any(one.severity is Severity.ERROR for one in self.findings):
            return FAILED
        is_open = any(one.kind is Status.UNKNOWN and one.blocks_verdict for one in self.answers)
        return PASSED if results and not is_open and set(results) == {PASSED} else INCOMPLETE

    @property
    def status(self) -> int:
        """The exit status."""
        return _STATUS[self.verdict]

    @property
    def missing(self) -> tuple[str, ...]:
        """What was not here for a complete trial, each said once."""
        return tuple(dict.fromkeys(one.lacks for one in self.tried if one.lacks))
