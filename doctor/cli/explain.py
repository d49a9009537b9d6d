"""`gpudoctor explain`: from a pasted message, a log or a code to the cause and what mends it."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli._options import Format, Output, Redact, Text


def explain(
    subject: Annotated[
        Text,
        typer.Argument(metavar="[FILE|-|CODE]", help="A log or message, - for standard input, or a finding's code."),
    ] = None,
    list_codes: Annotated[bool, typer.Option("--list", help="List the codes that have a page.")] = False,
    search: Annotated[Text, typer.Option(metavar="WORDS", help="List the codes whose pages hold these words.")] = None,
    style: Format = "text",
    output: Output = None,
    redact: Redact = False,
) -> None:
    """Say what a message or a log means: the cause, by which lines, and what mends it.

    With --redact, a text that holds no known message is followed by one that is ready to be posted elsewhere.

    Only the text is judged; nothing of this machine is mixed in. A code prints its page, offline.

    Exit status: 1 a fault of the stack, 0 none (or a page), 2 bad usage or input, 4 nothing in it is known.
    """
    from doctor.commands.explain.command import Question  # late: `gpudoctor --help` loads this module, too
    from doctor.commands.explain.command import explain as answer
    from doctor.output.write import terminal_style

    question = Question(
        subject=subject or "", list_codes=list_codes, search=search or "", style=style, output=output, redact=redact
    )
    text, status = answer(question, terminal_style())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    explain,
    "Examples: gpudoctor explain train.log | python train.py 2>&1 | gpudoctor explain | "
    "gpudoctor explain driver-too-old-for-runtime | gpudoctor explain --search libcudnn",
)
