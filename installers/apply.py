"""Carry out a plan: all of it, or nothing."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial

from compat.record import NamedTuple
from installers.command import as_root, run_command, settled
from installers.digest import InstallError, verify_file
from installers.edit import merged
from installers.fetch import PATIENT, Limits, fetch, require_digest
from installers.journal import Journal, Ran, State, record_of_command
from installers.plan import (
    ByHand,
    ChangeMode,
    Check,
    Command,
    CopyTree,
    Download,
    EditText,
    Extract,
    Inverse,
    MakeLink,
    Plan,
    RefreshLoader,
    RemoveFromPath,
    SetVariable,
    Step,
    UnsetVariable,
    UseFile,
    WriteFile,
)
from installers.progress import Progress, Report, silent
from installers.stamp import link_or_copy
from installers.suits import require_cuda, require_machine
from installers.transaction import Item, Transaction
from installers.undo import Undone, recover, undo
from installers.unpack import unpack

_FOR_THE_USER = (ByHand, SetVariable, UnsetVariable, RemoveFromPath, Check)
_UNPACKED_RATIO = 4  # an archive of CUDA libraries unpacks to less than this many times its size
_BITS = {"r": 0o444, "w": 0o222, "x": 0o111}
_WHO = {"u": 0o700, "g": 0o070, "o": 0o007, "a": 0o777}
_LDCONFIG = Command(
    ("ldconfig",), "the loader finds what its cache lists", inverse=Inverse((("ldconfig",),), afterwards=True)
)
_LARGEST_TEXT_BYTES = 16 << 20  # of a file that settings are merged into


class CannotChange(InstallError):
    """The system refuses a change: no space, no permission, a read-only file system."""


class NoToolkit(InstallError):
    """The directory that an archive belongs into is not there."""

    hint = "Install the CUDA toolkit first; --cuda-home names another directory, --prefix one of its own."

    def __init__(self, place: str) -> None:
        super().__init__(f"{place} is not there")


class NotInArchive(InstallError):
    """An archive does not hold what the plan copies from it."""

    hint = "Most likely this is another archive than its name says: compare it with the one that the plan names."


class NotUndone(InstallError):
    """A run failed, and putting back what it changed failed as well; its journal and backups are kept."""

    hint = "Once that is mended, run any `gpudoctor install` that changes something: it puts back the rest first."


class Applied(NamedTuple):
    """A plan that was carried out."""

    id: str
    recovered: tuple[Undone, ...]  # earlier runs that had been killed, and were undone first
    left: tuple[Step, ...]  # for the user: settings of the shell, steps by hand; and the checks


class Means(NamedTuple):
    """What a run may use besides the file system."""

    report: Report = silent
    limits: Limits = PATIENT
    run: Callable[[Command], None] = run_command
    as_root: tuple[str, ...] = ()  # ("sudo",) once the user agreed: goes before commands that need root


MEANS = Means()


def apply(plan: Plan, state: State, means: Means = MEANS) -> Applied:
    """Carry out a plan; raises InstallError, Busy, JournalError, after which everything is as before."""
    with _plainly(), state.lock():
        recovered = recover(state)
        shutil.rmtree(state.path("staging"), ignore_errors=True)
        refuse_early(plan, state)
        journal = state.begin(plan.summary)
        try:
            left = _Run(journal, state, means).steps(plan)
            journal.append({"what": "commit"})
        except BaseException as error:  # an interrupt, too
            _undo(journal, state, error)
            raise
        for name in ("staging", "downloads"):  # after a failure, what was fetched is kept for the next run
            shutil.rmtree(state.path(name), ignore_errors=True)
        return Applied(journal.id, recovered, left)


def _undo(journal: Journal, state: State, reason: BaseException) -> None:
    try:
        undone = undo(journal, state)
        stays = stay_done(undone.commands)
        if stays and isinstance(reason, InstallError):
            reversible = any(one.inverse and one.inverse.commands for one in undone.commands)
            back = f" All of it: gpudoctor install rollback {journal.id} --commands" if reversible else ""
            reason.hint = f"{reason.hint} {stays}{back}".strip()
    except OSError as error:
        raise NotUndone(f"{reason}; and not everything could be put back yet: {_refused(error)}") from error


def refuse_early(plan: Plan, state: State) -> None:
    """Raise InstallError for what can be known before anything is fetched: digests, permissions, space."""
    for step in plan.steps:
        if isinstance(step, Download):
            require_digest(step)
        for path in _targets(step):
            _require_writable(path)
        if isinstance(step, CopyTree) and step.cuda_major:
            if not step.is_new and not os.path.isdir(os.path.dirname(step.into)):
                raise NoToolkit(os.path.dirname(step.into))
            for headers in (step.into, os.path.join(step.into, "include")):
                require_cuda(headers, step.cuda_major)
    known_bytes = sum(step.size_bytes or 0 for step in plan.steps if isinstance(step, Download))
    _require_space(state.directory, known_bytes)
    for into in {step.into for step in plan.steps if isinstance(step, CopyTree)}:
        _require_space(into, known_bytes)


def _targets(step: Step) -> tuple[str, ...]:
    if isinstance(step, CopyTree):
        return (step.into,)
    if isinstance(step, (WriteFile, EditText, MakeLink)):
        return (os.path.dirname(os.path.realpath(os.path.expanduser(step.path))),)
    return ()


def _nearest(path: str) -> str:
    """The directory itself, or the nearest one above that is there."""
    while not os.path.lexists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def _require_writable(path: str) -> None:
    nearest = _nearest(path)
    if not os.path.isdir(nearest):
        raise CannotChange(f"{nearest} is no directory")
    if hasattr(os, "statvfs") and os.statvfs(nearest).f_flag & os.ST_RDONLY:
        raise _refused(OSError(errno.EROFS, "", nearest))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise _refused(OSError(errno.EACCES, "", nearest))


def _require_space(path: str, needed_bytes: int) -> None:
    nearest = _nearest(path)
    free_bytes = shutil.disk_usage(nearest).free
    if free_bytes < needed_bytes:
        raise _refused(OSError(errno.ENOSPC, "", nearest))


@contextlib.contextmanager
def _plainly() -> Iterator[None]:
    """Errors of the system as one line that says where and what to do."""
    try:
        yield
    except OSError as error:
        raise _refused(error) from error


def _refused(error: OSError) -> CannotChange:
    what, hint = {
        errno.ENOSPC: ("no space is left", "Free some space there, or choose another directory."),
        errno.EDQUOT: ("the disk quota is used up", "Free some space there, or choose another directory."),
        errno.EROFS: ("the file system is read-only", "Mount it for writing, or choose another directory."),
        errno.EACCES: ("permission denied", "Run the same command as root, or choose a directory of your own."),
        errno.EPERM: ("permission denied", "Run the same command as root, or choose a directory of your own."),
        errno.EBUSY: ("it is in use", "End the programs that use it, then run the same command again."),
    }.get(error.errno or 0, (error.strerror or str(error), ""))
    where = error.filename2 or error.filename
    refused = CannotChange(f"{os.fsdecode(where)}: {what}" if isinstance(where, (str, bytes)) else what)
    refused.hint = hint
    return refused


class _Run:
    """One plan being carried out."""

    def __init__(self, journal: Journal, state: State, means: Means) -> None:
        self._state = state
        self._means = means
        self._staging = state.path("staging", journal.id)
        self._archives: dict[str, str] = {}  # name in the staging directory: file of the user's
        self._journal = journal
        self._number = 0
        self._transaction = Transaction(journal)

    def steps(self, plan: Plan) -> tuple[Step, ...]:
        """Carry out each step; those that only the user can do come back."""
        os.makedirs(self._staging, mode=0o700)
        for step in plan.steps:
            self._step(step)
        self._transaction.close()
        return tuple(step for step in plan.steps if is_left(step))

    def _step(self, step: Step) -> None:
        if isinstance(step, Download):
            self._download(step)
        elif isinstance(step, UseFile):
            verify_file(step.path, step.sha256, self._means.report)
            self._archives[step.to] = step.path
        elif isinstance(step, Extract):
            self._extract(step)
        elif isinstance(step, CopyTree):
            self._transaction.put([self._copy(step, name) for name in self._matches(step)])
        elif isinstance(step, ChangeMode):
            paths = sorted({path for pattern in step.paths for path in glob.glob(pattern, recursive=True)})
            self._transaction.change_modes(paths, partial(_with_mode, add=step.add))
        elif isinstance(step, MakeLink):
            self._transaction.put([Item(os.path.expanduser(step.path), partial(os.symlink, step.text))])
        elif isinstance(step, (WriteFile, EditText)):
            self._text(step)
        elif isinstance(step, (Command, RefreshLoader)):
            self._run(step)

    def _download(self, step: Download) -> None:
        os.makedirs(self._state.path("downloads"), mode=0o700, exist_ok=True)
        # Under its digest: what broke off is found again, and by no other file of that name.
        to = self._state.path("downloads", step.sha256[0].lower())
        try:
            verify_file(to, step.sha256, self._means.report)
        except (FileNotFoundError, InstallError):
            fetch(step, to, self._means.report, self._means.limits)
        self._archives[step.to] = to

    def _extract(self, step: Extract) -> None:
        archive = self._archives.get(step.archive) or self._staged(step.archive)
        unpack(archive, self._staged(step.to), self._means.report)
        for before, after in step.renames:
            _rename(os.path.join(self._staged(step.to), before), os.path.join(self._staged(step.to), after))

    def _staged(self, name: str) -> str:
        return os.path.join(self._staging, *name.split("/")) if name else self._staging

    def _matches(self, step: CopyTree) -> list[str]:
        """Names below the source directory, each pattern's at least one; raises NotInArchive."""
        source = self._staged(step.source)
        names = sorted(_files_below(source)) if os.path.isdir(source) else []
        found: set[str] = set()
        for pattern in step.patterns:
            matching = {name for name in names if _fits(name, pattern)}
            if not matching:
                raise NotInArchive(f"the archive holds no {step.source}/{pattern}")
            found |= matching
        return sorted(found)

    def _copy(self, step: CopyTree, name: str) -> Item:
        source = os.path.join(self._staged(step.source), *name.split("/"))
        if step.arch and not os.path.islink(source):
            require_machine(source, step.arch)
        return Item(os.path.join(step.into, *name.split("/")), partial(_copy_one, source, self._means.report))

    def _text(self, step: WriteFile | EditText) -> None:
        path = os.path.realpath(os.path.expanduser(step.path))  # a link to the file that somebody keeps elsewhere stays
        before = _text_of(path)
        text = merged(before or "", step) if isinstance(step, EditText) else "".join(f"{line}\n" for line in step.lines)
        if text != before:
            self._transaction.put([Item(path, partial(_write, text, path))])

    def _run(self, step: Command | RefreshLoader) -> None:
        command = _LDCONFIG._replace(needs_root=step.needs_root) if isinstance(step, RefreshLoader) else step
        if command.place:
            return
        self._number += 1
        command = settled(command._replace(argv=tuple(map(self._word_of(command), command.argv))))
        self._journal.append(record_of_command(self._number, command))
        self._means.report(Progress("run", command.argv[0], 0, None))
        self._means.run(as_root(command, self._means.as_root))
        self._journal.append({"what": "ended", "number": self._number})

    def _word_of(self, command: Command) -> Callable[[str], str]:
        """A downloaded installer by its path, under its own name: Windows runs nothing that is not called .exe."""
        return lambda word: self._program(word) if word in command.staged else word

    def _program(self, name: str) -> str:
        path = self._staged(name)
        if not os.path.lexists(path):
            link_or_copy(os.path.abspath(self._archives[name]), path)
        return path


