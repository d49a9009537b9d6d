"""A framework that pip installed takes CUDA's libraries from conda's packages instead of its own."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment, Framework
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.model.resolution import describe_resolution
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.cuda_libraries import both_releases, displaced, dotted, is_older, is_wheel
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """What is in the environment's lib folder is conda's; a newer one of the same name works."""
    environment = environment_of(framework, facts)
    if environment.kind != "conda" or not is_wheel(framework, facts):
        raise NotApplicable(f"{framework.label} is not a wheel in a conda environment")
    taken = [one for one in displaced(framework, facts) if _is_condas(one.path.get(), environment)]
    older = [one for one in taken if is_older(one, facts, matrix)]
    if not older:
        return ok(f"no older conda library hides those of {framework.label}")
    one = older[0]
    loaded, own = map(dotted, both_releases(one, facts, matrix))
    found = (one.name for one in environment.distributions.get() if one.kind == "conda")
    packages = sorted(
        name for name in found if name.startswith(("cudatoolkit", "libcublas", "cuda-toolkit", "cuda-libraries"))
    )
    return bad(
        f"{framework.label} (a wheel) will load conda's {one.soname} {loaded} instead of its own {own}",
        Advice(
            f"Remove conda's {' and '.join(packages) or 'CUDA packages'} from "
            f"{environment.prefix}: the wheel has its own libraries."
        ),
        evidence=tuple(Evidence(describe_resolution(one.way), file=one.path.get()) for one in older),
        explains=(Symptom("cublas-mismatch", framework.label), *import_symptoms(framework)),
    )


def _is_condas(path: str, environment: Environment) -> bool:
    return path.startswith(f"{environment.prefix}/lib/") and "-packages/" not in path


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
