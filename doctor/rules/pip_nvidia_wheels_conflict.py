"""NVIDIA's wheels in an environment are not those that its frameworks ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Matrix, Uncovered
from compat.need import Advice, ChangePackages, InstallPackage, Need
from compat.specifier import keeps
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.seen import UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.cudnn_use import built_for
from doctor.rules.shared.nvidia_wheels import (
    Breach,
    as_requirements,
    breaches,
    cuda_major_of,
    leftovers,
    nvidia_wheels,
    of_the_user,
    pins_of,
)
from doctor.rules.shared.pins import Pin
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """Hold every nvidia-* wheel against the frameworks' requirements, and look for a CUDA major that nobody uses."""
    wheels = nvidia_wheels(environment)
    if not wheels:
        raise NotApplicable("no NVIDIA wheels are installed")
    broken = [
        one for one in breaches(environment, facts, matrix) if not _serves_another(one, environment, facts, matrix)
    ]
    if broken:
        return _bad(broken, environment, facts, matrix)
    left = leftovers(environment, facts, matrix)
    if left:
        return _left_bad(left, environment, facts, matrix)
    return ok(f"the {len(wheels)} NVIDIA wheels are the ones that the frameworks require")


def _serves_another(one: Breach, environment: Environment, facts: Facts, matrix: Matrix) -> bool:
    """Whether it is a cuDNN newer than a pin, of the same major, that another framework here was compiled against.

    It serves both (cuDNN's documentation, "Forward and backward compatibility"), and what is pinned only one of them.
    """
    exact = re.fullmatch(r"==\s*([\d.]+)", one.asked.specifier)
    if "cudnn" not in one.wheel.name or one.is_serious or not exact:
        return False
    pinned, there = map(CudnnVersion.parse, (exact[1], one.wheel.version))
    others = (each for each in environment.frameworks.get() if each != one.framework)
    floors = (floor for each in others if (floor := _compiled_with(each, facts, matrix)))
    return any(pinned < floor <= there and floor.major == there.major for floor in floors)


def _compiled_with(framework: Framework, facts: Facts, matrix: Matrix) -> CudnnVersion | None:
    """None where it uses none, or it is unknown."""
    try:
        return built_for(framework, facts, matrix).value
    except (NotApplicable, Uncovered, UnseenError):
        return None


def _bad(broken: list[Breach], environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    serious = [one for one in broken if one.is_serious and not one.asked.optional]
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    return bad(
        f"{(serious or broken)[0]}{more}",
        *(of_the_user([one.wheel for one in broken], environment) or _needs(broken, environment, facts, matrix)),
        severity=Severity.ERROR if serious else Severity.WARNING,
        evidence=tuple(Evidence.at(one.wheel.place, str(one)) for one in broken),
        explains=tuple(symptom for one in serious for symptom in _symptoms(one)),
    )


def _symptoms(breach: Breach) -> Iterator[Symptom]:
    if "cudnn" in breach.wheel.name:
        yield Symptom("cudnn-version-mismatch-loaded-vs-compiled", breach.framework.label)
        yield Symptom("cudnn-wrong-major", breach.framework.label)
    else:
        yield Symptom("cublas-mismatch", breach.framework.label)
    yield from import_symptoms(breach.framework)


def _needs(broken: list[Breach], environment: Environment, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """The versions that the frameworks ask for; a separate environment where two of them exclude each other."""
    asked = {one.asked.name: one.asked.specifier for one in broken}
    rivals = {
        each.package: name
        for name, specifier in asked.items()
        for each in environment.frameworks.get()
        if any(other.name == name and _excludes(other, specifier) for other in pins_of(each, facts, matrix))
    }
    if rivals:
        owners = sorted({*rivals, *(one.framework.package for one in broken)})
        names = ", ".join(sorted(set(rivals.values())))
        text = f"put {' and '.join(owners)} into separate environments: they require different versions of {names}"
        return (Advice(text),)
    if len(asked) == 1:
        return (InstallPackage(*asked.popitem(), environment.interpreter),)
    return (ChangePackages(tuple(name + specifier for name, specifier in asked.items()), environment.interpreter),)


def _excludes(other: Pin, specifier: str) -> bool:
    """Whether a requirement surely refuses the one version that a specifier names."""
    exact = re.fullmatch(r"==\s*([\d.]+)", specifier)
    return exact is not None and not other.optional and not keeps(other.specifier, exact[1])


def _left_bad(left: list[Distribution], environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    majors = ", ".join(sorted({f"cu{cuda_major_of(one.name)}" for one in left}))
    gone = [one.name for one in left]
    several = len(left) > 1
    anew = as_requirements(_damaged_by_removal(gone, environment), environment, facts, matrix)
    return bad(
        f"{len(left)} wheel{'s' * several} for {majors} {'are' if several else 'is'} unused: nothing in this "
        f"environment requires {'them' if several else 'it'} ({', '.join(gone[:3])}{', ...' if len(gone) > 3 else ''})",
        *(of_the_user(left, environment) or (ChangePackages(tuple(anew), environment.interpreter, tuple(gone)),)),
        severity=Severity.WARNING,
        evidence=tuple(Evidence.at(one.place, f"{one.name} {one.version}") for one in left),
    )


def _damaged_by_removal(gone: list[str], environment: Environment) -> list[str]:
    """What shares files with them, name and release: removing them takes these files away."""
    owners = {
        owner
        for overlap in value_or(environment.overlaps, ())
        if any(owner.split(" ")[0] in gone for owner in overlap.owners)
        for owner in overlap.owners
    }
    return sorted(owner for owner in owners if owner.split(" ")[0] not in gone)


RULE = Rule(ENVIRONMENTS, check)
