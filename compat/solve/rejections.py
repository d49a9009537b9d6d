"""Why nothing newer, or nothing at all: for every build that was passed over, what is against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from compat.reason import BAD, OK, UNKNOWN, Reason
from compat.solve.candidates import SolveCandidate, brings_own
from compat.solve.pairs import CandidateSet
from compat.solve.search import Problem, Solution

_MOST_PARTNERS = 3
_RECENT = 3  # minor releases
Minor = tuple[int, ...]
Usable = dict[str, CandidateSet]  # by package: what is known to work here by itself


class Rejection(NamedTuple):
    """Builds of one package that are out of the question for one reason."""

    package: str  # as it was asked for
    builds: tuple[str, ...]  # newest first, "torch 2.15.0 (cu132)"
    span: str  # the same in short, "torch 2.15.0 (cu132) and 4 more builds, down to 2.11.0"
    reason: Reason  # that of the newest of them
    is_recent: bool = True  # it is of one of the newest minor releases that were looked at


class _Passed(NamedTuple):
    """One build that was passed over."""

    candidate: SolveCandidate
    about: str  # the same for builds that are refused for one reason
    reason: Reason


def refusals(problem: Problem, solution: Solution | None) -> tuple[Rejection, ...]:
    """Everything that would have been preferred to the solution, newest first; all there is, where there is none.

    Of what was asked for, and of nothing that only some build of it requires.
    """
    chosen = {one.asked: one for one in solution.chosen} if solution else {}
    usable = {package: problem.pairs.field(problem.found[package], sure=True, own=True) for package in problem.found}
    found: list[Rejection] = []
    for package in problem.found:
        if package not in problem.required and (solution is None or package in chosen):
            minors = dict.fromkeys(one.key[0][:2] for one in problem.found[package])
            found += _grouped(
                package, list(_passed(problem, package, chosen, usable)), frozenset(list(minors)[:_RECENT])
            )
    return tuple(found)


def _passed(problem: Problem, package: str, chosen: dict[str, SolveCandidate], usable: Usable) -> Iterator[_Passed]:
    taken = chosen.get(package)
    own_exists = brings_own(usable[package].builds)
    for one in problem.found[package]:
        if taken and one.name == taken.name:
            return
        yield _alone(one, own_exists=own_exists) or _why_not(problem, one, chosen, usable)


def _alone(one: SolveCandidate, *, own_exists: bool) -> _Passed | None:
    """What is against it by itself."""
    alone = sorted((reason for reason in one.fit.reasons if reason.kind != OK), key=lambda reason: reason.kind)
    if alone:
        return _Passed(one, alone[0].brief, alone[0])
    if own_exists and one.row.libraries == "system":
        reason = Reason(BAD, "uses the system's CUDA, which others do not need", (one.name,), one.row.source)
        return _Passed(one, "system", reason)
    return None


def _why_not(problem: Problem, one: SolveCandidate, chosen: dict[str, SolveCandidate], usable: Usable) -> _Passed:
    """Against it with what was chosen before it, then with every build of another package."""
    for other in _before(one.asked, chosen):
        clash = problem.against(other, one)
        if clash:
            return _Passed(one, f"{clash.about} {other.name}", clash.reason)
    return (
        _blocked(problem, one, usable)
        or _lacking(problem, one, usable)
        or _behind(problem, one, usable)
        or _jointly(problem, one, chosen)
    )


def _before(package: str, chosen: dict[str, SolveCandidate]) -> list[SolveCandidate]:
    names = list(chosen)
    return [chosen[name] for name in names[: names.index(package)]] if package in chosen else []


def _blocked(problem: Problem, one: SolveCandidate, usable: Usable) -> _Passed | None:
    """Another package of which no build goes with it; the one with the fewest is looked at first."""
    for package, others in sorted(usable.items(), key=lambda item: len(item[1].builds)):
        if package == one.asked or package in problem.required:
            continue
        if others.going(one, problem.view(one.asked, package), sure=True):
            continue
        if not others.builds:
            what = f"no build of {package} is known to work here by itself"
            return _Passed(one, what, Reason(BAD, what, (one.name,), one.row.source))
        kinds = _subjects(problem, one, others.builds)
        return _Passed(one, f"{package}: {', '.join(kinds)}", _joined(package, list(kinds.values())))
    return None


def _lacking(problem: Problem, one: SolveCandidate, usable: Usable) -> _Passed | None:
    """A package that it pins itself, and of which nothing is known to work here at that release."""
    pins = one.row.pins or {}
    for package in problem.required:
        view = problem.view(one.asked, package)
        if package in pins and not usable[package].going(one, view, sure=True):
            what = f"requires {package}{pins[package]}, which has no build that is known to work here"
            return _Passed(one, what, Reason(BAD, what, (one.name,), one.row.source))
    return None


def _behind(problem: Problem, one: SolveCandidate, usable: Usable) -> _Passed | None:
    """Another package that was asked for, of which no build goes with what this one pins itself."""
    pins = one.row.pins or {}
    for pinned in (package for package in problem.required if package in pins):
        fitting = [other for other in usable[pinned].builds if not problem.against(one, other)]
        for package in (name for name in usable if name != one.asked and name not in problem.required):
            view, others = problem.view(pinned, package), usable[package]
            if not fitting or any(others.going(each, view, sure=True) for each in fitting):
                continue
            kinds = _subjects(problem, fitting[0], others.builds)
            joined = _joined(package, list(kinds.values()))
            reason = joined._replace(what=f"requires {pinned}{pins[pinned]}: {joined.what}")
            return _Passed(one, f"{pinned}, {package}: {', '.join(kinds)}", reason)
    return None


def _subjects(problem: Problem, one: SolveCandidate, others: Iterable[SolveCandidate]) -> dict[str, Reason]:
    """What is against it with each of these, each subject once: what one kind of builds shares is looked at once."""
    found: dict[str, Reason] = {}
    for other in problem.unlike(one, others):
        clash = problem.against(one, other)
        if clash:
            found.setdefault(clash.about, clash.reason)
    return found


def _joined(package: str, reasons: list[Reason]) -> Reason:
    shown = "; ".join(reason.what for reason in reasons[:_MOST_PARTNERS])
    rows = dict.fromkeys(row for reason in reasons[:_MOST_PARTNERS] for row in reason.rows)
    sources = dict.fromkeys(part for reason in reasons[:_MOST_PARTNERS] for part in reason.source.split("; "))
    if all(reason.kind == BAD for reason in reasons):
        return Reason(BAD, f"no {package} fits it: {shown}", tuple(rows), "; ".join(sources))
    return Reason(UNKNOWN, f"no {package} is known to fit it: {shown}", tuple(rows), "; ".join(sources))


def _jointly(problem: Problem, one: SolveCandidate, chosen: dict[str, SolveCandidate]) -> _Passed:
    """Each pair would do, all of them together do not."""
    others = tuple(other for name, other in chosen.items() if name != one.asked)
    for clash in problem.clashes((*others, one)):
        return _Passed(one, f"together {clash.about}", clash.reason)
    what = "no choice of the others fits it and each other"
    return _Passed(one, what, Reason(BAD, what, (one.name,), one.row.source))


def _grouped(package: str, passed: list[_Passed], recent: frozenset[Minor]) -> Iterator[Rejection]:
    groups: dict[str, list[_Passed]] = {}
    for one in passed:
        groups.setdefault(one.about, []).append(one)
    for members in groups.values():
        builds = tuple(dict.fromkeys(one.candidate.label for one in members))
        is_recent = any(one.candidate.key[0][:2] in recent for one in members)
        yield Rejection(package, builds, _span(members, builds), members[0].reason, is_recent=is_recent)


def _span(members: list[_Passed], builds: tuple[str, ...]) -> str:
    """The builds of a reason: the newest by its name, for a reason holds for each of them in its own way."""
    if len(builds) == 1:
        return builds[0]
    last = members[-1].candidate.release
    down = "" if last == members[0].candidate.release else f", down to {last}"
    return f"{builds[0]} and {len(builds) - 1} more build{'s' if len(builds) > 2 else ''}{down}"
