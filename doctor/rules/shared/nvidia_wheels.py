"""NVIDIA's wheels in an environment, held against what its frameworks ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered
from compat.need import Advice, AssignVariable, Need
from compat.specifier import keeps
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.finding import Symptom
from doctor.rules.shared.builds import build_row, installed
from doctor.rules.shared.pins import Pin, applies, is_older, pin
from doctor.rules.shared.subjects import environment_of


class Breach(NamedTuple):
    """An installed wheel that a framework's requirement refuses."""

    framework: Framework
    wheel: Distribution
    asked: Pin
    by_code: bool = False  # the framework's own code refuses it: it cannot be imported

    @property
    def is_serious(self) -> bool:
        """Older than asked for, or of another major: what the framework calls may not be in it. Or no import at all."""
        wanted = re.search(r"\d+", self.asked.specifier)
        other_major = "==" in self.asked.specifier and wanted and self.wheel.version.split(".")[0] != wanted[0]
        return self.by_code or bool(other_major) or is_older(self.asked.specifier, self.wheel.version)

    def __str__(self) -> str:
        if self.by_code:
            wheel = f"{self.wheel.name} {self.wheel.version}"
            return f"{self.framework.label} cannot be imported beside {wheel}: it needs {self.asked.specifier}"
        return f"{self.framework.label} requires {self.asked.name}{self.asked.specifier}, not {self.wheel.version}"


def nvidia_wheels(environment: Environment) -> dict[str, Distribution]:
    """The nvidia-* distributions by name; raises UnseenError."""
    return {one.name: one for one in installed(environment) if _is_nvidia(one.name)}


def _is_nvidia(name: str) -> bool:
    return name.startswith("nvidia-") or name == "cuda-toolkit"


def breaches(environment: Environment, facts: Facts, matrix: Matrix) -> list[Breach]:
    """Every requirement of a framework that an installed wheel does not keep; raises UnseenError."""
    wheels = nvidia_wheels(environment)
    asked = [
        Breach(framework, wheels[one.name], one, by_code)
        for framework in environment.frameworks.get()
        for by_code, pins in ((True, _by_code(framework)), (False, pins_of(framework, facts, matrix)))
        for one in pins
        if one.name in wheels
    ]
    return [one for one in asked if _is_broken(one.asked, one.wheel, environment, facts)]


def conflict_of(framework: Framework, copy: CudnnCopy, facts: Facts, matrix: Matrix) -> tuple[Symptom, ...]:
    """The conflict of the framework's wheels, where it is only about this cuDNN, which an extra asks for."""
    environment = environment_of(framework, facts)
    try:
        broken = breaches(environment, facts, matrix)
    except UnseenError:
        return ()
    own = [one for one in broken if one.asked.optional and one.framework == framework and _holds(one.wheel, copy)]
    return (Symptom("pip-nvidia-wheels-conflict", environment.label),) if broken and own == broken else ()


def _holds(wheel: Distribution, copy: CudnnCopy) -> bool:
    return "cudnn" in wheel.name and copy.path.startswith(f"{wheel.site}/")


def _by_code(framework: Framework) -> tuple[Pin, ...]:
    """What a framework's own code demands of wheels."""
    return tuple(filter(None, map(pin, framework.fails_unless)))


def _is_broken(asked: Pin, wheel: Distribution, environment: Environment, facts: Facts) -> bool:
    """An extra's requirement counts only where the wheel is too old: nothing records whether it was asked for."""
    if keeps(asked.specifier, wheel.version):
        return False
    if asked.optional:
        return is_older(asked.specifier, wheel.version) and "==" not in asked.specifier
    return applies(asked, facts.system, environment)


def pins_of(framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Pin, ...]:
    """What a framework requires of other distributions; where that is no NVIDIA wheel, what its extra asks for too."""
    seen = tuple(filter(None, map(pin, value_or(framework.requires, ()))))
    if any(_is_nvidia(one.name) for one in seen) or framework.is_cpu_build or traits_of(framework.package).runs_on:
        return seen
    try:
        extra = build_row(framework, facts, matrix).pins or {}
    except (Uncovered, UnseenError):
        return seen
    return (*seen, *(Pin(name, specifier, "extra") for name, specifier in extra.items()))


