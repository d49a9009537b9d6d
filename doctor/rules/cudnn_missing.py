"""The cuDNN that a framework asks for is not there."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix, Uncovered
from compat.traits import is_for_gpus
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Outcome
from doctor.model.facts.seen import Seen, Unseen, UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import build_row, finds_wheels, need_own_cuda
from doctor.rules.shared.cuda_libraries import has_wheels, with_directories
from doctor.rules.shared.cudnn_use import built_for, main_predictions, need_to_ask, pin_of, right_copies
from doctor.rules.shared.dlls import astray, if_known
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Believe the loader's prediction; without one, look whether any copy could answer."""
    need_own_cuda(framework)
    asked = main_predictions(framework, facts)
    found = next((one.path.value for one in asked if isinstance(one.path, Seen)), "")
    if found:
        return ok(f"{framework.label} loads {found}")
    if any(one.outcome is Outcome.DAMAGED for one in asked):
        raise NotApplicable("it exists but is damaged: see cudnn-install-incomplete")
    built = built_for(framework, facts, matrix)
    if any(one.missing and isinstance(one.intended, Seen) for one in asked):
        raise NotApplicable("a wheel has it, outside the search path: see wheel-libs-not-on-loader-path")
    if any(one.name.lower().startswith("cudnn64_") for one in if_known(astray, framework, facts)):
        raise NotApplicable("Windows does not search its directory: see windows-dll-path")
    if _is_bundled(framework, facts, matrix):
        raise NotApplicable(f"{framework.label} contains its own cuDNN")
    candidates = _candidates(framework, built.value, facts)
    if not asked and facts.machine.kind == "dump":
        raise UnseenError("the text does not show every cuDNN, nor where the process searches")
    if any(one.outcome is Outcome.UNREAD for one in asked) or (candidates and not any(one.missing for one in asked)):
        if not asked:
            need_to_ask(framework, facts)
        where = candidates[0].path if candidates else "a cuDNN"
        raise UnseenError(f"unknown: does {framework.label} find {where}?")
    return _bad(framework, built, candidates, facts, matrix)


def _is_bundled(framework: Framework, facts: Facts, matrix: Matrix) -> bool:
    try:
        return build_row(framework, facts, matrix).libraries == "bundled"
    except Uncovered:
        return False


def _candidates(framework: Framework, built: CudnnVersion, facts: Facts) -> tuple[CudnnCopy, ...]:
    """Copies of the right major that the process could reach: its environment's, and those on the search path."""
    return tuple(
        copy
        for copy in facts.cudnn.get()
        if value_or(copy.version, built).major == built.major and value_or(copy.parts, ("?",))
        if copy.environment == framework.environment or isinstance(copy.search_rank, Seen)
    )


def _bad(
    framework: Framework,
    built: Seen[CudnnVersion],
    elsewhere: tuple[CudnnCopy, ...],
    facts: Facts,
    matrix: Matrix,
) -> Answer:
    """A wheel that is always required stops the import; a library of the system only the GPU's use."""
    pinned, specifier = pin_of(framework)
    if not pinned:
        _need_use(framework, facts)
    wanted = f"{pinned}{specifier}" if pinned else f"cuDNN {built.value.major} ({built.value.release} or newer)"
    near = () if pinned or finds_wheels(framework) else _lying_here(built.value, facts)
    both = dict.fromkeys((*elsewhere, *near))
    lies = tuple(Evidence(f"{copy.label} is not on this process's search path", file=copy.path) for copy in both)
    fault = "the installed one is not on its search path" if near else "it was not found"
    return bad(
        f"{framework.label} needs {wanted}, but {fault}",
        *(with_directories((copy.path,), facts) for copy in near),
        *right_copies(framework, built.value, facts, matrix),
        severity=Severity.ERROR if pinned or facts.machine.kind == "live" else Severity.WARNING,
        evidence=(Evidence.at(built.how, f"built with cuDNN {built.value}"), *lies),
        explains=(
            Symptom("cudnn-sublibrary-missing", framework.label),
            *_unused(framework, facts),
            *_emptied(framework, pinned, facts),
        ),
    )


def _lying_here(built: CudnnVersion, facts: Facts) -> tuple[CudnnCopy, ...]:
    """Copies in toolkits and directories of the system's, which LD_LIBRARY_PATH would name; no path reaches wheels."""
    if value_or(facts.system.family, "") != "linux":
        return ()
    return tuple(
        copy
        for copy in facts.cudnn.get()
        if copy.origin in {"toolkit", "directory"} and isinstance(copy.search_rank, Unseen)
        if (release := value_or(copy.version, None)) and release.major == built.major and release >= built
    )


def _unused(framework: Framework, facts: Facts) -> tuple[Symptom, ...]:
    """That TensorFlow does without the GPU; on Windows that is told of the DLLs of CUDA alone."""
    on_windows = value_or(facts.system.family, "") == "windows"
    return () if on_windows else (Symptom("tf-cannot-dlopen-gpu-libs", framework.label),)


def _emptied(framework: Framework, pinned: str, facts: Facts) -> Iterator[Symptom]:
    """The wheel that is listed, and whose libraries are gone, is the same fault told twice."""
    for copy in facts.cudnn.get():
        if pinned and copy.environment == framework.environment and copy.owner.startswith(f"{pinned} "):
            yield Symptom("cudnn-install-incomplete", copy.label)


def _need_use(framework: Framework, facts: Facts) -> None:
    """Raise NotApplicable where nothing shows that the framework is meant to use a GPU."""
    if has_wheels(framework, facts) or "gpus" in facts.assumed:
        return
    if facts.machine.kind != "live" and not value_or(facts.toolkit.toolkits, ()):
        raise NotApplicable(f"nothing shows that {framework.label} should use a GPU")
    if facts.machine.kind == "live" and facts.has_gpu is False and not is_for_gpus(framework.package):
        raise NotApplicable("this machine has no NVIDIA GPU")


RULE = Rule(INSTALLED_FRAMEWORKS, check)
