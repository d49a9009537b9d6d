"""`gpudoctor install package`: how a framework comes into a Python environment."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli.install import (
    Apply,
    Arch,
    Cuda,
    DownloadOnly,
    DryRun,
    Python,
    Script,
    Source,
    Style,
    Sudo,
    System,
    Version,
    Yes,
    answer,
)


def package(
    product: Annotated[str, typer.Argument(metavar="NAME", help="torch, tensorflow, jax; any distribution.")],
    version: Version = "",
    cuda: Cuda = "",
    os_family: System = "",
    arch: Arch = "",
    python: Python = "",
    any_name: Annotated[
        bool, typer.Option("--any", help="Accept a name or release that the matrix does not know.")
    ] = False,
    source: Source = "",
    download_only: DownloadOnly = "",
    script: Script = "",
    apply: Apply = False,
    dry_run: DryRun = False,
    sudo: Sudo = False,
    yes: Yes = False,
    style: Style = "text",
) -> None:
    """Print the steps that install a framework, each with its reason; with --apply, carry them out and check again.

    Without a release or a CUDA version it is the newest that fits the GPU, the driver, the Python and what is installed
    beside it, as `gpudoctor matrix solve` finds it.

    The word "package" may be left out: gpudoctor install torch 2.9.1.
    """
    answer(**locals())


COMMAND = Command(
    package,
    "gpudoctor install torch",
    "gpudoctor install torch 2.9.1 --cuda-version 12.8 --python .venv/bin/python --apply",
    exits={
        0: "printed, or done and checked",
        1: "done, but an error remains",
        2: "bad usage or input, or a command failed",
    },
)
