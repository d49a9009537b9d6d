"""What the matrix says against a build that a remedy installs: `check` proposes nothing that `matrix can` refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.build import gpu_packages, is_rider
from compat.can import answer
from compat.load import is_framework
from compat.matrix import Matrix
from compat.reason import BAD, NO
from compat.spec import Spec, parse_spec
from compat.traits import traits_of
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.planned.planned import circumstances_of
from installers.effect import DistributionsInstalled, Effect


def refuted(effects: Iterable[Effect], then: Facts, matrix: Matrix) -> str:
    """Return why a build that these effects install does not work there, as a clause; "" for nothing."""
    return next(_refuted(effects, then, matrix), "")


def _refuted(effects: Iterable[Effect], then: Facts, matrix: Matrix) -> Iterator[str]:
    for effect in effects:
        if isinstance(effect, DistributionsInstalled) and not effect.anew:
            where = circumstances_of(then, _python(effect.python, then))._replace(cudnn=_system_cudnn(then))
            for spec in filter(lambda one: _is_judged(one, matrix), map(parse_spec, effect.requirements)):
                found = answer(spec, where, matrix)
                reasons = found.best.reasons if found.best else found.reasons
                if found.verdict == NO and where.wants_gpu:
                    yield next((f"{spec}: {one.what}" for one in reasons if one.kind == BAD), f"{spec} does not work")


def _is_judged(spec: Spec, matrix: Matrix) -> bool:
    """Whether a package has CUDA code of its own; what is compiled for another one is installed for that one's sake."""
    if not (matrix.has(spec.name) and is_framework(spec.name)):
        return False
    is_own = not traits_of(spec.name).runs_on and not is_rider(spec.name, matrix)
    return is_own or gpu_packages(spec.name) != (spec.name,)


def _system_cudnn(facts: Facts) -> CudnnVersion | None:
    """Return the release of cuDNN that a build without one of its own loads; None unless there is only one."""
    found = {value_or(one.version, None) for one in value_or(facts.cudnn, ())}
    return found.pop() if len(found) == 1 else None


def _python(interpreter: str, facts: Facts) -> str:
    found = next((one for one in value_or(facts.environments, ()) if one.interpreter == interpreter), None)
    return ".".join(value_or(found.python, "").split(".")[:2]) if found else ""
