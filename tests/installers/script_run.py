"""A run of which a script is the only command, in place of pip.

`python -m tests.installers.script_run ROOT USER` runs it; USER is `user`, or `root` for a command that needs root.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from compat.base import process
from compat.base.errors import GpudoctorError
from installers import command
from installers.apply import apply
from installers.effect import DistributionsInstalled
from installers.journal import State
from installers.plan import Plan
from installers.steps.command import Command, Inverse

SHORT_S = 0.2  # in place of how long a command may take to end
REPOSITORY = Path(__file__).resolve().parents[2]


class ScriptRun(NamedTuple):
    """The directory of the environment, the script and the state."""

    root: Path

    @property
    def prefix(self) -> Path:
        return self.root / "venv"

    @property
    def state(self) -> State:
        return State(str(self.root / "state"))

    def make(self, script: str) -> None:
        """An environment with one package; the script makes `started` when it is at work."""
        site = self.prefix / "lib/python3.12/site-packages"
        (site / "old").mkdir(parents=True)
        (site / "old/__init__.py").write_text("one")
        (self.prefix / "bin").mkdir()
        (self.prefix / "bin/python").symlink_to(sys.executable)
        (self.prefix / "pyvenv.cfg").write_text("home = /usr/bin\n")
        pip = self.root / "uv"
        pip.write_text(f"#!/bin/bash\nSITE={site} ROOT={self.root}\n{script}\n")
        pip.chmod(0o755)

    def plan(self, *, needs_root: bool = False, timeout_s: int = 600) -> Plan:
        argv = (str(self.root / "uv"), "pip", "install", "new")
        step = Command(argv, "new", needs_root=needs_root, timeout_s=timeout_s, inverse=Inverse((argv,)))
        return Plan("install new", (step,), (DistributionsInstalled(f"{self.prefix}/bin/python", ("new",)),))

    def start(self, user: str = "user") -> subprocess.Popen[bytes]:
        """The run in a process of its own; the script is at work."""
        words = (sys.executable, "-m", "tests.installers.script_run", str(self.root), user)
        with (self.root / "out").open("w") as out:  # a pipe would be open as long as what the script started
            parent = subprocess.Popen(words, cwd=REPOSITORY, stdout=out, stderr=subprocess.DEVNULL)
        self.await_file("started")
        return parent

    def await_file(self, name: str) -> None:
        until((self.root / name).exists)


def until(is_so: Callable[[], bool]) -> None:
    """Wait for it."""
    for _ in range(2000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it never came to that")


def main(root: str, user: str) -> int:
    command._END_S = SHORT_S
    process.handle_signals()
    run = ScriptRun(Path(root))
    try:
        apply(run.plan(needs_root=user == "root"), run.state)
    except GpudoctorError as error:
        print(error)  # noqa: T201 - the test reads it
    return process.exit_status()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
