"""Take back what a run changed: after a failure, after it was killed, or because the user asks for it.

Undoing can itself be killed at any instant and done again: each step leaves a path as it was before or as it is now.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Collection

from compat.base.paths import is_below
from compat.base.record import NamedTuple
from installers.at_work import Watch, require_ended, watch
from installers.command import as_root, inverses
from installers.errors import InstallError, NotUndone, plainly, refused
from installers.file_identity import Stamp, change_mode, is_same, stamp_of
from installers.journal import Change, Entry, Journal, JournalError, Ran, State, change_of, history, whole
from installers.step import kind_named
from installers.steps.command import Command, is_of_packages
from installers.take_back import put_back, remove, settle

_IN_USE = {errno.ENOENT, errno.ENOTDIR, errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY}
_REVERSAL_S = 3600  # removing a driver's packages builds an initramfs


class NoSuchRun(JournalError):
    """No run of that id can be taken back."""


class OnlyCommands(JournalError):
    """A run changed no file of its own, and nobody agreed to run other commands."""

    hint = "`gpudoctor install history` shows how to undo them; --commands does it."


class ChangedSince(InstallError):
    """What a run installed is not as it left it."""

    hint = "Undo the later run first, or add --keep-changed: it undoes the others and keeps these."

    def __init__(self, run: str, paths: tuple[str, ...]) -> None:
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        super().__init__(f"not undone, because changed since run {run}: {', '.join(paths[:3])}{more}")


class Undone(NamedTuple):
    """A run that was taken back."""

    id: str
    summary: str
    restored: int  # files and links that are as before
    left: tuple[str, ...]  # paths that somebody changed since, or whose original is gone: left as they are
    commands: tuple[Ran, ...] = ()  # what the run ran, and what of it was taken back
    kept: tuple[tuple[str, str], ...] = ()  # of `left`: the path, and where its original lies, "" for none
    killed: bool = False  # the run had been killed, and was taken back in place of what was asked for
    also: tuple[Undone, ...] = ()  # more runs that had been killed


class Reversal(NamedTuple):
    """How commands are taken back, once a person agreed to it."""

    run: Callable[[Command, Watch], None]
    as_root: tuple[str, ...] = ()  # ("sudo",): goes before what needs root


def recover(state: State) -> tuple[Undone, ...]:
    """Undo every run that was killed, the newest first; the caller holds the lock. Raises OSError, AtWork."""
    killed = [journal for journal in reversed(whole(state)) if journal.state() == "killed"]
    return tuple(undo(journal, state)._replace(killed=True) for journal in killed)


class Part(NamedTuple):
    """Which files of a run are taken back."""

    keep_changed: bool = False  # those that somebody changed since stay, in place of all
    only: tuple[str, ...] = ()  # these files, or those below these directories; () for all


WHOLE = Part()


def rollback(state: State, run: str = "", reversal: Reversal | None = None, part: Part = WHOLE) -> Undone:
    """Take back a finished run, "" for the last: its files, and with a `reversal` what its commands did.

    Where a run had been killed, that one is taken back, and no other.

    Raises NoSuchRun, ChangedSince, OnlyCommands, CommandFailed, AtWork, Busy, NotUndone, CannotChange.
    """
    with plainly(), state.lock():
        try:
            return _rollback(state, run, reversal, part)
        except OSError as error:
            raise NotUndone(f"some files could not be restored yet: {refused(error)}") from error


def _rollback(state: State, run: str, reversal: Reversal | None, part: Part) -> Undone:
    recovered = recover(state)
    if recovered:
        return recovered[0]._replace(also=recovered[1:])
    journal = finished(state, run)
    require_ended(journal)
    if journal.state() == "undone":
        return _only_commands(journal, reversal)
    foreign = {**_foreign(journal.changes()), **_changed_by_later(journal, state)}
    if part.only:
        return _only(journal, part, foreign)
    if foreign and not part.keep_changed:
        raise ChangedSince(journal.id, tuple(foreign))
    commands = journal.commands()
    if commands and not journal.changes() and reversal is None:
        raise OnlyCommands(f"run {journal.id} changed the machine only by commands: nothing was undone")
    _reverse(journal, reversal, afterwards=False)
    journal.append({"what": "undo"})
    undone = undo(journal, state, foreign)
    _reverse(journal, reversal, afterwards=True)
    return undone._replace(commands=journal.commands())


def _only(journal: Journal, part: Part, foreign: dict[str, None]) -> Undone:
    """Some files of a run, which stays a finished one: the others can be taken back later."""
    roots = tuple(os.path.abspath(one) for one in part.only)
    changes = [
        one for one in journal.changes() if one.kind != "mkdir" and any(is_below(one.path, root) for root in roots)
    ]
    if not changes:
        raise NoSuchRun(f"run {journal.id} changed no file at {', '.join(roots)}")
    lost = {**foreign, **_lost(tuple(changes), journal)}
    left = dict.fromkeys(one.path for one in changes if one.path in lost)
    if left and not part.keep_changed:
        raise ChangedSince(journal.id, tuple(left))
    known = _known(tuple(changes))
    restored: dict[str, None] = {}
    for change in reversed(changes):
        if change.path not in left:
            (restored if _revert(change, journal, known[change.path]) else left)[change.path] = None
    journal.tell(f"undone, as asked: {', '.join(restored)}")
    return Undone(journal.id, journal.entry().summary, len(restored.keys() - left.keys()), tuple(left))


def _only_commands(journal: Journal, reversal: Reversal | None) -> Undone:
    """The files of the run are back already; what its commands did may still be."""
    if reversal is None:
        raise OnlyCommands(f"the files of run {journal.id} are already as before; the effects of its commands stay")
    _reverse(journal, reversal, afterwards=False)
    _reverse(journal, reversal, afterwards=True)
    return Undone(id=journal.id, summary=journal.entry().summary, restored=0, left=(), commands=journal.commands())


def _reverse(journal: Journal, reversal: Reversal | None, *, afterwards: bool) -> None:
    """Run the inverses, the last command's first; what makes files again comes after those are put back."""
    if reversal is None:
        return
    for one in reversed(journal.commands()):
        if one.reversed or one.inverse is None or not one.inverse.commands or one.inverse.afterwards != afterwards:
            continue
        command = Command(one.argv, "", one.needs_root, timeout_s=_REVERSAL_S)
        for each in inverses(one.inverse, command):
            over = watch(journal, one.number, needs_root=one.needs_root)
            reversal.run(as_root(each, reversal.as_root), over)
        journal.append({"what": "reversed", "number": one.number})


