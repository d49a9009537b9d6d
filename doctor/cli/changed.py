"""`gpudoctor changed`: what changed on this machine since it last worked."""

from __future__ import annotations

from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli._options import Format, Output, Pythons, Redact, Root, record_of


def changed(
    since: Annotated[
        str, typer.Option(metavar="TIME", help='"3 days", "2 hours", 2026-11-20 or "2026-11-20 06:50".')
    ] = "14 days",
    pythons: Pythons = None,
    root: Root = None,
    style: Format = "text",
    output: Output = None,
    redact: Redact = False,
) -> None:
    """List what changed in the GPU stack, newest first, from the records that the machine keeps.

    It reads the logs of package managers, NVIDIA's installer and DKMS, the times of installed wheels and settings, and
    the starts of the machine. A change that may explain a finding of `check` is marked.
    """
    given = locals()  # the options have the names of the fields of `ChangedRequest`
    from doctor.commands.changed.command import (  # late: `gpudoctor --help` loads this module, too
        ChangedRequest,
    )
    from doctor.commands.changed.command import changed as answer
    from doctor.output.write import terminal_style

    print(answer(record_of(ChangedRequest, given), terminal_style()), end="")


COMMAND = Command(
    changed,
    "gpudoctor changed",
    'gpudoctor changed --since "3 days"',
    "gpudoctor changed --root /mnt --since 2026-11-01 --format json",
    exits={0: "printed", 2: "bad usage or input"},
)
