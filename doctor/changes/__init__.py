"""What changed on a machine, by part of its stack, and which findings a change bears on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.changes.relevance import BOOT, DRIVER, KERNEL, SETTING, bears_on, part_of
from doctor.host import Host
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Report, Status
from doctor.probes.changes import Change, records

_TOGETHER_S = 600.0  # a run of a package manager
DAY_S = 86_400.0


class Group(NamedTuple):
    """What one run did to one part of the stack."""

    part: str  # a word of `relevance`
    changes: tuple[Change, ...]  # oldest first, at least one
    bears_on: tuple[str, ...]  # codes of findings

    @property
    def what(self) -> str:
        """Return it as text: "upgraded libnvidia-compute-460 460.56 to 460.73.01 and 3 more"."""
        first = self.changes[0]
        if first.what == "started":
            return "the machine started" + (f" with kernel {first.new}" if first.new else "")
        release = f" {first.old} to {first.new}" if first.old and first.new else f" {first.new or first.old}".rstrip()
        more = f" and {len(self.changes) - 1} more" if len(self.changes) > 1 else ""
        return f"{first.what} {first.name}{release}{more}"


class History(NamedTuple):
    """What was found."""

    since_s: float  # seconds since the epoch
    groups: tuple[Group, ...]  # newest first
    started_s: float | None  # the last start of the machine; None where no record says
    begin_s: tuple[tuple[str, float], ...]  # the first time that each log knows of
    unread: tuple[tuple[str, str], ...]

    @property
    def waits_for_restart(self) -> bool:
        """Whether a driver or kernel came after the last start."""
        newest = max((one.changes[-1].at_s for one in self.groups if one.part in {DRIVER, KERNEL}), default=None)
        return newest is not None and self.started_s is not None and newest > self.started_s


def history_of(host: Host, report: Report, since_s: float, matrix: Matrix, *, begins: bool = True) -> History:
    """Read the machine's own records; a change after `since_s` is held against what the report found.

    Without `begins`, logs that are older than `since_s` are not opened: when they begin is unknown then.
    """
    found = records(host, value_or(report.facts.environments, ()), 0.0 if begins else since_s)
    bad = [one for one in report.answers if one.kind is Status.BAD]
    until_s = time.time() + _TOGETHER_S
    recent = (one for one in found.changes if since_s <= one.at_s <= until_s)
    groups = sorted(_groups(recent, bad, matrix), key=lambda one: one.changes[0].at_s, reverse=True)
    started_s = max((one.at_s for one in found.changes if one.what == "started"), default=None)
    return History(
        since_s=since_s, groups=tuple(groups), started_s=started_s, begin_s=found.begin_s, unread=found.unread
    )


def latest_for(history: History, code: str) -> str:
    """Return the newest change that bears on a finding, as text; "" for none.

    The time of a settings file is no record: a copy has a new one, too.
    """
    for one in history.groups:
        if code in one.bears_on and one.part not in {SETTING, BOOT}:
            by = f" ({one.changes[0].by})" if one.changes[0].by else ""
            restart = "; not restarted since" if one.part in {DRIVER, KERNEL} and history.waits_for_restart else ""
            return f"changed {minute(one.changes[0].at_s)}: {one.what}{by}{restart}"
    return ""


def minute(at_s: float) -> str:
    """Return a time as people read it, "24 Apr 06:50"; of another year "24 Apr 2024"."""
    at = time.localtime(at_s)
    return time.strftime("%d %b %H:%M" if at.tm_year == time.localtime().tm_year else "%d %b %Y", at)


def _groups(changes: Iterable[Change], bad: list[Answer], matrix: Matrix) -> Iterator[Group]:
    open_groups: dict[tuple[str, str, str, str], tuple[list[Change], set[str]]] = {}
    for change in changes:
        part = part_of(change, matrix)
        if not part:
            continue
        codes = {one.code for one in bad if bears_on(change, part, one)}
        key = (part, change.what, change.by, change.where)
        together, bearing = open_groups.get(key, ([], set()))
        if together and change.at_s - together[-1].at_s >= _TOGETHER_S:
            yield _group(part, together, bearing)
            together, bearing = [], set()
        together.append(change)
        open_groups[key] = together, bearing | codes
    for (part, *_), (together, bearing) in open_groups.items():
        yield _group(part, together, bearing)


def _group(part: str, changes: list[Change], codes: set[str]) -> Group:
    return Group(part, tuple(changes), tuple(sorted(codes)))
