"""`gpudoctor install config keras`: the back end in keras.json."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from doctor.cli import Command
from doctor.cli._options import with_options
from doctor.cli.install.config import CHANGE, EXITS, STYLE, answer


@with_options(CHANGE, STYLE)
def keras(
    back_end: Annotated[str, typer.Argument(metavar="BACKEND", help="tensorflow, theano, jax, torch, cntk, openvino.")],
    **given: Any,
) -> None:
    """Print the step that lets Keras use a back end; with --apply, write it. Other settings in keras.json stay."""
    from doctor.commands.install.configure import (
        keras as prepared,  # late: `gpudoctor install --help` loads this module, too
    )

    answer(partial(prepared, back_end), **given)


COMMAND = Command(
    keras,
    "gpudoctor install config keras theano",
    "gpudoctor install config keras jax --apply",
    exits=EXITS,
)
