"""A GPU is here, and a framework's build cannot use it."""

from __future__ import annotations

from collections.abc import Iterator

from compat.build import accepted_cudas, gpu_packages, gpu_plugins, name_of, release_key
from compat.matrix import Matrix, Uncovered
from compat.need import Advice, Need
from compat.row import CONDA_FORGE, FrameworkRow
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.seen import Seen, how, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import (
    cuda_need_of,
    fits_dependents,
    installed,
    nearest_and_newest,
    need_of,
    other_builds,
    riders,
)
from doctor.rules.shared.extensions import asked_of_torch, runtime_of
from doctor.rules.shared.gpu_code import code_for
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import FRAMEWORKS, environment_of, need_where

# Source: conda's documentation, "Managing virtual packages".
_OVERRIDE = "{at}: without a driver conda takes CPU builds: set CONDA_OVERRIDE_CUDA to the machine's CUDA, e.g. 12.9"


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """A CPU build is BAD beside a GPU, unless another package brings the GPU code (JAX's plugins)."""
    image = _cuda_image(framework, facts)
    if not image:
        need_where(facts, "gpus")
    if value_or(facts.system.family, "") == "macos":
        raise NotApplicable("no framework has a CUDA build for macOS, only CPU builds")
    if traits_of(framework.package).runs_on:
        raise NotApplicable(f"{framework.package} uses the CUDA of {traits_of(framework.package).runs_on}")
    if isinstance(framework.cuda, Seen) or framework.build.get() != "cpu":
        return ok(f"{framework.label} is a GPU build")
    # The installed distribution that adds GPU code to a CPU build, "" where none does; raises UnseenError.
    added = gpu_plugins(framework.package)
    plugin = (
        ""
        if not added
        else next((one.name for one in installed(environment_of(framework, facts)) if one.name in added), "")
    )
    if plugin:
        return ok(f"{plugin} has its GPU code")
    # The installed distribution that wants no more than the CPU build, "" for none; raises UnseenError.
    users = traits_of(framework.package).cpu_for
    user = next((one.name for one in installed(environment_of(framework, facts)) if one.name in users), "")
    if user:
        return ok(f"{user} requires it and runs it on the CPU")
    return _on_cuda_image(framework, image) if image else _bad(framework, facts, matrix)


def _cuda_image(framework: Framework, facts: Facts) -> str:
    """The base image with CUDA that a plan puts a CPU build on; "" if GPUs are given, or for another image."""
    if "gpus" in facts.assumed or not isinstance(facts.dockerfile, Seen) or traits_of(framework.package).dependency:
        return ""
    base = facts.dockerfile.value.base
    return base.image if base.release and base.variant else ""


def _on_cuda_image(framework: Framework, image: str) -> Answer:
    """Nobody needs that image for a CPU build: one of the two is a mistake."""
    return bad(
        f"{framework.label} is a CPU build: it does not use the CUDA of {image}",
        Advice(f"{framework.pinned_at}: use the CUDA build, or an image without CUDA"),
        severity=Severity.WARNING,
        evidence=(Evidence.of(framework.build, "built for the CPU only"),),
    )


def _severity(framework: Framework, others: tuple[str, ...]) -> Severity:
    """A mistake only where a person asked for it by its name, and may have meant another."""
    meant = others or framework.package.endswith("-cpu") or traits_of(framework.package).dependency
    return Severity.WARNING if meant else Severity.ERROR


