"""A verification, as every format takes it."""

from __future__ import annotations

from typing import Any

from doctor.commands.verify.verification import Verification
from doctor.model.facts import Machine
from doctor.model.finding import Answer, Finding
from doctor.output.document import TextStyle


class VerifyDocument:
    """See `doctor.output.document.Document`."""

    indent = 2

    def __init__(self, done: Verification) -> None:
        self.done = done

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Worst first, roots before what they explain."""
        return self.done.findings

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Those of the trials, and those of the rules about the copies."""
        return self.done.answers

    @property
    def machine(self) -> Machine:
        """What was looked at."""
        return self.done.facts.machine

    @property
    def verdict(self) -> str:
        """How it all ends, in one word."""
        return self.done.verdict

    def markdown(self, style: TextStyle) -> str:
        """A page that fits a comment on a pull request."""
        from doctor.output.comment import comment  # late: each format loads its own half

        return comment(self)

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.verification/1`."""
        from doctor.commands.verify.encode import encode_verification  # late: each format loads its own half

        return encode_verification(self.done)

    def text(self, style: TextStyle) -> str:
        """The answer; each copy, stage by stage; what is wrong, how that is known, what to do."""
        from doctor.commands.verify.text import as_text

        return as_text(self.done, style)
