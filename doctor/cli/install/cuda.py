"""`gpudoctor install cuda`: how a CUDA toolkit comes onto a machine."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command, _completion
from doctor.cli.install import (
    Apply,
    Arch,
    Archive,
    Digest,
    Distribution,
    DownloadOnly,
    DryRun,
    Home,
    Mirror,
    Prefix,
    Python,
    Script,
    Source,
    Style,
    Sudo,
    System,
    Yes,
    answer,
    version_argument,
    ways,
)


def cuda(
    version: Annotated[str, version_argument("cuda")] = "",
    method: Annotated[
        str, typer.Option(metavar="NAME", help=ways("cuda"), autocompletion=_completion.method("cuda"))
    ] = "",
    components: Annotated[str, typer.Option(metavar="A,B", help="With archive: only these, cudart,nvcc.")] = "",
    home: Home = "",
    prefix: Prefix = "",
    archive: Archive = "",
    sha256: Digest = "",
    mirror: Mirror = "",
    source: Source = "",
    download_only: DownloadOnly = "",
    os_family: System = "",
    arch: Arch = "",
    distribution: Distribution = "",
    python: Python = "",
    script: Script = "",
    apply: Apply = False,
    dry_run: DryRun = False,
    sudo: Sudo = False,
    yes: Yes = False,
    style: Style = "text",
) -> None:
    """Print the steps that install a CUDA toolkit, each with its reason; with --apply, carry them out.

    Without VERSION it is the newest that this machine's driver runs. The driver stays as it is. --method archive takes
    NVIDIA's archives of the toolkit's components into a directory, --prefix DIR one of your own without root; runfile
    and exe run its installer; packages and local use its repository, on the network or in one file.
    """
    answer("cuda", **locals())


COMMAND = Command(
    cuda,
    "gpudoctor install cuda",
    "gpudoctor install cuda 12.8",
    "gpudoctor install cuda 12.8 --method archive --prefix ~/cuda-12.8 --components cudart,nvcc,cublas --apply",
    "gpudoctor install cuda 10.1 --method runfile",
    renamed={"--from": "--bundle"},
    exits={
        0: "printed, or done and checked",
        1: "done, but an error remains",
        2: "bad usage or input, or nothing changed",
    },
)
