"""`gpudoctor install history`: what was installed, when, and whether it can be taken back."""

from __future__ import annotations

from doctor.cli import Command
from doctor.cli.install import Style


def history(style: Style = "text") -> None:
    """List the runs of --apply, the newest first: done, undone, or killed (the next run undoes those).

    Exit status: 0 printed; 2 bad usage.
    """
    from doctor.installing.past_runs import listed  # late: `gpudoctor install --help` loads this module, too

    print(listed(style), end="")


COMMAND = Command(history, "Examples: gpudoctor install history | gpudoctor install history --format json")