def undo(journal: Journal, state: State, keep: Collection[str] = ()) -> Undone:
    """Put everything back but what is to stay; raises AtWork, OSError, after which it can be called again."""
    require_ended(journal)
    changes = journal.changes()
    foreign = {**dict.fromkeys(keep), **_foreign(changes), **_lost(changes, journal)}
    known_stamps = _known(changes)
    restored: dict[str, None] = {}
    for record in reversed(journal.records()):
        if record["what"] == "own" and (own := kind_named(record["kind"]).undo):
            covered = _of_packages(journal) if own(record["data"]) is True else ()
            journal.append(*({"what": "reversed", "number": number} for number in covered))
        elif record["what"] == "change":
            change = change_of(record)
            if change.kind == "mkdir":
                _remove_directory(change.path)
            elif change.path not in foreign:
                (restored if _revert(change, journal, known_stamps[change.path]) else foreign)[change.path] = None
    for record in journal.records():
        if record["what"] == "scratch":
            shutil.rmtree(record["path"], ignore_errors=True)
    _restore_times(journal)
    shutil.rmtree(state.path("staging", journal.id), ignore_errors=True)  # first: a full disk has room again
    originals = {change.path: change.backup for change in reversed(changes) if change.path in foreign}
    known = {change.backup for change in changes if change.backup}
    kept = [*originals.items(), *(("(its record is lost)", name) for name in _backups(journal) if name not in known)]
    journal.append({"what": "undone", "kept": kept})
    journal.tell("undone, but for " + ",".join(foreign) if foreign else "undone")
    _drop_backups(journal, known - {*originals.values()})
    return Undone(
        id=journal.id,
        summary=journal.entry().summary,
        restored=len(restored.keys() - foreign.keys()),
        left=tuple(foreign),
        commands=journal.commands(),
        kept=journal.kept(),
    )


def _of_packages(journal: Journal) -> tuple[int, ...]:
    """The commands whose work is taken back with the mirror of an environment's packages."""
    return tuple(one.number for one in journal.commands() if is_of_packages(one.argv) and not one.reversed)


def _backups(journal: Journal) -> tuple[str, ...]:
    with contextlib.suppress(OSError):
        return tuple(sorted(os.listdir(journal.backup)))
    return ()


def _drop_backups(journal: Journal, names: set[str]) -> None:
    """Those alone whose files are as before: nobody else has the originals of what was left as it is."""
    for name in names:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(journal.backup, name))
    with contextlib.suppress(OSError):
        os.rmdir(journal.backup)


