"""The cuDNN that the wheels of a set come to: pip takes the newest that all admit, which need not know the cards."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered, accepts
from compat.reason import OK, UNKNOWN, Reason, cudnn_reasons
from compat.target import TargetMachine
from compat.version import ComputeCapability, CudnnVersion

CUDNN_WHEELS = "nvidia-cudnn-cu"  # what their names begin with


class CudnnWheel(NamedTuple):
    """One of NVIDIA's cuDNN distributions in an environment."""

    pin: str  # requirement to add so that it has code for the cards: "nvidia-cudnn-cu12==9.10.2.21"; "" where none is
    against: Reason | None  # why no admitted release will do, or that is unknown of one


def cudnn_wheel(name: str, specifiers: Iterable[str], circumstances: TargetMachine, matrix: Matrix) -> CudnnWheel:
    """What these requirements on "nvidia-cudnn-cu12" come to on these cards."""
    major = name.rpartition("-cu")[2]
    if not circumstances.capabilities or not name.startswith(CUDNN_WHEELS) or not major.isdigit():
        return CudnnWheel("", None)
    return _wheel(name, frozenset(specifiers), int(major), circumstances.capabilities, matrix)


@lru_cache(maxsize=4096)
def _wheel(
    name: str, specifiers: frozenset[str], major: int, capabilities: tuple[ComputeCapability, ...], matrix: Matrix
) -> CudnnWheel:
    worst: list[Reason] = []
    cards = TargetMachine(capabilities=capabilities)
    for full in (one for one, text in _known(matrix) if all(accepts(each, text) for each in specifiers)):
        try:
            build = matrix.cudnn_build(full, major)
        except Uncovered:
            continue
        against = [one for one in cudnn_reasons(build, cards, matrix) if one.kind != OK]
        if not against:
            return CudnnWheel(f"{name}=={full}" if worst else "", None)
        worst += against
    if not worst:  # a release that no row covers: nothing is known against it
        return CudnnWheel("", None)
    reason = next((one for one in worst if one.kind == UNKNOWN), worst[0])
    return CudnnWheel("", reason._replace(what=f"{name} {', '.join(sorted(specifiers))} is {reason.what}"))


@lru_cache(maxsize=8)
def _known(matrix: Matrix) -> tuple[tuple[CudnnVersion, str], ...]:
    known = {full for row in matrix.rows("cudnn", "releases") for full in row.full_versions}
    return tuple((one, str(one)) for one in sorted(known, reverse=True))
