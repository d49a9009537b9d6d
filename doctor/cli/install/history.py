"""`gpudoctor install history`: what was installed, when, and whether it can be taken back."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli._options import Redact
from doctor.cli.install import Style, Yes


def history(
    style: Style = "text",
    redact: Redact = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove records and backups; ask first.")] = False,
    yes: Yes = False,
) -> None:
    """List the runs of --apply, newest first: done, undone, killed (the next run undoes those), or damaged.

    --prune removes the records of runs that are done or undone. gpudoctor keeps the record of a damaged run, and of a
    run with the original of a file that changed since.
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
    "gpudoctor install history",
    "gpudoctor install history --format json",
    "gpudoctor install history --prune",
    exits={
        0: "printed or pruned",
        2: "bad usage",
    },
)
