"""A framework loads a cuDNN of which a part cannot be found."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.builds import need_own_cuda
from doctor.rules.shared.cuda_libraries import names_of, need_use
from doctor.rules.shared.cudnn_use import (
    built_for,
    compiled_with,
    is_jit_edition,
    is_lone_main,
    is_shared,
    lacking,
    loaded_copy,
    main_predictions,
    need_parts,
    others_in_reach,
    out_of_variable,
    part_names,
    prediction,
    predictions,
    reinstall_need,
    releases_made_for,
    right_copies,
    searched,
    skip_unless_cudnn_used,
)
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """A part is opened by name when it is first needed: it may also come from another place on the search path."""
    need_own_cuda(framework)
    if not predictions(framework, facts):
        built_for(framework, facts, matrix)
    if any(one.missing for one in main_predictions(framework, facts)):
        raise NotApplicable("no cuDNN was found")
    told = predictions(framework, facts)
    if is_lone_main(told, framework):
        return _without_parts(framework, told, facts, matrix)
    copy = loaded_copy(framework, facts)
    need_parts(copy)
    lost = () if is_jit_edition(copy) else tuple(one.soname for one in predictions(framework, facts) if one.missing)
    listed = tuple(name for name in lacking(copy, facts, matrix) if not _elsewhere(name, copy, facts))
    lacks = tuple(dict.fromkeys((*lost, *listed)))
    if not lacks:
        return ok(f"every part of {copy.label} was found")
    return bad(
        f"{framework.label} will fail in cuDNN: {', '.join(lacks)} of {copy.label} was not found",
        *_needs(framework, copy, facts),
        evidence=(
            Evidence(f"has no {', '.join(lacks)}", file=copy.path),
            Evidence(f"{framework.label} loads {prediction(framework, facts).path.get()}", label="loader"),
        ),
    )


def _without_parts(framework: Framework, told: tuple[Prediction, ...], facts: Facts, matrix: Matrix) -> Answer:
    """Its wheel brings cuDNN's main library alone: the parts are the system's, or those of a wheel."""
    need_use(framework, facts)
    built = compiled_with(framework, facts, matrix)
    is_used = _is_used(framework, built.value, facts)
    lost = tuple(one for one in told if one.missing)
    if any(isinstance(one.intended, Seen) for one in lost):
        raise NotApplicable("a wheel has them, outside the search path: see wheel-libs-not-on-loader-path")
    copies = tuple(copy for copy in facts.cudnn.get() if value_or(copy.parts, ()))
    there = tuple(dict.fromkeys(str(value_or(copy.version, "of unknown version")) for copy in copies))
    shared = tuple(one for one in copies if is_shared(one, framework, facts) and isinstance(one.version, Seen))
    when = "" if is_used else " if a program needs it"
    beside = f"; installed: cuDNN {', '.join(there)}" if there else ""
    return bad(
        (
            f"{framework.label} needs the parts of cuDNN {built.value.major}{when}, "
            f"but {names_of(lost)} was not found{beside}"
        ),
        *(need for copy in shared[:1] for need in releases_made_for(copy, framework, facts, matrix)),
        *right_copies(framework, built.value, facts, matrix),
        severity=Severity.WARNING,  # a program may have opened them before
        evidence=(
            *(Evidence(one.path.why, file=one.library) for one in lost[:1] if isinstance(one.path, Unseen)),
            Evidence.at(built.how, f"built with cuDNN {built.value}"),
            *(Evidence(copy.label, file=copy.path) for copy in copies),
        ),
    )


def _is_used(framework: Framework, built: CudnnVersion, facts: Facts) -> bool:
    """Whether something here is known to ask for cuDNN; raises NotApplicable where that and any other cuDNN lack.

    Where there is one of another major alone, somebody meant to have one.
    """
    try:
        skip_unless_cudnn_used(framework, facts)
    except NotApplicable:
        if not others_in_reach(framework, built, facts):
            raise
        return False
    return True


def _needs(framework: Framework, copy: CudnnCopy, facts: Facts) -> tuple[Need, ...]:
    """A copy that a variable brings in the place of the framework's own is taken out before it is completed."""
    strays = (one for one in predictions(framework, facts) if one.variable and not one.is_as_intended)
    out = next((need for one in strays if (need := out_of_variable(one))), None)
    return (out, reinstall_need(copy, facts)) if out else (reinstall_need(copy, facts),)


def _elsewhere(name: str, copy: CudnnCopy, facts: Facts) -> bool:
    """Whether a searched copy has it; of what release is the question of cudnn-sublibrary-mixed."""
    return any(name.lower() in part_names(other) for other in searched(facts) if other.path != copy.path)


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
