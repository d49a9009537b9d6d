"""`gpudoctor what-if`: what an installation command would change, and what would break."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import Format, Output, Pythons, Root, Texts, record_of


def what_if(
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help='An install command in quotes: "pip install vllm".')
    ],
    pythons: Pythons = None,
    root: Root = None,
    assume_driver: Annotated[str, typer.Option(metavar="RELEASE", help="Use this driver: 550.54.14.")] = "",
    assume_gpus: Annotated[
        Texts,
        typer.Option("--assume-gpu", metavar="NAME", help="Use this GPU: RTX 4090.", autocompletion=_completion.gpu),
    ] = None,
    online: Annotated[
        bool, typer.Option("--online", help="Ask pip or uv, with its dry run (uses the network).")
    ] = False,
    style: Format = "text",
    output: Output = None,
) -> None:
    """Print what an install command would change, what would break, and what to install instead.

    Nothing is installed. gpudoctor reads the install commands of pip, uv, conda and apt. With --online it runs the
    dry run of pip or uv, which may download packages and build some of them.
    """
    given = locals()  # the options have the names of the fields of `Question`
    from doctor.commands.what_if.command import Question  # late: `gpudoctor --help` loads this module, too
    from doctor.commands.what_if.command import what_if as answer
    from doctor.output.write import terminal_style

    text, status = answer(record_of(Question, given), terminal_style())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    what_if,
    'gpudoctor what-if "pip install vllm"',
    'gpudoctor what-if "uv pip install -U torch" --python .venv',
    'gpudoctor what-if "pip install torch==2.9.1" --assume-gpu "RTX 5090" --assume-driver 570',
    exits={0: "nothing breaks", 1: "something breaks", 2: "bad usage or input", 4: "unknown"},
)
