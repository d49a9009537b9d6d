"""A library of CUDA that a framework asks for by name is nowhere where the loader looks."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from compat.traits import traits_of
from doctor.check.finding import Answer, Evidence, Symptom, bad, ok
from doctor.facts import Facts
from doctor.facts.environment import Framework
from doctor.facts.loader import Prediction
from doctor.facts.seen import Seen, Unseen
from doctor.rules.shared.builds import finds_wheels, import_symptoms
from doctor.rules.shared.cuda_libraries import names_of, need_use, not_found, of_own_cuda, toolkit_for, wheels_for
from doctor.rules.shared.dlls import cuda_there
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS

_OF_OTHER_RULES = ("libnvrtc", "libcuda.so")


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """A library that lies in a wheel of the same environment is another finding; a framework may have its own."""
    own = traits_of(framework.package).instead.get("cudart-soname-missing")
    if own:
        raise NotApplicable(f"{framework.package} goes on without them: {own}")
    need_use(framework, facts)
    if facts.system.family.get() == "windows":
        return cuda_there(framework, facts, matrix, import_symptoms(framework))
    missing = tuple(
        one
        for one in not_found(framework, facts)
        if isinstance(one.intended, Unseen) and not one.soname.startswith(_OF_OTHER_RULES)
    )
    missing = of_own_cuda(missing, framework, facts, matrix)
    if not missing:
        return ok(f"the loader finds what {framework.label} asks for, or a wheel has it")
    return bad(
        f"{framework.label} asks for {names_of(missing)}, and the loader finds no such file",
        *_needs(missing, framework, facts, matrix),
        evidence=tuple(Evidence(f"the loader, asked for {one.soname}", _why(one)) for one in missing),
        explains=(Symptom("nvrtc-missing", framework.label), *import_symptoms(framework)),
    )


def _why(one: Prediction) -> str:
    return one.path.why if isinstance(one.path, Unseen) else ""


def _needs(missing: tuple[Prediction, ...], framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """A toolkit that is here already, the wheels that bring them, or one to install: first what this release looks for.

    Where the rest of them lies in wheels already, one more wheel is nearer than a second CUDA of the system's.
    """
    wheels = wheels_for(missing, framework, facts, matrix)
    toolkit = toolkit_for(missing[0].soname, framework, facts, matrix)
    in_wheels = any(isinstance(one.intended, Seen) for one in not_found(framework, facts))
    here = tuple(one for one in toolkit if one.product == "variable")
    both = (*wheels, *toolkit) if finds_wheels(framework) or in_wheels else (*toolkit, *wheels)
    both = tuple(dict.fromkeys((*here, *both)))
    return both or (Need("by-hand", f"Install the CUDA release that has {missing[0].soname}."),)


RULE = Rule(INSTALLED_FRAMEWORKS, check, matters=False)
