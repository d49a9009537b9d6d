"""A compiled extension of torch has no code for a GPU that is here."""

from __future__ import annotations

from compat.build import serves
from compat.matrix import Matrix
from compat.need import Advice
from compat.traits import is_known
from doctor.model.facts import Facts
from doctor.model.facts.environment import Extension
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.extensions import EXTENSION_PACKAGES, ExtensionPackage, building_again, in_use, targets_text
from doctor.rules.shared.gpu_code import severity_of, visible_gpus
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import need_where


def check(package: ExtensionPackage, facts: Facts, matrix: Matrix) -> Answer:
    """BAD when none of its libraries has code for a visible GPU: one for newer cards alone may lie beside others."""
    need_where(facts, "gpus")
    modules = in_use(package, facts)
    if not modules:
        raise NotApplicable("it has no library for torch's CUDA: see extension-built-for-other-cuda")
    modules = tuple(one for one in modules if value_or(one.every_target, one))
    if not modules:
        raise NotApplicable(f"{package.label} has no GPU code")
    gpus = visible_gpus(facts)
    jetson = bool(value_or(facts.system.jetson, ""))
    unserved = tuple(gpu for gpu in gpus if not any(_serves(one, gpu, jetson=jetson) for one in modules))
    if unserved:
        for one in modules:
            one.every_target.get()  # what could not be read may serve them
        return _bad(package, modules, unserved, facts)
    return ok(f"{package.label} has code for {_names(gpus)}")


def _serves(module: Extension, gpu: Gpu, *, jetson: bool) -> bool:
    targets = value_or(module.every_target, value_or(module.targets, ()))
    return serves(targets, gpu.capability.get(), jetson=jetson)


def _is_for_some_cards(modules: tuple[Extension, ...]) -> bool:
    """Whether all code uses what these cards alone have (sm_90a): no rebuild serves another one.

    What people install to use it themselves (xFormers, flash-attn) is wrong for the card all the same.
    """
    if is_known(modules[0].distribution):
        return False
    targets = [target for one in modules for target in value_or(one.every_target, ())]
    return all(one.suffix == "a" for one in targets)


def _names(gpus: tuple[Gpu, ...]) -> str:
    return ", ".join(f"{gpu.label}, {gpu.capability.get().sm}" for gpu in gpus)


def _bad(package: ExtensionPackage, modules: tuple[Extension, ...], unserved: tuple[Gpu, ...], facts: Facts) -> Answer:
    if _is_for_some_cards(modules):
        return bad(
            f"{package.label} has code only for {targets_text(modules)}: it does not run on {_names(unserved)}",
            severity=Severity.INFO,
            evidence=tuple(Evidence(f"has code for {targets_text((one,))}", file=one.path) for one in modules),
        )
    lacking = ";".join(sorted({str(gpu.capability.get()) for gpu in unserved}))
    names = ", ".join(sorted({gpu.capability.get().sm for gpu in unserved}))
    again = building_again(package, facts, lacking)
    gpus = tuple(
        Evidence.of(gpu.capability, f"{gpu.label} has compute capability {gpu.capability.get()}") for gpu in unserved
    )
    built = tuple(Evidence(f"has code for {targets_text((one,))}", file=one.path) for one in modules)
    return bad(
        f"{package.label} has no code for {_names(unserved)}: it was built for {targets_text(modules)}",
        Advice(f"install a build of {package.label} with code for {names}, or {again}"),
        severity=severity_of(unserved, visible_gpus(facts)),
        evidence=(*gpus, *built),
    )


RULE = Rule(EXTENSION_PACKAGES, check, blocks_verdict=False)
