"""`gpudoctor verify`: the proof by convolution."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli._options import FindingsFormat, Outputs, Redact, Text, Texts


def verify(
    cudnn: Annotated[
        Texts, typer.Option(metavar="PATH", help="This copy: a directory, or its main library; repeatable.")
    ] = None,
    python: Annotated[Text, typer.Option(metavar="EXE", help="Interpreter or environment whose copy is meant.")] = None,
    framework: Annotated[
        str, typer.Option(metavar="NAME,...", help="Also through torch, tensorflow, jax, cupy or onnxruntime.")
    ] = "",
    target: Annotated[str, typer.Option("--for", metavar="SM", help="Engines for that GPU (sm_120): any?")] = "",
    gpu: Annotated[Text, typer.Option(metavar="N|all", help="As CUDA numbers it; 0, of a node all.")] = None,
    level: Annotated[str, typer.Option(metavar="NAME", help="load, conv, full or node.")] = "conv",
    style: FindingsFormat = "",
    output: Outputs = None,
    timeout: Annotated[float, typer.Option(metavar="S", help="Seconds that one trial may take.")] = 300.0,
    redact: Redact = False,
    memory: Annotated[str, typer.Option(hidden=True, help="host: for a library that computes there.")] = "cupy",
) -> None:
    """Put cuDNN to the test: load it, start it, convolve, and compare with the right answer.

    Without --cudnn it is the copy that the frameworks of the environment would load. Each copy is tried in a child
    process: a crash or a hang is a finding. Level load needs neither a GPU nor CuPy; the others need both. --for is of
    level load: cuDNN plans for a GPU that is only described. Level node: is this machine ready to train? On every GPU.

    Exit status: 0 everything that the level asks for was tried, and passed; 1 a finding; 2 bad usage or input; 3 a
    fault of gpudoctor; 4 nothing is wrong, but something could not be tried: what is missing is said.
    """
    from doctor.commands.verify.command import Options
    from doctor.commands.verify.command import verify as answer
    from doctor.output.write import terminal_style  # late: `gpudoctor --help` loads this module, too

    options = Options(
        cudnn=tuple(cudnn or ()),
        python=python,
        frameworks=framework,
        target=target,
        gpu=gpu,
        level=level,
        style=style,
        outputs=tuple(output or ()),
        timeout_s=timeout,
        redact=redact,
        memory=memory,
    )
    note = _progress()
    try:
        text, status = answer(options, terminal_style(), note)
    finally:
        note("")
    print(text, end="")
    raise typer.Exit(status)


def _progress() -> Callable[[str], None]:
    """One line on a terminal's standard error, written anew for each thing that is begun."""
    if not sys.stderr.isatty():
        return lambda text: None  # noqa: ARG005
    return lambda text: print(f"\r\x1b[K{text[:79]}", end="", file=sys.stderr, flush=True)


COMMAND = Command(
    verify,
    "Examples: gpudoctor verify | gpudoctor verify --level load --cudnn /opt/cudnn/lib | gpudoctor verify --level full "
    "--gpu all --format json | gpudoctor verify --framework torch --python .venv/bin/python",
)
