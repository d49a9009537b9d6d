"""`gpudoctor install config keras`: the back end in keras.json."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli.install.config import Apply, Script, Style, System, Yes, answer


def keras(
    back_end: Annotated[str, typer.Argument(metavar="BACKEND", help="tensorflow, theano, jax, torch, cntk, openvino.")],
    system: System = "",
    script: Script = "",
    apply: Apply = False,
    yes: Yes = False,
    style: Style = "text",
) -> None:
    """Print the step that lets Keras use a back end; with --apply, write it. Other settings in keras.json stay."""
    from doctor.commands.install.configure import (
        keras as prepared,  # late: `gpudoctor install --help` loads this module, too
    )

    answer(prepared(back_end, system), script, style, apply=apply, yes=yes)


COMMAND = Command(
    keras,
    "gpudoctor install config keras theano",
    "gpudoctor install config keras jax --apply",
    exits={
        0: "printed, or done",
        2: "bad usage or input, or nothing changed",
    },
)
