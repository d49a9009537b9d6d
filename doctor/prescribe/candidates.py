"""Remedies that come into question for a finding, best first; each must still be proven."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from itertools import chain, takewhile
from typing import TYPE_CHECKING

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import (
    Advice,
    ChangePackages,
    InstallCudnn,
    InstallDriver,
    InstallPackage,
    InstallToolkit,
    KeepModuleAway,
    MoveFilesAside,
    Need,
    RemoveFile,
    RemoveModprobeLine,
    RemovePackage,
    as_json,
)
from doctor.model.facts import Facts
from doctor.model.finding import Answer
from doctor.prescribe.target import may_be_root, target_of
from installers.choose import plan_for
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand
from installers.steps.check import Check

if TYPE_CHECKING:
    from installers.step import Step


class Candidate(NamedTuple):
    """One way to bring a need about, on this machine."""

    need: Need
    plan: Plan
    target: Target

    @property
    def is_advice(self) -> bool:
        """Whether it only tells a person what to do, so that nothing of it can be judged."""
        return isinstance(self.need, Advice) or self.plan.effects == ()

    @property
    def is_last_resort(self) -> bool:
        """Whether it brings a whole CUDA by NVIDIA's installer, beside the packages of the system."""
        return isinstance(self.need, InstallToolkit) and self.need.by == "runfile"

    @property
    def has_no_effects(self) -> bool:
        """Whether its method does not say what it brings about."""
        return self.plan.effects is None


def candidates(answer: Answer, facts: Facts, matrix: Matrix) -> Iterator[Candidate]:
    """What the rule asks for, in its order; a need that no method can read is told to the person as it stands.

    What takes root comes last for a user who cannot be root, and last for others what is a way around.
    """
    if may_be_root(facts):
        yield from sorted(_by_need(answer, facts, matrix), key=_how_far_around)
    else:
        from doctor.prescribe.rootless import takes_root  # late: most users can be root

        yield from sorted(_by_need(answer, facts, matrix), key=lambda one: takes_root(one.plan))


def _how_far_around(one: Candidate) -> int:
    """A whole CUDA in wheels comes after packages, NVIDIA's installer after that."""
    if not isinstance(one.need, InstallToolkit):
        return 0
    return 2 if one.is_last_resort else int(one.need.directory.endswith("/nvidia"))


def _by_need(answer: Answer, facts: Facts, matrix: Matrix) -> Iterator[Candidate]:
    for need in answer.needs:
        try:
            yield from ways(answer, need, facts, matrix)
        except GpudoctorError as error:
            yield _in_words(need, f"{error}. {error.hint}".rstrip(), facts)
        except Exception as error:  # noqa: BLE001 - what fails here must not cost the finding
            yield _in_words(need, f"no commands were found ({type(error).__name__}: {error})", facts)


def ways(answer: Answer, need: Need, facts: Facts, matrix: Matrix) -> Iterator[Candidate]:
    """What serves a need here, and before it what takes no root, where this user has none; raises NoMethod."""
    try:
        usual = candidate(need, facts, matrix)
    except GpudoctorError:
        others = list(_pasted_instead(answer, need, facts, matrix))
        if not others:
            raise
        yield from others
        return
    by_hand = all(isinstance(step, (ByHand, Check)) for step in usual.plan.steps)
    if isinstance(need, (InstallCudnn, InstallToolkit)) and by_hand and usual.target.os_family == "linux":
        yield from _pasted_instead(answer, need, facts, matrix)  # no package is known for this distribution
        yield usual
        return
    from doctor.prescribe.rootless import instead, said_first, takes_root  # late: few needs come this far

    if usual.target.may_be_root:
        if isinstance(need, InstallCudnn) and not need.directory and takes_root(usual.plan):
            yield from _made(instead(answer, need, facts, matrix), facts, matrix)
        yield usual
        return
    if not takes_root(usual.plan):
        yield usual
        return
    yield from _made(instead(answer, need, facts, matrix), facts, matrix)
    yield usual._replace(plan=said_first(usual.plan, usual.target))


