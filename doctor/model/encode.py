"""Facts and reports as plain JSON values.

A fact is {"value": ..., "how": ...} or {"unseen": why}; versions are texts; the lists at the top of the facts are
bare lists (or {"unseen": why}).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter
from typing import Any

from compat.need import as_json, is_need
from compat.version import CodeTarget, ComputeCapability, CudaVersion, CudnnVersion, DriverRelease
from doctor import __version__
from doctor.model.facts import Facts
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, WhyNot
from doctor.model.finding import Answer, Evidence, Finding, Remedy, Report
from doctor.model.resolution import describe_resolution
from installers.plan import Plan

REPORT_SCHEMA = "gpudoctor.report/1"
TEXTS = (CudaVersion, DriverRelease, CudnnVersion, ComputeCapability, CodeTarget, Place)  # as `str` makes them
EVIDENCE = {"source": str, "detail": str, "file": str, "line": int}
# The names of the report's contract for the groups of facts; those marked true are bare lists.
GROUPS = {
    "os": ("system", False),
    "driver": ("driver", False),
    "pci": ("pci", True),
    "gpus": ("gpus", True),
    "toolkits": ("toolkit.toolkits", True),
    "toolkit_names": ("toolkit.names", True),
    "compilers": ("compilers", True),
    "cudnn": ("cudnn", True),
    "environments": ("environments", True),
    "configuration": ("configuration", False),
    "loader": ("loader", False),
    "imports": ("imports", True),
    "code_tools": ("code_tools", True),
    "dlls": ("dlls", True),
    "image": ("image", False),
    "dockerfile": ("dockerfile", False),
    "failures": ("failures", False),
}
# What a reader of the report gets besides the fields: made here, of the fields alone.
DERIVED: Mapping[type, Mapping[str, tuple[type, Callable[[Any], Any]]]] = {
    Prediction: {"because": (str, lambda one: describe_resolution(one.way)), "missing": (bool, lambda one: one.missing)}
}


def encode(value: Any) -> Any:
    """Any fact, row or answer as JSON; raises TypeError for a type that none of them has."""
    if isinstance(value, Seen):
        place = {"file": value.how.file, "line": value.how.line} if isinstance(value.how, Place) else {}
        return {"value": encode(value.value), "how": str(value.how), **place}
    if isinstance(value, Unseen):
        why_not = {"why_not": value.why_not.value} if value.why_not is not WhyNot.ANY else {}
        return {"unseen": value.why, **why_not}
    if isinstance(value, TEXTS):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Evidence):
        return {name: getattr(value, name) for name in EVIDENCE}
    if is_need(value):
        value = as_json(value)
    if hasattr(value, "_fields"):
        fields = {name: encode(item) for name, item in zip(value._fields, value, strict=True)}
        return {**fields, **{name: make(value) for name, (_, make) in DERIVED.get(type(value), {}).items()}}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {name: encode(item) for name, item in value.items()}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"{type(value).__name__} has no place in a report")


def encode_facts(facts: Facts) -> dict[str, Any]:
    """The facts, under the names of the report's contract."""
    groups = {
        name: _bare(attrgetter(path)(facts)) if bare else encode(attrgetter(path)(facts))
        for name, (path, bare) in GROUPS.items()
    }
    return in_order(groups, {name: _bare(fact) for name, fact in facts.independent.items()})


def in_order(groups: dict[str, Any], independent: dict[str, Any]) -> dict[str, Any]:
    """Return both in the order of the contract: the groups of independent probes stand before the last three."""
    last = {name: groups[name] for name in [*groups][-3:]}
    return {name: one for name, one in {**groups, **independent}.items() if name not in last} | last


def encode_report(report: Report) -> dict[str, Any]:
    """The whole report; the same machine state gives the same value, but for `gpus[].now`, `elapsed_s` and `made`."""
    elapsed_s = round(report.elapsed_s, 3)
    made = {"at": report.made_at, "host": report.facts.machine.name, "elapsed_s": elapsed_s}
    return {
        "schema": REPORT_SCHEMA,
        "gpudoctor": __version__,
        "matrix_as_of": report.matrix_as_of,
        "subject": encode(report.facts.machine),
        "verdict": report.verdict,
        "facts": encode_facts(report.facts),
        "findings": [encode_finding(finding) for finding in report.findings],
        "answers": [encode_answer(answer) for answer in report.answers],
        "elapsed_s": elapsed_s,
        **({"made": made} if report.made_at else {}),
    }


def _bare(fact: Fact[tuple[Any, ...]]) -> Any:
    return encode(fact.value) if isinstance(fact, Seen) else encode(fact)


def encode_finding(finding: Finding) -> dict[str, Any]:
    """One finding, with its remedies."""
    encoded: dict[str, Any] = encode(finding._replace(remedies=()))
    encoded["remedies"] = [encode_remedy(remedy) for remedy in finding.remedies]
    return encoded


def encode_plan(plan: Plan) -> dict[str, Any]:
    """A plan: its steps in order, each with its kind."""
    steps = [{"kind": type(step).__name__, **encode(step)} for step in plan.steps]
    return {"summary": plan.summary, "steps": steps}


def encode_remedy(remedy: Remedy) -> dict[str, Any]:
    """One fix, with its commands."""
    return {
        "summary": remedy.summary,
        "need": encode(remedy.need),
        "plan": encode_plan(remedy.plan),
        "commands": list(remedy.commands),
        "proven": remedy.proven,
        "left_open": remedy.left_open,
    }


def encode_answer(answer: Answer) -> dict[str, Any]:
    """One answer, in short."""
    return {"code": answer.code, "subject": answer.subject, "answer": answer.kind.value, "why": answer.why}
