"""`gpudoctor which`: the file that a process would load for a library, and why."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import Format, Output, Pythons, Redact, Root, Text, record_of

Number = Optional[int]  # noqa: UP045 - typer evaluates the annotations, also on 3.10


def which(
    library: Annotated[
        str,
        typer.Argument(
            metavar="LIB",
            help="cudnn, cublas, cudart, nvrtc, nccl, cuda, or a SONAME.",
            autocompletion=_completion.library,
        ),
    ],
    pythons: Pythons = None,
    framework: Annotated[Text, typer.Option(metavar="NAME", help="Only this framework, such as torch.")] = None,
    root: Root = None,
    pid: Annotated[Number, typer.Option("--live", metavar="PID", help="Compare with a running process.")] = None,
    style: Format = "text",
    output: Output = None,
    redact: Redact = False,
) -> None:
    """Print which file a process loads for a library, and why not the other copies.

    Nothing runs: gpudoctor reads the files and follows the rules of the loader and of each framework.
    """
    given = locals()  # the options have the names of the fields of `Question`
    from doctor.commands.which.command import Question  # late: `gpudoctor --help` loads this module, too
    from doctor.commands.which.command import which as answer
    from doctor.output.write import terminal_style

    text, status = answer(record_of(Question, given), terminal_style())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    which,
    "gpudoctor which cudnn",
    "gpudoctor which cublas --python .venv --framework torch",
    "gpudoctor which libnccl.so.2 --format json",
    "gpudoctor which cudnn --live 4711",
    exits={
        0: "found (with --live: the process loaded it)",
        1: "not found (with --live: the process loaded another file)",
        2: "bad usage or input",
        4: "unknown",
    },
)
