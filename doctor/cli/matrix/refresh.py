"""`gpudoctor matrix refresh`: new releases from the user's own package index."""

from __future__ import annotations

import sys
from typing import Annotated, Optional

import typer

from doctor.cli import Command
from doctor.cli._options import Format, Output, Texts
from doctor.output.write import terminal_style


def refresh(
    products: Annotated[Texts, typer.Argument(metavar="[PRODUCT]...", help="torch, cudnn, ...; default: all.")] = None,
    releases: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(metavar="N", help="Read the newest N releases, also known ones; default: those that are new."),
    ] = None,
    python: Annotated[
        Texts, typer.Option(metavar="EXE", help="Environment whose pip configuration and pip are asked.")
    ] = None,
    manifests: Annotated[
        str, typer.Option("--from", metavar="PATH", help="NVIDIA's redistrib_*.json: a file, or a directory of them.")
    ] = "",
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="For everything together.")] = 60.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")] = False,
    style: Format = "text",
    output: Output = None,
) -> None:
    """Read new releases from your own package index, and lay them over the shipped tables as rows of your own.

    The index is the one that pip or uv is configured for (variables, pip.conf, uv.toml), else pip's own default. Of a
    wheel, only its directory and the few files that hold facts are fetched. Your rows are written below your data
    directory (GPUDOCTOR_MATRIX_OVERLAY names another one); the shipped tables are never changed.

    Exit status: 0 read; 2 bad usage, or no index is known; 3 a fault of gpudoctor; 4 something could not be read.
    """
    from doctor.commands.refresh.command import (  # late: `matrix --help` needs neither requests nor packaging
        RefreshRequest,
        answer,
    )
    from doctor.host.live import LiveHost

    asked = RefreshRequest(
        products=tuple(products or ()),
        releases=releases,
        pythons=tuple(python or ()),
        dry_run=dry_run,
        style=style,
        output=output,
        manifests=manifests,
        seconds=timeout,
    )
    try:
        text, status = answer(asked, LiveHost(), terminal_style(), _show_progress)
    finally:
        _show_progress("")
    print(text, end="")
    raise typer.Exit(status)


def _show_progress(step: str) -> None:
    """The present step in one line of its own, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{step[:78]}", end="", file=sys.stderr, flush=True)


COMMAND = Command(
    refresh,
    "Examples: gpudoctor matrix refresh torch | gpudoctor matrix refresh torch --releases 1 --dry-run | "
    "gpudoctor matrix refresh --python .venv/bin/python --format json",
)
