"""A framework loads an older cuDNN than the one it was compiled against."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import how
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.model.resolution import describe_resolution
from doctor.rules.shared.cudnn_use import built_for, loaded_copy, main_predictions, prediction, right_copies
from doctor.rules.shared.nvidia_wheels import conflict_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS

_WITH_PATCH = 3  # numbers of a whole release; fewer are a floor


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """A newer minor release of the same major serves, an older one does not; patch levels serve both ways."""
    built = built_for(framework, facts, matrix)
    if any(one.missing for one in main_predictions(framework, facts)):
        raise NotApplicable("no cuDNN was found")
    copy = loaded_copy(framework, facts)
    loaded = copy.version.get()
    if loaded.major != built.value.major:
        raise NotApplicable(f"cuDNN {loaded} has another major version than the framework needs")
    if _minor(loaded) >= _minor(built.value):
        return ok(f"{framework.label}, built with cuDNN {built.value}, loads {loaded}")
    asked = prediction(framework, facts)
    return bad(
        f"{_wants(framework, built.value)} but will load the older {loaded.release}",
        *right_copies(framework, built.value, facts, matrix),
        evidence=(
            Evidence.at(built.how, f"compiled for cuDNN {built.value}"),
            Evidence(f"cuDNN {loaded}, by its {how(copy.version)}", file=copy.path),
            Evidence(f"{asked.soname} comes from {asked.path.get()}", label=describe_resolution(asked.way)),
        ),
        explains=conflict_of(framework, copy, facts, matrix),
    )


def _wants(framework: Framework, built: CudnnVersion) -> str:
    if len(built) < _WITH_PATCH:
        return f"{framework.label} needs cuDNN {built} or newer"
    return f"{framework.label} was compiled for cuDNN {built.release}"


def _minor(version: CudnnVersion) -> tuple[int, ...]:
    """Major and minor: NVIDIA promises that patch levels are exchangeable."""
    return tuple(version[:2])


RULE = Rule(
    INSTALLED_FRAMEWORKS,
    check,
    blocks_verdict=False,  # what a build of one's own was compiled against nobody may know
)
