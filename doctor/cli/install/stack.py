"""`gpudoctor install stack`: a machine from nothing to a network that trains."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli.install import (
    Apply,
    Arch,
    Distribution,
    DryRun,
    Gpus,
    Python,
    Script,
    Style,
    Sudo,
    System,
    Version,
    Yes,
    answer,
)


def stack(
    framework: Annotated[str, typer.Argument(metavar="FRAMEWORK", help='torch, "tensorflow==1.4", "jax[cuda12]".')],
    version: Version = "",
    gpus: Gpus = None,
    os_family: System = "",
    arch: Arch = "",
    distribution: Distribution = "",
    python: Python = "",
    script: Script = "",
    apply: Apply = False,
    dry_run: DryRun = False,
    sudo: Sudo = False,
    yes: Yes = False,
    style: Style = "text",
) -> None:
    """Print every step from a bare machine to a network that trains; with --apply, carry them out.

    The driver for the GPU, a CUDA toolkit and cuDNN where the framework's build brings none, an environment with a
    Python that it is published for, the newest build that works with all of it, and the proof. What is there already is
    left out; a script looks itself, and can be run again. Steps and script end at the restart into a new driver: the
    same call goes on from there.

    Without --gpu it is for this machine's GPUs, with --os, --arch or --distribution for another machine. What no row of
    the matrix says is not planned.
    """
    answer("", **{**locals(), "gpus": tuple(gpus or ())})


COMMAND = Command(
    stack,
    'gpudoctor install stack torch --gpu "RTX 5090"',
    'gpudoctor install stack torch --gpu "RTX 4090" --distribution rocky-9 --script bash',
    'gpudoctor install stack tensorflow==1.4 --gpu "GTX 1080" --distribution ubuntu-18.04',
    'gpudoctor install stack torch --gpu "RTX 4090" --os windows --script powershell',
    exits={
        0: "printed, or done and checked",
        1: "done, but an error remains",
        2: "bad usage or input, or no such stack in the matrix",
        4: "done up to the reboot",
    },
)
