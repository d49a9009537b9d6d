"""An image refuses to start on a driver or GPU."""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import Advice, Need
from compat.version import CudaVersion
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileBase
from doctor.model.facts.environment import Framework
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.finding import Answer, Evidence, bad, ok, unknown
from doctor.rules.shared.image import image_of, said_by, set_to
from doctor.rules.shared.requires import LEGACY, Condition, Outcome, Values, brands, evaluate, is_off, requirements
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_REQUIRE, _DISABLE = "NVIDIA_REQUIRE_CUDA", "NVIDIA_DISABLE_REQUIRE"
_TURN_OFF = f"In the Dockerfile, set ENV {_DISABLE}=true"
# Since this release nvidia/cuda names no driver branch for GeForce and TITAN. Source: NVIDIA_REQUIRE_CUDA of its images
# for 12.1 and 12.4 (both in it), 12.5, 12.6, 12.8 and 13.0 (unknown, grid, tesla, nvidia, quadro, quadrortx, nvidiartx,
# vapps, vpc, vcs, vws and cloudgaming alone).
_WITHOUT_GEFORCE = CudaVersion.parse("12.5")
_CONSUMER = {"geforce", "titan", "titanrtx"}


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Every requirement must hold on each GPU."""
    given = dict(image_of(facts).gpu_env)
    base, inside = _base(facts), _holds(facts)
    asked = requirements(given)
    if not asked and base is None and inside is None:
        raise NotApplicable("the image has no requirement for driver or GPU")
    if is_off(given):
        return ok(f"{_DISABLE} turns its requirements off")
    gpus: tuple[Gpu | None, ...] = value_or(facts.gpus, ()) if "gpus" in facts.assumed else ()
    open_ones = []
    for name, value in asked.items():
        for gpu in gpus or (None,):
            found = _on_gpu(value, gpu, facts) if value else Outcome(False)
            if found.holds is False:
                return _refused(name, given[name], found, facts, matrix)
            open_ones += [one.why for one in found.decides]
    if not facts.assumed:
        raise NotApplicable("give the target with --assume-driver and --assume-gpu")
    if base is not None:
        return _on_base(base, gpus, facts, matrix)
    if inside is not None and not asked:
        return _on_framework(inside, facts)
    return unknown(open_ones[0]) if open_ones else ok(f"{', '.join(asked)}: met")


def _on_gpu(value: str, gpu: Gpu | None, facts: Facts) -> Outcome:
    """The same for each brand that a GPU may have, else unknown."""
    try:
        known = brands(value_or(gpu.name, "")) if gpu else ("",)
    except UnseenError:
        known = ("",)
    found = [evaluate(value, _values(gpu, brand, facts)) for brand in known]
    if len({one.holds for one in found}) == 1:
        return found[0]
    return Outcome(None, (Condition(value, None, f"unknown: is its brand {' or '.join(known)}?"),))


def _values(gpu: Gpu | None, brand: str, facts: Facts) -> Values:
    def of(key: str) -> str:
        if key in {"driver", "cuda"}:
            if "driver" not in facts.assumed:  # what is in an image is not what it shall run on
                raise UnseenError("the driver is unknown: give it with --assume-driver")
            return str(facts.driver.release.get() if key == "driver" else facts.driver.cuda.get())
        if gpu is None:
            raise UnseenError("the GPU is unknown: give it with --assume-gpu")
        return str(gpu.capability.get()) if key == "arch" else brand or brands(value_or(gpu.name, ""))[0]

    return of


def _refused(name: str, value: str, found: Outcome, facts: Facts, matrix: Matrix) -> Answer:
    """Say what comes nearest: the alternative with the fewest conditions that do not hold."""
    seen = Evidence.at(said_by(name, facts), f"{name}={value[:200]}")
    if not found.decides:
        release = _release(value)
        return bad(
            (
                "containers of this image do not start: NVIDIA's runtime reads "
                f"{name}, but {value[:40]!r} is not a version"
            ),
            Advice(set_to(_REQUIRE, f"cuda>={release}", facts) if release else _TURN_OFF),
            evidence=(seen,),
        )
    failed = found.decides
    if failed[0].is_invalid:
        line = re.sub(r" {0,40}(<=|>=|!=|=|<|>) *", r"\1", value)
        return bad(
            f"containers of this image do not start: in {name}, {failed[0].why}",
            Advice(set_to(name, f'"{line}"', facts) if line != value else f"Correct {name}."),
            evidence=(seen,),
        )
    wanted = " and ".join(one.text for one in failed)
    told = f"{name}={value[:40]} means {wanted}" if name == LEGACY else f"{name} requires {wanted}"
    return bad(
        f"containers of this image do not start there: {told}, but {failed[0].why}",
        *_needs(wanted, matrix),
        evidence=(seen, *(Evidence(one.why, label="assumed") for one in failed)),
    )


def _needs(wanted: str, matrix: Matrix) -> tuple[Need, ...]:
    found = re.fullmatch(r"cuda>=(\d+\.\d+)(?:\.\d+)*", wanted)
    rows = matrix.rows("driver", "branches") if found else ()
    fit = [one.branch for one in rows if one.cuda_max and found and one.cuda_max >= CudaVersion.parse(found[1])]
    do = f"install driver {min(fit)} or newer, for CUDA {found[1]}" if found and fit else f"meet {wanted}"
    return (
        Advice(f"On the host: {do}."),
        Advice(f"If the requirement is too strict, turn it off. {_TURN_OFF}"),
    )


def _release(value: str) -> str:
    """The release in a name such as cu121."""
    found = re.fullmatch(r"cu(?:da)?[-_]?(\d{2})[._-]?(\d)", value.lower())
    return f"{found[1]}.{found[2]}" if found else ""


def _base(facts: Facts) -> DockerfileBase | None:
    """A Dockerfile's base image that requires a CUDA release by a variable of its own."""
    if not isinstance(facts.dockerfile, Seen):
        return None
    is_set = any(one.name == _REQUIRE for one in value_or(facts.configuration.variables, ()))
    base = facts.dockerfile.value.base
    return base if base.release and not is_set else None


