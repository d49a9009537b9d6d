"""`gpudoctor install config tensorflow`: GPU memory that grows."""

from __future__ import annotations

from doctor.cli import Command
from doctor.cli.install.config import Apply, Script, Style, System, Yes, answer


def tensorflow(
    system: System = "", script: Script = "", apply: Apply = False, yes: Yes = False, style: Style = "text"
) -> None:
    """Print the line that lets TensorFlow take GPU memory as it needs it; with --apply, add it to your shell's file."""
    from doctor.commands.install.configure import (  # late: `gpudoctor install --help` loads this module, too
        tensorflow as prepared,
    )

    answer(prepared(system), script, style, apply=apply, yes=yes)


COMMAND = Command(
    tensorflow,
    "gpudoctor install config tensorflow",
    "gpudoctor install config tensorflow --apply",
    exits={
        0: "printed, or done",
        2: "bad usage or input, or nothing changed",
    },
)
