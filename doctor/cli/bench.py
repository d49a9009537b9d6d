"""`gpudoctor bench`: networks trained on the CPU, on the GPU, and on the GPU with cuDNN."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from doctor.cli import Command
from doctor.cli._options import ChartFormat, Redact, Text, Texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.commands.bench.command import Options
    from doctor.commands.bench.outcome import Progress

_WIDTH, _BAR, _BLINK_S = 79, 20, 0.1


def bench(
    networks: Annotated[
        Texts, typer.Argument(metavar="[NETWORK]...", help="Which ones, or all; the four small ones by default.")
    ] = None,
    device: Annotated[str, typer.Option(metavar="NAME", help="cpu, gpu or all.")] = "all",
    cudnn: Annotated[Text, typer.Option(metavar="PATH", help="The cuDNN to measure: its library or directory.")] = None,
    python: Annotated[Text, typer.Option(metavar="EXE", help="Measure this environment's cuDNN and torch.")] = None,
    gpu: Annotated[int, typer.Option(metavar="N", help="Which GPU, as CUDA numbers them.")] = 0,
    batch: Annotated[
        int, typer.Option(metavar="N", show_default=False, help="Images a step; the network's own by default.")
    ] = 0,
    steps: Annotated[int, typer.Option(metavar="N", show_default=False, help="Steps to time; 3 to 50 by default.")] = 0,
    seconds: Annotated[float, typer.Option(metavar="N", help="For the steps of one network on one path.")] = 20.0,
    tf32: Annotated[bool, typer.Option("--tf32", help="The GPU may round products to TF32.")] = False,
    data: Annotated[Text, typer.Option(metavar="DIR", help="Train on the pictures in DIR/train/<class>.")] = None,
    pool: Annotated[str, typer.Option("--memory-pool", metavar="WAY", help="on, off or both.")] = "both",
    style: ChartFormat = "text",
    output: Annotated[Text, typer.Option(metavar="FILE", help="Write it there; markdown: a chart, too.")] = None,
    saved: Annotated[
        Text, typer.Option("--from", metavar="FILE", help="Show what was saved as JSON; measure nothing.")
    ] = None,
    redact: Redact = False,
) -> None:
    """Measure what cuDNN gains: seconds per training epoch on the CPU, on the GPU without it, and with it.

    The networks are cifar10, mnist, dogs-vs-cats and lenet; alexnet, caffenet and googlenet take long on a CPU. The
    data is synthetic unless --data names some. What articles of 2015 to 2017 measured stands beside it.

    Exit status: 0 measured; 2 bad usage or input; 4 something that was asked for could not be measured.
    """
    from doctor.commands.bench.command import Options  # late: `gpudoctor --help` loads this module, too

    options = Options(
        networks=tuple(networks or ()),
        device=device,
        cudnn=cudnn,
        python=python,
        gpu=gpu,
        batch=batch,
        steps=steps,
        seconds=seconds,
        pool=pool,
        data=data,
        tf32=tf32,
        style=style,
        output=output,
        saved=saved,
        redact=redact,
    )
    raise typer.Exit(_measured(options))


def _measured(options: Options) -> int:
    from doctor.commands.bench.command import bench as measure
    from doctor.output.write import terminal_style

    with Bar() as bar:
        text, status = measure(options, terminal_style(), bar.report)
    print(text, end="")
    return status


class Bar:
    """A line on standard error that says what is measured and how far it is; none where no one looks."""

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
        """Draw it anew, ten times a second at most but for every new measurement."""
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
    "Examples: gpudoctor bench --device cpu | gpudoctor bench cifar10 --cudnn /usr/local/cuda | "
    "gpudoctor bench all --format markdown --output bench.md | gpudoctor bench dogs-vs-cats --data cats",
)
