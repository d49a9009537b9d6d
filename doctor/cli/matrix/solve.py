"""`gpudoctor matrix solve`: which versions and builds work together in one environment."""

from __future__ import annotations

from typing import Annotated, List, Optional  # noqa: UP035 - typer evaluates the annotations, also on 3.10

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import REPORT, Format, Output, record_of
from doctor.cli.matrix import Arch, Driver, Glibc, Gpus, Python, Sources, System
from doctor.commands.matrix.solve import SolveRequest, ask
from doctor.output.write import terminal_style


def solve(
    specs: Annotated[
        List[str],  # noqa: UP006
        typer.Argument(
            metavar="SPEC...",
            help='torch, torch 2.9.1, "torch>=2.4", "jax[cuda12]"; the first gets the newest.',
            autocompletion=_completion.product,
        ),
    ],
    gpus: Gpus = None,
    driver: Driver = "",
    python: Python = "",
    os_family: System = "",
    arch: Arch = "",
    glibc: Glibc = "",
    style: Format = "text",
    output: Output = None,
    sources: Sources = False,
    write: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            rich_help_panel=REPORT,
            help="Write the set to pyproject.toml (uv), pixi.toml, requirements.txt, environment.yml or Dockerfile.",
        ),
    ] = None,
) -> None:
    """Find the newest versions that work together in one environment, and the commands to install them.

    Without --gpu, --driver, --os, --arch and --glibc the machine is this one; otherwise only the options you give are
    checked. If no set exists, gpudoctor prints the smallest changes that make one. --write writes a new file and never
    changes an existing one.
    """
    text, status = ask(record_of(SolveRequest, locals()), terminal_style())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    solve,
    "gpudoctor matrix solve torch tensorflow",
    'gpudoctor matrix solve "torch>=2.4" jax --gpu "RTX 5090" --driver 575.57',
    "gpudoctor matrix solve torch==2.15.0 tensorflow --gpu sm_89 --python 3.12 --format json",
    "gpudoctor matrix solve torch jax --gpu sm_89 --write pixi.toml",
    exits={
        0: "a set exists",
        1: "no set exists",
        2: "bad usage or input",
        4: "unknown",
    },
)
