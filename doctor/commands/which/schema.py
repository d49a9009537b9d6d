"""The JSON Schema of what `gpudoctor which` answers, made of the types that are encoded.

`python -m doctor.commands.which.schema` prints it; docs/which.schema.json is its committed copy, and a test keeps them
equal.
"""

from __future__ import annotations

from typing import Any

from doctor.commands.which.answer import Item
from doctor.commands.which.document import ANSWERS, LIVE, SCHEMA
from doctor.commands.which.live import Line
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, list_of, one_of

_TEXT_OR_NONE = {"type": ["string", "null"]}


def which_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.which/1`; `live` and `unknown` are there where they apply."""
    types = Types()
    subject = {
        "environment": TEXT,
        "python": TEXT,
        "framework": _TEXT_OR_NONE,
        "libraries": list_of(_item(types)),
        "failure": _TEXT_OR_NONE,
        "unknown": _TEXT_OR_NONE,
        "note": _TEXT_OR_NONE,
    }
    live = {
        "pid": {"type": "integer"},
        "prediction": one_of(*LIVE.values()),
        "verdict": TEXT,
        "libraries": list_of(types.of(Line)),
    }
    document = an_object(
        {
            "schema": {"const": SCHEMA},
            "library": TEXT,
            "answer": one_of(*ANSWERS.values()),
            "subjects": list_of(an_object(subject)),
        }
    )
    document["properties"] |= {"live": an_object(live), "unknown": TEXT}
    return {**HEAD, "title": SCHEMA, **document, "$defs": types.definitions()}


def _item(types: Types) -> dict[str, Any]:
    """A library: its fields, and the sentence that is made of them."""
    types.of(Item)
    fields = types.defined.pop("Item")["properties"]
    return an_object({**fields, "because": TEXT})


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(which_schema()))
