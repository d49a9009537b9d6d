"""cuDNN on Windows lacks the zlib that its release loads."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.cudnn_use import need_parts, severity_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import CUDNN_COPIES


def check(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> Answer:
    """Look for the companions of this release, beside it and on PATH."""
    if facts.system.family.get() != "windows":
        raise NotApplicable("only on Windows")
    need_parts(copy)
    version = copy.version.get()
    wanted = matrix.cudnn_companions(version, "windows")
    if not wanted:
        raise NotApplicable(f"cuDNN {version} needs no other library")
    there = {name.lower() for name in copy.companions.get()}
    lacks = tuple(name for name in wanted if name.lower() not in there)
    if not lacks:
        return ok(f"{', '.join(wanted)} is found")
    page = matrix.page("zlib").url
    foreign = copy.foreign_companion
    where = f"{foreign} is for another type of machine" if foreign else "which is not beside it and not on PATH"
    return bad(
        f"cuDNN {version} in {copy.path} needs {lacks[0]}{': ' if foreign else ', '}{where}",
        Advice(f"Download the 64-bit {lacks[0]} ({page}) and put it into {copy.path}."),
        severity=severity_of(copy, facts),
        evidence=(
            Evidence(f"cuDNN {version} loads {lacks[0]} on Windows", label="matrix, cudnn.companions"),
            Evidence(
                where if foreign else f"has no {lacks[0]}; no directory on PATH has it", file=foreign or copy.path
            ),
        ),
    )


RULE = Rule(CUDNN_COPIES, check, blocks_verdict=False)
