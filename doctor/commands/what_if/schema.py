"""The JSON Schema of what `gpudoctor what-if` answers, made of the types that are encoded.

`python -m doctor.commands.what_if.schema` prints it; docs/what-if.schema.json is its committed copy, and a test
keeps them equal.
"""

from __future__ import annotations

from typing import Any

from doctor.commands.what_if.document import ANSWERS, SCHEMA, Broken
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, list_of, one_of


def what_if_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.what-if/1`."""
    types = Types()
    change = an_object({"name": TEXT, "before": TEXT, "after": TEXT, "required_by": TEXT})
    document = an_object(
        {
            "schema": {"const": SCHEMA},
            "command": TEXT,
            "environment": TEXT,
            "answer": one_of(*ANSWERS.values()),
            "resolved_by": one_of("rows", "dry run"),
            "changes": list_of(change),
            "breaks": list_of(types.of(Broken)),
            "fixes": list_of(types.of(Broken)),
            "unknown": list_of(TEXT),
            "instead": TEXT,
        }
    )
    return {**HEAD, "title": SCHEMA, **document, "$defs": types.definitions()}


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(what_if_schema()))
