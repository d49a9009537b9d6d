"""`gpudoctor verify`: run convolutions with cuDNN and check the numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import FindingsFormat, Outputs, Redact, Text, Texts, record_of, seconds_option


def verify(
    cudnn: Annotated[
        Texts, typer.Option(metavar="PATH", help="This copy: its directory or main library; repeatable.")
    ] = None,
    python: Annotated[Text, typer.Option(metavar="EXE", help="Interpreter or environment.")] = None,
    frameworks: Annotated[
        str,
        typer.Option("--framework", metavar="NAME,...", help="Also through torch, tensorflow, jax, cupy, onnxruntime."),
    ] = "",
    target: Annotated[str, typer.Option("--for", metavar="SM", help="Does cuDNN support this GPU, e.g. sm_120?")] = "",
    gpu: Annotated[Text, typer.Option(metavar="N|all", help="CUDA index (default 0; with --level node: all).")] = None,
    level: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="load, conv, full or node.",
            autocompletion=_completion.fixed("load", "conv", "full", "node"),
        ),
    ] = "conv",
    style: FindingsFormat = "",
    outputs: Outputs = None,
    timeout_s: Annotated[float, seconds_option("5m", "Time limit for one trial")] = 300.0,
    redact: Redact = False,
    memory: Annotated[str, typer.Option(hidden=True, help="host: for a library that computes there.")] = "cupy",
) -> None:
    """Test cuDNN: load it, run convolutions, check the numbers.

    Without --cudnn, gpudoctor tests the copy that the frameworks of the environment would load. Each trial is a
    subprocess: a crash or a hang is a finding. --level load needs no GPU and no CuPy; the other levels need both. --for
    works with --level load: it asks whether cuDNN supports a GPU that you do not have. --level node tests whether every
    GPU of this machine is ready to train.
    """
    given = locals()  # the options have the names of the fields of `Options`
    from doctor.cli._status_line import LINE
    from doctor.commands.verify.command import Options
    from doctor.commands.verify.command import verify as answer
    from doctor.output.write import terminal_style  # late: `gpudoctor --help` loads this module, too

    options = record_of(Options, given)
    note = LINE.show
    try:
        text, status = answer(options, terminal_style(), note)
    finally:
        note("")
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    verify,
    "gpudoctor verify",
    "gpudoctor verify --level load --cudnn /opt/cudnn/lib",
    "gpudoctor verify --level full --gpu all --format json",
    "gpudoctor verify --framework torch --python .venv",
    exits={
        0: "every test of the level ran and passed",
        1: "a finding",
        2: "bad usage or input",
        3: "an error in gpudoctor itself",
        4: "no problem found, but a test could not run",
    },
)
