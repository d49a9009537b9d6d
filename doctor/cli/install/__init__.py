"""Install cuDNN, CUDA, a driver or a framework: print steps, write a script, or apply and undo."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doctor.cli import _completion, _options
from doctor.cli._options import REPORT

if TYPE_CHECKING:
    from doctor.commands.install.install import InstallOrder
    from installers.progress import Progress, Report

OTHERWISE = "package"  # `gpudoctor install torch` is `gpudoctor install package torch`

_FILES, _ELSEWHERE, _ACT = "Files", "Another machine", "What to do"  # groups of options


def version_argument(product: str = "") -> Any:
    """Return the argument VERSION; it completes releases of this product, or of the one that stands before it."""
    return typer.Argument(
        metavar="[VERSION]",
        help="The release (default: the one that fits).",
        autocompletion=_completion.release(product) if product else _completion.release_of_named,
    )


Version = Annotated[str, version_argument()]
Cuda = Annotated[str, typer.Option("--cuda-version", metavar="X.Y", help="For this CUDA version.")]
Home = Annotated[str, typer.Option("--cuda-home", metavar="DIR", help="CUDA directory (default: /usr/local/cuda).")]
Archive = Annotated[
    str, typer.Option(metavar="FILE", help="NVIDIA's archive that you downloaded.", rich_help_panel=_FILES)
]
Mirror = Annotated[
    str,
    typer.Option(
        "--mirror",
        callback=_options.said,
        metavar="URL",
        help="Download from this address, under NVIDIA's paths; checksums stay the same.",
        rich_help_panel=_FILES,
    ),
]
Source = Annotated[
    str,
    typer.Option(
        "--bundle",
        callback=_options.said,
        metavar="DIR",
        help="Use the files in this directory; checksums stay the same.",
        rich_help_panel=_FILES,
    ),
]
DownloadOnly = Annotated[
    str,
    typer.Option(
        "--download-only",
        callback=_options.said,
        metavar="DIR",
        help="Only download the files into this directory, for --bundle on a machine without a network.",
        rich_help_panel=_FILES,
    ),
]
Digest = Annotated[
    str, typer.Option("--sha256", metavar="HEX", help="Checksum of an archive that you trust.", rich_help_panel=_FILES)
]
System = Annotated[
    str,
    typer.Option(
        "--os",
        metavar="NAME",
        help="linux, windows or wsl.",
        rich_help_panel=_ELSEWHERE,
        autocompletion=_completion.fixed("linux", "windows", "wsl"),
    ),
]
Arch = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="x86_64, sbsa (ARM servers), jetson, ppc64le.",
        rich_help_panel=_ELSEWHERE,
        autocompletion=_completion.fixed("x86_64", "sbsa", "jetson", "ppc64le"),
    ),
]
Distribution = Annotated[
    str,
    typer.Option(
        metavar="NAME-VERSION",
        help="ubuntu-24.04, rocky-9, arch.",
        rich_help_panel=_ELSEWHERE,
        autocompletion=_completion.distribution,
    ),
]
Python = Annotated[str, typer.Option(metavar="EXE", help="Interpreter of the environment to install into.")]
Script = Annotated[
    str,
    typer.Option(
        metavar="SHELL",
        help="Print a script instead: bash, powershell or ansible.",
        parser=str.casefold,
        rich_help_panel=_ACT,
        autocompletion=_completion.fixed("bash", "powershell", "ansible"),
    ),
]
Apply = Annotated[
    bool,
    typer.Option("--apply", help="Apply the steps, then check; `install rollback` undoes them.", rich_help_panel=_ACT),
]
Gpus = Annotated[
    list[str] | None,
    typer.Option(
        "--gpu",
        metavar="NAME",
        help='"RTX 5090", sm_120 or 12.0; repeatable: all must work.',
        autocompletion=_completion.gpu,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print only, also with --apply.", rich_help_panel=_ACT)]
Sudo = Annotated[bool, typer.Option("--sudo", help="Use sudo for the steps that need root.", rich_help_panel=_ACT)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Answer every question with yes.", rich_help_panel=_ACT)]
Prefix = Annotated[str, typer.Option(metavar="DIR", help="Install into this directory, without root.")]
Style = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="text or json. --json is short for --format json.",
        parser=str.casefold,
        show_default=False,
        rich_help_panel=REPORT,
        autocompletion=_completion.fixed("text", "json"),
    ),
]
# Options that several commands have, in the order of their help.
FILES = {
    "archive": (Archive, ""),
    "sha256": (Digest, ""),
    "mirror": (Mirror, ""),
    "source": (Source, ""),
    "download_only": (DownloadOnly, ""),
}
PLACES = {"home": (Home, ""), "prefix": (Prefix, "")}
ELSEWHERE = {"os_family": (System, ""), "arch": (Arch, ""), "distribution": (Distribution, "")}
PYTHON = {"python": (Python, "")}
ACT = {
    "script": (Script, ""),
    "apply": (Apply, False),
    "dry_run": (DryRun, False),
    "sudo": (Sudo, False),
    "yes": (Yes, False),
    "style": (Style, "text"),
}
EXITS: dict[int | str, str] = {
    0: "printed, or done and checked",
    1: "done, but an error remains",
    2: "bad usage or input, or nothing changed",
}

_STDERR = 2  # the descriptor: a child knows no sys.stderr


def ways(product: str) -> str:
    """What --method takes for a product, for its help."""
    from installers.choose import methods_for  # late: only two of the commands need it

    *names, last = sorted(methods_for(product))
    return f"{', '.join(names)} or {last}."


def answer(
    product: str,
    *,
    apply: bool,
    dry_run: bool,
    sudo: bool,
    yes: bool = False,
    download_only: str = "",
    **fields: Any,
) -> None:
    """Print the plan, fetch its files, or carry it out and exit with what came of it.

    `fields` are those of InstallOrder: the commands name their parameters so, and pass all of them.
    """
    from doctor.commands.install.install import (  # late, as what follows: `install --help` loads this module
        BadOrder,
        InstallOrder,
        ask,
    )
    from doctor.output.write import terminal_style

    asked = InstallOrder(product=product, **fields)
    if download_only:
        if apply or dry_run or asked.script or asked.source:
            raise BadOrder("--download-only does not work with --apply, --dry-run, --script or --bundle")
        print(_downloaded(asked, download_only), end="")
        return
    if dry_run or not apply:
        print(ask(asked, terminal_style()), end="")
        return
    if asked.script:
        raise BadOrder("use --script or --apply, not both")
    text, status = _applied(asked, sudo=sudo, yes=yes)
    print(text, end="")
    raise typer.Exit(status)


def _downloaded(asked: InstallOrder, directory: str) -> str:
    from doctor.commands.install.download import download
    from doctor.output.write import terminal_style

    try:
        return download(asked, directory, show_progress(), terminal_style())
    finally:
        hide_progress()


def _applied(asked: InstallOrder, *, sudo: bool, yes: bool) -> tuple[str, int]:
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
    if lines and not sudo and (yes or sys.stdin.isatty()):
        sudo = yes or typer.confirm(f"These need root: {'; '.join(lines)}. Run them with sudo?", err=True)
    # What a command says stands beside our text, but JSON has its stream for itself.
    run = partial(run_command, output=_STDERR) if asked.style == "json" else run_command
    means = ExecutionOptions(report=show_progress(), run=run, as_root=("sudo",) if sudo and lines else ())
    try:
        return apply_plan(prepared, means, asked.style, terminal_style())
    finally:
        hide_progress()


def show_progress() -> Report:
    """Return what shows the work of a run on the status line; a command prints its own output."""
    from doctor.cli._status_line import LINE

    def show(one: Progress) -> None:
        LINE.show("" if one.what == "run" else f"{one.what} {_base(one.name)}", one.done_bytes, one.total_bytes)
        if one.what == "run" and LINE.is_shown:
            print(f"run {one.name}", file=sys.stderr, flush=True)

    return show


def hide_progress() -> None:
    """Remove the status line: what follows is the answer."""
    from doctor.cli._status_line import LINE

    LINE.show("")


def _base(name: str) -> str:
    return name.rpartition("/")[2]
