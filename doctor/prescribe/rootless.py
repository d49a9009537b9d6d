"""What needs no root: wheels in the environment concerned, conda, a variable of the user's own.

For a user who cannot be root, and where no package and no archive serves.

Each is only a candidate: the rules say whether the process finds what it brings.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix, accepts
from compat.need import InstallCudnn, InstallPackage, InstallToolkit, Need
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer
from doctor.prescribe.predicted_files import folder_of_wheel
from doctor.rules.shared.cuda_libraries import wheels_beside_cuda, with_directories
from doctor.rules.shared.cudnn_use import predictions_for
from installers.plan import Plan, Target
from installers.requirement import wanted_version
from installers.step import kind_of
from installers.steps.by_hand import ByHand


def takes_root(plan: Plan) -> bool:
    """Whether some step of a plan needs root on the machine itself."""
    return any(kind_of(step).needs_root(step) and not kind_of(step).elsewhere(step) for step in plan.steps)


def said_first(plan: Plan, target: Target) -> Plan:
    """The plan for the person who is root there: this user can hand it on."""
    who = target.user or "this user"
    text = f"needs root, but {who} cannot use sudo: ask the administrator of this machine"
    return plan._replace(steps=(ByHand(text), *plan.steps))


def instead(answer: Answer, need: Need, facts: Facts, matrix: Matrix) -> Iterator[tuple[Need, ...]]:
    """Needs that take no root, one after the other, in place of one that does; best first."""
    environment = _environment_of(answer, facts)
    if environment is None or not isinstance(need, (InstallCudnn, InstallToolkit)):
        return
    if environment.kind == "conda":
        yield (need._replace(directory=environment.prefix),)
        return
    site = next(iter(value_or(environment.sites, ())), "")
    if not site or _asks_as_linkers(answer, environment, facts):
        return
    if isinstance(need, InstallToolkit):
        more = _beside_cuda(answer, environment, facts, matrix)
        version = wanted_version(need.versions)
        wheels = [row.wheel for row in matrix.rows("libraries", "sonames") if row.wheel and accepts(row.cuda, version)]
        folders = (
            *tuple(dict.fromkeys(f"{site}/{folder_of_wheel(one)}" for one in (*wheels, "nvidia-cudnn-cu12"))),
            *(f"{site}/{folder_of_wheel(one.name)}" for one in more),
        )
        yield (need._replace(directory=f"{site}/nvidia"), *more, with_directories(folders, facts))
    elif need.cuda and _has_wheels(need.cuda, matrix):
        wheel = InstallPackage(f"nvidia-cudnn-cu{need.cuda.partition('.')[0]}", need.versions, environment.interpreter)
        yield (wheel,)
        yield (wheel, with_directories((f"{site}/{folder_of_wheel(wheel.name)}",), facts))


def _has_wheels(cuda: str, matrix: Matrix) -> bool:
    """Whether NVIDIA has its libraries for that CUDA as wheels: from 11 on."""
    version = f"{cuda.partition('.')[0]}.0"
    return any(row.wheel and accepts(row.cuda, version) for row in matrix.rows("libraries", "sonames"))


def _asks_as_linkers(answer: Answer, environment: Environment, facts: Facts) -> bool:
    """Whether the framework of a finding asks for names without a version, which no wheel of NVIDIA's has."""
    here = (one for one in value_or(environment.frameworks, ()) if one.label == answer.subject)
    return any(told.missing and told.soname.endswith(".so") for one in here for told in predictions_for(one, facts))


def _beside_cuda(answer: Answer, environment: Environment, facts: Facts, matrix: Matrix) -> tuple[InstallPackage, ...]:
    """What the framework of a finding asks for, finds nowhere, and no CUDA in wheels brings."""
    frameworks = (one for one in value_or(environment.frameworks, ()) if one.label == answer.subject)
    return tuple(
        InstallPackage(wheel, interpreter=environment.interpreter)
        for one in frameworks
        for wheel in wheels_beside_cuda(one, facts, matrix)
    )


def _environment_of(answer: Answer, facts: Facts) -> Environment | None:
    """The environment of the framework that a finding is about; of one that is not there yet, the only one."""
    known = value_or(facts.environments, ())
    for environment in known:
        if any(one.label == answer.subject for one in value_or(environment.frameworks, ())):
            return environment
    return known[0] if len(known) == 1 else None
