"""`gpudoctor gate`: whether work may be put on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer

from doctor.cli import Command
from doctor.cli._options import Pythons


def gate(
    dialect: Annotated[
        str, typer.Option("--as", metavar="NAME", help="Who asks: slurm, npd, nagios, nhv or plain.")
    ] = "plain",
    policy: Annotated[str, typer.Option(metavar="FILE", help="Judge by this gpudoctor.toml, too.")] = "",
    python: Pythons = None,
    within: Annotated[str, typer.Option(metavar="TIME", help="What one look may take: 5s, 500ms.")] = "30s",
    retry_for: Annotated[
        str, typer.Option(metavar="TIME", help="Look again that long while the driver may be loading.")
    ] = "0s",
) -> None:
    """Say in one line whether work may be put on this machine; changes nothing and needs no network.

    Ready is only what was seen to be: an unknown, failed or missing prerequisite is not ready. Run it as root, who may
    read the kernel's log.

    Exit status: 0 ready, 1 not ready, 4 not known, 3 a fault of gpudoctor, 2 bad usage; with --as those of the
    scheduler (docs/gate.md).
    """
    from doctor.commands.gate import command  # late: `gpudoctor --help` loads this module, too

    options = command.Options(
        dialect=dialect,
        pythons=tuple(python or ()),
        policy=policy,
        within_s=command.seconds(within, "--within"),
        retry_for_s=command.seconds(retry_for, "--retry-for"),
    )
    chosen = command.dialect_of(dialect)
    status = chosen.no_verdict
    try:
        verdict = command.gate(options)
        text, status = chosen.render(verdict), chosen.statuses[verdict.level]
        print(text, flush=True)
        if verdict.is_stuck:
            os._exit(status)  # a thread that wakes up while the interpreter ends can abort it, with another status
    except OSError:
        status = status or chosen.no_verdict  # nobody heard that it is ready
    raise typer.Exit(status)


def _bad_usage(arguments: Sequence[str]) -> int:
    """As the one who asks understands it."""
    from doctor.commands.gate import command

    pairs = zip(arguments, [*arguments, ""][1:], strict=True)
    said = [
        word[5:] if word.startswith("--as=") else after for word, after in pairs if word.partition("=")[0] == "--as"
    ]
    name = said[-1] if said else ""
    return command.dialect_of(name if name in command.dialect_names() else "plain").bad_usage


COMMAND = Command(
    gate,
    "Examples: gpudoctor gate | gpudoctor gate --as slurm --within 10s | gpudoctor gate --as npd --within 4s | "
    "gpudoctor gate --retry-for 120s",
    bad_usage=_bad_usage,
)
