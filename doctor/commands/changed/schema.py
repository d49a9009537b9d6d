"""The JSON Schema of the time line of `gpudoctor changed`, made of the types that are encoded.

`python -m doctor.commands.changed.schema` prints it; docs/changed.schema.json is its committed copy, and a test
keeps them equal.
"""

from __future__ import annotations

from typing import Any

from doctor.changes import Group
from doctor.commands.changed.document import SCHEMA
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, list_of
from doctor.probes.changes import Change


def changed_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.changed/1`; times are seconds since the epoch."""
    types = Types()
    for kind in (Change, Group):
        types.of(kind)
    fields, group = (types.defined[kind.__name__]["properties"] for kind in (Change, Group))
    change = an_object({**fields, "source": TEXT, "part": group["part"], "bears_on": group["bears_on"]})
    number = {"type": "number"}
    document = an_object(
        {
            "schema": {"const": SCHEMA},
            "since": number,
            "started": {"type": ["number", "null"]},
            "changes": list_of(change),
            "records_begin": {"type": "object", "additionalProperties": number},
            "unread": {"type": "object", "additionalProperties": TEXT},
        }
    )
    return {**HEAD, "title": SCHEMA, **document}


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(changed_schema()))
