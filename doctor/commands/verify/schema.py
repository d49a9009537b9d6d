"""The JSON Schema of a verification, made of the types that are encoded.

`python -m doctor.commands.verify.schema` prints it; docs/verification.schema.json is its committed copy, and a test
keeps them equal.
"""

from __future__ import annotations

from typing import Any

from doctor.commands.verify import trial
from doctor.commands.verify.cudnn_trial.outcome import STAGES, Fault, Row
from doctor.commands.verify.encode import SCHEMA
from doctor.commands.verify.verification import FAILED, INCOMPLETE, PASSED
from doctor.model.facts import Machine
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, finding_schema, list_of, one_of

_RESULT = one_of(PASSED, FAILED, INCOMPLETE)
_INTEGER, _NUMBER, _OPEN = {"type": "integer"}, {"type": "number"}, {"type": "object"}


def verification_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.verification/1`."""
    types = Types()
    kinds = one_of("ok", "bad", "unknown", "not-applicable")
    document = an_object(
        {
            "schema": {"const": SCHEMA},
            "gpudoctor": TEXT,
            "matrix_as_of": {"type": "string", "format": "date"},
            "subject": types.of(Machine),
            "level": one_of("load", "conv", "full", "node"),
            "target": TEXT,
            "verdict": _RESULT,
            "missing": list_of(TEXT),
            "gpus": list_of(an_object({"gpu": _INTEGER, "result": _RESULT, "lacks": TEXT, **_course(types, STAGES)})),
            "copies": list_of(an_object(_copy(types))),
            "frameworks": list_of(an_object(_framework(types))),
            "findings": list_of(finding_schema(types)),
            "answers": list_of(an_object({"code": TEXT, "subject": TEXT, "answer": kinds, "why": TEXT})),
            "elapsed_s": _NUMBER,
        }
    )
    return {**HEAD, "title": SCHEMA, **document, "$defs": types.definitions()}


def _copy(types: Types) -> dict[str, Any]:
    texts = {"label": TEXT, "library": TEXT, "origin": TEXT, "owner": TEXT, "loaded_by": list_of(TEXT), "why": TEXT}
    return {**texts, "gpu": _INTEGER, "result": _RESULT, "lacks": TEXT, **_course(types, STAGES)}


def _framework(types: Types) -> dict[str, Any]:
    texts = {"label": TEXT, "package": TEXT, "environment": TEXT, "interpreter": TEXT, "doubt": TEXT}
    compared = {"compared": _INTEGER, "surprises": list_of(types.of(trial.Surprise))}
    return {**texts, "gpu": _INTEGER, "result": _RESULT, "lacks": TEXT, **compared, **_course(types, trial.STAGES)}


def _course(types: Types, stages: tuple[str, ...]) -> dict[str, Any]:
    stage = {
        "name": one_of(*stages),
        "status": one_of("passed", "failed", "missing", "cut-off"),
        "fault": {"anyOf": [types.of(Fault), {"type": "null"}]},
        "lacks": TEXT,
        "facts": _OPEN,
        "now": _OPEN,
    }
    ending = {
        "kind": one_of("exited", "signal", "timed-out", "not-started"),
        "code": _INTEGER,
        "stage": TEXT,
        "doing": TEXT,
        "now": _OPEN,
    }
    return {"stages": list_of(an_object(stage)), "rows": list_of(types.of(Row)), "ending": an_object(ending)}


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(verification_schema()))
