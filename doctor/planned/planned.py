"""Frameworks that are not installed yet, as facts from their matrix rows: the rules judge them as any other."""

from __future__ import annotations

from compat.build import default_build
from compat.can import ranked
from compat.matrix import Matrix, Uncovered
from compat.row import FrameworkRow
from compat.spec import Spec, parse_specs
from compat.target import TargetMachine
from doctor.model.facts import Facts
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.seen import Seen, Unseen, UnseenError, value_or
from doctor.planned.framework_from_row import framework_of_no_row, framework_of_row, version_of
from doctor.rules.shared.builds import platform_of
from doctor.rules.shared.gpu_code import visible_gpus
from doctor.rules.shared.products import known_product

PLANNED = "planned, not installed"


def parse_plan(texts: tuple[str, ...]) -> tuple[Spec, ...]:
    """The specs of a plan; raises BadSpec, and NoSuchName for what the matrix has no builds of."""
    return tuple(known_product(spec) for spec in parse_specs(texts))


def planned(facts: Facts, specs: tuple[Spec, ...], matrix: Matrix) -> Facts:
    """The same machine with one new environment, of the first one's Python, that holds the planned frameworks alone.

    What is in other environments is left out: neither their copies of cuDNN nor their imports are part of the plan.
    """
    environment = _environment(facts)
    frameworks = tuple(framework_of(spec, environment, facts, matrix) for spec in specs)
    held = environment._replace(
        distributions=Seen(tuple(map(_distribution, frameworks)), PLANNED), frameworks=Seen(frameworks, PLANNED)
    )
    cudnn = facts.cudnn
    if isinstance(cudnn, Seen):
        cudnn = Seen(tuple(copy for copy in cudnn.value if not copy.environment), cudnn.how)
    return facts._replace(
        environments=Seen((held,), PLANNED),
        cudnn=cudnn,
        loader=facts.loader._replace(predictions=Seen((), PLANNED)),
        imports=Seen((), PLANNED),
    )


def _environment(facts: Facts) -> Environment:
    """The first environment that was looked at, emptied; a bare one where there is none."""
    found = value_or(facts.environments, ())
    if found:
        return found[0]._replace(overlaps=Seen((), PLANNED))
    why = Unseen("no Python environment was found for the plan: name one with --python")
    return Environment(
        prefix="(planned)",
        asked_by="--framework",
        interpreter="",
        kind="venv",
        python=why,
        sites=why,
        distributions=why,
        frameworks=why,
        overlaps=Seen((), PLANNED),
        externally_managed=False,
    )


def circumstances_of(facts: Facts, python: str) -> TargetMachine:
    """What a machine's facts say of where a build must work; what was not seen is not judged."""
    try:
        platform = platform_of(facts)
    except UnseenError:
        return TargetMachine(python=python)
    try:
        capabilities = tuple(dict.fromkeys(gpu.capability.get() for gpu in visible_gpus(facts)))
    except UnseenError:
        capabilities = ()
    driver = value_or(facts.driver.release, None)
    glibc = value_or(facts.system.glibc, "")
    return TargetMachine(
        os_family=platform.os_family,
        wsl=value_or(facts.system.wsl, 0) > 0,
        arch=platform.arch,
        python=python,
        capabilities=capabilities,
        driver=driver,
        glibc=glibc,
    )


def framework_of(spec: Spec, environment: Environment, facts: Facts, matrix: Matrix) -> Framework:
    """Return the build that fits best here, else the default one, so that the rules say what is wrong with it.

    If the spec names no build, and the package index has only a CPU build here, pip installs that one.
    """
    python = ".".join(value_or(environment.python, "").split(".")[:2])
    where = circumstances_of(facts, python)
    builds = [one.build for one in ranked(spec, where, matrix) if one.build is not None]
    here = [row for row in builds if where.os_family in row.os and where.arch in row.arch]
    if not builds:
        return framework_of_no_row(spec, environment.prefix, PLANNED)
    row = (here or builds)[0]
    default = _default(row, spec, facts, matrix)
    if default and default.build == "cpu" and not spec.build and spec.name == row.package:
        row = default
    planned_one = framework_of_row(row, spec, environment.prefix, matrix, PLANNED)
    return planned_one._replace(note=_note(row, default, planned_one, matrix))


def _default(row: FrameworkRow, spec: Spec, facts: Facts, matrix: Matrix) -> FrameworkRow | None:
    """Return the build of this row's release that the package index serves here; None if it is unknown."""
    try:
        return default_build(row.package, version_of(row, spec), *platform_of(facts), matrix)
    except UnseenError:
        return None


def _note(row: FrameworkRow, default: FrameworkRow | None, framework: Framework, matrix: Matrix) -> str:
    """Return the note, with the index that serves the build if it is not the one that pip installs by itself."""
    if default and default.id == row.id:
        return PLANNED
    try:
        index = matrix.wheel_index(row.package, row.build, framework.version.partition("+")[0])
    except Uncovered:
        return PLANNED
    return f"{PLANNED}; this build comes from {index.url}"


def _distribution(framework: Framework) -> Distribution:
    return Distribution(
        name=framework.package, version=framework.version, site="", metadata="", kind="wheel", hidden_by=""
    )
