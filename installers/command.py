"""Run a command of a plan, and settle beforehand how it would be taken back."""

from __future__ import annotations

import subprocess

from installers.refusal import InstallError
from installers.steps.command import Command, Inverse

_LOOK_S = 60


class CommandFailed(InstallError):
    """A command failed; the files that were changed before it are as they were."""

    hint = "Run the command by itself to see what it says."


def run_command(command: Command, output: int | None = None) -> None:
    """Run a command as a child, with our terminal or its output to another descriptor; raises CommandFailed."""
    line = " ".join(command.argv)
    try:
        code = subprocess.run(command.argv, check=False, stdout=output, timeout=command.timeout_s).returncode
    except subprocess.TimeoutExpired as error:
        raise CommandFailed(f"`{line}` did not end within {command.timeout_s} s") from error
    except OSError as error:
        raise CommandFailed(f"`{line}` cannot be run: {error.strerror}") from error
    if code:
        raise CommandFailed(f"`{line}` failed with exit status {code}")


def as_root(command: Command, prefix: tuple[str, ...]) -> Command:
    """With what goes before commands that need root, ("sudo",)."""
    return command._replace(argv=(*prefix, *command.argv)) if command.needs_root else command


def settled(command: Command) -> Command:
    """With an inverse that leaves alone what is there already, before the command is run."""
    inverse = command.inverse
    if inverse is None or not inverse.present:
        return command
    there = tuple(name for name in inverse.names if _is_there(name, inverse.present))
    if not there:
        return command
    kept = tuple(filter(None, (_without(argv, there, inverse.names) for argv in inverse.commands)))
    left = f"{', '.join(there)} {'was' if len(there) == 1 else 'were'} there before, and no earlier release comes back"
    return command._replace(inverse=inverse._replace(commands=kept, left=left))


def _is_there(name: str, present: tuple[str, ...]) -> bool:
    """Where nobody can tell, it counts as there: nothing of the user's is removed on a guess."""
    try:
        done = subprocess.run((*present, name), check=False, capture_output=True, timeout=_LOOK_S)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode == 0


def _without(argv: tuple[str, ...], there: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """A command without those names; () where no name is left to it."""
    kept = tuple(word for word in argv if word not in there)
    return kept if set(kept) & set(names) or not set(argv) & set(names) else ()


def inverses(inverse: Inverse, command: Command) -> tuple[Command, ...]:
    """The commands that take a command back, with its privilege and patience."""
    return tuple(command._replace(argv=argv, inverse=None, staged=()) for argv in inverse.commands)
