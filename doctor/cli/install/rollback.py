"""`gpudoctor install rollback`: take a run of --apply back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli.install import Yes

Sudo = Annotated[bool, typer.Option("--sudo", help="Use sudo for the commands that need root.")]


def rollback(
    run: Annotated[str, typer.Argument(metavar="[ID]", help="The run, as in history (default: the last).")] = "",
    commands: Annotated[
        bool, typer.Option("--commands", help="Also run the commands that undo the run's commands.")
    ] = False,
    keep_changed: Annotated[
        bool, typer.Option("--keep-changed", help="Keep files that changed since; undo the others.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="Only this file or directory; repeatable.")
    ] = None,
    sudo: Sudo = False,
    yes: Yes = False,
) -> None:
    """Undo a run of --apply: restore the contents, modes, times and symlinks of every file.

    If a file changed since, gpudoctor names it and does nothing; --keep-changed keeps it and undoes the others. No
    backup has what the run's commands did (pip, apt-get, an installer); other commands undo it as far as possible, and
    `history` shows them. gpudoctor runs them with --commands or --yes, or asks in a terminal; then it lists what
    remains.
    """
    from doctor.commands.install.history import (  # late: `gpudoctor install --help` loads this module, too
        taken_back,
        to_reverse,
    )
    from installers.undo import Part

    lines = () if only else to_reverse(run)
    if lines and not commands and (yes or sys.stdin.isatty()):
        commands = yes or typer.confirm(f"Undo its commands with: {'; '.join(lines)}?", err=True)
    part = Part(keep_changed, tuple(only or ()))
    text, status = taken_back(run, commands=commands, as_root=("sudo",) if sudo else (), part=part)
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    rollback,
    "gpudoctor install rollback",
    "gpudoctor install rollback 20261121-101500-00",
    "gpudoctor install rollback --commands --sudo",
    "gpudoctor install rollback --only /usr/local/cuda/include",
    exits={
        0: "everything is undone",
        1: "the files are restored, but effects of commands remain",
        2: "nothing changed, or the system refused a part: run it again",
    },
)
