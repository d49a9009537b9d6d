"""`gpudoctor matrix solve`: which versions and builds work together in one environment."""

from __future__ import annotations

from typing import Annotated, Any, List, Optional  # noqa: UP035 - typer evaluates the annotations, also on 3.10

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import REPORT, record_of, with_options
from doctor.cli.matrix import QUESTION
from doctor.commands.matrix.solve import SolveRequest, ask
from doctor.output.write import terminal_style

_Write = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="FILE",
        rich_help_panel=REPORT,
        help="Write the set to pyproject.toml (uv), pixi.toml, requirements.txt, environment.yml or Dockerfile.",
    ),
]


@with_options(QUESTION, {"write": (_Write, None)})
def solve(
    specs: Annotated[
        List[str],  # noqa: UP006
        typer.Argument(
            metavar="SPEC...",
            help='torch, torch 2.9.1, "torch>=2.4", "jax[cuda12]"; the first gets the newest.',
            autocompletion=_completion.product,
        ),
    ],
    **given: Any,
) -> None:
    """Find the newest versions that work together in one environment, and the commands to install them.

    Without --gpu, --driver, --os, --arch and --glibc the machine is this one; otherwise only the options you give are
    checked. If no set exists, gpudoctor prints the smallest changes that make one. --write writes a new file and never
    changes an existing one.
    """
    text, status = ask(record_of(SolveRequest, {"specs": specs, **given}), terminal_style())
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
