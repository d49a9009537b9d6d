"""The cuDNN that a framework loads was built for another CUDA major than the framework."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix
from compat.need import Need, PutOnPath
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, ok
from doctor.rules.shared.builds import cuda_of, need_own_cuda
from doctor.rules.shared.cudnn_use import built_for, loaded_copy, main_predictions, right_copies
from doctor.rules.shared.other_cuda import other_cuda
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS

_PATH = "PATH"  # by which every copy on Windows is found, the right one too


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """By the name of the package that owns the copy; a copy that a variable puts first has a rule of its own.

    cuDNN opens cuBLAS and NVRTC of the CUDA that it was built for, which the process does not have.
    """
    need_own_cuda(framework)
    asked = main_predictions(framework, facts)
    if not any(isinstance(one.path, Seen) for one in asked):
        raise NotApplicable(f"{framework.label} is not known to use cuDNN")
    if any(one.variable not in {"", _PATH} and not one.is_as_intended for one in asked):
        raise NotApplicable("a variable puts it first: see ld-library-path-shadowing")
    copy, cuda = loaded_copy(framework, facts), cuda_of(framework, facts, matrix)
    theirs = copy.cuda_major.get()
    if theirs == cuda.value.major:
        return ok(f"{framework.label} and its cuDNN are both for CUDA {theirs}")
    built = built_for(framework, facts, matrix).value
    needs = (*_lying_here(cuda.value.major, built, facts), *right_copies(framework, built, facts, matrix))
    source = copy.owner or copy.path
    return other_cuda(framework, cuda, "a cuDNN", Seen(theirs, source), *needs, label=copy.label, source=source)


def _lying_here(cuda: int, built: CudnnVersion, facts: Facts) -> Iterator[Need]:
    """The directory of a copy for the right CUDA onto Path: NVIDIA's installer for Windows lays one for each CUDA."""
    for one in value_or(facts.cudnn, ()):
        release = value_or(one.version, None)
        if one.origin == "windows" and value_or(one.cuda_major, 0) == cuda and release and release.major == built.major:
            yield PutOnPath((one.path,))
            return


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
