"""`gpudoctor install stack`: a machine from nothing to a network that trains."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from doctor.cli import Command
from doctor.cli._options import with_options
from doctor.cli.install import ACT, ELSEWHERE, EXITS, PYTHON, Gpus, Version, answer


@with_options(ELSEWHERE, PYTHON, ACT)
def stack(
    framework: Annotated[str, typer.Argument(metavar="FRAMEWORK", help='torch, "tensorflow==1.4", "jax[cuda12]".')],
    version: Version = "",
    gpus: Gpus = None,
    **given: Any,
) -> None:
    """Print every step from a bare machine to a network that trains; with --apply, carry them out.

    The driver for the GPU, a CUDA toolkit and cuDNN where the framework's build brings none, an environment with a
    Python that it is published for, the newest build that works with all of it, and the proof. What is there already is
    left out; a script looks itself, and can be run again. Steps and script end at the restart into a new driver: the
    same call goes on from there.

    Without --gpu it is for this machine's GPUs, with --os, --arch or --distribution for another machine. What no row of
    the matrix says is not planned.
    """
    answer("", framework=framework, version=version, gpus=tuple(gpus or ()), **given)


COMMAND = Command(
    stack,
    'gpudoctor install stack torch --gpu "RTX 5090"',
    'gpudoctor install stack torch --gpu "RTX 4090" --distribution rocky-9 --script bash',
    'gpudoctor install stack tensorflow==1.4 --gpu "GTX 1080" --distribution ubuntu-18.04',
    'gpudoctor install stack torch --gpu "RTX 4090" --os windows --script powershell',
    exits={**EXITS, 2: "bad usage or input, or no such stack in the matrix", 4: "done up to the reboot"},
)
