"""`gpudoctor matrix solve`: which versions and builds work together in one environment."""

from __future__ import annotations

from typing import Annotated, List  # noqa: UP035 - typer evaluates the annotations, also on 3.10

import typer

from doctor.cli import Command
from doctor.cli.matrix import Arch, Driver, Glibc, Gpus, Python, Style, System
from doctor.output import terminal_look
from doctor.solving.solve import Asked, ask


def solve(
    packages: Annotated[
        List[str],  # noqa: UP006
        typer.Argument(metavar="PACKAGE...", help='torch, "torch>=2.4", "jax[cuda12]"; the first is preferred newest.'),
    ],
    gpu: Gpus = None,
    driver: Driver = "",
    python: Python = "",
    os_family: System = "",
    arch: Arch = "",
    glibc: Glibc = "",
    style: Style = "text",
) -> None:
    """Find the newest set of versions and builds that works together in one environment, with the commands for it.

    Without --gpu, --driver, --os, --arch and --glibc the machine is this one; else only what is said is judged. Where
    there is no such set: the smallest changes that make one, and why not.

    Exit status: 0 a set was found; 1 there is none; 2 bad usage or input; 4 nobody knows.
    """
    asked = Asked(tuple(packages), tuple(gpu or ()), driver, python, os_family, arch, glibc, style)
    text, status = ask(asked, terminal_look())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    solve,
    'Examples: gpudoctor matrix solve torch tensorflow | gpudoctor matrix solve "torch>=2.4" jax --gpu "RTX 5090" '
    "--driver 575.57 | gpudoctor matrix solve torch==2.15.0 tensorflow --gpu sm_89 --python 3.12 --format json",
)
