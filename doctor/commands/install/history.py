"""What `gpudoctor install history` and `rollback` do, apart from printing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable

from compat.base.choice import one_of
from doctor.model.encode import encode
from doctor.output.formats.json import encoded
from installers.apply import stay_done, to_type
from installers.command import run_command
from installers.journal import Entry, Ran, State, history, whole
from installers.step import COMMANDS, Step, kind_of
from installers.undo import WHOLE, Part, Reversal, Undone, finished, prunable, prune, rollback

SCHEMA = "gpudoctor.history/1"


def listed(style: str, *, redact: bool = False) -> str:
    """The runs, the newest first, and what takes their commands back; raises NoSuchName, JournalError."""
    one_of("format", style, ("text", "json"))
    runs = history(State())
    if redact:
        from doctor.host.choice import host_of  # late, as the patterns of redaction
        from doctor.output.redact import redact as redacted

        runs = redacted(runs, host_of(None))
    if style == "json":
        return encoded({"schema": SCHEMA, "runs": encode(runs)}) + "\n"
    lines = [line for run in runs for line in _lines(run)]
    return "".join(f"{line}\n" for line in lines or ["nothing was installed with --apply"])


def _lines(run: Entry) -> tuple[str, ...]:
    counts = [_counted(len(run.paths), "file")] if run.paths or not run.commands else []
    counts += [_counted(len(run.commands), "command")] if run.commands else []
    if run.state == "damaged":
        return (
            f"{run.id}  {run.state}  {run.summary}",
            f"    replaced files: {State().path('journal', run.id)}/backup",
        )
    first = f"{run.id}  {run.state.ljust(6)}  {run.summary} ({', '.join(counts)})"
    back = (f"to undo it: gpudoctor install rollback {run.id}",) if run.state == "killed" else ()
    return (first, *back, *map(_of_kept, run.kept), *(line for one in run.commands for line in _of_command(one)))


def _of_kept(kept: tuple[str, str]) -> str:
    path, original = kept
    return f"   not changed: {path}" + (f"; its original is {original}" if original else "")


def told_of_killed(undone: Undone) -> tuple[str, ...]:
    """What became of a run that had been killed, for the run after it to say."""
    what = "was undone as far as possible" if undone.left else "was undone"
    lines = [f"An earlier run that was killed {what}: {undone.id}, {undone.summary}"]
    return tuple(filter(None, (*lines, *_left_alone(undone), stay_done(undone.commands))))


def _left_alone(undone: Undone) -> tuple[str, ...]:
    """Each path that is not as before, and where its original lies."""
    originals = dict(undone.kept)
    return tuple(
        f"not changed, because it was edited after the run: {path}"
        + (f" (the replaced file is {originals[path]})" if originals.get(path) else "")
        for path in undone.left
    )


def pruned(ask: Callable[[str], bool]) -> str:
    """Remove the records of runs, if the user agrees; raises Busy."""
    state = State()
    runs = prunable(state)
    stay = [one for one in history(state) if one.id not in {run.id for run in runs}]
    note = f"; {_counted(len(stay), 'run')} that are incomplete or contain original files stay" if stay else ""
    if not runs:
        return f"nothing to prune{note}\n"
    if not ask(f"Remove the records and backups of {_counted(len(runs), 'run')}? You cannot undo them after that."):
        return "nothing was removed\n"
    prune(state, runs)
    return f"removed: {_counted(len(runs), 'run')}{note}\n"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _of_command(one: Ran) -> tuple[str, ...]:
    state = "undone" if one.reversed else "ran" if one.ended else "failed or was killed"
    lines = [f"    {state}: {shlex.join(one.argv)}"]
    if one.reversed:
        return tuple(lines)
    if one.inverse is None:
        return (*lines, "      unknown how to undo it")
    lines += [f"      back: {to_type(argv, needs_root=one.needs_root)}" for argv in one.inverse.commands]
    return (*lines, *([f"      note: {one.inverse.left}"] if one.inverse.left else []))


def way_back(run: str, steps: Iterable[Step]) -> str:
    """What to type to take a run back, "" where nothing does: --commands where it ran some that can be taken back."""
    ways = {kind_of(step).taken_back(step) for step in steps} - {""}
    return f"To undo: gpudoctor install rollback {run}{' --commands' * (COMMANDS in ways)}" if ways else ""


def to_reverse(run: str) -> tuple[str, ...]:
    """The commands that would take back those of a run, the first to be run first; raises NoSuchRun, JournalError."""
    if any(one.state() == "killed" for one in whole(State())):
        return ()  # that run comes first, and alone
    inverses = [one for one in reversed(finished(State(), run).commands()) if one.inverse and not one.reversed]
    ordered = sorted(inverses, key=lambda one: one.inverse is not None and one.inverse.afterwards)
    return tuple(
        to_type(argv, needs_root=one.needs_root) for one in ordered if one.inverse for argv in one.inverse.commands
    )


def taken_back(
    run: str, *, commands: bool = False, as_root: tuple[str, ...] = (), part: Part = WHOLE
) -> tuple[str, int]:
    """What was put back, and the exit status: 0 all of it, 1 what commands did stays, in part or whole.

    Raises NoSuchRun, ChangedSince, OnlyCommands, CommandFailed, Busy, JournalError.
    """
    reversal = Reversal(run_command, as_root) if commands else None
    undone = rollback(State(), run, reversal, part)
    unfinished = any(one.left or stay_done(one.commands) for one in (undone, *undone.also))
    return _told(undone, run), 1 if unfinished else 0


def _told(undone: Undone, run: str) -> str:
    if undone.killed:
        lines = [line for one in (undone, *undone.also) for line in told_of_killed(one)]
        if run not in {one.id for one in (undone, *undone.also)}:
            lines.append("No other run was undone. To undo one, give its number.")
        return "".join(f"{line}\n" for line in lines)
    back = sum(one.reversed for one in undone.commands)
    done = f"{_counted(undone.restored, 'file')} as before" if undone.restored or not back else ""
    reversed_ = f"{_counted(back, 'command')} reversed" if back else ""
    lines = [f"undone: {undone.summary} ({', '.join(filter(None, (done, reversed_)))})", *_left_alone(undone)]
    inverses = [one.inverse for one in undone.commands if one.reversed and one.inverse]
    lines += [f"note: {inverse.left}" for inverse in inverses if inverse.left]
    stays = stay_done(undone.commands)
    return "".join(f"{line}\n" for line in (*lines, *([f"not undone: {stays}"] if stays else [])))
