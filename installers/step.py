"""What a kind of step is. One file each under `steps/`, with the type of the step and `KIND`: nothing else knows it.

A step is data; its kind says how it reads, what is typed for it in either shell, what a script does, and how it is
carried out and taken back. Printing, scripting and applying ask `kind_of`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from compat.base.discover import load_one, names_in
from compat.base.record import NamedTuple
from installers import steps as steps_package

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run

Lines = tuple[str, ...]
FILES, COMMANDS = "files", "commands"  # what a rollback puts back by itself, and what only with --commands


class Step(Protocol):
    """Any step: a NamedTuple of one of the kinds."""

    @property
    def why(self) -> str:
        """The reason, as a part of a sentence; "" where the step says it itself."""


def nothing(*_: Any) -> Lines:
    """No lines."""
    return ()


class Shell(NamedTuple):
    """How a step stands in one shell."""

    typed: Callable[[Any, Target], Lines]  # what a person pastes
    scripted: Callable[[Any, Target], Lines] | None = None  # what a script does; None: what is typed
    first: Callable[[Any, Target], Lines] = nothing  # looked at before the first step: what would stop the script
    functions: Callable[[Any], Lines] = nothing  # files of render/functions with what the script calls for it
    last: Lines = ()  # after the last step

    def script(self, step: Step, target: Target) -> Lines:
        """What a script does."""
        return (self.scripted or self.typed)(step, target)


class StepType(NamedTuple):
    """One kind of step: what every one must say, and what some do."""

    step: type
    title: Callable[[Any], str]  # as text, one line, without a full stop
    bash: Shell
    powershell: Shell
    # Carries it out, with what a run has; None for what only a person can do, as `elsewhere` says of some.
    apply: Callable[[Any, Run], None] | None = None
    elsewhere: Callable[[Any], bool] = lambda _: False
    # Takes back what it wrote with `Run.record`, changes by `Run.put` being taken back anyway; True: its commands, too.
    undo: Callable[[Any], object] | None = None
    reason: Callable[[Any], str] = lambda step: str(step.why)  # "" where the title says it
    told: Callable[[Any], Lines] | None = None  # the lines below the title, where they differ from what is typed
    refuse: Callable[[Any], None] = lambda _: None  # raises InstallError for what can be known before anything is done
    writes: Callable[[Any], Lines] = nothing  # directories in which it must be able to write
    fills: Callable[[Any], Lines] = nothing  # directories into which what was fetched is unpacked
    size_bytes: Callable[[Any], int] = lambda _: 0  # of what it fetches; 0 where unknown
    keeps: Callable[[Any, Target], Lines] = nothing  # what a person types beforehand to keep what it will replace
    restores: Callable[[Any, Target], Lines] = nothing  # what a person types to undo it, once `keeps` was typed
    taken_back: Callable[[Any], str] = lambda _: ""  # FILES or COMMANDS, "" for nothing to take back
    runs: bool = False  # it runs a command, for which root may be asked
    staged: bool = False  # it works in the staging directory
    is_note: bool = False  # nobody does anything for it: it has no number
    configures: bool = False  # nothing new comes onto the machine by it

    def is_left(self, step: Step) -> bool:
        """Whether a step is for the user to do."""
        return self.apply is None or self.elsewhere(step)

    @staticmethod
    def needs_root(step: Step) -> bool:
        """Whether it takes root, in so far as nothing else is shown by the place that it writes to."""
        return bool(getattr(step, "needs_root", False))


def kind_of(step: Step) -> StepType:
    """The kind of a step, by the file that its type stands in."""
    return kind_named(type(step).__module__.rpartition(".")[2])


def kind_named(name: str) -> StepType:
    """The kind of a file's name; raises DataError, ModuleNotFoundError."""
    return load_one(steps_package, name, "KIND", StepType)


def every_kind() -> tuple[StepType, ...]:
    """All kinds there are; raises DataError for a file without one, and for none at all."""
    return tuple(map(kind_named, names_in(steps_package)))