def to_type(argv: tuple[str, ...], *, needs_root: bool) -> str:
    """A command as this user types it."""
    is_root = not hasattr(os, "geteuid") or os.geteuid() == 0
    return f"{'sudo ' if needs_root and not is_root else ''}{shlex.join(argv)}"


def stay_done(commands: tuple[Ran, ...]) -> str:
    """What a run that was taken back leaves behind, and how a person takes that back; "" where it is nothing."""
    sentences = []
    for one in reversed(commands):
        inverse = one.inverse or Inverse(left="nobody knows what takes it back")
        if one.reversed or not (inverse.commands or inverse.left):
            continue
        typed = "`, `".join(to_type(argv, needs_root=one.needs_root) for argv in inverse.commands)
        if inverse.afterwards:
            sentences.append(f"What `{shlex.join(one.argv)}` made is of the files as they were: run `{typed}` once.")
            continue
        how = f", take it back with `{typed}`" if inverse.commands else ""
        left = f" ({inverse.left})" if inverse.left else ""
        what = "stays done" if one.ended else "may have done a part"
        sentences.append(f"`{shlex.join(one.argv)}` {what}{how}{left}.")
    return " ".join(sentences)


def _rename(before: str, after: str) -> None:
    if os.path.lexists(before):
        os.makedirs(os.path.dirname(after), exist_ok=True)
        os.rename(before, after)


