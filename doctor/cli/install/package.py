"""`gpudoctor install package`: how a framework comes into a Python environment."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli.install import Apply, Arch, Cuda, DryRun, Python, Script, Style, Sudo, System, Version, answer


def package(
    name: Annotated[str, typer.Argument(metavar="NAME", help="torch, tensorflow, jax; any distribution.")],
    version: Version = "",
    cuda: Cuda = "",
    os_family: System = "",
    arch: Arch = "",
    python: Python = "",
    script: Script = "",
    apply: Apply = False,
    dry_run: DryRun = False,
    sudo: Sudo = False,
    style: Style = "text",
) -> None:
    """Print the steps that install a framework, each with its reason; with --apply, carry them out and look again.

    The word "package" may be left out: gpudoctor install torch 2.9.1.

    Exit status: 0 printed, or done and found whole; 1 done, but a fault is left; 2 bad usage or input, or a command
    failed.
    """
    from doctor.installing.install import Asked  # late: `gpudoctor install --help` loads this module, too

    asked = Asked(name, version, cuda=cuda, os_family=os_family, arch=arch, python=python, script=script, style=style)
    answer(asked, apply=apply and not dry_run, sudo=sudo)


COMMAND = Command(
    package,
    "Examples: gpudoctor install torch | gpudoctor install torch 2.9.1 --cuda-version 12.8 --python .venv/bin/python "
    "--apply",
)
