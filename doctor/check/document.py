"""A report of `check`, as every format takes it."""

from __future__ import annotations

from typing import Any

from doctor.check.finding import Finding, Report
from doctor.formats import TextStyle


class CheckDocument:
    """See `doctor.formats.Document`."""

    indent = 2

    def __init__(self, report: Report) -> None:
        self.report = report

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Worst first, roots before what they explain."""
        return self.report.findings

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.report/1`."""
        from doctor.check.encode import encode_report  # late: each format loads its own half

        return encode_report(self.report)

    def text(self, style: TextStyle) -> str:
        """The answer first, how it is known, what to do; then the stack; then what is not known."""
        from doctor.check.text import render

        return render(self.report, style)
