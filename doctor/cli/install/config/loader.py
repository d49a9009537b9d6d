"""`gpudoctor install config loader`: a directory of libraries, for every process or for a conda environment."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli.install.config import Apply, Conda, Name, Script, Style, Sudo, System, Yes, answer


def loader(
    directory: Annotated[
        str, typer.Argument(metavar="[DIR]", help="A directory of libraries, /usr/local/cuda/lib64 by default.")
    ] = "",
    name: Name = "gpudoctor-cuda",
    conda: Conda = "",
    system: System = "",
    script: Script = "",
    apply: Apply = False,
    yes: Yes = False,
    sudo: Sudo = False,
    style: Style = "text",
) -> None:
    """Print the steps that let Linux's loader search a directory; with --apply, carry them out (as root).

    It is a file in /etc/ld.so.conf.d and ldconfig, in place of LD_LIBRARY_PATH in every shell. With --conda, it is
    LD_LIBRARY_PATH (on Windows PATH) in hooks of that environment, and needs no root.
    """
    from doctor.commands.install.config_paths import (  # late: `gpudoctor install --help` loads this module, too
        loader as prepared,
    )

    answer(prepared(directory, name, conda, system), script, style, apply=apply, yes=yes, sudo=sudo)


COMMAND = Command(
    loader,
    "gpudoctor install config loader",
    "gpudoctor install config loader /opt/cudnn/lib --name cudnn --apply",
    "gpudoctor install config loader --conda $CONDA_PREFIX --apply",
    exits={
        0: "printed, or done",
        2: "bad usage or input, or nothing changed",
    },
)
