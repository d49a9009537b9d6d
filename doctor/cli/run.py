"""`gpudoctor run -- CMD`: a check, then the command unchanged, then why it failed."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Annotated, List  # noqa: UP035

import typer

from doctor.cli import Command
from doctor.cli._options import Pythons, Redact, Text


def run(
    command: Annotated[List[str], typer.Argument(metavar="CMD...", help="The command and its arguments.")],  # noqa: UP006
    strict: Annotated[bool, typer.Option("--strict", help="Do not start the command if the check finds an error.")] = (
        False
    ),
    log: Annotated[Text, typer.Option(metavar="FILE", help="Also explain the end of this log file.")] = None,
    python: Pythons = None,
    redact: Redact = False,
) -> None:
    """Check the machine, run a command unchanged, and explain its output if it fails.

    The command keeps its terminal, streams, signals and exit status. gpudoctor prints to standard error. On Windows
    gpudoctor cannot see the command's output: use --log.
    """
    from doctor.commands.run import command as work
    from doctor.commands.run.refused import NotStarted
    from doctor.output.document import TextStyle  # late: `gpudoctor --help` loads this module, too
    from doctor.output.write import style_of

    argv = tuple(command)
    style = style_of(sys.stderr, os.environ) if sys.stderr else TextStyle()
    checked = work.check_first(argv, tuple(python or ()))
    checked = work.redacted(checked) if redact else checked
    blocked = strict and work.is_blocked(checked)
    _tell(work.warning(checked, style, blocked=blocked))
    if blocked:
        raise typer.Exit(1)
    try:
        ended = work.carry_out(argv, log)
    except NotStarted as error:
        _tell(f"gpudoctor: {error}\n")
        raise typer.Exit(error.status) from error
    _tell(work.explanation(argv, ended, checked, style, redacts=redact))
    raise typer.Exit(ended.status if ended.status >= 0 or os.name != "posix" else _end_by(-ended.status))


def _tell(text: str) -> None:
    if sys.stderr:
        with suppress(OSError):  # nobody reads it; the command's status counts
            print(text, end="", file=sys.stderr, flush=True)


def _end_by(number: int) -> int:
    """End by the signal that ended the command, as the shell would have seen it; its status for a shell otherwise."""
    import resource  # late, as signal: POSIX, and rarely needed
    import signal

    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command has left its own
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    except (OSError, ValueError):
        pass
    return 128 + number


COMMAND = Command(
    run,
    "gpudoctor run -- python train.py --epochs 3",
    "gpudoctor run --strict -- torchrun --nproc-per-node 8 train.py",
    exits={
        "N": "exit status of the command",
        1: "with --strict: the check found an error",
        126: "the command cannot be executed",
        127: "the command was not found",
    },
    takes_command=True,
)
