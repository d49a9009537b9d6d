"""Changes of the file system that can be taken back: prepare beside the place, write to the journal, then rename.

All that can fail without space or permission happens before the first visible change.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from compat.base.anchored import anchored, resolved
from installers.errors import InstallError
from installers.file_identity import Stamp, change_mode, is_same, link_or_copy, stamp_of, sync
from installers.journal import Change, Journal, Record, record_of

SCRATCH_NAME = ".gpudoctor-"  # begins the name of the directory in which files wait beside their place


class InTheWay(InstallError):
    """Something lies where a file must go that nobody may replace unasked."""

    hint = "Move it away, or choose another directory."


class Item:
    """A file or link to come: where, and how it is made at a temporary path."""

    __slots__ = ("make", "path")

    def __init__(self, path: str, make: Callable[[str], None]) -> None:
        self.path = path
        self.make = make


class Transaction:
    """The changes of one run."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._scratch: dict[int, str] = {}  # by device: a rename stays within one
        self._asides: list[str] = []
        self._timed: set[str] = set()
        self._number = 0
        self._folders: dict[str, str] = {}

    def put(self, items: Sequence[Item]) -> None:
        """Bring files and links into place together; raises InTheWay, OSError."""
        prepared = [self._prepare(item) for item in items]
        made = [
            Change("mkdir", path, None, Stamp("directory", 0, 0, 0)) for path in _missing([one.path for one in items])
        ]
        self._remember_times(tuple(_existing_parent(item.path) for item in items))
        self._journal.append(*map(record_of, made), *(record_of(change) for change, _ in prepared))
        for change in made:
            with anchored(self._real(change.path)) as there:
                os.mkdir(there)
        for change, temporary in prepared:
            with anchored(self._real(change.path)) as there, anchored(temporary, is_own=True) as made_there:
                if stamp_of(there) != change.before:
                    raise InTheWay(f"{change.path} was changed by another program during the replacement")
                os.replace(made_there, there)
        for directory in {os.path.dirname(change.path) for change in (*made, *(one for one, _ in prepared))}:
            sync(directory)

    def change_modes(self, paths: Sequence[str], mode_of: Callable[[int], int]) -> None:
        """Change permission bits in place; raises OSError."""
        changes = [change for path in paths if (change := _mode_change(path, mode_of))]
        if changes:
            self._journal.append(*map(record_of, changes))
        for change in changes:
            change_mode(change.path, change.before, change.after.mode)

    def close(self) -> None:
        """Remove the directories in which files waited."""
        for path in (*self._asides, *self._scratch.values()):
            with anchored(path, is_own=path in self._asides) as there:
                (os.unlink if path in self._asides else os.rmdir)(there)

    def _prepare(self, item: Item) -> tuple[Change, str]:
        before = stamp_of(item.path)
        if before and before.kind in {"directory", "other"}:
            raise InTheWay(f"{item.path} is {'a directory' if before.kind == 'directory' else 'not a file'}")
        self._number += 1
        temporary = os.path.join(self._scratch_for(item.path), str(self._number))
        with anchored(temporary, is_own=True) as there:
            item.make(there)
            sync(there)  # after a power cut, too, a name has its content
            after = stamp_of(there)
        if after is None:
            raise FileNotFoundError(temporary)
        change = Change("put", item.path, before, after)
        return (self._backed_up(change, f"{temporary}.old") if before else change), temporary

    def _backed_up(self, change: Change, aside: str) -> Change:
        name = str(self._number)
        backup = os.path.join(self._journal.backup, name)
        with anchored(self._real(change.path)) as there:
            link_or_copy(there, backup)
            if not is_same(there, backup):
                # The backup serves as well, given space.
                with contextlib.suppress(OSError, NotImplementedError), anchored(aside, is_own=True) as beside:
                    os.link(there, beside, follow_symlinks=False)
                    self._asides.append(aside)
                    return change._replace(backup=name, aside=aside)
        return change._replace(backup=name)

    def _real(self, path: str) -> str:
        """The path with its directory's links resolved once for all files in it."""
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = resolved(folder) if os.name == "posix" else folder
        return os.path.join(self._folders[folder], name)

    def _scratch_for(self, path: str) -> str:
        parent = _existing_parent(path)
        if not os.path.isdir(parent):
            raise InTheWay(f"{parent} is not a directory")
        device = os.stat(parent).st_dev
        if device not in self._scratch:
            scratch = os.path.join(os.path.realpath(parent), f"{SCRATCH_NAME}{self._journal.id}-{len(self._scratch)}")
            self._remember_times((parent,), {"what": "scratch", "path": scratch})
            with anchored(scratch) as there:
                os.mkdir(there, 0o700)
            self._scratch[device] = scratch
        return self._scratch[device]

    def _remember_times(self, directories: Sequence[str], *more: Record) -> None:
        new = dict.fromkeys(path for one in directories if (path := os.path.realpath(one)) not in self._timed)
        self._timed.update(new)
        times = [{"what": "times", "path": path, "mtime_ns": os.stat(path).st_mtime_ns} for path in new]
        if times or more:
            self._journal.append(*times, *more)


def _mode_change(path: str, mode_of: Callable[[int], int]) -> Change | None:
    before = stamp_of(path)
    if before is None or before.kind != "file" or mode_of(before.mode) == before.mode:
        return None
    return Change("mode", path, before, before._replace(mode=mode_of(before.mode)))


def _existing_parent(path: str) -> str:
    parent = os.path.dirname(path)
    while not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    return parent


def _missing(paths: Sequence[str]) -> tuple[str, ...]:
    """The directories to make, those above first."""
    found: dict[str, None] = {}
    for path in paths:
        chain = []
        parent = os.path.dirname(path)
        while parent not in found and not os.path.lexists(parent):
            chain.append(parent)
            parent = os.path.dirname(parent)
        found.update(dict.fromkeys(reversed(chain)))
    return tuple(found)
