"""JSON Schemas, generated from the very types that are encoded; those of the commands are made of these parts."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any

from compat.need import NeedJson
from doctor.model.encode import DERIVED, EVIDENCE, TEXTS
from doctor.model.facts.seen import Seen, Unseen, WhyNot
from doctor.model.finding import Evidence, Severity, Symptom

HEAD = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
TEXT = {"type": "string"}
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_UNSEEN = {
    "type": "object",
    "description": "not seen, and why",
    "properties": {"unseen": {"type": "string"}, "why_not": {"enum": [one.value for one in WhyNot if one.value]}},
    "required": ["unseen"],
}


def as_text(schema: dict[str, Any]) -> str:
    """A schema as its committed file holds it."""
    return json.dumps(schema, indent=1) + "\n"


class Types:
    """Schemas of what `doctor.model.encode.encode` makes of our types; each NamedTuple is defined once."""

    def __init__(self) -> None:
        self.defined: dict[str, Any] = {}

    def definitions(self) -> dict[str, Any]:
        """What `of` referred to, for the key "$defs"."""
        return dict(sorted(self.defined.items()))

    def of(self, kind: Any) -> dict[str, Any]:
        """The schema of one type."""
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        if kind in TEXTS:
            return TEXT
        if kind is Unseen:
            return _UNSEEN
        if kind is Any:
            return {}
        if isinstance(kind, type) and issubclass(kind, Enum):
            return one_of(*(one.value for one in kind))
        if hasattr(kind, "_fields"):
            return self._named(kind)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is tuple and arguments[-1:] == (...,):
            return list_of(self.of(arguments[0]))
        if origin is tuple:
            return {"type": "array", "prefixItems": [self.of(one) for one in arguments], "items": False}
        if origin is Mapping:
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if origin is Seen:
            return an_object({"value": self.of(arguments[0]), "how": TEXT}, file=TEXT, line={"type": "integer"})
        return {"anyOf": [self.of(one) for one in arguments]}

    def _named(self, kind: Any) -> dict[str, Any]:
        name = kind.__name__.removesuffix("Json")  # NeedJson is what a report has of a need
        if name not in self.defined:
            hints = EVIDENCE if kind is Evidence else typing.get_type_hints(kind)
            fields = {field: self.of(hint) for field, hint in hints.items()}
            derived = {field: self.of(made) for field, (made, _) in DERIVED.get(kind, {}).items()}
            self.defined[name] = an_object({**fields, **derived})
        return {"$ref": f"#/$defs/{name}"}


def finding_schema(types: Types) -> dict[str, Any]:
    """The schema of one finding, with its remedies."""
    step = {"type": "object", "properties": {"kind": TEXT}, "required": ["kind"]}
    remedy = {
        "summary": TEXT,
        "need": types.of(NeedJson),
        "plan": an_object({"summary": TEXT, "steps": list_of(step)}),
        "commands": list_of(TEXT),
        "proven": types.of(bool),
        "left_open": TEXT,
    }
    return an_object(
        {
            "code": TEXT,
            "severity": types.of(Severity),
            "subject": TEXT,
            "summary": TEXT,
            "evidence": list_of(types.of(Evidence)),
            "explains": list_of(types.of(Symptom)),
            "explained_by": TEXT,
            "remedies": list_of(an_object(remedy)),
            "docs": TEXT,
        }
    )


def an_object(properties: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """An object that has these properties, all but the optional ones; a later release may add others."""
    return {"type": "object", "properties": {**properties, **optional}, "required": list(properties)}


def list_of(items: dict[str, Any]) -> dict[str, Any]:
    """A list of such items."""
    return {"type": "array", "items": items}


def one_of(*values: str) -> dict[str, Any]:
    """One of these texts."""
    return {"enum": list(values)}
