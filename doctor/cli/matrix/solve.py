"""`gpudoctor matrix solve`: which versions and builds work together in one environment."""

from __future__ import annotations

from typing import Annotated, List, Optional  # noqa: UP035 - typer evaluates the annotations, also on 3.10

import typer

from doctor.cli import Command
from doctor.cli._options import Format, Output
from doctor.cli.matrix import Arch, Driver, Glibc, Gpus, Python, System
from doctor.commands.matrix.solve import SolveRequest, ask
from doctor.output.write import terminal_style


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
    style: Format = "text",
    output: Output = None,
    write: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="Write the set to pyproject.toml (uv), pixi.toml, requirements.txt, environment.yml or Dockerfile.",
        ),
    ] = None,
) -> None:
    """Find the newest set of versions and builds that works together in one environment, with the commands for it.

    Without --gpu, --driver, --os, --arch and --glibc the machine is this one; else only what is said is judged. Where
    there is no such set: the smallest changes that make one, and why not. --write makes a new file of a set that is
    known to work; a file that is there already is left alone.

    Exit status: 0 a set was found; 1 there is none; 2 bad usage or input; 4 nobody knows.
    """
    asked = SolveRequest(
        specs=tuple(packages),
        gpus=tuple(gpu or ()),
        driver=driver,
        python=python,
        os_family=os_family,
        arch=arch,
        glibc=glibc,
        style=style,
        output=output,
        write=write,
    )
    text, status = ask(asked, terminal_style())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    solve,
    'Examples: gpudoctor matrix solve torch tensorflow | gpudoctor matrix solve "torch>=2.4" jax --gpu "RTX 5090" '
    "--driver 575.57 | gpudoctor matrix solve torch==2.15.0 tensorflow --gpu sm_89 --python 3.12 --format json | "
    "gpudoctor matrix solve torch jax --gpu sm_89 --write pixi.toml",
)
