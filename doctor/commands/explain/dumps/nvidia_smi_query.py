"""`nvidia-smi --query-gpu=name,driver_version --format=csv`: names, or the command itself, and a line for each GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_NAMES = {"name": "name", "gpu_name": "name", "driver_version": "driver", "compute_cap": "capability", "index": "index"}
_COMMAND = r"--query-gpu=([\w.,]+)"
_COLUMN = r"[a-z][\w.]*(?: \[[\w/%]+\])?"
_BLANKED = r"(?i)\[?n/?a\]?|\[.*\]|$"
_RELEASE = r"\d{3}\.\d{1,3}(?:\.\d{1,3})?"


def _columns(text: str) -> list[str]:
    """Return the columns that a line names, [] for a line that is none of the kind."""
    if found := re.search(_COMMAND, text):
        return found[1].split(",")
    cells = [cell.strip() for cell in text.split(",")]
    if all(re.fullmatch(_COLUMN, cell) for cell in cells) and {"name", "driver_version"} & set(cells):
        return [cell.partition(" ")[0] for cell in cells]
    return []


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    columns: list[str] = []
    number = 0
    for line in lines:
        if named := _columns(line.text):
            columns, number = named, 0
            continue
        cells = [cell.strip() for cell in line.text.split(",")]
        if not columns or len(cells) != len(columns):
            columns = columns if not line.text.strip() else []
            continue
        row = {_NAMES[column]: cell for column, cell in zip(columns, cells, strict=True) if column in _NAMES}
        index = row.get("index", str(number))
        if not index.isdigit():
            continue
        if (name := row.get("name")) and not re.fullmatch(_BLANKED, name):
            yield Said(Field.GPU, f"{index} {name}", line.number)
        if re.fullmatch(r"\d{1,2}\.\d", row.get("capability", "")):
            yield Said(Field.CAPABILITY, f"{index} {row['capability']}", line.number)
        if re.fullmatch(_RELEASE, row.get("driver", "")):
            yield Said(Field.DRIVER, row["driver"], line.number)
        number += 1


DUMP = Dump(
    title="nvidia-smi --query-gpu",
    mark=r"--query-gpu=[\w.,]*\b(?:gpu_)?name\b|--query-gpu=[\w.,]*\bdriver_version\b"
    r"|^ *(?:[a-z][\w.]*(?: \[[\w/%]+\])?, ?)*(?:name|driver_version)(?:, ?[a-z][\w.]*(?: \[[\w/%]+\])?)+ *$",
    tell=_tell,
    source="nvidia-smi --help-query-gpu of the driver 580",
)
