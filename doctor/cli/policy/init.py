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
        str, typer.Option(metavar="FILE", help="Write it there; - is standard output.")
    ] = "gpudoctor.toml",
    force: Annotated[bool, typer.Option("--force", help="Also from a machine that does not work.")] = False,
) -> None:
    """Write gpudoctor.toml from a machine that works: its driver, GPUs, CUDA, cuDNN and frameworks.

    Make the ranges wider where a job does not depend on them. A file that is there is never overwritten.

    Exit status: 0 written, 2 a file that is there, a machine that does not work, bad usage.
    """
    from doctor.commands.policy import init as command  # late: `gpudoctor --help` loads this module, too

    print(command.init(command.Options(tuple(python or ()), root, output, force)), end="")


COMMAND = Command(init, "Examples: gpudoctor policy init | gpudoctor policy init --python .venv --output - ")
