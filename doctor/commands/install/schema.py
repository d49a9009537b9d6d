"""The JSON Schema of a bundle, as `--download-only` prints it, made of the types that are encoded.

`python -m doctor.commands.install.schema` prints it; docs/bundle.schema.json is its committed copy, and a test
keeps them equal.
"""

from __future__ import annotations

from typing import Any

from doctor.commands.install.download import SCHEMA
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, list_of
from installers.bundle import Bundled


def bundle_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.bundle/1`."""
    types = Types()
    document = an_object(
        {
            "schema": {"const": SCHEMA},
            "directory": TEXT,
            "files": list_of(types.of(Bundled)),
            "not_in_it": list_of(TEXT),
        }
    )
    return {**HEAD, "title": SCHEMA, **document, "$defs": types.definitions()}


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(bundle_schema()))
