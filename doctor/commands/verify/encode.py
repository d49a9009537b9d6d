"""A verification as JSON, schema `gpudoctor.verification/1` (docs/verification.schema.json).

What changes from run to run although the machine is the same stands under a key `now`, and in `elapsed_s`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from doctor import __version__
from doctor.commands.verify.cudnn_trial.outcome import Ending, Row, Stage
from doctor.commands.verify.verification import FrameworkTried, GpuTried, Tried, Verification
from doctor.model.encode import encode, encode_answer, encode_finding

_MOMENTARY = ("free_bytes", "chosen", "measured", "memory_bytes", "gb_per_s")  # facts of stages
SCHEMA = "gpudoctor.verification/1"


def encode_verification(done: Verification) -> dict[str, Any]:
    """All of it as plain values."""
    return {
        "schema": SCHEMA,
        "gpudoctor": __version__,
        "matrix_as_of": done.matrix_as_of,
        "subject": encode(done.facts.machine),
        "level": done.level,
        "target": done.target,
        "verdict": done.verdict,
        "missing": list(done.missing),
        "gpus": [_gpu(one) for one in done.gpus],
        "copies": [_copy(one) for one in done.copies],
        "frameworks": [_framework(one) for one in done.frameworks],
        "findings": [encode_finding(one) for one in done.findings],
        "answers": [encode_answer(one) for one in done.answers],
        "elapsed_s": round(done.elapsed_s, 3),
    }


def _copy(one: Tried) -> dict[str, Any]:
    subject, outcome = one.subject, one.outcome
    return {
        "label": subject.label,
        "library": outcome.library,
        "origin": subject.copy.origin,
        "owner": subject.copy.owner,
        "loaded_by": list(subject.frameworks),
        "why": subject.why,
        "gpu": outcome.gpu,
        "result": one.result,
        "lacks": one.lacks,
        **_course(outcome.stages, outcome.rows, outcome.ending),
    }


def _gpu(one: GpuTried) -> dict[str, Any]:
    outcome = one.outcome
    course = _course(outcome.stages, outcome.rows, outcome.ending)
    return {"gpu": outcome.gpu, "result": one.result, "lacks": one.lacks, **course}


def _framework(one: FrameworkTried) -> dict[str, Any]:
    trial = one.trial
    return {
        "label": trial.framework,
        "package": trial.package,
        "environment": trial.environment,
        "interpreter": trial.interpreter,
        "gpu": trial.gpu,
        "result": one.result,
        "lacks": one.lacks,
        "doubt": trial.doubt,
        "compared": trial.compared,
        "surprises": encode(trial.surprises),
        **_course(trial.stages, trial.rows, trial.ending),
    }


def _course(stages: Iterable[Stage], rows: Iterable[Row], ending: Ending) -> dict[str, Any]:
    return {
        "stages": [_stage(one) for one in stages],
        "rows": [encode(one) for one in rows],
        "ending": {
            "kind": ending.kind,
            "code": ending.code,
            "stage": ending.stage,
            "doing": ending.doing,
            "now": {"stderr": ending.stderr},
        },
    }


def _stage(one: Stage) -> dict[str, Any]:
    facts = dict(one.facts)
    momentary = {name: facts.pop(name) for name in _MOMENTARY if name in facts}
    return {
        "name": one.name,
        "status": one.status,
        "fault": encode(one.fault),
        "lacks": one.lacks,
        "facts": _plain(facts),
        "now": {"seconds": round(one.seconds, 3), **_plain(momentary)},
    }


def _plain(value: Any) -> Any:
    """Facts as the child wrote them: JSON already, but for tuples and other kinds of mappings."""
    return json.loads(json.dumps(value))
