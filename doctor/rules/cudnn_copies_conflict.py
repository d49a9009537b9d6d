"""Several cuDNN releases lie on one search path, and which one is taken is an accident of order."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, Need
from doctor.model.facts import Facts, Machine
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.cudnn_use import drop_from_path_need, part_names, searched, variable_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

Pair = tuple[CudnnCopy, CudnnCopy]


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Two majors in the system's own directories are as distributions ship them; on a variable they are not."""
    copies = tuple(copy for copy in searched(facts) if isinstance(copy.version, Seen) and part_names(copy))
    pair = _pair(copies, facts)
    if pair is None:
        return ok("each cuDNN library has one version on the search path")
    first, second = pair
    return bad(
        (
            f"cuDNN {first.version.get()} in {first.path} and {second.version.get()} in {second.path} "
            "are on one search path: a process may load either, or parts of both"
        ),
        *_needs(pair, facts),
        severity=Severity.WARNING,
        evidence=tuple(Evidence(copy.label, label=variable_of(copy, facts) or "the loader's path") for copy in pair),
        places=tuple(copy.label for copy in pair),
    )


def _pair(copies: tuple[CudnnCopy, ...], facts: Facts) -> Pair | None:
    for place, first in enumerate(copies):
        for second in copies[place + 1 :]:
            if not first.version.get().agrees_with(second.version.get()) and _collide(first, second, facts):
                return first, second
    return None


def _collide(first: CudnnCopy, second: CudnnCopy, facts: Facts) -> bool:
    by_name = bool(part_names(first) & part_names(second))
    if value_or(facts.system.family, "") == "windows":
        return by_name  # NVIDIA's installers put every toolkit on Path, and the names of DLLs hold cuDNN's major
    packaged = first.origin == second.origin == "distribution"
    return by_name or bool(variable_of(first, facts) and variable_of(second, facts) and not packaged)


def _needs(pair: Pair, facts: Facts) -> tuple[Need, ...]:
    """Take the older one off the path that a variable makes; where none does, only its package can go."""
    older, newer = sorted(pair, key=lambda copy: copy.version.get())
    for copy in (older, newer):
        variable = variable_of(copy, facts)
        if variable and older.path != newer.path:
            return (drop_from_path_need(copy, variable, facts),)
    return (Advice(f"Keep one cuDNN release on the search path: remove {older.label}, or {newer.label}."),)


RULE = Rule(MACHINE, check, blocks_verdict=False)
