"""The JSON Schema of what `gpudoctor explain` says, made of the types that are encoded.

`python -m doctor.commands.explain.schema` prints it; docs/explanation.schema.json is its committed copy, and a test
keeps them equal.
"""

from __future__ import annotations

from typing import Any

from doctor.commands.explain.document import SCHEMA, STATUS
from doctor.messages.causes import Matched
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, list_of, one_of


def explanation_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.explanation/1`."""
    types = Types()
    cause = {
        "code": TEXT,
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "summary": TEXT,
        "matched": list_of(types.of(Matched)),
        "source": TEXT,
        "asks": TEXT,
        "mends": TEXT,
        "remedies": {"type": "array"},
        "page": TEXT,
    }
    read = {
        "bytes": {"type": "integer"},
        "lines_kept": {"type": "integer"},
        "whole": {"type": "boolean"},
        "problem": {"type": "string"},
    }
    document = an_object(
        {
            "schema": {"const": SCHEMA},
            "verdict": one_of(*STATUS),
            "read": an_object(read),
            "causes": list_of(an_object(cause)),
            "facts": {"type": ["object", "null"]},
        }
    )
    return {**HEAD, "title": SCHEMA, **document, "$defs": types.definitions()}


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(explanation_schema()))
