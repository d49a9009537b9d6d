"""`gpudoctor install config tensorflow`: GPU memory that grows."""

from __future__ import annotations

from typing import Any

from doctor.cli import Command
from doctor.cli._options import with_options
from doctor.cli.install.config import CHANGE, EXITS, STYLE, answer


@with_options(CHANGE, STYLE)
def tensorflow(**given: Any) -> None:
    """Print the line that lets TensorFlow take GPU memory as it needs it; with --apply, add it to your shell's file."""
    from doctor.commands.install.configure import (  # late: `gpudoctor install --help` loads this module, too
        tensorflow as prepared,
    )

    answer(prepared, **given)


COMMAND = Command(
    tensorflow,
    "gpudoctor install config tensorflow",
    "gpudoctor install config tensorflow --apply",
    exits=EXITS,
)