def is_left(step: Step) -> bool:
    """Whether a step is for the user to do, not for `apply`."""
    return isinstance(step, _FOR_THE_USER) or (isinstance(step, Command) and step.place != "")


def _files_below(directory: str, above: str = "") -> Iterator[str]:
    """Files and links, written with "/"; a link to a directory is a link."""
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files_below(entry.path, f"{above}{entry.name}/")
            else:
                yield f"{above}{entry.name}"


def _fits(name: str, pattern: str) -> bool:
    parts, globs = name.split("/"), pattern.split("/")
    if globs[-1] == "**":
        globs = globs[:-1]
        parts = parts[: len(globs)] if len(parts) > len(globs) else []
        return len(parts) == len(globs) and all(map(fnmatchcase, parts, globs))
    return len(parts) == len(globs) and all(map(fnmatchcase, parts, globs))


def _copy_one(source: str, report: Report, to: str) -> None:
    report(Progress("copy", source, 0, os.lstat(source).st_size))
    shutil.copy2(source, to, follow_symlinks=False)


def _with_mode(mode: int, *, add: str) -> int:
    """A mode with "a+r" and the like added; an "X" is "x" where somebody may run the file already."""
    match = re.fullmatch(r"([ugoa]*)\+([rwxX]+)", add)
    if match is None:
        raise CannotChange(f"no permission is meant by {add!r}")
    who = 0
    for sign in match[1] or "a":
        who |= _WHO[sign]
    signs = match[2].replace("X", "x" if mode & 0o111 else "")
    for sign in signs:
        mode |= _BITS[sign] & who
    return mode


def _text_of(path: str) -> str | None:
    """None where there is no file yet; raises CannotChange for what is no text."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_TEXT_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > _LARGEST_TEXT_BYTES or b"\0" in data:
        raise CannotChange(f"{path} is no text file")
    return data.decode("utf-8", "surrogateescape")


def _write(text: str, path: str, to: str) -> None:
    """With the mode and owner of the file whose place it takes."""
    with open(to, "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    with contextlib.suppress(FileNotFoundError):
        seen = os.stat(path)
        os.chmod(to, stat.S_IMODE(seen.st_mode))
        if hasattr(os, "chown") and (seen.st_uid, seen.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):
                os.chown(to, seen.st_uid, seen.st_gid)
