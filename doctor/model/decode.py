"""A saved report's facts as facts again: the inverse of `doctor.model.encode`, by the types alone."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any

from compat.base.errors import GpudoctorError
from doctor.model.encode import GROUPS, REPORT_SCHEMA, TEXTS
from doctor.model.facts import Facts, Machine
from doctor.model.facts.environment import Setting
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, WhyNot

_ABSENT = Unseen("the saved report does not say it")
_NOT_LOOKED_FOR = Unseen("they were not looked for", WhyNot.NOT_LOOKED_FOR)
_DEEPEST = 40  # levels of a report


class NotAReport(GpudoctorError):
    """A file is no report that this release can read; the message says where it is not."""


def facts_of_report(report: Mapping[str, Any], kinds: Mapping[str, Any]) -> Facts:
    """Return the facts of a `gpudoctor.report/1`, as those of a machine elsewhere; raises NotAReport.

    `kinds`: the types of the groups that independent probes see, by name.
    """
    if report.get("schema") != REPORT_SCHEMA:
        raise NotAReport(f"its schema is {report.get('schema')!r}, and not {REPORT_SCHEMA}")
    groups = report.get("facts")
    if not isinstance(groups, Mapping):
        raise NotAReport("facts: not there")
    found: dict[str, Any] = {}
    for name, (path, bare) in GROUPS.items():
        found[path] = (
            _decoded(_type_of(path), _with_how(groups[name]) if bare else groups[name], path)
            if name in groups
            else None
        )
    fact_of: Any = Fact
    independent = {
        name: _decoded(fact_of[kind], _with_how(groups[name]), name) if name in groups else _NOT_LOOKED_FOR
        for name, kind in kinds.items()
    }
    toolkit = _hints(Facts)["toolkit"](found.pop("toolkit.toolkits") or _ABSENT, found.pop("toolkit.names") or _ABSENT)
    subject = _decoded(Machine, report.get("subject"), "subject")
    machine = subject._replace(kind="dump") if subject.kind == "live" else subject
    known = {name: value for name, value in found.items() if value is not None}
    missing = [name for name in ("system", "driver", "configuration", "loader") if name not in known]
    if missing:
        raise NotAReport(f"facts: without {missing[0]}")
    rest = {name: _ABSENT for name in Facts._fields if name not in known and name not in Facts._field_defaults}
    return Facts(**{**rest, **known, "machine": machine, "toolkit": toolkit, "independent": independent})


def _type_of(path: str) -> Any:
    kind: Any = Facts
    for name in path.split("."):
        kind = _hints(kind)[name]
    return kind


def _with_how(value: Any) -> Any:
    is_unseen = isinstance(value, Mapping) and "unseen" in value
    return value if is_unseen else {"value": value, "how": "the saved report"}


@lru_cache(maxsize=256)
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _decoded(kind: Any, value: Any, where: str) -> Any:
    """A value of this type; raises NotAReport."""
    if where.count(".") > _DEEPEST:
        raise NotAReport(f"{where[:80]}: too deep")
    if kind in (str, int, float, bool, type(None)):
        return _plain(kind, value, where)
    if kind in TEXTS or (isinstance(kind, type) and issubclass(kind, Enum)):
        try:
            return kind.parse(value) if kind in TEXTS else kind(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise NotAReport(f"{where}: {value!r} is no {kind.__name__}"[:200]) from error
    if hasattr(kind, "_fields"):
        return _named(kind, value, where)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return _row(arguments, value, where)
    if origin is None or origin is Mapping:
        return value
    return _one_of(arguments, value, where)


def _plain(kind: type, value: Any, where: str) -> Any:
    fits = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
    if not fits or (isinstance(value, bool) and kind is not bool):
        raise NotAReport(f"{where}: {str(value)[:60]!r} is no {kind.__name__}")
    return value


def _named(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise NotAReport(f"{where}: not an object")
    made = {}
    if kind is Setting and "at" not in value:
        # Where a setting stands, by a report from before it said so beside "~/.theanorc, line 3".
        file, found, line = str(value.get("source")).rpartition(", line ")
        value = {**value, "at": (str(Place(file, int(line))) if found and line.isdecimal() else None)}
    for name, hint in _hints(kind).items():
        if name in value:
            made[name] = _decoded(hint, value[name], f"{where}.{name}")
        elif name not in kind._field_defaults:
            if Unseen not in typing.get_args(hint):
                raise NotAReport(f"{where}.{name}: not there")
            made[name] = _ABSENT
    return kind(**made)


def _row(arguments: tuple[Any, ...], value: Any, where: str) -> Any:
    if not isinstance(value, list):
        raise NotAReport(f"{where}: not a list")
    if arguments[-1:] == (...,):
        return tuple(_decoded(arguments[0], one, f"{where}.{number}") for number, one in enumerate(value))
    if len(value) != len(arguments):
        raise NotAReport(f"{where} has {len(value)} values instead of {len(arguments)}")
    return tuple(
        _decoded(one, each, f"{where}.{n}") for n, (one, each) in enumerate(zip(arguments, value, strict=True))
    )


def _how(value: Mapping[str, Any], where: str) -> str | Place:
    """The text; with the file, where the report names it."""
    text: str = _plain(str, value.get("how"), f"{where}.how")
    if "file" not in value:
        return text
    place = Place(_plain(str, value["file"], f"{where}.file"), _plain(int, value.get("line", 0), f"{where}.line"))
    return place if str(place) == text else place._replace(label=text)


def _one_of(arguments: tuple[Any, ...], value: Any, where: str) -> Any:
    """A fact, seen or not, or something that may be null."""
    if value is None and type(None) in arguments:
        return None
    if Unseen in arguments:
        if not isinstance(value, Mapping):
            raise NotAReport(f"{where}: neither seen nor unseen")
        if "unseen" in value:
            # With why not; a report from before it said so has NVML's name of the error in its words.
            why: str = _plain(str, value["unseen"], f"{where}.unseen")
            older = WhyNot.LOST if "NVMLError_GpuIsLost" in why else WhyNot.ANY
            return Unseen(why, _decoded(WhyNot, value.get("why_not", older), f"{where}.why_not"))
        seen = next(one for one in arguments if typing.get_origin(one) is Seen)
        inner = _decoded(typing.get_args(seen)[0], value.get("value"), f"{where}.value")
        return Seen(inner, _how(value, where))
    return _decoded(next(one for one in arguments if one is not type(None)), value, where)
