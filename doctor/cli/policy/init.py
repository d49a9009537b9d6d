"""`gpudoctor policy init`: write a policy from a machine that works."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli._options import Pythons, Root


def init(
    python: Pythons = None,
    root: Root = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The file to write; - is standard output.")
    ] = "gpudoctor.toml",
    force: Annotated[bool, typer.Option("--force", help="Also from a machine that has errors.")] = False,
) -> None:
    """Write gpudoctor.toml from a machine that works: its driver, GPUs, CUDA, cuDNN and frameworks.

    Widen the ranges that a job does not depend on. gpudoctor never overwrites a file.
    """
    from doctor.commands.policy import init as command  # late: `gpudoctor --help` loads this module, too

    print(command.init(command.Options(tuple(python or ()), root, output, force)), end="")


COMMAND = Command(
    init,
    "gpudoctor policy init",
    "gpudoctor policy init --python .venv --output - ",
    exits={
        0: "written",
        2: "file exists, machine has errors, or bad usage",
    },
)
