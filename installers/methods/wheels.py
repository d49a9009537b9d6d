"""Install several distributions: together, and again where others that own the same files were removed.

Source: pip's user guide (`--force-reinstall`, `--no-deps`); removing one of two owners deletes the files of both, so
the one that stays must come last.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from compat.matrix import Matrix, accepts
from compat.need import ChangePackages, InstallPackage, RemovePackage
from compat.spec import Spec, parse_spec
from installers.method import Method
from installers.methods import wheel
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse


def plan(need: ChangePackages, target: Target, matrix: Matrix) -> Plan:
    """The removals, then the installations: what is there alone and again, all others together."""
    removed = need.remove
    wanted = [(requirement, parse_spec(requirement)) for requirement in need.install]
    again = [one for _, one in wanted if one.name in target.installed and not _is_another_release(one, target)]
    fresh = [pair for pair in wanted if pair[1] not in again]
    single: list[InstallPackage | RemovePackage] = [RemovePackage(name, need.interpreter) for name in removed]
    single += [InstallPackage(one.name, one.versions, need.interpreter, reinstall=True) for one in again]
    if len(fresh) == 1 and not fresh[0][1].extras and fresh[0][1].name not in target.installed:
        one = fresh.pop()[1]
        single.append(InstallPackage(one.name, one.versions, need.interpreter, one.build))
    plans = [wheel.plan(one, target, matrix) for one in single]
    if fresh:
        plans.append(wheel.together(tuple(requirement for requirement, _ in fresh), target, matrix))
    steps = dict.fromkeys(step for one in plans for step in one.steps)
    first = tuple(takewhile(lambda step: isinstance(step, ByHand), steps))
    said = tuple(step for step in steps if isinstance(step, ByHand) and step not in first)
    steps = dict.fromkeys((*(step for step in steps if step not in said), *said))  # no sentence between two commands
    steps = dict.fromkeys(_merged(tuple(steps)))
    effects = dict.fromkeys(effect for one in plans for effect in one.effects or ())
    return Plan(_summary(removed, need.install, bool(again)), wheel.rehearsed(tuple(steps), target), tuple(effects))


def _merged(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield the steps, with one command for several in a row that differ in their last word, a distribution."""
    rest = list(steps)
    while rest:
        step = rest.pop(0)
        while rest and isinstance(step, Command) and isinstance(other := rest[0], Command):
            if step.argv[: len(other.argv) - 1] != other.argv[:-1] or "--index-url" in step.argv:
                break
            both = (*step.inverse.commands, *other.inverse.commands) if step.inverse and other.inverse else ()
            left = step.inverse.left or other.inverse.left if step.inverse and other.inverse else ""
            step = step._replace(argv=(*step.argv, other.argv[-1]), inverse=Inverse(both, left))
            rest.pop(0)
        yield step


def _is_another_release(one: Spec, target: Target) -> bool:
    """Whether what is there is not what is wanted: an installer takes another release, and all that one requires."""
    there = dict(target.releases).get(one.name, "")
    return bool(there) and not accepts(one.versions, there.partition("+")[0])


def _summary(removed: tuple[str, ...], wanted: tuple[str, ...], again: bool) -> str:
    first = f"remove {', '.join(removed)}" if removed else ""
    second = f"{'reinstall' if again else 'install'} {', '.join(wanted)}" if wanted else ""
    return ", then ".join(filter(None, (first, second)))


METHOD = Method(ChangePackages, "several Python distributions", plan, rank=80)
