"""`gpudoctor install config theano`: .theanorc for a GPU."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from doctor.cli import Command
from doctor.cli._options import with_options
from doctor.cli.install.config import CHANGE, EXITS, STYLE, answer


@with_options(CHANGE, STYLE)
def theano(
    device: Annotated[str, typer.Option(metavar="NAME", help="cuda0, gpu0, 0, cpu; the first GPU by default.")] = "",
    cnmem: Annotated[str, typer.Option(metavar="SHARE", help="Of memory, reserved at the start: 0 off, 1 all.")] = "",
    version: Annotated[str, typer.Option("--theano", metavar="VERSION", help="The installed one by default.")] = "",
    flags: Annotated[str, typer.Option("--nvcc-flags", metavar="WORDS", help="Added under [nvcc].")] = "",
    home: Annotated[str, typer.Option("--cudnn-home", metavar="DIR", help="cuDNN directory.")] = "",
    cudnn: Annotated[bool, typer.Option("--cudnn/--no-cudnn", help="Let Theano insist on cuDNN.")] = True,
    **given: Any,
) -> None:
    """Print the settings that .theanorc (.theanorc.txt on Windows) needs; with --apply, merge them into it.

    Up to Theano 0.8 the device is gpu and the pool is [lib] cnmem; from 0.9 on cuda, and [gpuarray] preallocate. What
    stands in the file stays, comments and order included; an option that is there twice becomes one line.
    """
    from compat.matrix import Matrix  # late: `gpudoctor install --help` loads this module, too
    from doctor.commands.install.configure import TheanoAsked
    from doctor.commands.install.configure import theano as prepared

    asked = TheanoAsked(device=device, cnmem=cnmem, version=version, flags=flags, cudnn_home=home, cudnn=cudnn)
    answer(partial(prepared, asked, Matrix.of_user()), **given)


COMMAND = Command(
    theano,
    "gpudoctor install config theano",
    "gpudoctor install config theano --theano 0.8.2 --cnmem 0.8 --apply",
    "gpudoctor install config theano --nvcc-flags=-arch=sm_30 --script bash",
    exits={**EXITS, 1: "done, but an error remains"},
)
