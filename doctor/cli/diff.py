"""`gpudoctor diff`: what differs between two saved reports, or since one."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from doctor.cli import Command
from doctor.cli._options import Format, Output, Pythons, Redact, record_of

Saved = Optional[str]  # noqa: UP045 - typer evaluates the annotations, also on 3.10


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A report that `check --format json` saved.")],
    new: Annotated[Saved, typer.Argument(metavar="[NEW]", help="Another one (default: this machine, now).")] = None,
    pythons: Pythons = None,
    style: Format = "text",
    output: Output = None,
    redact: Redact = False,
) -> None:
    """List what differs between two reports, the likely causes of new findings first.

    Both are judged by the rules of this release. To keep a report of a machine that works:
    gpudoctor check -o good.json
    """
    given = locals()  # the options have the names of the fields of `DiffRequest`
    from doctor.commands.diff.command import DiffRequest  # late: `gpudoctor --help` loads this module, too
    from doctor.commands.diff.command import diff as answer
    from doctor.output.write import terminal_style

    text, status = answer(record_of(DiffRequest, given), terminal_style())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    diff,
    "gpudoctor diff good.json",
    "gpudoctor diff good.json today.json --format json",
    exits={0: "no new finding", 1: "a new finding", 2: "bad usage or input"},
)
