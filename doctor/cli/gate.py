"""`gpudoctor gate`: whether this node is ready for jobs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer

from compat.base.duration import seconds
from doctor.cli import Command, _completion
from doctor.cli._options import Pythons


def gate(
    dialect: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Output for slurm, npd, nagios, nhv or plain.",
            autocompletion=_completion.fixed("slurm", "npd", "nagios", "nhv", "plain"),
        ),
    ] = "plain",
    policy: Annotated[str, typer.Option(metavar="FILE", help="Also check this gpudoctor.toml.")] = "",
    python: Pythons = None,
    within: Annotated[
        str, typer.Option("--timeout", metavar="TIME", help="Time limit for one check: 5s, 500ms.")
    ] = "30s",
    retry_for: Annotated[
        str, typer.Option(metavar="TIME", help="Repeat for this long while the driver may be loading.")
    ] = "0s",
) -> None:
    """Print in one line whether this node is ready for jobs.

    'Ready' means every requirement was confirmed; unknown counts as no. Run as root: the kernel log is needed.
    gpudoctor changes nothing and needs no network.
    """
    from doctor.commands.gate import command  # late: `gpudoctor --help` loads this module, too

    options = command.Options(
        dialect=dialect,
        pythons=tuple(python or ()),
        policy=policy,
        within_s=seconds(within, "--timeout"),
        retry_for_s=seconds(retry_for, "--retry-for"),
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
    "gpudoctor gate",
    "gpudoctor gate --as slurm --timeout 10s",
    "gpudoctor gate --as npd --timeout 4s",
    "gpudoctor gate --retry-for 120s",
    renamed={"--within": "--timeout"},
    exits={
        0: "ready",
        1: "not ready",
        2: "bad usage",
        3: "an error in gpudoctor itself",
        4: "unknown",
        "--as": "exit statuses of the scheduler (docs/gate.md)",
    },
    bad_usage=_bad_usage,
)
