"""Runs a command as `gpudoctor run` does, without the check; `python -m tests.commands.run.driver CMD...`."""

from __future__ import annotations

import os
import sys

from doctor.commands.run.command import carry_out

if __name__ == "__main__":
    ended = carry_out(tuple(sys.argv[1:]), None)
    if kept := os.environ.get("KEPT"):
        with open(kept, "wb") as stream:
            stream.write(ended.output)
    from doctor.cli.run import _end_by

    sys.exit(ended.status if ended.status >= 0 else _end_by(-ended.status))
