"""`gpudoctor install driver`: how NVIDIA's driver comes onto a machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from doctor.cli import Command
from doctor.cli._options import with_options
from doctor.cli.install import ACT, ELSEWHERE, EXITS, Gpus, answer, version_argument


@with_options(ELSEWHERE, ACT)
def driver(
    version: Annotated[str, version_argument("driver")] = "",
    module: Annotated[str, typer.Option(metavar="NAME", help="open or proprietary kernel module.")] = "",
    gpus: Gpus = None,
    **given: Any,
) -> None:
    """Print the steps that install NVIDIA's driver, each with its reason; with --apply, carry them out.

    VERSION is a branch (580) or a release. Without one, and without --module, the GPU decides: this machine's, or the
    one that --gpu names. An old card gets the last branch that drives it; Maxwell to Volta get the proprietary module,
    newer cards the open one. With Secure Boot, the steps that enrol the signing key follow. Inside WSL, containers and
    on Jetson boards the driver comes from outside; the steps say from where.
    """
    answer("driver", version=version, module=module, gpus=tuple(gpus or ()), **given)


COMMAND = Command(
    driver,
    "gpudoctor install driver",
    "gpudoctor install driver --gpu 'GTX 1080' --distribution debian-12",
    "gpudoctor install driver 580 --script bash",
    "gpudoctor install driver 580 --module open --apply --sudo",
    exits={**EXITS, 4: "done; reboot, then check"},
)
