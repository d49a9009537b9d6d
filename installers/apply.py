"""Carry out a plan: all of it, or nothing."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from compat.base.record import NamedTuple
from installers.command import require_trusted
from installers.errors import InstallError, NotUndone, plainly, refused, require_space, require_writable
from installers.journal import Journal, Ran, State
from installers.plan import Plan
from installers.run import MEANS, ExecutionOptions, Run
from installers.step import Step, kind_of
from installers.steps.command import Command, Inverse
from installers.undo import Undone, recover, undo

_UMASK = 0o022


class Interrupted(InstallError):
    """A signal stopped a run (Ctrl-C, SIGTERM, SIGHUP)."""


class Applied(NamedTuple):
    """A plan that was carried out."""

    id: str
    log: str
    recovered: tuple[Undone, ...]  # earlier runs that had been killed, and were undone first
    left: tuple[Step, ...]  # for the user: settings of the shell, steps by hand; and the checks


def apply(plan: Plan, state: State, means: ExecutionOptions = MEANS) -> Applied:
    """Carry out a plan; raises InstallError, Busy, JournalError, after which everything is as before.

    But after AtWork, a later run or a rollback takes it back.
    """
    with plainly(), _for_all_to_read(), state.lock():
        recovered = recover(state)
        shutil.rmtree(state.path("staging"), ignore_errors=True)
        refuse_early(plan, state)
        journal = state.begin(plan.summary)
        journal.tell(plan.summary)
        try:
            left = Run(journal, state, means).steps(plan)
            journal.append({"what": "commit"})
            journal.tell("done")
        except KeyboardInterrupt as error:
            interrupted = Interrupted("interrupted: the files are as before")
            _undo(journal, state, interrupted)
            raise interrupted from error
        except BaseException as error:
            _undo(journal, state, error)
            raise
        for name in ("staging", "downloads"):  # after a failure, what was fetched is kept for the next run
            shutil.rmtree(state.path(name), ignore_errors=True)
        return Applied(journal.id, journal.log, recovered, left)


@contextmanager
def _for_all_to_read() -> Iterator[None]:
    """As in a script: with root's umask of 077 nobody else could use what is installed, with 0 everybody change it."""
    before = os.umask(_UMASK)
    try:
        yield
    finally:
        os.umask(before)


def _undo(journal: Journal, state: State, reason: BaseException) -> None:
    journal.tell(f"{type(reason).__name__}: {reason}" if isinstance(reason, Exception) else "interrupted")
    try:
        undone = undo(journal, state)
        stays = stay_done(undone.commands)
        if any(one.reversed for one in undone.commands) and isinstance(reason, InstallError):
            reason.hint = f"{reason.hint} The packages of the environment are as before.".strip()
        if stays and isinstance(reason, InstallError):
            reversible = any(one.inverse and one.inverse.commands for one in undone.commands)
            back = f" To undo everything: gpudoctor install rollback {journal.id} --commands" if reversible else ""
            reason.hint = f"{reason.hint} {stays}{back}".strip()
        if isinstance(reason, InstallError):
            reason.hint = f"{reason.hint} Log: {journal.log}".strip()
    except OSError as error:
        raise NotUndone(f"{reason}; some files could not be restored yet: {refused(error)}") from error


def refuse_early(plan: Plan, state: State) -> None:
    """Raise InstallError for what can be known before anything is done: digests, permissions, space, whose programs."""
    kinds = [(step, kind_of(step)) for step in plan.steps]
    for step, kind in kinds:
        kind.refuse(step)
        if isinstance(step, Command) and not step.place:
            require_trusted(step)
        for path in kind.writes(step):
            require_writable(path)
    known_bytes = sum(kind.size_bytes(step) for step, kind in kinds)
    for path in dict.fromkeys((state.directory, *(path for step, kind in kinds for path in kind.fills(step)))):
        require_space(path, known_bytes)


def to_type(argv: tuple[str, ...], *, needs_root: bool) -> str:
    """A command as this user types it."""
    is_root = not hasattr(os, "geteuid") or os.geteuid() == 0
    return f"{'sudo ' if needs_root and not is_root else ''}{shlex.join(argv)}"


def stay_done(commands: tuple[Ran, ...]) -> str:
    """What a run that was taken back leaves behind, and how a person takes that back; "" where it is nothing."""
    sentences = []
    for one in reversed(commands):
        inverse = one.inverse or Inverse(left="unknown how to undo it")
        if one.reversed or not (inverse.commands or inverse.left):
            continue
        typed = "`, `".join(to_type(argv, needs_root=one.needs_root) for argv in inverse.commands)
        if inverse.afterwards:
            sentences.append(f"What `{shlex.join(one.argv)}` made is of the files as they were: run `{typed}` once.")
            continue
        how = f"; undo it with `{typed}`" if inverse.commands else ""
        left = f" ({inverse.left})" if inverse.left else ""
        what = "was not undone" if one.ended else "may have done part of its work"
        sentences.append(f"`{shlex.join(one.argv)}` {what}{how}{left}.")
    return " ".join(sentences)
