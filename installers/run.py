"""One plan being carried out: what a step may use for it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from compat.base.record import NamedTuple
from installers.at_work import Watch, watch
from installers.command import as_root, is_done, run_command, settled
from installers.environment_backup import environments_of, keep_all, touch
from installers.fetch import PATIENT, Limits
from installers.file_identity import link_or_copy
from installers.journal import Journal, State, record_of_command
from installers.plan import Plan
from installers.progress import Progress, Report, silent
from installers.step import Step, kind_of
from installers.steps.command import Command, is_of_packages
from installers.transaction import SCRATCH_NAME, Item, Transaction


class ExecutionOptions(NamedTuple):
    """What a run may use besides the file system."""

    report: Report = silent
    limits: Limits = PATIENT
    run: Callable[[Command, Watch], None] = run_command
    as_root: tuple[str, ...] = ()  # ("sudo",) once the user agreed: goes before commands that need root


MEANS = ExecutionOptions()


class Run:
    """The run of a journal."""

    def __init__(self, journal: Journal, state: State, means: ExecutionOptions) -> None:
        self.archives: dict[str, str] = {}  # name in the staging directory: file that lies elsewhere
        self.report = means.report
        self.limits = means.limits
        self._state = state
        self._means = means
        self._staging = state.path("staging", journal.id)
        self._journal = journal
        self._number = 0
        self._mirrors: tuple[str, ...] = ()
        self._transaction = Transaction(journal)
        self.put: Callable[[Sequence[Item]], None] = self._transaction.put
        self.change_modes = self._transaction.change_modes

    def steps(self, plan: Plan) -> tuple[Step, ...]:
        """Carry out each step; those that only the user can do come back."""
        os.makedirs(self._staging, mode=0o700)
        self._mirrors = self._keep_packages(plan)
        for step in plan.steps:
            kind = kind_of(step)
            if kind.apply:
                self._journal.tell(kind.title(step))
                kind.apply(step, self)
        self._transaction.close()
        for path in self._mirrors:  # a rename first: what is half removed must never be put back
            os.rename(path, f"{path}.done")
            shutil.rmtree(f"{path}.done", ignore_errors=True)
        return tuple(step for step in plan.steps if kind_of(step).is_left(step))

    def _keep_packages(self, plan: Plan) -> tuple[str, ...]:
        """Mirror the environments that pip or uv will change, where that can be; where the mirrors lie."""
        changing = any(isinstance(step, Command) and is_of_packages(step.argv) for step in plan.steps)
        found = []
        for prefix in map(os.path.realpath, environments_of(plan) if changing else ()):
            mirror = os.path.join(prefix, f"{SCRATCH_NAME}{self._journal.id}-kept")
            scratch = ({"what": "scratch", "path": path} for path in (mirror, f"{mirror}.done"))
            self._journal.append({"what": "times", "path": prefix, "mtime_ns": os.stat(prefix).st_mtime_ns}, *scratch)
            pairs = keep_all(prefix, mirror)
            if pairs:
                self.record("command", {"mirror": mirror, "pairs": pairs})
                found.append(mirror)
            else:
                shutil.rmtree(mirror, ignore_errors=True)
        return tuple(found)

    def staged(self, name: str) -> str:
        """A path in the staging directory, "" for the directory itself."""
        return os.path.join(self._staging, *name.split("/")) if name else self._staging

    def downloads(self) -> str:
        """The directory in which what was fetched is kept, should the run fail."""
        os.makedirs(self._state.path("downloads"), mode=0o700, exist_ok=True)
        return self._state.path("downloads")

    def record(self, kind: str, data: Any) -> None:
        """Write down, before it is done, what the kind of step of that file name takes back by itself.

        `data` is whatever JSON can say; `Kind.undo` gets it, also where the step was not carried out yet.
        """
        self._journal.append({"what": "own", "kind": kind, "data": data})

    def command(self, command: Command) -> None:
        """Run a command, and write down first what takes it back; raises CommandFailed."""
        if command.unless and is_done(command):
            self._journal.tell("it already exists")
            return
        self._number += 1
        command = settled(command._replace(argv=tuple(map(self._word_of(command), command.argv))))
        self._journal.append(record_of_command(self._number, command))
        self.report(Progress("run", command.argv[0], 0, None))
        self._journal.tell(f"run: {shlex.join(command.argv)}")
        beat = partial(touch, self._mirrors)
        over = watch(self._journal, self._number, needs_root=command.needs_root, beat=beat)
        self._means.run(as_root(command, self._means.as_root), over)
        self._journal.append({"what": "ended", "number": self._number})

    def _word_of(self, command: Command) -> Callable[[str], str]:
        """A downloaded installer by its path, under its own name: Windows runs nothing that is not called .exe."""
        return lambda word: self._program(word) if word in command.staged else word

    def _program(self, name: str) -> str:
        path = self.staged(name)
        if not os.path.lexists(path):
            link_or_copy(os.path.abspath(self.archives[name]), path)
        return path
