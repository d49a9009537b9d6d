"""`gpudoctor install config path`: CUDA's programs on PATH."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli.install.config import Apply, Conda, Name, Script, Style, System, Yes, answer


def path(
    directory: Annotated[
        str, typer.Argument(metavar="[DIR]", help="A directory of programs, /usr/local/cuda/bin by default.")
    ] = "",
    name: Name = "gpudoctor-cuda",
    conda: Conda = "",
    system: System = "",
    script: Script = "",
    apply: Apply = False,
    yes: Yes = False,
    style: Style = "text",
) -> None:
    """Print the steps that put CUDA's programs (nvcc) first on PATH; with --apply, carry them out.

    It is a line in your shell's file; with --conda, it is in hooks of that environment.
    """
    from doctor.commands.install.config_paths import (  # late: `gpudoctor install --help` loads this module, too
        path as prepared,
    )

    answer(prepared(directory, name, conda, system), script, style, apply=apply, yes=yes)


COMMAND = Command(
    path,
    "gpudoctor install config path",
    "gpudoctor install config path /usr/local/cuda-12.8/bin --apply",
    "gpudoctor install config path --conda $CONDA_PREFIX --apply",
    exits={
        0: "printed, or done",
        2: "bad usage or input, or nothing changed",
    },
)
