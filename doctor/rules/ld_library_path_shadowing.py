"""A variable of the loader puts another cuDNN, or an older library of CUDA, before the one that a framework has."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix, Uncovered
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Outcome, Prediction
from doctor.model.facts.seen import Place, Seen, UnseenError, how, value_or
from doctor.model.finding import Answer, Evidence, Severity, Status, Symptom, bad, ok
from doctor.model.resolution import describe_resolution
from doctor.rules.shared.builds import build_row, import_symptoms, need_own_cuda
from doctor.rules.shared.cuda_libraries import both_releases, displaced, dotted, is_older
from doctor.rules.shared.cudnn_use import built_for, copy_of, out_of_variable, pin_of, predictions
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS

_LINKED_CLOSELY = ("libcublas", "libnvJitLink", "libcusparse", "libcusolver")  # undefined symbols, and no import


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the file that is loaded with the one that is intended; the prediction says what decides."""
    need_own_cuda(framework)
    known = [one for one in predictions(framework, facts) if isinstance(one.intended, Seen)]
    good = None
    for one in known:
        if one.outcome is Outcome.UNREAD or (isinstance(one.path, Seen) and one.variable and not one.is_as_intended):
            good = _judge(framework, one, facts, matrix)
            if good.kind is not Status.OK:
                return good
            break
    for one in _older(framework, facts, matrix):
        return _judge_older(framework, one, facts, matrix)
    if not known:
        raise NotApplicable(f"{framework.label} has no cuDNN of its own, and no variable points to an older CUDA")
    found = next((one for one in known if isinstance(one.path, Seen)), None)
    if found is None and all(one.missing for one in known):
        raise NotApplicable(f"{known[0].soname} was not found, and no variable points to another")
    found = found or known[0]
    return good or ok(f"{found.path.get()} is loaded: {describe_resolution(found.way)}")


def _older(framework: Framework, facts: Facts, matrix: Matrix) -> Iterator[Prediction]:
    """CUDA's other libraries: a newer one of the same name works, an older one lacks what was linked against."""
    if value_or(facts.system.family, "") != "linux" or not isinstance(facts.loader.predictions, Seen):
        return
    try:
        found = displaced(framework, facts)
    except NotApplicable:
        return
    yield from (one for one in found if one.variable and is_older(one, facts, matrix))


def _judge_older(framework: Framework, found: Prediction, facts: Facts, matrix: Matrix) -> Answer:
    loaded, own = map(dotted, both_releases(found, facts, matrix))
    return bad(
        f"{framework.label} will load {found.soname} {loaded} instead of its own {own}",
        *filter(None, [out_of_variable(found)]),
        severity=Severity.ERROR if found.soname.startswith(_LINKED_CLOSELY) else Severity.WARNING,
        evidence=_evidence(framework, found),
        explains=(Symptom("cublas-mismatch", framework.label), *import_symptoms(framework)),
    )


def _judge(framework: Framework, found: Prediction, facts: Facts, matrix: Matrix) -> Answer:
    """Another copy of the very same release does no harm, if it is whole."""
    loaded, own = _release(found.path.get(), facts), _release(found.intended.get(), facts)
    lost = [one.soname for one in predictions(framework, facts) if one.missing]
    if loaded and own and loaded.agrees_with(own) and not lost:
        return ok(f"{found.variable} puts another copy of cuDNN {own} first")
    instead = f"instead of its own {own}" if own else "instead of its own"
    lacking = f", which has no {lost[0]}" if lost else ""
    return bad(
        f"{framework.label} will load cuDNN {loaded or 'of unknown version'} {instead}{lacking}",
        *filter(None, [out_of_variable(found)]),
        severity=Severity.ERROR if lost else _severity(loaded, _least(framework, facts, matrix) or own),
        evidence=_evidence(framework, found),
        explains=(
            Symptom("cudnn-version-mismatch-loaded-vs-compiled", framework.label),
            Symptom("cudnn-wrong-major", framework.label),
            Symptom("cudnn-copies-conflict"),
            Symptom("cudnn-sublibrary-missing", framework.label),
            *_incomplete(found.path.get(), facts),
        ),
    )


def _incomplete(path: str, facts: Facts) -> tuple[Symptom, ...]:
    """The copy that the variable brings need not be completed, only kept out."""
    copy = copy_of(path, facts)
    return (Symptom("cudnn-install-incomplete", copy.label),) if copy else ()


def _release(path: str, facts: Facts) -> CudnnVersion | None:
    copy = copy_of(path, facts)
    version = value_or(copy.version, None) if copy else None
    return version.release if version else None


def _least(framework: Framework, facts: Facts, matrix: Matrix) -> CudnnVersion | None:
    """What it was built with, which may be older than the copy that came with it (JAX 0.11.2: 9.8, and 9.19).

    None where a build says its major alone, and no row whether any minor of it will do (ONNX Runtime) or not.
    """
    try:
        built = built_for(framework, facts, matrix).value
        known = len(built) > 1 or build_row(framework, facts, matrix)
    except (NotApplicable, Uncovered, UnseenError):
        return None
    return built if known else None


def _severity(loaded: CudnnVersion | None, least: CudnnVersion | None) -> Severity:
    """A newer minor release of the same major works, and any patch level of its own; an older one is refused."""
    if loaded and least and (loaded.major != least.major or loaded[:2] < least[:2]):
        return Severity.ERROR
    return Severity.WARNING


def _evidence(framework: Framework, found: Prediction) -> tuple[Evidence, ...]:
    pin = "".join(pin_of(framework)) if "cudnn" in found.soname.lower() else ""
    pinned = f", pinned by {pin}," if pin else ""
    return (
        Evidence.at(how(framework.requires) or Place(framework.path), f"its own{pinned} is {found.intended.get()}"),
        Evidence(f"will load {found.path.get()}", label=f"the loader's search for {found.soname}"),
        _of_variable(found),
    )


def _of_variable(found: Prediction) -> Evidence:
    place = found.way.set_in if found.way else ""
    label = f"{found.variable}, set in {place}" if place else found.variable
    return Evidence.at(found.way.set_at if found.way else None, describe_resolution(found.way), label)


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
