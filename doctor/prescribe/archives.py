"""cuDNN where no package of this system has it: NVIDIA's archive, into a CUDA toolkit that is there."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix, accepts
from compat.need import Need
from compat.version import CudaVersion, CudnnVersion
from doctor.facts import Facts
from doctor.facts.seen import Seen, value_or
from doctor.rules.shared.cuda_libraries import with_directories


def archived(need: Need, facts: Facts, matrix: Matrix) -> Iterator[tuple[Need, ...]]:
    """The newest archive for each toolkit's CUDA; then the same with its directory first on the loader's path."""
    if need.product != "cudnn" or need.where or not need.build:
        return
    for toolkit in value_or(facts.toolkit.toolkits, ()):
        if not isinstance(toolkit.cuda, Seen) or str(toolkit.cuda.value.major) != need.build.partition(".")[0]:
            continue
        release = _newest(need.spec, toolkit.cuda.value, facts, matrix)
        if release:
            version, cuda = release
            copy = Need("cudnn", f"=={version}", f"{toolkit.path}/lib64", cuda)
            yield (copy,)
            yield (copy, with_directories((copy.where,), facts))


def _newest(spec: str, cuda: CudaVersion, facts: Facts, matrix: Matrix) -> tuple[str, str] | None:
    """The newest release that a specifier admits with an archive for a CUDA, and how the archive calls that one."""
    family, machine = value_or(facts.system.family, ""), value_or(facts.system.machine, "")
    rows = (row.version for row in matrix.rows("cudnn", "releases") if accepts(spec, row.version))
    for version in sorted(map(CudnnVersion, rows), reverse=True):
        known = {row.cuda for row in matrix.cudnn_archives(version, family, machine)}
        fit = next((one for one in (str(cuda), str(cuda.major)) if one in known), "")
        if fit:
            return str(version), fit
    return None