def as_requirements(owners: Iterable[str], environment: Environment, facts: Facts, matrix: Matrix) -> list[str]:
    """Wheels, "nvidia-nccl-cu12 2.27.5", as an installer is asked for them.

    One whose release is not known yet ("nvidia-nccl-cu12 ", as a remedy brings it) at what a framework asks for.
    """
    frameworks = value_or(environment.frameworks, ())
    asked = {one.name: one.specifier for each in frameworks for one in pins_of(each, facts, matrix)}
    told = (owner.partition(" ") for owner in owners)
    return [f"{name}=={version}" if version else f"{name}{asked.get(name, '')}" for name, _, version in told]


def leftovers(environment: Environment, facts: Facts, matrix: Matrix) -> list[Distribution]:
    """Wheels of a CUDA major that nothing here uses, beside those of one that is used; empty where it is not sure.

    Raises UnseenError.
    """
    frameworks, wheels = environment.frameworks.get(), nvidia_wheels(environment)
    of_each = [_majors_of(one, facts, matrix) for one in frameworks]
    used = {major for majors in of_each for major in majors}
    if not used or any(not majors and _is_open(one) for one, majors in zip(frameworks, of_each, strict=True)):
        return []
    used |= {major for one in installed(environment) if one.name not in wheels for major in _majors_in(one.name)}
    used |= {major for name in wheels if not cuda_major_of(name) for major in _majors_in(name)}
    present = {one.name: cuda_major_of(one.name) for one in wheels.values()}
    if not used & set(present.values()):
        return []
    unused = {name for name, major in present.items() if major and major not in used}
    return [wheels[name] for name in sorted(_unrequired(unused, environment))]


def _unrequired(unused: set[str], environment: Environment) -> set[str]:
    """Those of these wheels that nothing else requires, by every METADATA; they may require each other."""
    asked = value_or(environment.wheel_requirements, ())
    while required := unused & {one.wheel for one in asked if one.distribution not in unused}:
        unused = unused - required
    return unused


def of_the_user(wheels: Iterable[Distribution], environment: Environment) -> tuple[Need, ...]:
    """What keeps wheels of the user's own directory out of an environment, which an installer there does not reach.

    () where none is in it. Source: Python's documentation, "site", ENABLE_USER_SITE and PYTHONNOUSERSITE.
    """
    found = [one for one in wheels if _is_the_users(one.site, environment)]
    if not found or environment.kind == "system":
        return ()
    names = ", ".join(sorted(one.name for one in found))
    text = (
        f"{names} in {found[0].site} come{'s' * (len(found) == 1)} before this environment: set "
        "PYTHONNOUSERSITE=1, or uninstall it with the Python that installed it"
    )
    by_hand = Advice(text)
    if any(_is_the_users(one.path, environment) for one in value_or(environment.frameworks, ())):
        return (by_hand,)  # the variable would hide that framework as well
    return AssignVariable("PYTHONNOUSERSITE", "1"), by_hand


def _is_the_users(path: str, environment: Environment) -> bool:
    """Whether it is in the user's own site directory, and not below the environment."""
    return "/.local/lib/python" in path and not path.startswith(f"{environment.prefix.rstrip('/')}/")


def _majors_of(framework: Framework, facts: Facts, matrix: Matrix) -> set[int]:
    asked = {cuda_major_of(one.name) for one in pins_of(framework, facts, matrix)}
    own = {framework.cuda.value.major} if isinstance(framework.cuda, Seen) else set()
    return (asked | own) - {0}


def _is_open(framework: Framework) -> bool:
    """Whether a framework of which no CUDA major is known may use one."""
    return not (framework.is_cpu_build or traits_of(framework.package).runs_on)


def cuda_major_of(name: str) -> int:
    """The CUDA major in "nvidia-cudnn-cu12", 0 without one."""
    match = re.search(r"-cu(\d+)$", name)
    return int(match[1]) if match else 0


def _majors_in(name: str) -> set[int]:
    """The CUDA majors that a name such as "cudf-cu12", "cupy-cuda11x" or "nvidia-dali-cuda110" speaks of."""
    return {int(digits[:2]) for digits in re.findall(r"cu(?:da)?(\d{2,3})", name)}
