"""The JSON Schema of the report, made of the types that are encoded.

`python -m doctor.commands.check.schema` prints it; docs/report.schema.json is its committed copy, and a test keeps them
equal.
"""

from __future__ import annotations

import typing
from typing import Any

from doctor.model.encode import GROUPS, REPORT_SCHEMA, in_order
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, Unseen
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, finding_schema, list_of, one_of
from doctor.probes import independent_probes


def report_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.report/1`."""
    types = Types()
    groups = {name: _group(types, path, bare=bare) for name, (path, bare) in GROUPS.items()}
    independent = {name: _bare(types, probe.kind) for name, probe in independent_probes().items()}
    kinds = one_of("ok", "bad", "unknown", "not-applicable")
    report = an_object(
        {
            "schema": {"const": REPORT_SCHEMA},
            "gpudoctor": TEXT,
            "matrix_as_of": {"type": "string", "format": "date"},
            "subject": types.of(Machine),
            "verdict": one_of("healthy", "warnings", "broken", "no-gpu", "unknown"),
            "facts": an_object(in_order(groups, independent)),
            "findings": list_of(finding_schema(types)),
            "answers": list_of(an_object({"code": TEXT, "subject": TEXT, "answer": kinds, "why": TEXT})),
            "elapsed_s": {"type": "number"},
        },
        made=an_object(
            {"at": {"type": "string", "format": "date-time"}, "host": TEXT, "elapsed_s": {"type": "number"}}
        ),
    )
    return {**HEAD, "title": REPORT_SCHEMA, **report, "$defs": types.definitions()}


def _group(types: Types, path: str, *, bare: bool) -> dict[str, Any]:
    kind: Any = Facts
    for name in path.split("."):
        kind = typing.get_type_hints(kind)[name]
    if not bare:
        return types.of(kind)
    seen = next(one for one in typing.get_args(kind) if typing.get_origin(one) is Seen)
    return _bare(types, typing.get_args(seen)[0])


def _bare(types: Types, kind: Any) -> dict[str, Any]:
    return {"anyOf": [types.of(kind), types.of(Unseen)]}


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(report_schema()))
