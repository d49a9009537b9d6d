"""NVRTC, which compiles kernels at run time, is nowhere where the loader looks."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, InstallPackage, Need
from doctor.loader.implicit_dlopens import habits
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.cuda_libraries import need_use, not_found, of_own_cuda, toolkit_for, wheels_for
from doctor.rules.shared.cudnn_use import copy_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Only what the framework itself needs: a library that goes on without NVRTC is not counted."""
    need_use(framework, facts)
    missing = tuple(one for one in not_found(framework, facts) if one.soname.startswith("libnvrtc"))
    if not missing or isinstance(missing[0].intended, Seen):
        return ok(f"the loader finds the NVRTC of {framework.label}, or a wheel has it")
    one = of_own_cuda(missing, framework, facts, matrix)[0]
    # What is asked for after it is another CUDA's.
    newer = _newer_cudnn(one, facts, matrix)
    needs = newer or (*wheels_for((one,), framework, facts, matrix), *toolkit_for(one.soname, framework, facts, matrix))
    return bad(
        f"{framework.label} compiles kernels with {one.soname}, but the loader does not find it",
        *(needs or (Advice(f"Install the CUDA version with {one.soname}."),)),
        evidence=(
            Evidence(
                one.path.why if isinstance(one.path, Unseen) else "", label=(f"the loader's search for {one.soname}")
            ),
        ),
    )


def _newer_cudnn(one: Prediction, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """Where a part of a cuDNN wheel asks for the name without a number, which no wheel has: a release that does not."""
    copy = copy_of(one.library, facts)
    if copy is None or copy.origin != "wheel" or not isinstance(copy.version, Seen):
        return ()
    there, part = copy.version.value.release, one.library.rpartition("/")[2]
    known = sorted(row.version for row in matrix.rows("cudnn", "releases") if row.version.major == there.major)
    later = (str(each) for each in known if each > there)
    first = next((each for each in later if not any(habit.fatal for habit in habits(part, each, ""))), "")
    python = (each.interpreter for each in value_or(facts.environments, ()) if each.prefix == copy.environment)
    spec = f">={first},<{there.major + 1}"
    return tuple(InstallPackage(copy.owner.partition(" ")[0], spec, each) for each in python) if first else ()


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
