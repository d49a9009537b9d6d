"""`gpudoctor install rollback`: take a run of --apply back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli.install import Sudo


def rollback(
    run: Annotated[str, typer.Argument(metavar="[ID]", help="Which run, as in history; the last by default.")] = "",
    commands: Annotated[bool, typer.Option("--commands", help="Also run what takes back the run's commands.")] = False,
    sudo: Sudo = False,
) -> None:
    """Put every file back as it was before a run of --apply: contents, modes, times and links.

    Where a file was changed since, nothing is done, and the file is named. What the run's commands did (pip, apt-get,
    an installer) is in no backup: other commands take it back, as far as that goes, and `history` shows them. They are
    run with --commands, or after a yes at a terminal; what stays all the same is said.

    Exit status: 0 all is taken back; 1 the files are, but what commands did stays, in part or whole; 2 nothing was
    done.
    """
    from doctor.commands.install.history import (  # late: `gpudoctor install --help` loads this module, too
        taken_back,
        to_reverse,
    )

    lines = to_reverse(run)
    if lines and not commands and sys.stdin.isatty():
        commands = typer.confirm(f"Take its commands back with: {'; '.join(lines)}?", err=True)
    text, status = taken_back(run, commands=commands, as_root=("sudo",) if sudo else ())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    rollback,
    "Examples: gpudoctor install rollback | gpudoctor install rollback 20261121-101500-00 | gpudoctor install rollback "
    "--commands --sudo",
)
