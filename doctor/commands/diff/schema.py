"""The JSON Schema of what `gpudoctor diff` finds, made of the types that are encoded.

`python -m doctor.commands.diff.schema` prints it; docs/diff.schema.json is its committed copy, and a test
keeps them equal.
"""

from __future__ import annotations

from typing import Any

from doctor.changes.snapshot import Item
from doctor.commands.diff.document import SCHEMA
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, list_of


def diff_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.diff/1`; "" as a value means that the item is not there."""
    types = Types()
    types.of(Item)
    finding = an_object({"code": TEXT, "subject": TEXT, "summary": TEXT})
    values = {"old": TEXT, "new": TEXT, "bears_on": list_of(TEXT)}
    document = an_object(
        {
            "schema": {"const": SCHEMA},
            "new_findings": list_of(finding),
            "gone_findings": list_of(finding),
            "differences": list_of(an_object({**types.defined["Item"]["properties"], **values})),
        }
    )
    return {**HEAD, "title": SCHEMA, **document}


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(diff_schema()))
