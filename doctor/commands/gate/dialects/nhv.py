"""In the shape of NVIDIA Health Validation's NodeVerdict: JSON on one line.

PASS, INFO and WARNING exit with 0, CRITICAL and UNKNOWN with 1, and 2 means that there is no verdict. The keys are
those that its reference names for the overall severity and the affected components; `messages` is ours. It calls
dsx-ai-factory/health-validation:catalog/health/node-verdict.schema.json the contract, which we could not read.
Source: docs.nvidia.com/health-validation, "FAQ" (exit code) and "Verdict Schema" (AffectedComponent).
"""

from __future__ import annotations

from typing import Any

from doctor.commands.gate.dialect import Dialect, cause
from doctor.commands.gate.verdict import Level, Reason, Verdict
from doctor.output.finding_views import line
from doctor.output.formats.json import encoded

_WORDS = {Level.READY: "PASS", Level.WARNED: "WARNING", Level.NOT_READY: "CRITICAL", Level.UNKNOWN: "UNKNOWN"}


def render(verdict: Verdict) -> str:
    """The overall severity, and each code with what it is about."""
    codes = dict.fromkeys(one.code for one in verdict.reasons)
    said: dict[str, Any] = {
        "overall_severity": _WORDS[verdict.level],
        "affected_components": [_component([one for one in verdict.reasons if one.code == code]) for code in codes],
        "messages": [cause(one) for one in verdict.reasons],
    }
    return encoded(said, None, is_ascii=True)


def _component(reasons: list[Reason]) -> dict[str, Any]:
    """Reasons come worst first."""
    is_xid = reasons[0].code == "xid"
    return {
        "check_ids": [reasons[0].code],
        "entities": list(dict.fromkeys(line(one.subject) for one in reasons)),
        "category": "XID" if is_xid else "NODE",
        "max_severity": _WORDS[reasons[0].level],
    }


DIALECT = Dialect(
    "0 PASS or WARNING, 1 CRITICAL or UNKNOWN, 2 no verdict",
    {Level.READY: 0, Level.WARNED: 0, Level.NOT_READY: 1, Level.UNKNOWN: 1},
    no_verdict=2,
    render=render,
)
