"""Install cuDNN, CUDA, a driver or a framework: the steps, a script of them, or do it and take it back."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from doctor.commands.install.install import InstallOrder
    from installers.progress import Progress, Report

OTHERWISE = "package"  # `gpudoctor install torch` is `gpudoctor install package torch`

Version = Annotated[str, typer.Argument(metavar="[VERSION]", help="Which release; the right one by default.")]
Cuda = Annotated[str, typer.Option("--cuda-version", metavar="X.Y", help="The CUDA that it must be for.")]
Home = Annotated[str, typer.Option("--cuda-home", metavar="DIR", help="CUDA directory, /usr/local/cuda by default.")]
Archive = Annotated[str, typer.Option(metavar="FILE", help="NVIDIA's archive, where you downloaded it already.")]
Mirror = Annotated[
    str, typer.Option("--mirror", metavar="URL", help="Fetch from there, under NVIDIA's paths; digests stay the same.")
]
Source = Annotated[
    str, typer.Option("--from", metavar="DIR", help="Take the files from a directory; digests stay the same.")
]
Digest = Annotated[str, typer.Option("--sha256", metavar="HEX", help="The digest of the archive that you trust.")]
System = Annotated[str, typer.Option("--os", metavar="NAME", help="linux or windows: a plan for another machine.")]
Arch = Annotated[str, typer.Option(metavar="NAME", help="x86_64, sbsa (ARM servers), jetson, ppc64le.")]
Distribution = Annotated[
    str, typer.Option(metavar="NAME-VERSION", help="A plan for another machine: ubuntu-24.04, rocky-9, arch.")
]
Python = Annotated[str, typer.Option(metavar="EXE", help="Interpreter of the environment to install into.")]
Script = Annotated[str, typer.Option(metavar="SHELL", help="Print a script instead: bash or powershell.")]
Apply = Annotated[bool, typer.Option("--apply", help="Do it, then look again; `rollback` takes it back.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print, whatever else is said.")]
Sudo = Annotated[bool, typer.Option("--sudo", help="With --apply: run what needs root through sudo.")]
Prefix = Annotated[str, typer.Option(metavar="DIR", help="Install into a directory of its own, without root.")]
Style = Annotated[str, typer.Option("--format", metavar="NAME", help="text or json.")]

_MIB = 1 << 20
_BLINK_S = 0.1
_STDERR = 2  # the descriptor: a child knows no sys.stderr


def ways(product: str) -> str:
    """What --method takes for a product, for its help."""
    from installers.choose import methods_for  # late: only two of the commands need it

    *names, last = sorted(methods_for(product))
    return f"{', '.join(names)} or {last}."


def answer(product: str, *, apply: bool, dry_run: bool, sudo: bool, **fields: Any) -> None:
    """Print the plan, or carry it out and exit with what came of it.

    `fields` are those of InstallOrder: the commands name their parameters so, and hand all of them on.
    """
    from doctor.commands.install.install import (  # late, as what follows: `install --help` loads this module
        BadOrder,
        InstallOrder,
        ask,
    )
    from doctor.output.write import terminal_style

    asked = InstallOrder(product=product, **fields)
    if dry_run or not apply:
        print(ask(asked, terminal_style()), end="")
        return
    if asked.script:
        raise BadOrder("--script prints and --apply does: say one of them")
    text, status = _applied(asked, sudo=sudo)
    print(text, end="")
    raise typer.Exit(status)


def _applied(asked: InstallOrder, *, sudo: bool) -> tuple[str, int]:
    from compat.base.choice import one_of
    from compat.matrix import Matrix
    from doctor.commands.install.apply import apply_plan, needing_root
    from doctor.commands.install.install import prepare
    from doctor.output.write import terminal_style
    from installers.command import run_command
    from installers.run import ExecutionOptions

    one_of("format", asked.style, ("text", "json"))
    prepared = prepare(asked, Matrix.of_user())
    lines = needing_root(prepared)
    if lines and not sudo and sys.stdin.isatty():
        sudo = typer.confirm(f"These need root: {'; '.join(lines)}. Run them so?", err=True)
    # What a command says stands beside our text, but JSON has its stream for itself.
    run = partial(run_command, output=_STDERR) if asked.style == "json" else run_command
    means = ExecutionOptions(report=show_progress(), run=run, as_root=("sudo",) if sudo and lines else ())
    return apply_plan(prepared, means, asked.style, terminal_style())


def show_progress() -> Report:
    """A line on standard error that says what is being done, how far it is and how fast; none where no one looks."""
    if not sys.stderr.isatty():
        return lambda _: None
    line = _Line()
    return line.show


class _Line:
    """The line of one run."""

    def __init__(self) -> None:
        self._doing, self._since, self._shown = ("", ""), 0.0, 0.0

    def show(self, progress: Progress) -> None:
        """Draw it anew, ten times a second at most."""
        now = time.monotonic()
        if self._doing != (progress.what, progress.name):
            self._doing, self._since = (progress.what, progress.name), now
        elif now - self._shown < _BLINK_S:
            return
        self._shown = now
        rate = progress.done_bytes / _MIB / max(now - self._since, 0.001)
        total = f" of {progress.total_bytes / _MIB:,.0f}" if progress.total_bytes else ""
        far = f"{progress.done_bytes / _MIB:,.0f}{total} MiB, {rate:,.0f} MiB/s" if progress.done_bytes else ""
        name = progress.name.rpartition("/")[2][:40]
        print(f"\r{progress.what} {name} {far}".ljust(79)[:79], end="", file=sys.stderr, flush=True)
