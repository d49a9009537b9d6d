"""Whether frameworks that were asked for in one question go into one environment."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from compat.base.record import NamedTuple
from compat.build import host_of, is_cuda_row, name_of, uses_opencl
from compat.matrix import Matrix, Uncovered
from compat.overlap import NO, overlap
from compat.reason import BAD, OK, UNKNOWN, YES, Reason, row_name
from compat.row import FrameworkRow
from compat.solve.conflicts import needs_of_system
from compat.solve.rejections import refusals
from compat.solve.search import Problem, Solution, solve, solve_unsure
from compat.spec import Spec
from compat.target import TargetMachine


class Joint(NamedTuple):
    """What the solver says of packages in one environment."""

    reason: Reason
    chosen: tuple[FrameworkRow, ...]  # of a set that is known to work
    against: Mapping[str, Reason]  # by the label of a build that was passed over


def together(
    specs: tuple[Spec, ...], rows: tuple[FrameworkRow, ...], where: TargetMachine, matrix: Matrix
) -> Joint | None:
    """What the solver says of them, or their pins where a build for the CPU was meant; `rows` do alone.

    None for what the matrix has no builds of.
    """
    asked = tuple(spec for spec in specs if spec.name not in {"cuda", "cudnn"})
    if any(_is_for_the_cpu(row, matrix) for row in rows):
        return next((Joint(one, (), {}) for one in _apart(rows)), None)
    try:
        problem = Problem(asked, where, matrix)
        found = solve(problem)
        reason = _told(problem, found, rows)
    except Uncovered:
        return None
    passed = {label: one.reason for one in refusals(problem, found) for label in one.builds} if found else {}
    return Joint(reason, tuple(one.row for one in found.chosen) if found else (), passed)


def apart(choices: tuple[tuple[FrameworkRow, ...], ...]) -> Reason | None:
    """What the pins of two of them rule out, whichever of their builds is taken; of those that may work alone."""
    for some, others in itertools.combinations(filter(None, choices), 2):
        found = [_apart((one, other)) for one, other in itertools.product(some, others)]
        if all(found):
            return found[0][0]
    return None


def _is_for_the_cpu(row: FrameworkRow, matrix: Matrix) -> bool:
    """The solver is asked about GPUs: it takes no such build."""
    return row.cuda == "" and not is_cuda_row(row) and not uses_opencl(row) and not host_of(row, matrix)


def _apart(rows: tuple[FrameworkRow, ...]) -> tuple[Reason, ...]:
    found = []
    for one, other in itertools.permutations(rows, 2):
        pin = (one.pins or {}).get(other.package)
        if pin and overlap((pin, other.versions)) == NO:
            names = tuple(row_name(row.package, "builds", row) for row in (one, other))
            what = f"no builds of these fit together: {name_of(one)} requires {other.package}{pin}"
            found.append(Reason(BAD, what, names, one.source))
    return tuple(found)


def _told(problem: Problem, found: Solution | None, rows: tuple[FrameworkRow, ...]) -> Reason:
    unsure = None if found else solve_unsure(problem)
    if unsure is None and not found and not problem.uncovered and not problem.is_open:
        pins = _apart(rows)
        if pins:
            return pins[0]
        why = min((one.reason for one in refusals(problem, None)), key=lambda reason: reason.kind, default=None)
        what = "no builds of these fit together" + (f": {why.what}" if why else "")
        return Reason(BAD, what, why.rows if why else (), why.source if why else "")
    solution = found or unsure
    alone = len({spec.name for spec in problem.asked}) == 1  # then all that is in doubt is news
    doubts = unsure.doubts if unsure else ()
    doubt = next((one for one in doubts if alone or len(one.rows) > 1), None)  # otherwise the one of a single package
    if unsure and not doubt:  # only here is a doubt about a package shown that the solver adds
        asked = {row.package for row in rows}
        added = (one.fit.reasons for one in unsure.chosen if one.row.package not in asked and one.verdict != YES)
        doubt = next((why for reasons in added for why in reasons if why.kind == UNKNOWN), None)
    if solution is None or doubt:
        what = "no builds of these are known to fit together" + (f": {doubt.what}" if doubt else "")
        return Reason(UNKNOWN, what, doubt.rows if doubt else (), doubt.source if doubt else "")
    labels = ", ".join(dict.fromkeys(one.label for one in solution.chosen))
    asks = needs_of_system(solution.chosen)  # cuDNN 8 beside a torch that brings 9
    return Reason(OK, "; ".join((f"fit together: {labels}", *asks)), tuple(one.name for one in solution.chosen), "")
