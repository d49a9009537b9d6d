"""A report of `check`, as every format takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from doctor.model.facts import Machine
from doctor.model.finding import Answer, Finding, Report
from doctor.output.document import TextStyle

if TYPE_CHECKING:
    from doctor.output.sections import Layer, Table


class CheckDocument:
    """See `doctor.output.document.Document`."""

    indent = 2

    def __init__(self, report: Report, is_verbose: bool = False, changes: Mapping[str, str] | None = None) -> None:
        """`changes`: by the code of a finding, the newest change of the machine that may explain it."""
        self.report = report
        self.is_verbose = is_verbose
        self.changes = changes or {}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Worst first, roots before what they explain."""
        return self.report.findings

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Of every rule about each of its subjects."""
        return self.report.answers

    @property
    def machine(self) -> Machine:
        """What was looked at."""
        return self.report.facts.machine

    @property
    def verdict(self) -> str:
        """How it all ends, in one word."""
        return self.report.verdict

    def markdown(self, style: TextStyle) -> str:
        """A page that fits a comment on a pull request."""
        from doctor.output.comment import comment  # late: each format loads its own half

        return comment(self)

    def title(self) -> str:
        """Whose report it is, and its verdict."""
        from doctor.commands.check import sections  # late, as above

        return sections.title(self.report)

    def about(self) -> tuple[str, ...]:
        """When and by what it was made; counts."""
        from doctor import __version__
        from doctor.commands.check import sections

        return sections.about(self.report, __version__)

    def layers(self) -> tuple[Layer, ...]:
        """The stack from the card up."""
        from doctor.commands.check import sections

        return sections.layers(self.report)

    def tables(self) -> tuple[Table, ...]:
        """Cards, environments, loaded files, what is in order."""
        from doctor.commands.check import sections

        return sections.tables(self.report)

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.report/1`."""
        from doctor.model.encode import encode_report  # late: each format loads its own half

        return encode_report(self.report)

    def text(self, style: TextStyle) -> str:
        """The answer first, how it is known, what to do; then the stack; then what is not known."""
        from doctor.commands.check.text import render

        return render(self.report, style, is_verbose=self.is_verbose, changes=self.changes)
