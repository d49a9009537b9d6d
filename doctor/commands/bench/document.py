"""A benchmark, as every format takes it."""

from __future__ import annotations

from typing import Any

from doctor.commands.bench.results_table import Report
from doctor.output.document import TextStyle


class BenchDocument:
    """See `doctor.output.document.Document`; each view loads what it is made with."""

    indent = 1

    def __init__(self, report: Report) -> None:
        self.report = report

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.bench/1`."""
        from doctor.commands.bench.encode import encode_bench

        return encode_bench(self.report)

    def text(self, style: TextStyle) -> str:
        """Every network's paths under each other, the articles' figures beside them."""
        from doctor.commands.bench.text import render

        return render(self.report, style)

    def markdown(self, style: TextStyle) -> str:
        """A page: the command, the machine, the chart, and every number."""
        from doctor.commands.bench.markdown import render

        return render(self.report, style.picture)

    def chart(self) -> str:
        """Seconds per epoch as bars, an SVG picture."""
        from doctor.commands.bench.svg import render

        return render(self.report)
