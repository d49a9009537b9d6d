"""What `gpudoctor install history` and `rollback` do, apart from printing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable

from doctor.choice import one_of
from doctor.encode import encode
from installers.apply import stay_done, to_type
from installers.command import run_command
from installers.journal import Entry, Ran, State, history
from installers.plan import ChangeMode, Command, CopyTree, EditText, MakeLink, RefreshLoader, Step, WriteFile
from installers.undo import Reversal, Undone, finished, rollback

SCHEMA = "gpudoctor.history/1"


def listed(style: str) -> str:
    """The runs, the newest first, and what takes their commands back; raises NoSuchName, JournalError."""
    one_of("format", style, ("text", "json"))
    runs = history(State())
    if style == "json":
        return json.dumps({"schema": SCHEMA, "runs": encode(runs)}, indent=2, ensure_ascii=False) + "\n"
    lines = [line for run in runs for line in _lines(run)]
    return "".join(f"{line}\n" for line in lines or ["nothing was installed with --apply"])


def _lines(run: Entry) -> tuple[str, ...]:
    counts = [_counted(len(run.paths), "file")] if run.paths or not run.commands else []
    counts += [_counted(len(run.commands), "command")] if run.commands else []
    first = f"{run.id}  {run.state.ljust(6)}  {run.summary} ({', '.join(counts)})"
    return (first, *(line for one in run.commands for line in _of_command(one)))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _of_command(one: Ran) -> tuple[str, ...]:
    state = "taken back" if one.reversed else "ran" if one.ended else "failed or was killed"
    lines = [f"    {state}: {shlex.join(one.argv)}"]
    if one.reversed:
        return tuple(lines)
    if one.inverse is None:
        return (*lines, "      nobody knows what takes it back")
    lines += [f"      back: {to_type(argv, needs_root=one.needs_root)}" for argv in one.inverse.commands]
    return (*lines, *([f"      note: {one.inverse.left}"] if one.inverse.left else []))


def way_back(run: str, steps: Iterable[Step]) -> str:
    """What to type to take a run back, "" where nothing does: --commands where it ran some that can be taken back."""
    steps = tuple(steps)
    inverses = [one.inverse for one in steps if isinstance(one, Command) and not one.place]
    reversible = any(inverse is not None and inverse.commands for inverse in inverses)
    reversible = reversible or any(isinstance(one, RefreshLoader) for one in steps)
    changed = any(isinstance(one, (CopyTree, WriteFile, EditText, MakeLink, ChangeMode)) for one in steps)
    if not (changed or reversible):
        return ""
    return f"To take it back: gpudoctor install rollback {run}{' --commands' if reversible else ''}"


def to_reverse(run: str) -> tuple[str, ...]:
    """The commands that would take back those of a run, the first to be run first; raises NoSuchRun, JournalError."""
    inverses = [one for one in reversed(finished(State(), run).commands()) if one.inverse and not one.reversed]
    ordered = sorted(inverses, key=lambda one: one.inverse is not None and one.inverse.afterwards)
    return tuple(
        to_type(argv, needs_root=one.needs_root) for one in ordered if one.inverse for argv in one.inverse.commands
    )


def taken_back(run: str, *, commands: bool = False, as_root: tuple[str, ...] = ()) -> tuple[str, int]:
    """What was put back, and the exit status: 0 all of it, 1 what commands did stays, in part or whole.

    Raises NoSuchRun, ChangedSince, OnlyCommands, CommandFailed, Busy, JournalError.
    """
    reversal = Reversal(run_command, as_root) if commands else None
    undone = rollback(State(), run, reversal)
    return _told(undone), 1 if stay_done(undone.commands) else 0


def _told(undone: Undone) -> str:
    left = f"; left as they are: {', '.join(undone.left)}" if undone.left else ""
    back = sum(one.reversed for one in undone.commands)
    done = f"{_counted(undone.restored, 'file')} as before" if undone.restored or not back else ""
    reversed_ = f"{_counted(back, 'command')} reversed" if back else ""
    lines = [f"taken back: {undone.summary} ({', '.join(filter(None, (done, reversed_)))}{left})"]
    inverses = [one.inverse for one in undone.commands if one.reversed and one.inverse]
    lines += [f"note: {inverse.left}" for inverse in inverses if inverse.left]
    stays = stay_done(undone.commands)
    return "".join(f"{line}\n" for line in (*lines, *([f"not taken back: {stays}"] if stays else [])))
