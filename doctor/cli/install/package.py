"""`gpudoctor install package`: how a framework comes into a Python environment."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from doctor.cli import Command
from doctor.cli._options import with_options
from doctor.cli.install import ACT, EXITS, FILES, Arch, Cuda, Python, System, Version, answer

_FILES = {name: FILES[name] for name in ("source", "download_only")}


@with_options(_FILES, ACT)
def package(
    product: Annotated[str, typer.Argument(metavar="NAME", help="torch, tensorflow, jax; any distribution.")],
    version: Version = "",
    cuda: Cuda = "",
    os_family: System = "",
    arch: Arch = "",
    python: Python = "",
    any_name: Annotated[
        bool, typer.Option("--any", help="Accept a name or release that the matrix does not know.")
    ] = False,
    **given: Any,
) -> None:
    """Print the steps that install a framework, each with its reason; with --apply, carry them out and check again.

    Without a release or a CUDA version it is the newest that fits the GPU, the driver, the Python and what is installed
    beside it, as `gpudoctor matrix solve` finds it.

    The word "package" may be left out: gpudoctor install torch 2.9.1.
    """
    order: dict[str, Any] = {"cuda": cuda, "os_family": os_family, "arch": arch, "python": python, "any_name": any_name}
    answer(product, version=version, **order, **given)


COMMAND = Command(
    package,
    "gpudoctor install torch",
    "gpudoctor install torch 2.9.1 --cuda-version 12.8 --python .venv/bin/python --apply",
    exits={**EXITS, 2: "bad usage or input, or a command failed"},
)