def _pasted_instead(answer: Answer, need: Need, facts: Facts, matrix: Matrix) -> Iterator[Candidate]:
    """Wheels or an archive, where no package serves; an archive first where a directory is named."""
    from doctor.prescribe.archives import archived, by_installer  # late: most needs are served
    from doctor.prescribe.rootless import instead

    archives, others = archived(need, facts, matrix), instead(answer, need, facts, matrix)
    first = (
        chain(others, archives) if isinstance(need, InstallCudnn) and not need.directory else chain(archives, others)
    )
    yield from _made(chain(first, by_installer(need, facts)), facts, matrix)


def _made(ways: Iterator[tuple[Need, ...]], facts: Facts, matrix: Matrix) -> Iterator[Candidate]:
    """Those of several needs, one after the other, that methods serve."""
    for needs in ways:
        with suppress(GpudoctorError):
            yield reduce(with_more, [candidate(one, facts, matrix) for one in needs])


def _in_words(need: Need, why: str, facts: Facts) -> Candidate:
    text = f"{_wish(need)}: {why}"
    return Candidate(need, Plan(text, (ByHand(text),), ()), target_of(facts, need))


def _wish(need: Need) -> str:
    """A need as a person would say it."""
    if isinstance(need, ChangePackages):
        gone, come = ", ".join(need.remove), ", ".join(need.install)
        return ", then ".join(filter(None, (gone and f"remove {gone}", come and f"install {come}")))
    shown = as_json(need)
    if isinstance(need, (RemovePackage, RemoveFile, MoveFilesAside, RemoveModprobeLine, KeepModuleAway)):
        return f"remove {shown.where or shown.product}"
    again = isinstance(need, InstallPackage) and need.reinstall
    build = f" ({shown.build})" if shown.build and not again else ""
    inside = f" in {shown.where}" if shown.where else ""
    return f"needed here: {shown.product}{' ' if shown.spec else ''}{shown.spec}{build}{inside}"


def candidate(need: Need, facts: Facts, matrix: Matrix) -> Candidate:
    """The plan of the method that serves a need here; raises NoMethod."""
    need = _for_the_cards(need, facts, matrix) if isinstance(need, InstallDriver) else need
    target = target_of(facts, need)
    return Candidate(need, plan_for(need, target, matrix), target)


def _for_the_cards(need: InstallDriver, facts: Facts, matrix: Matrix) -> InstallDriver:
    """A driver with the kernel module that the cards here run with, where there is but one."""
    from doctor.rules.shared.cards import generations  # late: few remedies are a driver

    known = {row.open_module for row in generations(facts, matrix)}
    return need._replace(
        flavour=need.flavour or ("open" if "only" in known else "proprietary" if "no" in known else "")
    )


def with_more(one: Candidate, other: Candidate) -> Candidate:
    """Both, one after the other: what the second one fixes is wrong because of the first.

    What the second one fetches and unpacks comes first: where that fails, the machine is as it was.
    """
    effects = (*(one.plan.effects or ()), *(other.plan.effects or ()))
    summary = f"{one.plan.summary}, then {other.plan.summary}"
    first = tuple(step for step in one.plan.steps if not isinstance(step, Check))  # one looks when all is done
    brought = _brought(other.plan.steps)
    steps = other.plan.steps[len(brought) :]
    # Without what they begin with that was done before and need not be again: pip itself, a repository.
    same = takewhile(lambda at: steps[at] in first, range(len(steps)))
    rest = steps[max((at + 1 for at in same if getattr(steps[at], "prepares", False)), default=0) :]
    rest = tuple(step for step in rest if not isinstance(step, ByHand) or step not in first)  # said once
    return one._replace(plan=Plan(summary, (*brought, *first, *rest), effects))


def _brought(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps at the front that fetch and unpack, with what a person is told about them; () where none does."""
    from installers.step import kind_of  # late, as above
    from installers.steps.reboot import Reboot

    kinds = list(map(kind_of, steps))
    in_stage = [kind.staged and not kind.taken_back(step) for step, kind in zip(steps, kinds, strict=True)]
    front = takewhile(lambda at: in_stage[at] or isinstance(steps[at], (ByHand, Reboot)), range(len(steps)))
    return steps[: max((at + 1 for at in front if in_stage[at]), default=0)]
