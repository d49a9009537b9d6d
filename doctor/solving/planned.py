"""Frameworks that are not installed yet, as facts from their matrix rows: the rules judge them as any other."""

from __future__ import annotations

from compat.build import is_cuda_row, oldest_cuda
from compat.can import ranked
from compat.matrix import Matrix, Uncovered
from compat.reason import Circumstances
from compat.row import FrameworkRow
from compat.spec import Spec, parse_spec
from compat.version import CudaVersion
from doctor.facts import Facts
from doctor.facts.environment import Distribution, Environment, Framework
from doctor.facts.seen import Fact, Seen, Unseen, UnseenError, value_or
from doctor.judging.builds import platform_of
from doctor.judging.gpu_code import visible_gpus
from doctor.judging.products import known_product

_NOTE = "planned, not installed"
_TAGGED = ("torch", "jaxlib")  # packages whose versions carry the build: 2.9.1+cu128


def parse_plan(texts: tuple[str, ...]) -> tuple[Spec, ...]:
    """The specs of a plan; raises BadSpec, and NoSuchName for what the matrix has no builds of."""
    return tuple(known_product(parse_spec(text)) for text in texts)


def planned(facts: Facts, specs: tuple[Spec, ...], matrix: Matrix) -> Facts:
    """The same machine with one new environment, of the first one's Python, that holds the planned frameworks alone.

    What lies in other environments is left out: neither their copies of cuDNN nor their imports are part of the plan.
    """
    environment = _environment(facts)
    frameworks = tuple(_framework(spec, environment, facts, matrix) for spec in specs)
    held = environment._replace(
        distributions=Seen(tuple(map(_distribution, frameworks)), _NOTE), frameworks=Seen(frameworks, _NOTE)
    )
    cudnn = facts.cudnn
    if isinstance(cudnn, Seen):
        cudnn = Seen(tuple(copy for copy in cudnn.value if not copy.environment), cudnn.how)
    return facts._replace(
        environments=Seen((held,), _NOTE),
        cudnn=cudnn,
        loader=facts.loader._replace(predictions=Seen((), _NOTE)),
        imports=Seen((), _NOTE),
    )


def _environment(facts: Facts) -> Environment:
    """The first environment that was looked at, emptied; a bare one where there is none."""
    found = value_or(facts.environments, ())
    if found:
        return found[0]._replace(overlaps=Seen((), _NOTE))
    why = Unseen("no Python environment was found for the plan: name one with --python")
    return Environment("(planned)", "--framework", "", "venv", why, why, why, why, Seen((), _NOTE), False)


def circumstances_of(facts: Facts, python: str) -> Circumstances:
    """What a machine's facts say of where a build must work; what was not seen is not judged."""
    try:
        platform = platform_of(facts)
    except UnseenError:
        return Circumstances(python=python)
    try:
        capabilities = tuple(dict.fromkeys(gpu.capability.get() for gpu in visible_gpus(facts)))
    except UnseenError:
        capabilities = ()
    driver = value_or(facts.driver.release, None)
    return Circumstances(*platform, python, capabilities, driver, value_or(facts.system.glibc, ""))


def _framework(spec: Spec, environment: Environment, facts: Facts, matrix: Matrix) -> Framework:
    """The build that fits best here, else the default one, so that the rules say what is wrong with it."""
    python = ".".join(value_or(environment.python, "").split(".")[:2])
    found = ranked(spec, circumstances_of(facts, python), matrix)
    if found and found[0].build is not None:
        planned_one = _from_row(found[0].build, spec, environment, matrix)
        return planned_one._replace(note=_note(found[0].build, planned_one, facts, matrix))
    why = Unseen(f"no matrix row covers {spec}")
    version = _release(spec.versions) + (f"+{spec.build}" if spec.build else "")
    build: Fact[str] = Seen(spec.build, _NOTE) if spec.build else why
    return Framework(spec.name, version, "", build, why, why, why, why, environment.prefix, _NOTE)


def _from_row(row: FrameworkRow, spec: Spec, environment: Environment, matrix: Matrix) -> Framework:
    how = f"{_NOTE}: matrix, {row.id}"
    unknown = Unseen(f"the matrix row {row.id} does not say")
    release = _release(row.versions if row.versions.startswith("==") and "*" not in row.versions else spec.versions)
    tag = f"+{row.build}" if row.build and row.package in _TAGGED else ""
    cuda: Fact[CudaVersion] = unknown
    if is_cuda_row(row):
        try:
            cuda = Seen(oldest_cuda(row, matrix), how)
        except Uncovered as error:
            cuda = Unseen(str(error))
    return Framework(
        package=row.package,
        version=(release or _release(row.versions)) + tag,
        path="",
        build=Seen(row.build, how),
        cuda=cuda,
        cudnn=unknown if row.cudnn is None else Seen(row.cudnn, how),
        targets=unknown if row.targets is None else Seen(row.targets, how),
        requires=unknown if row.pins is None else Seen(tuple(f"{name}{pin}" for name, pin in row.pins.items()), how),
        environment=environment.prefix,
        note=_NOTE,
    )


def _note(row: FrameworkRow, framework: Framework, facts: Facts, matrix: Matrix) -> str:
    """Says so where the build is not the one that pip installs by itself, the first that the matrix has."""
    try:
        default = matrix.framework(row.package, framework.version, "", *platform_of(facts))
        if default.id == row.id:
            return _NOTE
        index = matrix.wheel_index(row.package, row.build, framework.version.partition("+")[0])
    except (Uncovered, UnseenError):
        return _NOTE
    return f"{_NOTE}; this build comes from {index.url}"


def _release(specifier: str) -> str:
    """The release that a specifier names first: 2.9.1 of "==2.9.1", 2.10 of "==2.10.*"."""
    return specifier.partition(",")[0].lstrip("=<>!~").removesuffix(".*")


def _distribution(framework: Framework) -> Distribution:
    return Distribution(framework.package, framework.version, "", "", "wheel", "")
