"""The packages of an environment: `pip list`, `pip freeze`, `uv pip list`, `conda list`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_HEAD = re.compile(r"^Package +Version\b|^ *# Name +Version +Build\b|^# packages in environment at ")
_PREFIX = re.compile(r"^# packages in environment at (?:(/home/|/root/|/opt/)|([A-Za-z]:\\))")
_RULE = re.compile(r"^-{3,}( +-{3,})+$|^#")
_COLUMNS = re.compile(r"^([A-Za-z][\w.-]*) +(\d[\w.+!-]*)(?: +(\S+))?(?: +(\S+))?(?: .*)?$")
_FROZEN = re.compile(r"^([A-Za-z][\w.-]*)==(\d[\w.+!-]*)$")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    in_table = of_conda = False
    for line in lines:
        text = line.text.strip()
        if _HEAD.match(text):
            in_table, of_conda = True, text.startswith("#")
            if prefix := _PREFIX.match(text):
                yield Said(Field.FAMILY, "linux" if prefix[1] else "windows", line.number)
        elif found := _FROZEN.match(text):
            yield Said(Field.PACKAGE, f"{found[1]}=={found[2]}", line.number)
        elif in_table and not _RULE.match(text):
            found = _COLUMNS.match(text)
            in_table = bool(found) or (of_conda and text.startswith("_"))  # _libgcc_mutex
            if found:
                field = Field.CONDA_PACKAGE if of_conda and found[4] not in {"pypi", "<pip>"} else Field.PACKAGE
                yield Said(field, f"{found[1]}=={found[2]}", line.number)


DUMP = Dump(
    title="package list",
    mark=r"^ *Package +Version\b[^\n]*\n *-{3,} |^ *# Name +Version +Build\b|"
    r"(?:^ *[A-Za-z][\w.-]*==\d[\w.+!-]* *\n){3}",
    tell=_tell,
    source="pypa/pip: src/pip/_internal/commands/list.py, freeze.py; astral-sh/uv; conda/conda: conda/cli/main_list.py",
)
