"""`gpudoctor matrix refresh`: new releases from the user's own package index."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from doctor.cli import Command, _completion
from doctor.cli._options import Format, Output, Texts, record_of, seconds_option
from doctor.output.write import terminal_style


def refresh(
    products: Annotated[
        Texts,
        typer.Argument(
            metavar="[PRODUCT]...", help="torch, cudnn, ... (default: all).", autocompletion=_completion.product
        ),
    ] = None,
    releases: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(metavar="N", help="Read the newest N releases, also known ones (default: new ones)."),
    ] = None,
    pythons: Annotated[
        Texts, typer.Option("--python", metavar="EXE", help="Environment whose pip and pip configuration are used.")
    ] = None,
    manifests: Annotated[
        str, typer.Option("--manifests", metavar="PATH", help="NVIDIA's redistrib_*.json: a file or a directory.")
    ] = "",
    channels: Annotated[
        bool, typer.Option("--channels", help="Also read the makers' own indexes: torch's has one per CUDA version.")
    ] = False,
    seconds: Annotated[float, seconds_option("1m", "Time limit for the whole run")] = 60.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written; write nothing.")] = False,
    style: Format = "text",
    output: Output = None,
) -> None:
    """Read new releases from your own package index and add them to the matrix as your own rows.

    gpudoctor uses the index that pip or uv is configured for (variables, pip.conf, uv.toml), otherwise pip's default.
    From a wheel it fetches only the directory and the few files with facts. Your rows are in your data directory
    (GPUDOCTOR_MATRIX_OVERLAY names another one); the shipped tables never change.
    """
    given = locals()  # the options have the names of the fields of `RefreshRequest`
    from doctor.cli._status_line import LINE
    from doctor.commands.refresh.command import (  # late: `matrix --help` needs neither requests nor packaging
        RefreshRequest,
        answer,
    )
    from doctor.host.live import LiveHost

    asked = record_of(RefreshRequest, given)
    try:
        text, status = answer(asked, LiveHost(), terminal_style(), LINE.show)
    finally:
        LINE.show("")
    print(text, end="")
    raise typer.Exit(status)


COMMAND = Command(
    refresh,
    "gpudoctor matrix refresh torch",
    "gpudoctor matrix refresh torch --releases 1 --dry-run",
    "gpudoctor matrix refresh --python .venv --format json",
    renamed={"--from": "--manifests"},
    exits={
        0: "read",
        2: "bad usage, or no index is configured",
        3: "an error in gpudoctor itself",
        4: "a product could not be read",
    },
)
