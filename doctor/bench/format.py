"""What a format of a benchmark gets, and where formats are found: one file each in `doctor/bench/formats/`."""

from __future__ import annotations

from collections.abc import Callable

from compat.discover import load_one, names_in
from doctor.bench.sheet import Report
from doctor.choice import one_of
from doctor.formats import Look


class BenchFormat:
    """Turns a benchmark into text."""

    __slots__ = ("has_chart", "render")

    def __init__(self, render: Callable[[Report, Look, str], str], *, has_chart: bool = False) -> None:
        """`render` takes the address of the chart, too, "" for none; `has_chart`: whether it makes use of it."""
        self.render = render
        self.has_chart = has_chart


def format_of(name: str) -> BenchFormat:
    """The format of this name; raises NoSuchName."""
    from doctor.bench import formats

    return load_one(formats, one_of("format", name, names_in(formats)), "FORMAT", BenchFormat)
