"""Look up which versions work together, with source and date."""

from __future__ import annotations

from typing import Annotated, List, Optional  # noqa: UP035 - typer evaluates the annotations, also on 3.10

import typer

from doctor.cli import _completion, _options

MACHINE = "Machine"  # the group of the options that describe one
Gpus = Annotated[
    Optional[List[str]],  # noqa: UP006, UP045
    typer.Option(
        "--gpu",
        metavar="NAME",
        help='"RTX 5090", sm_120 or 12.0; repeatable: all must work.',
        autocompletion=_completion.gpu,
        rich_help_panel=MACHINE,
    ),
]
Driver = Annotated[
    str,
    typer.Option(
        callback=_options.said,
        metavar="RELEASE",
        help="Driver release 570.86.15, or branch 570.",
        rich_help_panel=MACHINE,
    ),
]
Python = Annotated[
    str, typer.Option(callback=_options.said, metavar="VERSION", help="Python version: 3.12.", rich_help_panel=MACHINE)
]
System = Annotated[
    str,
    typer.Option(
        "--os",
        callback=_options.said,
        metavar="NAME",
        help="linux, windows, wsl or macos (default: this system).",
        rich_help_panel=MACHINE,
        autocompletion=_completion.fixed("linux", "windows", "wsl", "macos"),
    ),
]
Arch = Annotated[
    str,
    typer.Option(
        callback=_options.said,
        metavar="NAME",
        help="x86_64, sbsa (ARM servers), jetson, ppc64le (default: the architecture this GPU is used with).",
        rich_help_panel=MACHINE,
        autocompletion=_completion.fixed("x86_64", "sbsa", "jetson", "ppc64le"),
    ),
]
Glibc = Annotated[
    str,
    typer.Option(
        callback=_options.said, metavar="VERSION", help="Version of the C library: 2.31.", rich_help_panel=MACHINE
    ),
]
Sources = Annotated[bool, typer.Option("--sources", help="Print the rows behind the answer and their sources.")]
QUESTION = {  # options of the commands that ask about a machine
    "gpus": (Gpus, None),
    "driver": (Driver, ""),
    "python": (Python, ""),
    "os_family": (System, ""),
    "arch": (Arch, ""),
    "glibc": (Glibc, ""),
    "style": (_options.Format, "text"),
    "output": (_options.Output, None),
    "sources": (Sources, False),
}
