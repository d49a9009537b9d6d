"""A custom plugin of Kubernetes' node-problem-detector.

0 is no problem, 1 a problem, anything else unknown; standard output becomes the message of the condition, as far as
`max_output_length` of the configuration goes (80 by default), so the cause stands first.
Source: kubernetes/node-problem-detector, pkg/custompluginmonitor, and its "Custom Plugin Monitor" proposal.
"""

from __future__ import annotations

from doctor.commands.gate.dialect import Dialect, cause, told
from doctor.commands.gate.verdict import Level, Verdict


def render(verdict: Verdict) -> str:
    """The cause first."""
    first = next((one for one in verdict.reasons if one.level is verdict.level), None)
    return told(verdict) if first is None else cause(first)


DIALECT = Dialect(
    "0 no problem, 1 problem, 2 unknown",
    {Level.READY: 0, Level.WARNED: 0, Level.NOT_READY: 1, Level.UNKNOWN: 2},
    no_verdict=2,
    render=render,
)
