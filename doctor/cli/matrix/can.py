"""`gpudoctor matrix can`: does this run there, yes, no or unknown, and why."""

from __future__ import annotations

from typing import Annotated, List  # noqa: UP035 - typer evaluates the annotations, also on 3.10

import typer

from doctor.cli import Command
from doctor.cli.matrix import Arch, Driver, Glibc, Gpus, Python, Style, System
from doctor.output import terminal_look
from doctor.solving.can import Asked, ask


def can(
    specs: Annotated[
        List[str],  # noqa: UP006
        typer.Argument(
            metavar="SPEC...", help='A package, "torch==2.6.0+cu124", "torch>=2.4"; cuda==12.4; cudnn==9.10'
        ),
    ],
    gpu: Gpus = None,
    driver: Driver = "",
    python: Python = "",
    os_family: System = "linux",
    arch: Arch = "x86_64",
    glibc: Glibc = "",
    style: Style = "text",
) -> None:
    """Say whether a release runs on a GPU, a driver and a Python, with each reason and the row that it comes from.

    What is not said is not judged. cuda==X and cudnn==X beside a framework are those of the system.

    Exit status: 0 yes; 1 no; 2 bad usage or input; 4 unknown.
    """
    asked = Asked(tuple(specs), tuple(gpu or ()), driver, python, os_family, arch, glibc, style)
    text, status = ask(asked, terminal_look())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    can,
    'Examples: gpudoctor matrix can torch==2.6.0 --gpu "RTX 5090" --driver 570.86 | gpudoctor matrix can cuda==13.2 '
    "--driver 580 | gpudoctor matrix can theano==0.8.2 cudnn==5.1 | gpudoctor matrix can tensorflow --os windows",
)
