"""`gpudoctor install config path`: CUDA's programs on PATH."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from doctor.cli import Command
from doctor.cli._options import with_options
from doctor.cli.install.config import CHANGE, EXITS, NAMES, STYLE, answer


@with_options(NAMES, CHANGE, STYLE)
def path(
    directory: Annotated[
        str, typer.Argument(metavar="[DIR]", help="A directory of programs, /usr/local/cuda/bin by default.")
    ] = "",
    **given: Any,
) -> None:
    """Print the steps that put CUDA's programs (nvcc) first on PATH; with --apply, carry them out.

    It is a line in your shell's file; with --conda, it is in hooks of that environment.
    """
    from doctor.commands.install.config_paths import (  # late: `gpudoctor install --help` loads this module, too
        path as prepared,
    )

    answer(partial(prepared, directory, given.pop("name"), given.pop("conda")), **given)


COMMAND = Command(
    path,
    "gpudoctor install config path",
    "gpudoctor install config path /usr/local/cuda-12.8/bin --apply",
    "gpudoctor install config path --conda $CONDA_PREFIX --apply",
    exits=EXITS,
)
