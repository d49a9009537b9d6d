"""A library of CUDA that a framework asks for by name is nowhere where the loader looks."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from doctor.facts import Facts
from doctor.facts.environment import Framework
from doctor.facts.loader import Prediction
from doctor.facts.seen import Unseen, value_or
from doctor.finding import Answer, Evidence, Symptom, bad, ok
from doctor.judging.builds import import_symptoms
from doctor.judging.cuda_libraries import names_of, need_use, not_found, wheels_for
from doctor.rule import NotApplicable, Rule
from doctor.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """A library that lies in a wheel of the same environment is another finding, and so is what TensorFlow skips."""
    if framework.package.startswith(("tensorflow", "tf-nightly")):
        raise NotApplicable("TensorFlow goes on without them: tf-cannot-dlopen-gpu-libs")
    need_use(framework, facts)
    missing = tuple(
        one
        for one in not_found(framework, facts)
        if isinstance(one.intended, Unseen) and not one.soname.startswith("libnvrtc")
    )
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
    """The wheels that bring them; or the toolkit. Wheels help those that look there: torch and CuPy do."""
    wheels = wheels_for(missing, framework, facts, matrix)
    cuda = value_or(framework.cuda, None)
    toolkit = (Need("cuda", f"=={cuda.major}.*"),) if cuda else ()
    looks_there = framework.package.startswith(("torch", "cupy", "jax"))
    both = (*wheels, *toolkit) if looks_there else (*toolkit, *wheels)
    return both or (Need("by-hand", f"Install the CUDA release that has {missing[0].soname}."),)


RULE = Rule("A library of CUDA is not found", INSTALLED_FRAMEWORKS, check, matters=False)
