"""`gpudoctor install history`: what was installed, when, and whether it can be taken back."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli._options import Redact
from doctor.cli.install import Style


def history(
    style: Style = "text",
    redact: Redact = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove the records and backups, after a yes.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --prune: do not ask.")] = False,
) -> None:
    """List the runs of --apply, the newest first: done, undone, killed (the next run undoes those), or damaged.

    --prune removes what is kept of runs that are done or undone; a run that is not whole, or that keeps the original of
    a file that somebody changed, stays.

    Exit status: 0 printed or pruned; 2 bad usage.
    """
    from doctor.commands.install.history import (  # late: `gpudoctor install --help` loads this module, too
        listed,
        pruned,
    )

    if prune:
        print(pruned(lambda text: yes or typer.confirm(text, err=True)), end="")
    else:
        print(listed(style, redact=redact), end="")


COMMAND = Command(
    history,
    "Examples: gpudoctor install history | gpudoctor install history --format json | gpudoctor install history --prune",
)
