"""A library of CUDA that a framework's process opens is damaged."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, InstallPackage, Need
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Outcome, Prediction
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms, installed
from doctor.rules.shared.cuda_libraries import predicted, wheels_for
from doctor.rules.shared.cudnn_use import out_of_variable
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """The loader takes the first file of a name, and looks for no other; cuDNN's is cudnn-install-incomplete."""
    found = predicted(framework, facts)
    damaged = tuple(one for one in found if one.outcome is Outcome.DAMAGED)
    if not damaged:
        for one in found:
            if one.outcome is Outcome.UNREAD:
                one.path.get()  # it may be damaged
        return ok(f"no CUDA library of {framework.label} is damaged")
    more = f", and {len(damaged) - 1} more" if len(damaged) > 1 else ""
    return bad(
        f"{framework.label} opens {damaged[0].damaged}, which is damaged{more}",
        *_needs(damaged, framework, facts, matrix),
        evidence=tuple(Evidence("the loader cannot read its headers", file=one.damaged) for one in damaged),
        explains=(
            *(Symptom(code, framework.label) for code in ("nvrtc-missing", "tf-cannot-dlopen-gpu-libs")),
            *import_symptoms(framework),
        ),
    )


def _needs(damaged: tuple[Prediction, ...], framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """A stray file is kept out; else what put it there puts it there again."""
    one, environment = damaged[0], environment_of(framework, facts)
    own = isinstance(one.intended, Seen) and one.intended.value == one.damaged
    # a loop of links is what the framework intends, and has no real path that could be compared
    own = own or any(one.damaged.startswith(f"{site}/nvidia/") for site in value_or(environment.sites, ()))
    out = None if own else out_of_variable(one)
    if out:
        return (out,)
    if one.damaged.startswith(f"{framework.path}/"):
        return (InstallPackage(framework.package, f"=={framework.version}", environment.interpreter, reinstall=True),)
    if not own:
        return (Advice(f"Reinstall the package of {one.damaged}."),)
    pinned = {each.name: f"{each.name}=={each.version}" for each in installed(environment)}
    return tuple(
        need._replace(install=tuple(pinned.get(name, name) for name in need.install))
        for need in wheels_for(damaged, framework, facts, matrix)
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
