"""Ask the compatibility matrix: what goes with what, says who, and since when."""

from __future__ import annotations

from typing import Annotated, List, Optional  # noqa: UP035 - typer evaluates the annotations, also on 3.10

import typer

# The options by which commands are told of a machine.
Gpus = Annotated[
    Optional[List[str]],  # noqa: UP006, UP045
    typer.Option(metavar="NAME", help='"RTX 5090", sm_120 or 12.0; repeatable: all must work.'),
]


def _said(context: typer.Context, parameter: typer.CallbackParam, value: str) -> str:
    """What was typed; an empty one is a variable that was not set, not a question about any machine."""
    source = context.get_parameter_source(str(parameter.name))
    if not value and source is not None and source.name == "COMMANDLINE":
        raise typer.BadParameter("is empty")
    return value


Driver = Annotated[
    str, typer.Option(callback=_said, metavar="RELEASE", help="Driver release, 570.86.15, or branch, 570.")
]
Python = Annotated[str, typer.Option(callback=_said, metavar="VERSION", help="Python version, 3.12.")]
System = Annotated[
    str,
    typer.Option(
        "--os", callback=_said, metavar="NAME", help="linux, windows, wsl or macos; else this system, on a Mac linux."
    ),
]
Arch = Annotated[
    str,
    typer.Option(
        callback=_said,
        metavar="NAME",
        help="x86_64, sbsa (ARM servers), jetson, ppc64le; else that of the card's machines.",
    ),
]
Glibc = Annotated[str, typer.Option(callback=_said, metavar="VERSION", help="Version of the C library, 2.31.")]
