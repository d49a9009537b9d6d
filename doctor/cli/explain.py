"""`gpudoctor explain`: the cause of a message, a log or a code, and the fix."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import Format, Output, Redact, Text, record_of


def explain(
    subject: Annotated[
        Text,
        typer.Argument(
            metavar="[FILE|-|CODE]", help="A log or message, '-' = stdin, or a code.", autocompletion=_completion.page
        ),
    ] = None,
    list_codes: Annotated[bool, typer.Option("--list", help="List the codes.")] = False,
    search: Annotated[
        Text, typer.Option(metavar="WORDS", help="List the codes whose pages contain these words.")
    ] = None,
    style: Format = "text",
    output: Output = None,
    redact: Redact = False,
) -> None:
    """Print the cause of an error message or a log, the lines that show it, and the fix.

    Only the text is used, not this machine. A code prints its page, offline. With --redact, gpudoctor also prints a
    text that you can post if it knows no message in it.
    """
    given = locals()  # the options have the names of the fields of `Question`
    from doctor.commands.explain.command import Question  # late: `gpudoctor --help` loads this module, too
    from doctor.commands.explain.command import explain as answer
    from doctor.output.write import terminal_style

    text, status = answer(record_of(Question, given), terminal_style())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    explain,
    "gpudoctor explain train.log",
    "python train.py 2>&1 | gpudoctor explain",
    "gpudoctor explain driver-too-old-for-runtime",
    "gpudoctor explain --search libcudnn",
    exits={
        0: "no problem in the text (or a page)",
        1: "a problem in the GPU stack",
        2: "bad usage or input",
        4: "no message in the text is known",
    },
)
