"""Runs of `gpudoctor install` that are half done, by their journals (installers/journal.py has the form of a record).

Only the kinds of records are looked at, which stand at the beginning of each line: a diagnosis has no time for more.
"""

from __future__ import annotations

import re

from compat.base.record import NamedTuple
from compat.base.user_dirs import user_dir
from doctor.host import Host, HostError, Missing
from doctor.model.facts import IndependentProbe
from doctor.model.facts.seen import Fact, Seen, Unseen

_JOURNAL_BYTES = 4 << 20
_RUNS_AT_MOST = 50
_LOCKS_BYTES = 1 << 20
_BEGIN = '{"what": "begin"'
_KIND = r'(?m)^\{"what": "(begin|commit|undo|undone)"'
_SUMMARY = r'"summary": "((?:[^"\\]|\\.)*)"'


class InstallRun(NamedTuple):
    """A run whose record says neither that it ended nor that it was taken back."""

    id: str
    summary: str  # what was to be installed, "" where the record does not say
    directory: str  # its record, and the originals of what it replaced
    state: str  # "killed", "at work", "unclear": one of both, "damaged": the record is not as it was written


def look(host: Host) -> Fact[tuple[InstallRun, ...]]:
    """Of this user's journals, and of root's where they can be read; on a disk the users are unknown."""
    if not host.is_live:
        return Seen((), "whose journals there are is not known of a disk")
    found: list[InstallRun] = []
    folders = _folders(host)
    for number, folder in enumerate(folders):
        try:
            found += _unfinished(host, folder)
        except Missing:
            continue
        except HostError as error:
            if number == 0:
                return Unseen(f"the records of gpudoctor install cannot be read: {error}")
    return Seen(tuple(found), ", ".join(folders))


def _folders(host: Host) -> tuple[str, ...]:
    """As `installers.journal.state_directory` has it, and root's, since installations into the system are by sudo."""
    named = host.environ.get("GPUDOCTOR_STATE", "")
    if named:
        return (named.replace("\\", "/"),)
    own = user_dir(host.environ, host.os_family, "state", "gpudoctor")
    of_root = "" if host.os_family == "windows" else "/root/.local/state/gpudoctor"
    return tuple(dict.fromkeys(filter(None, (own, of_root))))


def _unfinished(host: Host, folder: str) -> list[InstallRun]:
    found = []
    for name in sorted(host.names(f"{folder}/journal"), reverse=True)[:_RUNS_AT_MOST]:
        directory = f"{folder}/journal/{name}"
        try:
            text = host.read_text(f"{directory}/journal.jsonl", _JOURNAL_BYTES)
        except Missing:
            continue  # nothing was changed yet
        last = next(reversed(re.findall(_KIND, text)), "")
        if last not in {"commit", "undone"} and text:
            summary = re.search(_SUMMARY, text.partition("\n")[0])
            state = "killed" if text.startswith(_BEGIN) else "damaged"
            found.append(InstallRun(name, summary[1] if summary else "", directory, state))
    state = _of_lock(host, f"{folder}/lock") if found else ""
    return [one._replace(state=state) if one.state == "killed" else one for one in found]


def _of_lock(host: Host, lock: str) -> str:
    """Whether an installation is at work: the kernel lists each lock with its inode. Source: proc_locks(5)."""
    try:
        inode = host.status(lock).inode
        locks = host.read_text("/proc/locks", _LOCKS_BYTES)
    except HostError as error:
        return "killed" if isinstance(error, Missing) and error.path == lock else "unclear"
    return "at work" if re.search(rf" FLOCK .*:{inode} ", locks) else "killed"


PROBE = IndependentProbe("installation", tuple[InstallRun, ...], look, reads_files=False)
