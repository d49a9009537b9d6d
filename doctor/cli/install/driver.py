"""`gpudoctor install driver`: how NVIDIA's driver comes onto a machine."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli.install import (
    Apply,
    Arch,
    Distribution,
    DryRun,
    Gpus,
    Script,
    Style,
    Sudo,
    System,
    Yes,
    answer,
    version_argument,
)


def driver(
    version: Annotated[str, version_argument("driver")] = "",
    module: Annotated[str, typer.Option(metavar="NAME", help="open or proprietary kernel module.")] = "",
    gpus: Gpus = None,
    os_family: System = "",
    arch: Arch = "",
    distribution: Distribution = "",
    script: Script = "",
    apply: Apply = False,
    dry_run: DryRun = False,
    sudo: Sudo = False,
    yes: Yes = False,
    style: Style = "text",
) -> None:
    """Print the steps that install NVIDIA's driver, each with its reason; with --apply, carry them out.

    VERSION is a branch (580) or a release. Without one, and without --module, the GPU decides: this machine's, or the
    one that --gpu names. An old card gets the last branch that drives it; Maxwell to Volta get the proprietary module,
    newer cards the open one. With Secure Boot, the steps that enrol the signing key follow. Inside WSL, containers and
    on Jetson boards the driver comes from outside; the steps say from where.
    """
    answer("driver", **{**locals(), "gpus": tuple(gpus or ())})


COMMAND = Command(
    driver,
    "gpudoctor install driver",
    "gpudoctor install driver --gpu 'GTX 1080' --distribution debian-12",
    "gpudoctor install driver 580 --script bash",
    "gpudoctor install driver 580 --module open --apply --sudo",
    exits={
        0: "printed, or done and checked",
        1: "done, but an error remains",
        2: "bad usage or input, or nothing changed",
        4: "done; reboot, then check",
    },
)
