"""`gpudoctor install cudnn`: how cuDNN comes onto a machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import with_options
from doctor.cli.install import ACT, ELSEWHERE, EXITS, FILES, PLACES, PYTHON, Cuda, answer, version_argument, ways


@with_options(PLACES, FILES, ELSEWHERE, PYTHON, ACT)
def cudnn(
    version: Annotated[str, version_argument("cudnn")] = "",
    method: Annotated[
        str, typer.Option(metavar="NAME", help=ways("cudnn"), autocompletion=_completion.method("cudnn"))
    ] = "",
    cuda: Cuda = "",
    **given: Any,
) -> None:
    """Print the steps that install cuDNN, each with its reason; with --apply, carry them out.

    Without VERSION it is the cuDNN that the installed framework was built for, the way that framework expects it. With
    VERSION it is NVIDIA's archive, copied into a CUDA directory; --method asks for another way. With --os or --arch
    the plan is for another machine, and nothing of this one is looked at.

    --apply trusts no file without a digest, backs up what it replaces, leaves everything as it was where something
    fails, and ends with a check of what it installed.
    """
    answer("cudnn", version=version, method=method, cuda=cuda, **given)


COMMAND = Command(
    cudnn,
    "gpudoctor install cudnn",
    "gpudoctor install cudnn 9.10.2 --cuda-version 12.8",
    "gpudoctor install cudnn 7.6.5 --cuda-version 10.1 --os linux --script bash",
    "gpudoctor install cudnn 5.1 --cuda-version 8.0 --os windows --archive cudnn-8.0-windows10-x64-v5.1.zip",
    renamed={"--from": "--bundle"},
    exits={**EXITS, 2: "bad usage or input, unknown archive, or nothing changed"},
)
