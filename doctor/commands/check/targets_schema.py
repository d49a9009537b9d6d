"""The JSON Schema of a table of targets, made of the types that are encoded.

`python -m doctor.commands.check.targets_schema` prints it; docs/targets.schema.json is its committed copy, and a test
keeps them equal.
"""

from __future__ import annotations

from typing import Any

from doctor.commands.check.targets import SCHEMA, VERDICTS, Target
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, list_of, one_of


def targets_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.targets/1`."""
    types = Types()
    types.of(Target)
    types.defined["Target"]["properties"]["verdict"] = one_of(*VERDICTS)
    document = an_object({"schema": {"const": SCHEMA}, "lock": TEXT, "targets": list_of(types.of(Target))})
    return {**HEAD, "title": SCHEMA, **document, "$defs": types.definitions()}


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(targets_schema()))
