"""`gpudoctor install cuda`: how a CUDA toolkit comes onto a machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import with_options
from doctor.cli.install import ACT, ELSEWHERE, EXITS, FILES, PLACES, PYTHON, answer, version_argument, ways


@with_options(PLACES, FILES, ELSEWHERE, PYTHON, ACT)
def cuda(
    version: Annotated[str, version_argument("cuda")] = "",
    method: Annotated[
        str, typer.Option(metavar="NAME", help=ways("cuda"), autocompletion=_completion.method("cuda"))
    ] = "",
    components: Annotated[str, typer.Option(metavar="A,B", help="With archive: only these, cudart,nvcc.")] = "",
    **given: Any,
) -> None:
    """Print the steps that install a CUDA toolkit, each with its reason; with --apply, carry them out.

    Without VERSION it is the newest that this machine's driver runs. The driver stays as it is. --method archive takes
    NVIDIA's archives of the toolkit's components into a directory, --prefix DIR one of your own without root; runfile
    and exe run its installer; packages and local use its repository, on the network or in one file.
    """
    answer("cuda", version=version, method=method, components=components, **given)


COMMAND = Command(
    cuda,
    "gpudoctor install cuda",
    "gpudoctor install cuda 12.8",
    "gpudoctor install cuda 12.8 --method archive --prefix ~/cuda-12.8 --components cudart,nvcc,cublas --apply",
    "gpudoctor install cuda 10.1 --method runfile",
    renamed={"--from": "--bundle"},
    exits=EXITS,
)
