"""A CUDA toolkit is in a directory."""

from __future__ import annotations

from compat.matrix import accepts
from compat.version import CudaVersion
from doctor.model.facts.seen import value_or
from doctor.prescribe.predicted_files import PredictedFiles, dlls_below
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import ToolkitInstalled
from installers.requirement import exact_version

_USUAL = "/usr/local/cuda"


def apply(effect: ToolkitInstalled, world: SimulatedMachine) -> SimulatedMachine:
    """Its compiler, headers and libraries; where the matrix knows no release that is meant, nothing changes."""
    cuda = cuda_of(effect.spec, world)
    if world.host is None or cuda is None:
        return world
    root = effect.directory or f"{_USUAL}-{cuda}"
    if value_or(world.facts.system.family, "") == "windows":
        return _on_windows(root.replace("\\", "/"), cuda, exact_version(effect.spec), world)
    made = PredictedFiles(world.facts, world.matrix)
    made.toolkit(root, cuda, exact_version(effect.spec))
    if effect.linked:
        made.links[_USUAL] = root
    world = world.with_changes(made.onto(world.changes))
    return _searched(world, root) if effect.searched else world


def _on_windows(root: str, cuda: CudaVersion, release: str, world: SimulatedMachine) -> SimulatedMachine:
    """Its installer enters CUDA_PATH and Path for what is started later; of a disk Path is not known."""
    made = PredictedFiles(world.facts, world.matrix)
    made.toolkit(root, cuda, release)
    environ = world.environ
    if environ.get("PATH"):
        environ |= {"CUDA_PATH": root, "PATH": f"{root}/{dlls_below(cuda)};{environ['PATH']}"}
    return world.with_changes(made.onto(world.changes)._replace(environ=environ))


def cuda_of(spec: str, world: SimulatedMachine) -> CudaVersion | None:
    """The newest CUDA that a specifier admits; None where the matrix has none."""
    exact = exact_version(spec)
    if exact:
        return CudaVersion.parse(exact)
    known = (CudaVersion.parse(row.release) for row in world.matrix.rows("cuda", "toolkits"))
    return max((one for one in known if not spec or accepts(spec, one)), default=None)


def _searched(world: SimulatedMachine, root: str) -> SimulatedMachine:
    made = (*world.changes.foreseen, *world.changes.links)  # ldconfig lists the names for linkers as well
    libraries = sorted(path for path in made if path.startswith(f"{root}/lib64/"))
    entries = tuple((path.rpartition("/")[2], path) for path in libraries)
    return world.with_changes(world.changes._replace(cached=(*world.changes.cached, *entries)))
