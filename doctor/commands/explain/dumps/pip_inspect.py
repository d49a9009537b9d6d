"""`pip inspect`: the packages of an environment and its Python, as JSON, whose lines stand in this order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_PAIR = re.compile(r'^ *"(name|version|python_full_version|platform_machine|sys_platform)": "([^"]*)",?$')
_FIELDS = {"python_full_version": Field.PYTHON, "platform_machine": Field.MACHINE}
_FAMILIES = {"linux": "linux", "win32": "windows", "darwin": "macos"}


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    package = ""
    for line in lines:
        found = _PAIR.match(line.text.rstrip())
        key, value = found.groups() if found else ("", "")
        if key == "version" and package:
            yield Said(Field.PACKAGE, f"{package}=={value}", line.number)
        elif key in _FIELDS:
            yield Said(_FIELDS[key], value, line.number)
        elif key == "sys_platform" and value in _FAMILIES:
            yield Said(Field.FAMILY, _FAMILIES[value], line.number)
        package = value if key == "name" else ""


DUMP = Dump(
    title="pip inspect",
    mark=r'^ *"(?:pip|metadata)_version": "\d',  # of a long one only the lines around known packages are kept
    tell=_tell,
    source="pypa/pip: src/pip/_internal/commands/inspect.py",
)
