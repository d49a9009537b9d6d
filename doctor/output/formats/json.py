"""JSON, of the schema that the document names (docs/*.schema.json)."""

from __future__ import annotations

import re

from doctor.output.document import Document, Format, TextStyle

# DEL, C1 controls, and what turns the direction of a line or ends it: a file's name must not drive a terminal.
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def render(document: Document, style: TextStyle) -> str:
    """Indented, keys in the order of the contract."""
    return encoded(document.plain(), document.indent, is_ascii=not style.symbols) + "\n"


def encoded(content: object, indent: int | None = 2, *, is_ascii: bool = False) -> str:
    """Return what a report holds as JSON, without a line end."""
    import json  # late: `--help` loads this module, too

    text = json.dumps(content, indent=indent, ensure_ascii=is_ascii)
    text = _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "backslashreplace").decode()  # undecodable bytes of file names become JSON escapes


FORMAT = Format("JSON, of the schema that it names", render, suffix=".json")
