"""The driver's branch gets no more updates."""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered
from compat.need import Advice, InstallDriver
from compat.row import BranchRow
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.conditions import on_host, wsl
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_where

_LASTING = ("long-term", "production")
_LAST = "No newer branch supports this GPU: plan to replace the GPU."


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the end of the branch's life with the date of the matrix (rules do not look at the clock)."""
    need_where(facts, "driver")
    if wsl(facts) or facts.system.family.get() == "windows":
        raise NotApplicable("only Linux branches are known; Windows numbers its drivers in another way")
    if not isinstance(facts.driver.release, Seen):
        raise NotApplicable("no driver")
    row = matrix.branch(facts.driver.release.value)
    if not row.end_of_life:
        return ok(f"no end of branch {row.branch} was known on {matrix.as_of()}")
    if not _over(row, matrix.as_of()):
        return ok(f"branch {row.branch} is supported until {row.end}")
    newer, last = _newer(row, facts, matrix)
    return bad(
        f"driver branch {row.branch} is end-of-life since {row.end}",
        Advice(_LAST) if last else on_host(facts, newer, f"install driver {newer.versions}"),
        severity=Severity.INFO,  # it works as before: no reason to call the stack anything but healthy
        evidence=(
            Evidence.of(facts.driver.release, f"driver {facts.driver.release.value}"),
            Evidence(f"branch {row.branch} ended {row.end}", label="matrix, driver.branches"),
        ),
    )


def _over(row: BranchRow, today: str) -> bool:
    """Whether the day or month is past; of the month itself nothing is over yet."""
    end = row.end_of_life or ""
    return bool(end) and end < today[: len(end)]


def _newer(row: BranchRow, facts: Facts, matrix: Matrix) -> tuple[InstallDriver, bool]:
    """The oldest newer branch with a long life ahead that every card works with, and whether there is none."""
    last = _last_for_cards(facts, matrix)
    rows: tuple[BranchRow, ...] = matrix.rows("driver", "branches")
    fit = [
        one.branch
        for one in rows
        if one.branch > row.branch and one.kind in _LASTING and one.end_of_life and not _over(one, matrix.as_of())
        if last is None or one.branch <= last
    ]
    return InstallDriver(f">={min(fit)}" if fit else ""), last is not None and last <= row.branch


def _last_for_cards(facts: Facts, matrix: Matrix) -> int | None:
    """The last branch that drives every card; None where none was dropped, or no row tells."""
    last: list[int] = []
    for gpu in value_or(facts.gpus, ()):
        try:
            branch = matrix.generation(gpu.capability.value).driver_last if isinstance(gpu.capability, Seen) else None
        except Uncovered:
            continue  # a card no row knows sets no limit that could be named
        last += [branch] if branch is not None else []
    return min(last, default=None)


RULE = Rule(MACHINE, check, blocks_verdict=False)
