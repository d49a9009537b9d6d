"""Where no package of this system has it: cuDNN from NVIDIA's archive, CUDA by NVIDIA's installer."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix, accepts
from compat.need import InstallCudnn, InstallToolkit, MoveFilesAside, Need
from compat.version import CudaVersion, CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen, value_or
from doctor.model.facts.toolkit import Toolkit
from doctor.rules.shared.cuda_libraries import with_directories


def archived(need: Need, facts: Facts, matrix: Matrix) -> Iterator[tuple[Need, ...]]:
    """The newest archive for each toolkit's CUDA; then the same with its directory first on the loader's path.

    What is in its place is put aside first, for one directory holds the headers of one release. Whether it may lie
    beside other copies, the rules say.
    """
    if not isinstance(need, InstallCudnn) or need.directory or not need.cuda:
        return
    for toolkit in value_or(facts.toolkit.toolkits, ()):
        if not isinstance(toolkit.cuda, Seen) or str(toolkit.cuda.value.major) != need.cuda.partition(".")[0]:
            continue
        release = _newest(need.versions, toolkit.cuda.value, facts, matrix)
        if release:
            version, cuda = release
            copy = InstallCudnn(f"=={version}", f"{toolkit.path}/lib64", cuda)
            whole = (*_aside(toolkit, facts), copy)
            yield whole
            yield (*whole, with_directories((copy.directory,), facts))


def by_installer(need: Need, facts: Facts) -> Iterator[tuple[Need, ...]]:
    """The toolkit of a release that the distribution is too new for; the driver stays."""
    if isinstance(need, InstallToolkit) and not need.directory and not need.by and facts.machine.kind == "live":
        yield (need._replace(by="runfile"),)


def _aside(toolkit: Toolkit, facts: Facts) -> Iterator[Need]:
    """The libraries and headers of copies in a toolkit that no package knows, a directory at a time."""
    copies = [one for one in value_or(facts.cudnn, ()) if one.path.startswith(f"{toolkit.path}/") and not one.owner]
    libraries = {one.path: f"{one.path}/{part.name}" for one in copies for part in value_or(one.parts, ())}
    headers = {path.rpartition("/")[0]: path for one in copies if (path := value_or(one.header_path, ""))}
    yield from (MoveFilesAside(path, "libcudnn*") for path in libraries.values())
    yield from (MoveFilesAside(path, "cudnn*.h") for path in headers.values() if path.startswith(toolkit.path))


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
