"""The tools: each is a command line of ours that only reads, made of named values. tools.json has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from compat.base.paths import text_beside
from compat.base.record import NamedTuple

# Of a property: the option that takes it, or that it is read from standard input, or is the name of a command.
_OURS = ("option", "input", "word")
_HINTS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


class BadArguments(Exception):
    """What a client gave is no set of arguments of the tool; the message says what is wrong."""


class ToolCall(NamedTuple):
    """A command line, and what it reads from standard input."""

    words: tuple[str, ...]
    given: str = ""


class Tool(NamedTuple):
    """A row of tools.json."""

    name: str
    description: str
    words: tuple[str, ...]  # of the command line, before what is given
    properties: Mapping[str, Mapping[str, Any]]  # in their order on the command line
    required: tuple[str, ...]

    def described(self) -> dict[str, Any]:
        """Return the tool as `tools/list` has it."""
        properties = {
            name: {"type": "string", **{key: value for key, value in one.items() if key not in _OURS}}
            for name, one in self.properties.items()
        }
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(self.required)}
        schema["additionalProperties"] = False
        return {"name": self.name, "description": self.description, "inputSchema": schema, "annotations": _HINTS}

    def call(self, arguments: Mapping[str, Any]) -> ToolCall:
        """Return the command line; no value can be an option. Raises BadArguments."""
        for name in self.required:
            if not arguments.get(name):
                raise BadArguments(f"{self.name} needs {name}")
        for name, value in arguments.items():
            if name not in self.properties:
                raise BadArguments(f"{self.name} has no {name}; it has: {', '.join(self.properties)}")
            self._check(name, value)
        commands, options, texts, given = [], [], [], ""
        for name, one in self.properties.items():
            value = arguments.get(name, "")
            if one.get("input"):
                given = value
            elif one.get("word"):
                commands.append(value)
            elif "option" in one:
                options += [f"{one['option']}={value}"] if value else []
            else:
                texts += value if isinstance(value, list) else [value] if value else []
        return ToolCall((*self.words, *commands, *options, *(["--", *texts] if texts else ())), given)

    def _check(self, name: str, value: Any) -> None:
        wanted = self.properties[name]
        is_list = wanted.get("type") == "array"
        values = value if is_list else [value]
        if not isinstance(values, list) or not all(isinstance(one, str) and "\0" not in one for one in values):
            raise BadArguments(f"{name}: {'a list of texts' if is_list else 'a text'} is needed")
        if not wanted.get("input") and any(one.startswith("-") for one in values):
            raise BadArguments(f"{name}: a value cannot begin with '-'")
        if "enum" in wanted and value not in wanted["enum"]:
            raise BadArguments(f"{name}: one of {', '.join(wanted['enum'])} is needed")


@cache
def tools() -> Mapping[str, Tool]:
    """Return the tools by their names."""
    rows = json.loads(text_beside(__file__, "tools.json"))
    return {
        name: Tool(
            name=name,
            description=row["description"],
            words=tuple(row["words"]),
            properties=row["properties"],
            required=tuple(row.get("required", ())),
        )
        for name, row in rows.items()
    }
