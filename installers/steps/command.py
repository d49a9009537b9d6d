"""A command of the machine: never a shell string, and with what takes it back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from compat.base.record import NamedTuple
from installers.render.bash import joined, package_word, quote, script_word, sudo
from installers.render.comments import comment
from installers.render.powershell import called, literal, said, staged_path
from installers.step import COMMANDS, Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run


class Inverse(NamedTuple):
    """How a person takes a command back. A rollback runs it only where the user agrees, and never claims more."""

    commands: tuple[tuple[str, ...], ...] = ()  # in order, with the privilege of the command itself
    left: str = ""  # what they do not bring back, or why there are none; "" where nothing is left
    afterwards: bool = False  # it makes something again from files: it comes after those are put back
    # What the command may find there already, and the command that tells so (with one of these as its last word,
    # exit status 0): what was there before is taken out of the inverse when the command is run.
    names: tuple[str, ...] = ()
    present: tuple[str, ...] = ()


NOTHING_TO_TAKE_BACK = Inverse()


class Command(NamedTuple):
    """One command."""

    argv: tuple[str, ...]
    why: str
    needs_root: bool = False
    timeout_s: int = 600
    place: str = ""  # "" this machine; else a person types it there: "the container's host", "Windows"
    inverse: Inverse | None = None  # None: nobody thought about it, which is shown as such
    staged: tuple[str, ...] = ()  # words of `argv` that are names in the staging directory: downloaded installers
    folder: str = ""  # the variable of a person's shell that holds the directory of those; "" for the current directory
    rehearses: bool = False  # it only looks whether what comes can be done: nobody needs to type it
    unless: tuple[str, ...] = ()  # a command that succeeds where this one was run before, and would fail now
    prepares: bool = False  # what comes after it leans on it: once is enough, whatever several parts of a plan ask for


def is_of_packages(argv: tuple[str, ...]) -> bool:
    """Whether it is pip or uv at work on the packages of an environment."""
    return "pip" in {os.path.basename(argv[0]), *argv[1:3]} and not {"install", "uninstall"}.isdisjoint(argv)


def _undo(data: Any) -> bool:
    """The packages of an environment as they were mirrored; False where they stay as the run, or a person, left them.

    Where the run ended well the mirror is gone.
    """
    if not os.path.isdir(data["mirror"]):
        return False
    from installers.environment_backup import Pair, is_ours, put_back  # late: most runs change no package

    pairs = tuple(Pair(*one) for one in data["pairs"])
    if not is_ours(data["mirror"], pairs):
        return False
    for pair in pairs:
        put_back(pair)
    return True


def _taken_back(step: Command) -> str:
    return COMMANDS if step.inverse and step.inverse.commands and not step.place else ""


def _apply(step: Command, run: Run) -> None:
    if not step.place:
        run.command(step)


# --- bash -----------------------------------------------------------------------------------------------------------


def _bash(step: Command, target: Target) -> Lines:
    if step.rehearses:
        return ()
    place = comment(f"on {step.place}:") if step.place else ()
    staged = step.staged if step.folder else ()
    words = (f'"${step.folder}"/{quote(one)}' if one in staged else package_word(one) for one in step.argv)
    return (*place, f"{_guard(step)}{sudo(target, needs_root=step.needs_root, place=step.place)}{' '.join(words)}")


def _guard(step: Command) -> str:
    return f"{joined(step.unless)} >/dev/null 2>&1 || " if step.unless else ""


def _bash_script(step: Command, target: Target) -> Lines:
    """What another machine must do is shown, not done."""
    if step.place:
        return tuple(f"say {quote(f'   {line}')}" for line in _bash(step, target))
    words = " ".join(script_word(word) if word in step.staged else package_word(word) for word in step.argv)
    by = "as_root " if step.needs_root else "" if step.staged else "as_user "
    return (*_because(step), f"{_guard(step)}{by}{words}")


def _bash_functions(step: Command) -> Lines:
    if step.place or (step.staged and not step.needs_root):
        return ()
    return ("as_root.sh" if step.needs_root else "as_user.sh",)


def _because(step: Command) -> Lines:
    return comment("nothing changes here: what is there is removed only if this works") if step.rehearses else ()


# --- PowerShell -----------------------------------------------------------------------------------------------------


def _powershell(step: Command, _: Target) -> Lines:
    if step.rehearses:
        return ()
    if step.staged:
        return _installer(step, literal(f".\\{step.argv[0]}"))
    place = comment(f"on {step.place}:") if step.place else ()
    return (*place, called(step.argv))


def _powershell_script(step: Command, target: Target) -> Lines:
    """PowerShell goes on after a program that fails, unless its exit status is looked at."""
    if step.staged:
        return _installer(step, staged_path(step.argv[0]))
    if step.place:
        return said(_powershell(step, target))
    return (
        *_because(step),
        called(step.argv),
        f"if ($LASTEXITCODE -ne 0) {{ throw {literal(f'{step.argv[0]} failed')} }}",
    )


def _installer(step: Command, file: str) -> Lines:
    """A program with windows, for which PowerShell does not wait unless told to; `file` is an expression.

    Start-Process of 5.1 joins its arguments with blanks and quotes none of them.
    """
    name, *words = step.argv
    told = ", ".join(literal(f'"{one}"' if set(one) & set(" \t") else one) for one in words)
    start = f"Start-Process -Wait -PassThru -FilePath {file}" + (f" -ArgumentList {told}" if told else "")
    return (f"$ended = {start}", f"if ($ended.ExitCode -ne 0) {{ throw {literal(f'{name} failed')} }}")


def _restores(step: Command, target: Target) -> Lines:
    if step.inverse is None or step.place or target.os_family == "windows":
        return ()
    by = sudo(target, needs_root=step.needs_root)
    return tuple(f"{by}{' '.join(map(package_word, argv))}" for argv in step.inverse.commands)


KIND = StepType(
    Command,
    title=lambda step: step.why,
    reason=lambda _: "",
    bash=Shell(_bash, _bash_script, functions=_bash_functions),
    powershell=Shell(_powershell, _powershell_script),
    apply=_apply,
    runs=True,
    elsewhere=lambda step: step.place != "",
    undo=_undo,
    restores=_restores,
    taken_back=_taken_back,
)
