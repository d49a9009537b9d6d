"""`gpudoctor matrix can`: does this run there, yes, no or unknown, and why."""

from __future__ import annotations

from typing import Annotated, Any, List  # noqa: UP035 - typer evaluates the annotations, also on 3.10

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import record_of, with_options
from doctor.cli.matrix import QUESTION
from doctor.commands.matrix.can import CanRequest, ask
from doctor.output.write import terminal_style


@with_options(QUESTION)
def can(
    specs: Annotated[
        List[str],  # noqa: UP006
        typer.Argument(
            metavar="SPEC...",
            help='A package: torch, torch 2.9.1, "torch>=2.4"; also cuda==12.4, cudnn==9.10.',
            autocompletion=_completion.product,
        ),
    ],
    **given: Any,
) -> None:
    """Check whether a release runs on a GPU, a driver and a Python, with the reasons.

    Only the options you give are checked. cuda==X and cudnn==X beside a framework mean those of the system. Several
    frameworks are also checked together in one environment.
    """
    text, status = ask(record_of(CanRequest, {"specs": specs, **given}), terminal_style())
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    can,
    'gpudoctor matrix can torch==2.6.0 --gpu "RTX 5090" --driver 570.86',
    "gpudoctor matrix can cuda==13.2 --driver 580",
    "gpudoctor matrix can theano==0.8.2 cudnn==5.1",
    "gpudoctor matrix can tensorflow --os windows",
    exits={
        0: "yes",
        1: "no",
        2: "bad usage or input",
        4: "unknown",
    },
)
