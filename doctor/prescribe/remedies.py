"""From needs to remedies: candidates in their order, of which only those are given that the rules find to fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING

from compat.base.errors import GpudoctorError
from compat.matrix import Matrix
from compat.need import AssignVariable, ChangePackages, InstallDriver, InstallPackage, Need
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Remedy
from doctor.prescribe.candidates import Candidate, candidates, ways, with_more
from installers.plan import Plan
from installers.render import chained, commands, step_lines
from installers.render.bash import quote
from installers.render.comments import comment
from installers.step import kind_of
from installers.steps.by_hand import ByHand
from installers.steps.download import Download
from installers.steps.pause import Pause

if TYPE_CHECKING:
    from doctor.prescribe.remedy_verifier import RemedyVerifier, Verdict
    from installers.effect import Effect

_OFFERED_AT_MOST = 2  # a remedy, and another one to choose from
_LOOK = "gpudoctor check"  # what a plan ends with that copies files
NONE_KNOWN = "gpudoctor knows no fix that works here."
_FOLLOW_UPS_AT_MOST = 2  # further faults that a remedy may leave behind and fix in the same go


def prescribe(answer: Answer, facts: Facts, matrix: Matrix, court: RemedyVerifier | None = None) -> tuple[Remedy, ...]:
    """The remedies of a finding that are proven, best first; without a court nothing can be.

    Where none is, no command is given, but what stands in the way. Advice to a person comes last. A prescription that
    fails never costs the finding.
    """
    try:
        if court is None or not court.can_judge(answer):
            return tuple(_remedy(one, facts, court) for one in candidates(answer, facts, matrix))
        return tuple(_Prescription(answer, facts, matrix, court).remedies())
    except Exception as error:  # noqa: BLE001 - the finding is right all the same
        return (_in_words(answer.needs[0], f"no remedy was found: {type(error).__name__}: {error}"),)


class _Prescription:
    """One finding, and the remedies that are tried for it."""

    def __init__(self, answer: Answer, facts: Facts, matrix: Matrix, court: RemedyVerifier) -> None:
        self._answer, self._facts, self._matrix, self._court = answer, facts, matrix, court
        self._machine_first: Remedy | None = None  # fixes the machine; what runs on it needs something else then

    def remedies(self) -> Iterator[Remedy]:
        """Those that are proven, then what only a person can do; as text what stands in the way of all.

        Nothing but a driver is offered that changes the system, where a package or what needs no root is enough.
        """
        from doctor.prescribe.rootless import takes_root  # late: only what is wrong has remedies

        tried = list(candidates(self._answer, self._facts, self._matrix))
        advice = [one for one in tried if one.is_advice]
        given, refused, is_spared = 0, "", False
        offered: list[tuple[Remedy, bool]] = []
        enough: list[set[Effect]] = []  # what fixes by itself, so that more of it is no other remedy
        for one in tried:
            done = {*(one.plan.effects or ())}
            if one.is_advice or given == _OFFERED_AT_MOST or any(each <= done for each in enough):
                continue
            remedy, why = (self._remedy(one), "") if one.has_no_effects else self._proven(one)
            refused = refused or why
            if remedy and self._does_more(remedy, one, tried, enough):
                continue
            if remedy:
                given += 1
                in_python = isinstance(one.need, (InstallPackage, ChangePackages))  # root owns the environment at most
                as_root = takes_root(remedy.plan) and not (in_python or isinstance(one.need, InstallDriver))
                by_hand = all(isinstance(step, ByHand) for step in remedy.plan.steps)
                is_spared |= remedy.proven and (in_python or not (by_hand or takes_root(remedy.plan)))
                enough += [{*(remedy.plan.effects or ())}] if remedy.proven else []
                offered.append((remedy, as_root))
        yield from (remedy for remedy, as_root in offered if not (as_root and is_spared))
        yield from (_remedy(one, self._facts, self._court) for one in advice)
        if not given and self._machine_first:
            yield self._machine_first
        elif not given and not advice and refused:
            yield _in_words(self._answer.needs[0], refused)

    def _does_more(self, remedy: Remedy, one: Candidate, tried: list[Candidate], enough: list[set[Effect]]) -> bool:
        """Whether with what it leaves behind it is more than another one, which fixes by itself."""
        done = {*(remedy.plan.effects or ())}
        if done == {*(one.plan.effects or ())}:
            return False
        others = (each for each in tried if not each.is_advice and each.plan.effects and {*each.plan.effects} < done)
        return any(each <= done for each in enough) or any(
            self._court.verdict(self._answer, each.plan.effects or ()).proven for each in others
        )

    def _remedy(self, one: Candidate) -> Remedy:
        """With what its commands meet on this machine."""
        return _remedy(one._replace(plan=self._court.with_obstacles(one.plan)), self._facts, self._court)

    def _proven(self, one: Candidate) -> tuple[Remedy | None, str]:
        """The remedy, with what fixes the faults that it would leave behind; else why it is none."""
        first = verdict = self._court.verdict(self._answer, one.plan.effects or ())
        start = one
        for _ in range(_FOLLOW_UPS_AT_MOST):
            better = None if verdict.proven else next(self._better(one, verdict), None)
            if better is None:
                break
            one, verdict = better
        if not verdict.proven:
            if verdict.left_open and not verdict.stands and not verdict.new and not self._court.has_host:
                return self._remedy(one)._replace(left_open=verdict.left_open), ""
            self._keep(start, first)
            return None, _obstacle(start, first)
        from doctor.prescribe.refuted import refuted  # late: only what fixes is asked about

        effects = one.plan.effects or ()
        then = self._court.facts_after(effects)
        if broken := refuted(effects, then, self._matrix) or self._court.broken_by(effects):
            return None, f"{NONE_KNOWN} To {one.plan.summary} would fix it, but {broken}."
        return self._remedy(one)._replace(proven=True, left_open=verdict.left_open), ""

    def _keep(self, one: Candidate, verdict: Verdict) -> None:
        """A card that only an old driver drives needs that one, whatever a framework asks for besides."""
        here = self._facts.machine.label
        is_machine = self._answer.subject == here and all(new.subject != here for new in verdict.new)
        if self._machine_first is None and is_machine and not verdict.stands:
            then = "; ".join(new.why for new in verdict.new[:1])
            left_open = f"afterwards: {then}" if then else verdict.left_open
            self._machine_first = self._remedy(one)._replace(left_open=left_open)

    def _better(self, one: Candidate, verdict: Verdict) -> Iterator[tuple[Candidate, Verdict]]:
        """With what the rules ask for once it is done, if that leaves less; nothing that undoes what was done."""
        own = (self._answer.code, self._answer.subject)
        if isinstance(one.need, AssignVariable) and own in {(each.code, each.subject) for each in verdict.stands}:
            return  # another directory that lacks some of its libraries
        left = verdict.roots(self._answer)
        behind = tuple(one for one in left if one in verdict.behind)
        if behind or any(one.code == self._answer.code for one in verdict.stands):
            left = behind or tuple(one for one in left if one in verdict.new)  # the rest waits for the finding itself
        after = self._court.facts_after(one.plan.effects or ())  # what was installed is there, what was removed is not
        for need in (need for fault in left[:1] for need in fault.needs[:_FOLLOW_UPS_AT_MOST]):
            for more in self._served(left[0], need, after):
                if more.is_advice or more.has_no_effects or more.is_last_resort or _undoes(more, one):
                    continue
                both = with_more(one, more)
                found = self._court.verdict(self._answer, both.plan.effects or ())
                if found.proven or found.faults < verdict.faults or _comes_on(found, verdict, left[0]):
                    yield both, found

    def _served(self, fault: Answer, need: Need, after: Facts) -> Iterator[Candidate]:
        """Nothing for a need that no method serves there: then the first remedy stands alone, or not at all."""
        with suppress(GpudoctorError):
            yield from ways(fault, need, after, self._matrix)


def _comes_on(found: Verdict, before: Verdict, fault: Answer) -> bool:
    """Whether the fault that was to be fixed is gone: another one may have waited behind it."""
    left = {(one.code, one.subject) for one in (*found.stands, *found.new)}
    return (fault.code, fault.subject) not in left and found.faults <= before.faults


def _undoes(more: Candidate, one: Candidate) -> bool:
    """Whether it brings another driver than the one before, or points away from the toolkit that was installed."""
    from installers.effect import DriverInstalled, LinkMade, ToolkitInstalled  # late: few remedies leave a fault

    before, after = one.plan.effects or (), more.plan.effects or ()
    if any(isinstance(effect, LinkMade) for effect in after):
        return any(isinstance(effect, ToolkitInstalled) and effect.linked for effect in before)
    return sum(isinstance(effect, DriverInstalled) for effect in (*before, *after)) > 1


def _obstacle(one: Candidate, verdict: Verdict) -> str:
    """Why a remedy is not given, for the person who must find another."""
    if wrong := (verdict.stands or verdict.new)[:1]:
        then = "would not fix it" if verdict.stands else "would fix it, but cause another fault"
        return f"{NONE_KNOWN} To {one.plan.summary} {then}: {wrong[0].why}"
    unsure = f"Unknown: {verdict.left_open}"
    return f"{NONE_KNOWN} To {one.plan.summary} may fix it. {unsure}"


def _remedy(one: Candidate, facts: Facts, court: RemedyVerifier | None) -> Remedy:
    is_linux = value_or(facts.system.family, "") == "linux"
    if facts.machine.kind == "lock" or (facts.machine.kind in {"image", "dockerfile"} and is_linux):
        from doctor.prescribe.dockerfile import dockerfile_lines  # late: only images have one

        return Remedy(one.plan.summary, one.need, one.plan, dockerfile_lines(one.plan, one.target, facts))
    if court:
        one = one._replace(plan=court.with_lines(one.plan, one.target))
    lines = _where_it_belongs(_lines(one, facts), facts)
    return Remedy(one.plan.summary, one.need, one.plan, lines, by_fix=facts.machine.kind == "live")


def _lines(one: Candidate, facts: Facts) -> tuple[str, ...]:
    """What is pasted: after a step that failed nothing more is done.

    In an image of Linux `bash -e` sees to that by itself. What a person does in between, or elsewhere, parts the lines.
    """
    steps = one.plan.steps
    lines = commands(one.plan, one.target)
    if not facts.machine.is_running and one.target.os_family != "windows":
        return lines
    if any(isinstance(step, Download) or getattr(step, "rehearses", False) for step in steps):
        return chained(lines, one.target)
    changes = any(not kind_of(step).configures for step in steps)
    is_parted = any(isinstance(step, Pause) or kind_of(step).elsewhere(step) for step in steps)
    if not changes or is_parted:
        return lines
    from installers.packages import refresh  # late: only for packages of a system

    reading = {line for step in steps if step in refresh(one.target) for line in step_lines(step, one.target)}
    read_first = takewhile(lambda line: line in reading or line.startswith("#"), lines)
    start = len(tuple(read_first))  # one package list that cannot be read does not keep another package from coming
    return (*lines[:start], *chained(lines[start:], one.target))


def _where_it_belongs(lines: tuple[str, ...], facts: Facts) -> tuple[str, ...]:
    """Commands for another machine's files are not for this one: they are run inside of it."""
    if facts.machine.is_running or all(line.startswith("#") for line in lines):
        return lines
    if value_or(facts.system.family, "") != "linux":
        return ("# run this on the machine of this disk, not here:", *lines)
    name, inside = quote(facts.machine.name), tuple(line for line in lines if line != _LOOK)
    again = (f"{_LOOK} --root {name}",) if inside != lines else ()  # the image has no gpudoctor of its own
    return ("# inside the image:", f"sudo chroot {name} /bin/bash -es <<'INSIDE'", *inside, "INSIDE", *again)


def _in_words(need: Need, text: str) -> Remedy:
    return Remedy(text, need, Plan(text, (ByHand(text),), ()), comment(text))
