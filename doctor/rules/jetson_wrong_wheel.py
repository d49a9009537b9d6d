"""A framework on a Jetson that was not built for it, or a Jetson's build elsewhere."""

from __future__ import annotations

from compat.build import serves
from compat.matrix import Matrix
from compat.need import Advice
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import platform_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import FRAMEWORKS

_JETPACK = "install NVIDIA's build of {} for this JetPack (L4T {}), or use a container for it"


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """On a Jetson a CPU build is BAD, one for a newer CUDA than its system runs, and one without code for its GPU.

    Elsewhere, a build that is published for Jetson only.
    """
    if traits_of(framework.package).runs_on:
        raise NotApplicable(f"{framework.package} uses the CUDA of {traits_of(framework.package).runs_on}")
    jetson = facts.system.jetson.get()
    if jetson:
        return _on_jetson(framework, facts, jetson, matrix)
    return _elsewhere(framework, facts, matrix)


def _newer_cuda(framework: Framework, facts: Facts, release: str, matrix: Matrix) -> str:
    """Why the driver of this system, which comes with its image alone, does not run the framework; "" where it may."""
    from compat.platform import jetpack_of  # late: only a Jetson asks for its rows

    row = jetpack_of(release, matrix)
    if row is None or not isinstance(framework.cuda, Seen) or framework.cuda.value.major <= row.cuda_major:
        return ""
    if any(one.origin == "compat" and one.loads for one in value_or(facts.driver.libraries, ())):
        return ""
    return (
        f"{framework.label} is built for CUDA {framework.cuda.value.major}, but L4T {release} supports {row.cuda_major}"
    )


def _on_jetson(framework: Framework, facts: Facts, release: str, matrix: Matrix) -> Answer:
    newer = _newer_cuda(framework, facts, release, matrix)
    if newer:
        return _bad(framework, facts, newer, release)
    if framework.is_cpu_build:
        return _bad(framework, facts, f"{framework.label} is the generic build for ARM, which has no GPU code", release)
    gpus = [gpu for gpu in value_or(facts.gpus, ()) if isinstance(gpu.capability, Seen)]
    if isinstance(framework.targets, Seen) and framework.targets.value and gpus:
        lacking = [one for one in gpus if not serves(framework.targets.value, one.capability.get(), jetson=True)]
        if lacking:
            why = f"{framework.label} has no code for {lacking[0].capability.get().sm}, this Jetson's GPU"
            return _bad(framework, facts, why, release)
    return ok(f"{framework.label} is a GPU build for ARM")


def _elsewhere(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    if platform_of(facts).arch != "sbsa":
        raise NotApplicable("this is neither a Jetson nor an ARM machine")
    build = value_or(framework.build, "")
    rows = matrix.framework_rows(framework.package, framework.version.partition("+")[0])
    own = [row for row in rows if build and row.build == build]
    if own and all(row.arch == ("jetson",) for row in own):
        return bad(
            f"{framework.label} is a build for Jetson, but this is not a Jetson",
            Advice(f"install a build of {framework.package} for ARM servers (sbsa)"),
            evidence=(Evidence("published for Jetson only", label=f"matrix, {own[0].id}"),),
        )
    return ok(f"{framework.label} is not known as a build for Jetson")


def _bad(framework: Framework, facts: Facts, why: str, release: str) -> Answer:
    return bad(
        why,
        Advice(_JETPACK.format(framework.package, release)),
        evidence=(
            Evidence.of(facts.system.jetson, f"a Jetson, L4T {release}"),
            Evidence.of(framework.build, f"build {value_or(framework.build, 'unknown')}"),
        ),
        explains=tuple(
            Symptom(code, framework.label)
            for code in (
                *("cpu-only-wheel", "driver-too-old-for-runtime"),
                *("gpu-arch-not-in-build", "gpu-too-new-for-cuda", "gpu-too-old-dropped"),
            )
        ),
    )


RULE = Rule(FRAMEWORKS, check)
