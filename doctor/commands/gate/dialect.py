"""What a scheduler wants to hear: one file a dialect in doctor/commands/gate/dialects, each with `DIALECT`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from doctor.commands.gate.verdict import Level, Reason, Verdict
from doctor.output.finding_views import line


class Dialect:
    """Exit statuses and the one line."""

    __slots__ = ("bad_usage", "no_verdict", "render", "statuses", "title")

    def __init__(
        self,
        title: str,
        statuses: Mapping[Level, int],
        *,
        no_verdict: int,
        render: Callable[[Verdict], str],
        bad_usage: int = 2,
    ) -> None:
        """`no_verdict`: the status where gpudoctor could not come to one; never one that says ready.

        `bad_usage`: likewise where it was asked in a wrong way.
        """
        self.bad_usage = bad_usage
        self.title = title
        self.statuses = statuses
        self.no_verdict = no_verdict
        self.render = render


def told(verdict: Verdict) -> str:
    """The verdict, and the cause of it: short, for a drain reason has little room."""
    if verdict.level is Level.READY:
        return f"ready: {line(verdict.seen)}"
    first, *others = [one for one in verdict.reasons if one.level is verdict.level]
    more = f" (and {len(others)} more)" if others else ""
    return f"{verdict.level.value}: {cause(first)}{more}"


def cause(reason: Reason) -> str:
    """One reason as text, with its code, by which `gpudoctor explain` knows more."""
    action = f", asks for: {reason.action}" if reason.action else ""
    subject = f"{line(reason.subject)}: " if reason.code == "prerequisite" else ""
    return f"{subject}{line(reason.why)}{action} [{reason.code}]"
