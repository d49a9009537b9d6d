"""A benchmark as JSON, `gpudoctor.bench/1`, and back; its schema.

`python -m doctor.commands.bench.encode` prints the schema; docs/bench.schema.json is its committed copy, and a test
keeps them equal.
"""

from __future__ import annotations

import typing
from typing import Any

from compat.base.errors import GpudoctorError
from doctor import __version__
from doctor.commands.bench.article_row import ArticleRow
from doctor.commands.bench.articles import articles
from doctor.commands.bench.outcome import Bench, Choice, Lack, Machine, Timing
from doctor.commands.bench.results_table import Report, Subject, comparisons
from doctor.model.encode import encode
from doctor.model.facts.gpu import GpuNow
from doctor.model.facts.seen import Seen, Unseen
from doctor.model.schema import HEAD, TEXT, Types, an_object, as_text, list_of

BENCH_SCHEMA = "gpudoctor.bench/1"
_NUMBER_OR_NONE = {"type": ["number", "null"]}


class NotABench(GpudoctorError):
    """A file is not what `gpudoctor bench --format json` writes."""

    hint = "Name a file that gpudoctor bench --format json wrote"


def encode_bench(report: Report) -> dict[str, Any]:
    """The whole benchmark, with the ratios that the other formats show."""
    bench = report.bench
    return {
        "schema": BENCH_SCHEMA,
        "gpudoctor": __version__,
        "command": report.command,
        "measured_on": bench.measured_on,
        "machine": encode(bench.machine),
        "networks": encode(report.subjects),
        "comparisons": _comparisons(report),
        "timings": encode(bench.timings),
        "choices": encode(bench.choices),
        "lacks": encode(bench.lacks),
        "notes": encode(bench.notes),
        "articles": encode(articles()),
    }


def _comparisons(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "network": one.subject.name,
            "path": line.path,
            "pool": line.pool,
            "epoch_s": line.timing.epoch_s if line.timing else None,
            "times_cpu": line.times_cpu,
            "article_s": line.article_s,
            "article_times_cpu": line.article_times_cpu,
        }
        for one in comparisons(report)
        for line in one.lines
    ]


def bench_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `gpudoctor.bench/1`."""
    types = Types()
    numbers = dict.fromkeys(("epoch_s", "times_cpu", "article_s", "article_times_cpu"), _NUMBER_OR_NONE)
    bench = an_object(
        {
            "schema": {"const": BENCH_SCHEMA},
            "gpudoctor": TEXT,
            "command": TEXT,
            "measured_on": {"type": "string", "format": "date"},
            "machine": types.of(Machine),
            "networks": list_of(types.of(Subject)),
            "comparisons": list_of(
                an_object({"network": TEXT, "path": TEXT, "pool": {"type": ["boolean", "null"]}, **numbers})
            ),
            "timings": list_of(types.of(Timing)),
            "choices": list_of(types.of(Choice)),
            "lacks": list_of(types.of(Lack)),
            "notes": list_of(TEXT),
            "articles": list_of(types.of(ArticleRow)),
        }
    )
    return {**HEAD, "title": BENCH_SCHEMA, **bench, "$defs": types.definitions()}


def decode_bench(value: Any) -> Report:
    """The benchmark that `encode_bench` wrote; raises NotABench."""
    if not isinstance(value, dict) or value.get("schema") != BENCH_SCHEMA:
        raise NotABench(f"the file is not {BENCH_SCHEMA}")
    try:
        bench = Bench(
            measured_on=value["measured_on"],
            machine=_read(Machine, value["machine"]),
            timings=_read(tuple[Timing, ...], value["timings"]),
            choices=_read(tuple[Choice, ...], value["choices"]),
            lacks=_read(tuple[Lack, ...], value["lacks"]),
            notes=_read(tuple[str, ...], value["notes"]),
        )
        return Report(str(value["command"]), _read(tuple[Subject, ...], value["networks"]), bench)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NotABench(f"the file is damaged: {type(error).__name__}: {error}") from error


def _read(kind: Any, value: Any) -> Any:
    """The value of a type that `encode` wrote."""
    arguments = typing.get_args(kind)
    if hasattr(kind, "_fields"):
        hints = typing.get_type_hints(kind)
        told = (name for name in kind._fields if name in value or name not in kind._field_defaults)
        return kind(**{name: _read(hints[name], value[name]) for name in told})
    if Unseen in arguments:
        return _fact(next(typing.get_args(one)[0] for one in arguments if one is not Unseen), value)
    if GpuNow in arguments:
        return None if value is None else _read(GpuNow, value)
    if type(None) in arguments and int in arguments:
        return None if value is None else _plain(int, value)
    if typing.get_origin(kind) is tuple:
        inner = arguments[:1] * len(value) if arguments[-1] is ... else arguments
        return tuple(_read(one, item) for one, item in zip(inner, value, strict=True))
    return _plain(kind, value)


def _fact(kind: Any, value: Any) -> Seen[Any] | Unseen:
    return Unseen(value["unseen"]) if "unseen" in value else Seen(_read(kind, value["value"]), value["how"])


def _plain(kind: Any, value: Any) -> Any:
    """A text, a number or a table of texts, of the very type that stands there."""
    allowed = {float: (int, float), int: int, str: str}.get(kind, (dict, bool, type(None)))
    if not isinstance(value, allowed):  # type: ignore[arg-type]
        raise TypeError(f"{value!r} is not {kind}")
    return value


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_text(bench_schema()))
