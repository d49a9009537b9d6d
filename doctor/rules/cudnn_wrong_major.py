"""The cuDNN in reach is of another major than the framework was built for."""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered, accepts
from compat.need import Advice, Need
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import build_row
from doctor.rules.shared.cudnn_use import (
    built_for,
    is_shared,
    loaded_copy,
    main_predictions,
    others_in_reach,
    releases_made_for,
    right_copies,
)
from doctor.rules.shared.nvidia_wheels import conflict_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Compare what is loaded, or what there is instead, with what the framework was compiled against."""
    built = built_for(framework, facts, matrix)
    asked = main_predictions(framework, facts)
    if any(isinstance(one.path, Seen) for one in asked):
        return _judge_loaded(framework, built, facts, matrix)
    others = others_in_reach(framework, built.value, facts)
    if not others or not (any(one.missing for one in asked) or not asked):
        raise NotApplicable("no copy of another major version is in its place")
    what = ", ".join(str(copy.version.get()) for copy in others)
    return _bad(framework, others[0], f"only cuDNN {what} is installed", facts, matrix)


def _judge_loaded(framework: Framework, built: Seen[CudnnVersion], facts: Facts, matrix: Matrix) -> Answer:
    copy = loaded_copy(framework, facts)
    loaded = copy.version.get()
    fits = loaded.major == built.value.major and not _refuses_newer(framework, built.value, loaded, facts, matrix)
    if fits:
        return ok(f"{framework.label}, built with cuDNN {built.value}, loads {loaded}")
    return _bad(framework, copy, f"it will load {loaded}", facts, matrix)


def _refuses_newer(
    framework: Framework, built: CudnnVersion, loaded: CudnnVersion, facts: Facts, matrix: Matrix
) -> bool:
    """Whether the matrix says that this build takes no newer minor release: early cuDNN broke between them."""
    try:
        specifier = build_row(framework, facts, matrix).cudnn_accepts
    except Uncovered:
        return False
    return bool(specifier) and loaded > built and not accepts(specifier or "", loaded.release)


def _bad(framework: Framework, copy: CudnnCopy, instead: str, facts: Facts, matrix: Matrix) -> Answer:
    built = built_for(framework, facts, matrix)
    return bad(
        f"{framework.label} was built for cuDNN {built.value.major} ({built.value.release}); {instead}",
        *right_copies(framework, built.value, facts, matrix),
        *_another_way(framework, copy, facts, matrix),
        evidence=(
            Evidence.at(built.how, f"built with cuDNN {built.value}"),
            Evidence(copy.label, file=copy.path),
        ),
        explains=(
            Symptom("cudnn-missing", framework.label),
            Symptom("cudnn-version-mismatch-loaded-vs-compiled", framework.label),
            *conflict_of(framework, copy, facts, matrix),
        ),
    )


def _another_way(framework: Framework, copy: CudnnCopy, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """Where another framework of the environment requires the wheel that is there."""
    if not is_shared(copy, framework, facts):
        return ()
    text = f"Use a separate environment for {framework.package}: the other frameworks here need another cuDNN."
    return (*releases_made_for(copy, framework, facts, matrix), Advice(text))


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