def _bad(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    environment = environment_of(framework, facts)
    # The frameworks beside it that do use the GPU: then this one may be meant to stay on the CPU.
    frameworks = value_or(environment.frameworks, ())
    others = tuple(one.label for one in frameworks if isinstance(one.cuda, Seen) and not traits_of(one.package).runs_on)
    rows = () if framework.from_index == CONDA_FORGE else _builds(framework, facts, matrix)
    advice = f"; {name_of(rows[0])} is a build for this GPU" if rows else ""
    beside = f"{', '.join(others)} in the same environment can" if others else ""
    return bad(
        f"{framework.label} is a CPU build: it cannot use the GPU" + (f" ({beside})" if beside else "") + advice,
        *(need_of(row, framework, facts) for row in rows) if rows else _by_hand(framework, facts, bool(others)),
        severity=_severity(framework, others),
        evidence=(
            Evidence.of(framework.build, "built for the CPU only"),
            Evidence.at(how(facts.gpus) or how(facts.pci), f"an NVIDIA GPU is {_where(facts)}"),
        ),
        explains=tuple(_symptoms(framework, facts, rows)),
    )


def _symptoms(framework: Framework, facts: Facts, rows: tuple[FrameworkRow, ...]) -> Iterator[Symptom]:
    """What was compiled for a build with GPU code lacks that build's libraries; what comes again with it fits then.

    So does what runs on it, where the build that is proposed is of the release that it asks for: a remedy of its own
    would bring it for the release that goes.
    """
    environment = environment_of(framework, facts)
    suits = bool(rows) and fits_dependents(rows[0], framework, environment)
    for one in riders(framework, environment):
        asked, told = asked_of_torch(one.package, environment), value_or(facts.loader.predictions, ())
        mine = (each for each in told if (each.environment, each.asker) == (one.environment, one.package))
        if any(each.missing and each.soname in asked for each in mine):
            yield Symptom("needed-library-missing", one.label)
        if suits or one.package in traits_of(framework.package).followers:
            yield Symptom("companion-version-mismatch", one.label)


def _where(facts: Facts) -> str:
    return "here" if facts.is_running else "assumed"


def _builds(framework: Framework, facts: Facts, matrix: Matrix) -> tuple[FrameworkRow, ...]:
    environment = environment_of(framework, facts)
    has_code, majors = code_for(value_or(facts.gpus, ()), framework, facts), _majors_beside(environment)

    def fits(row: FrameworkRow) -> bool:
        return (row.targets is None or has_code(row)) and (not majors or _takes(row, majors, matrix))

    rows = other_builds(framework, facts, matrix, fits)
    rows = tuple(row for row in rows if fits_dependents(row, framework, environment)) or rows
    return nearest_and_newest(_same_cuda_first(rows, environment))


def _same_cuda_first(rows: tuple[FrameworkRow, ...], environment: Environment) -> tuple[FrameworkRow, ...]:
    """Of the builds of the nearest release, that for the very CUDA of what is there."""
    cudas = {f"=={one.cuda.value}" for one in value_or(environment.frameworks, ()) if isinstance(one.cuda, Seen)}
    near = [row for row in rows if release_key(row.versions) == release_key(rows[0].versions) and row.cuda in cudas]
    return (*near[:1], *(row for row in rows if row not in near[:1]))


def _majors_beside(environment: Environment) -> frozenset[int]:
    """The CUDA majors that an environment uses: wheels of two unpack into the same directories.

    An extension asks for the runtime of one, and finds no other's.
    """
    frameworks, extensions = value_or(environment.frameworks, ()), value_or(environment.extensions, ())
    majors = {one.cuda.value.major for one in frameworks if isinstance(one.cuda, Seen)}
    runtimes = (runtime_of(one) for one in extensions if isinstance(one.cudart, Seen))
    return frozenset(majors.union(one.major for one in runtimes if one))


def _takes(row: FrameworkRow, majors: frozenset[int], matrix: Matrix) -> bool:
    try:
        return any(one.major in majors for one in accepted_cudas(row, matrix))
    except Uncovered:
        return False


def _by_hand(framework: Framework, facts: Facts, is_beside: bool) -> tuple[Need, ...]:
    if framework.from_index == CONDA_FORGE:
        return (Advice(_OVERRIDE.format(at=framework.pinned_at)),)
    if is_beside:
        text = f"Create a separate environment for {framework.package}: no build is known that fits the other packages"
        return (Advice(f"{text}."),)
    packages = [one for one in gpu_packages(framework.package) if one != framework.package]
    if not packages:
        return (Advice(f"no build of {framework.package} is known for this GPU and driver"),)
    return (cuda_need_of(packages[0], framework, facts),)


RULE = Rule(FRAMEWORKS, check)
