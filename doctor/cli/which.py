"""`gpudoctor which`: the file that a process would load for a library, and why."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from doctor.cli import Command
from doctor.cli._options import Format, Output, Pythons, Redact, Root, Text

Number = Optional[int]  # noqa: UP045 - typer evaluates the annotations, also on 3.10


def which(
    library: Annotated[
        str, typer.Argument(metavar="LIB", help="cudnn, cublas, cudart, nvrtc, nccl, cuda, or a SONAME.")
    ],
    python: Pythons = None,
    framework: Annotated[Text, typer.Option(metavar="NAME", help="Only this framework, such as torch.")] = None,
    root: Root = None,
    live: Annotated[Number, typer.Option(metavar="PID", help="Hold the prediction against a running process.")] = None,
    style: Format = "text",
    output: Output = None,
    redact: Redact = False,
) -> None:
    """Say which file a process loads for a library: the winner and why, and every other copy and why not.

    Nothing is run or loaded: the loader's rules, and what each framework opens, are followed through the files.

    Exit status: 0 found, or the process has what was predicted; 1 nothing would be found, or the prediction does not
    hold; 2 bad usage or input; 4 it cannot be told.
    """
    from doctor.commands.which.command import Question  # late: `gpudoctor --help` loads this module, too
    from doctor.commands.which.command import which as answer
    from doctor.output.write import terminal_style

    question = Question(
        library=library,
        pythons=tuple(python or ()),
        framework=framework or "",
        root=root,
        style=style,
        pid=live,
        output=output,
        redact=redact,
    )
    text, status = answer(question, terminal_style())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    which,
    "Examples: gpudoctor which cudnn | gpudoctor which cublas --python .venv/bin/python --framework torch | "
    "gpudoctor which libnccl.so.2 --format json | gpudoctor which cudnn --live 4711",
)