def _holds(facts: Facts) -> Framework | None:
    """The framework of a base image that is built on an unknown release of nvidia/cuda.

    Source: vllm-project/vllm:docker/versions.json@01e4fce0 (FINAL_BASE_IMAGE). pytorch/pytorch names its variant: its
    runtime images start from plain Ubuntu.
    """
    base = facts.dockerfile.value.base if isinstance(facts.dockerfile, Seen) else None
    if base is None or base.release or base.variant:
        return None
    every = (each for one in value_or(facts.environments, ()) for each in value_or(one.frameworks, ()))
    return next((one for one in every if one.pinned_at == base.source and isinstance(one.cuda, Seen)), None)


def _on_framework(framework: Framework, facts: Facts) -> Answer:
    """Its CUDA and that of its image have one major version: a driver of a newer one meets any requirement."""
    image, cuda = value_or(facts.dockerfile, None), framework.cuda.get()
    name = image.base.image if image else ""
    if "driver" not in facts.assumed:
        raise NotApplicable(f"{name}: give the driver with --assume-driver")
    if facts.driver.cuda.get().major > cuda.major:
        return ok(f"{name} is for CUDA {cuda.major}: met")
    return unknown(f"{name}: the CUDA release that it requires is unknown; {framework.label} needs {cuda}")


def _on_base(base: DockerfileBase, gpus: tuple[Gpu | None, ...], facts: Facts, matrix: Matrix) -> Answer:
    """Its driver branches for other GPUs than GeForce are in no row."""
    cuda = CudaVersion.parse(".".join(base.release.split(".")[:2]))
    if "driver" not in facts.assumed:
        raise NotApplicable(f"{base.image} requires cuda>={cuda}: give the driver with --assume-driver")
    found = evaluate(f"cuda>={cuda}", _values(None, "", facts))
    if found.holds:
        return ok(f"{base.image} requires cuda>={cuda}: met")
    names = [value_or(gpu.name, "") for gpu in gpus if gpu is not None]
    is_listed = cuda < _WITHOUT_GEFORCE or not any(set(brands(name)) <= _CONSUMER for name in names)
    if found.holds is None or is_listed:
        return unknown(f"{base.image} requires cuda>={cuda}, or driver branches that are unknown")
    return bad(
        f"containers of this image do not start there: {base.image} requires cuda>={cuda}, but {found.decides[0].why}",
        *_needs(f"cuda>={cuda}", matrix),
        evidence=(
            Evidence.at(base.source, f"FROM {base.image}, which sets NVIDIA_REQUIRE_CUDA"),
            Evidence(f"{found.decides[0].why}; its other accepted branches are not for {names[0]}", label="assumed"),
        ),
    )


RULE = Rule(MACHINE, check)
