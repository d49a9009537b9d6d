"""A benchmark, as every format takes it."""

from __future__ import annotations

from typing import Any

from doctor.bench.sheet import Report
from doctor.formats import TextStyle


class BenchDocument:
    """See `doctor.formats.Document`; each view loads what it is made with."""

    indent = 1

    def __init__(self, report: Report) -> None:
        self.report = report

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.bench/1`."""
        from doctor.bench.encode import encode_bench

        return encode_bench(self.report)

    def text(self, style: TextStyle) -> str:
        """Every network's paths under each other, the articles' figures beside them."""
        from doctor.bench.text import render

        return render(self.report, style)

    def markdown(self, style: TextStyle) -> str:
        """A page: the command, the machine, the chart, and every number."""
        from doctor.bench.markdown import render

        return render(self.report, style.picture)

    def chart(self) -> str:
        """Seconds per epoch as bars, an SVG picture."""
        from doctor.bench.svg import render

        return render(self.report)
