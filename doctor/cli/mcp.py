"""`gpudoctor mcp`: answer a program that speaks the Model Context Protocol."""

from __future__ import annotations

from doctor.cli import Command


def mcp() -> None:
    """Answer an AI assistant by the Model Context Protocol, on standard input and output.

    Five tools: check, explain, which, solve and plan. They only read. An assistant starts this command itself; its
    settings name the command `gpudoctor` with the argument `mcp`.
    """
    import io  # late, as what follows: `gpudoctor --help` loads this module, too
    import sys

    from doctor.commands.mcp.server import lines_of, serve

    given = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    for answer in serve(lines_of(given)):
        print(answer, end="", flush=True)


COMMAND = Command(
    mcp,
    "gpudoctor mcp",
    exits={0: "standard input has ended", 2: "bad usage"},
)