def _lost(changes: tuple[Change, ...], journal: Journal) -> dict[str, None]:
    """Paths whose backup is gone, or is not what was replaced: what lies there now is better than nothing."""
    replaced = (change for change in changes if change.kind == "put" and change.before is not None)
    return {
        change.path: None
        for change in replaced
        if stamp_of(change.path) != change.before
        and not any(_is_original(change, path) for path in _originals(change, journal))
    }


def _originals(change: Change, journal: Journal) -> tuple[str, ...]:
    return tuple(filter(None, (change.aside, os.path.join(journal.backup, change.backup) if change.backup else "")))


def _is_original(change: Change, path: str) -> bool:
    found, before = stamp_of(path), change.before
    if found is None or before is None:
        return False
    return (found.kind, found.size_bytes, found.link) == (before.kind, before.size_bytes, before.link)


def prunable(state: State) -> tuple[Entry, ...]:
    """The runs whose records can go: neither killed nor damaged, and no original of a user's file is theirs alone."""
    return tuple(one for one in history(state) if one.state in {"done", "undone"} and not any(p for _, p in one.kept))


def prune(state: State, runs: tuple[Entry, ...]) -> None:
    """Remove the records and backups of runs, which can then be taken back no more; raises Busy, CannotChange."""
    with plainly(), state.lock():
        still = {one.id for one in prunable(state)}
        for one in runs:
            if one.id in still:
                shutil.rmtree(state.path("journal", one.id))


def finished(state: State, run: str) -> Journal:
    """A run that can be taken back, "" for the last that was finished; raises NoSuchRun.

    One that is named may be undone: it failed, or its files were taken back, and commands of it can still be reversed.
    """
    done = [one for one in whole(state) if run in {"", one.id} and (one.state() == "done" or (run and _stays(one)))]
    if not done:
        raise NoSuchRun(f"no finished run {run}".rstrip() + " is there to be taken back")
    return done[-1]


def _stays(journal: Journal) -> bool:
    reversible = [one for one in journal.commands() if one.inverse and one.inverse.commands]
    return journal.state() == "undone" and not all(one.reversed for one in reversible)


def _foreign(changes: tuple[Change, ...]) -> dict[str, None]:
    """Paths that are neither as before the run nor as it made them; never a directory, which others may fill."""
    return {path: None for path, stamps in _known(changes).items() if stamp_of(path) not in stamps}


def _known(changes: tuple[Change, ...]) -> dict[str, set[Stamp | None]]:
    """Each path's stamps before and after every change of the run."""
    known: dict[str, set[Stamp | None]] = {}
    for change in changes:
        if change.kind != "mkdir":
            known.setdefault(change.path, set()).update((change.before, change.after))
    return known


def _changed_by_later(journal: Journal, state: State) -> dict[str, None]:
    """Paths that a later run changed again, be it to what they were."""
    mine = set(journal.entry().paths)
    journals = whole(state)
    after = journals[[one.id for one in journals].index(journal.id) + 1 :]
    later = [one.entry().paths for one in after if one.state() == "done"]
    return {path: None for paths in later for path in paths if path in mine}


def _revert(change: Change, journal: Journal, known: Collection[Stamp | None]) -> bool:
    """Whether a file or link is as before now; False where somebody edited it since `_foreign` looked."""
    if change.kind == "mode":
        if change.before and change.after != change.before:
            change_mode(change.path, change.after, change.before.mode)
        return True
    if change.before is None:
        return remove(change.path, known, journal.id)
    if stamp_of(change.path) == change.before:
        settle(change.path, known, journal.id)
        return stamp_of(change.path) == change.before
    found = next(path for path in _originals(change, journal) if _is_original(change, path))
    return is_same(change.path, found) or put_back(change.path, found, known, journal.id)


def _remove_directory(path: str) -> None:
    """Unless it is gone, or somebody uses it now."""
    try:
        os.rmdir(path)
    except OSError as error:
        if error.errno not in _IN_USE:
            raise


def _restore_times(journal: Journal) -> None:
    """The first record of a directory has the time that it had before."""
    first: dict[str, int] = {}
    for record in journal.records():
        if record["what"] == "times":
            first.setdefault(record["path"], record["mtime_ns"])
    follow = os.utime not in os.supports_follow_symlinks  # Windows
    for path, mtime_ns in first.items():
        with contextlib.suppress(FileNotFoundError, PermissionError):
            os.utime(path, ns=(os.stat(path).st_atime_ns, mtime_ns), follow_symlinks=follow)
