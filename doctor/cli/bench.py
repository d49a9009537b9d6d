"""`gpudoctor bench`: networks trained on the CPU, on the GPU, and on the GPU with cuDNN."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import REPORT, ChartFormat, Redact, Text, Texts, record_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.commands.bench.command import Options
    from doctor.commands.bench.outcome import Progress

_WIDTH, _BAR, _BLINK_S = 79, 20, 0.1


def bench(
    networks: Annotated[
        Texts, typer.Argument(metavar="[NETWORK]...", help="Networks, or all (default: the four small ones).")
    ] = None,
    device: Annotated[
        str,
        typer.Option(metavar="NAME", help="cpu, gpu or all.", autocompletion=_completion.fixed("cpu", "gpu", "all")),
    ] = "all",
    cudnn: Annotated[Text, typer.Option(metavar="PATH", help="The cuDNN to measure: its library or directory.")] = None,
    python: Annotated[Text, typer.Option(metavar="EXE", help="Measure this environment's cuDNN and torch.")] = None,
    gpu: Annotated[int, typer.Option(metavar="N", help="CUDA index of the GPU.")] = 0,
    batch: Annotated[
        int, typer.Option(metavar="N", show_default=False, help="Images per step (default: as published).")
    ] = 0,
    steps: Annotated[int, typer.Option(metavar="N", show_default=False, help="Steps to time (default: 3 to 50).")] = 0,
    seconds: Annotated[float, typer.Option(metavar="N", help="Time limit for one network on one device.")] = 20.0,
    tf32: Annotated[bool, typer.Option("--tf32", help="Let the GPU round products to TF32.")] = False,
    data: Annotated[Text, typer.Option(metavar="DIR", help="Train on the pictures in DIR/train/<class>.")] = None,
    pool: Annotated[str, typer.Option("--memory-pool", metavar="NAME", help="on, off or both.")] = "both",
    style: ChartFormat = "text",
    output: Annotated[
        Text,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the report to a file (markdown: also a chart).",
            rich_help_panel=REPORT,
        ),
    ] = None,
    saved: Annotated[
        Text,
        typer.Option(
            "--show", metavar="FILE", help="Show a saved JSON report; measure nothing.", rich_help_panel=REPORT
        ),
    ] = None,
    redact: Redact = False,
) -> None:
    """Measure what cuDNN gains: seconds per training epoch on the CPU, on the GPU without cuDNN, and with it.

    The networks are cifar10, mnist, dogs-vs-cats and lenet; alexnet, caffenet and googlenet are slow on a CPU. The data
    is synthetic without --data. The report also shows what articles of 2015 to 2017 measured.
    """
    given = locals()  # the options have the names of the fields of `Options`
    from doctor.commands.bench.command import Options  # late: `gpudoctor --help` loads this module, too

    raise typer.Exit(_measured(record_of(Options, given)))


def _measured(options: Options) -> int:
    from doctor.commands.bench.command import bench as measure
    from doctor.output.write import terminal_style

    with Bar() as bar:
        text, status = measure(options, terminal_style(), bar.report)
    print(text, end="")
    return status


class Bar:
    """A line on standard error that shows what is measured and the progress; none where stderr is no terminal."""

    def __init__(self) -> None:
        self.report: Callable[[Progress], None] = self._show if sys.stderr.isatty() else lambda _: None
        self._shown = 0.0
        self._since = time.monotonic()
        self._what: tuple[object, ...] = ()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        """The line goes, whatever happened: what follows it is the answer."""
        if self._shown:
            print("\r" + " " * _WIDTH + "\r", end="", file=sys.stderr, flush=True)

    def _show(self, progress: Progress) -> None:
        """Draw it for each new measurement, otherwise at most ten times a second."""
        now = time.monotonic()
        what = (progress.network, progress.path, progress.pool)
        if what == self._what and now - self._shown < _BLINK_S:
            return
        self._what, self._shown = what, now
        print("\r" + line_of(progress, now - self._since).ljust(_WIDTH), end="", file=sys.stderr, flush=True)


def line_of(progress: Progress, elapsed_s: float) -> str:
    """One line of 79 signs at most: a bar, the measurement, what it is doing, and since when."""
    share = progress.done / progress.total if progress.total else 0.0
    full = min(_BAR, int(share * _BAR))
    pool = " no pool" if progress.pool is False else ""
    head = f"[{'#' * full}{'.' * (_BAR - full)}] {progress.done}/{progress.total} {elapsed_s:.0f} s"
    return f"{head} {progress.network} {progress.path}{pool}: {progress.doing}"[:_WIDTH]


COMMAND = Command(
    bench,
    "gpudoctor bench --device cpu",
    "gpudoctor bench cifar10 --cudnn /usr/local/cuda",
    "gpudoctor bench all --format markdown --output bench.md",
    "gpudoctor bench --show bench.json",
    "gpudoctor bench dogs-vs-cats --data cats",
    renamed={"--from": "--show"},
    exits={
        0: "measured",
        2: "bad usage or input",
        4: "a requested measurement could not run",
    },
)
