"""Which CUDA toolkit and which cuDNN a stack needs: none where the framework's build brings them."""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import accepted_cudas, brings_libraries, oldest_cuda
from compat.matrix import Matrix, Uncovered, accepts
from compat.need import InstallHostCompiler, InstallToolkit
from compat.reason import BAD, cudnn_reasons, toolkit_reasons
from compat.row import CompilerRow, CudnnBuildRow, FrameworkRow
from compat.target import TargetMachine
from compat.traits import traits_of
from compat.version import CudaVersion, CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from installers.choose import plan_for
from installers.cuda_order import CudaOrder, home_of
from installers.methods import cuda_toolkit
from installers.methods.cuda_installer import installer_plan
from installers.methods.cudnn_archive import Order, archive_plan
from installers.nvcc_host import newest_visual_studio, packaged_compilers
from installers.own_directory import nvcc_on_path
from installers.packages import install, manager_of
from installers.plan import Plan, Target
from installers.repository import repository_row
from installers.step import Step
from installers.steps.already import Already
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.command import Command
from installers.steps.download import Download
from installers.steps.note import Note
from installers.steps.unless import Unless
from installers.steps.use_file import UseFile


class NoLibraries(GpudoctorError):
    """No row knows a CUDA toolkit and a cuDNN that go with the build, the GPU and the system."""


class Libraries(NamedTuple):
    """The steps to them, and the toolkit's version; None where the build brings its own."""

    steps: tuple[Step, ...] = ()
    cuda: CudaVersion | None = None

    def cuda_of(self, row: FrameworkRow, matrix: Matrix) -> CudaVersion:
        """The CUDA whose programs must start on the driver; raises Uncovered."""
        return self.cuda or oldest_cuda(row, matrix)


class _Place(NamedTuple):
    """What both are chosen for."""

    row: FrameworkRow
    where: TargetMachine
    target: Target
    matrix: Matrix


def choose(row: FrameworkRow, where: TargetMachine, target: Target, facts: Facts | None, matrix: Matrix) -> Libraries:
    """The newest toolkit that all of it goes with; raises NoLibraries.

    One that is there already comes before all others, then those whose files have digests.
    """
    if brings_libraries(row, matrix):
        return Libraries()
    place = _Place(row, where._replace(driver=None), target, matrix)
    there = _there(facts)
    fitting = [cuda for cuda in _cudas(place) if _builds(cuda, place)]
    found: Libraries | None = None
    for cuda in _preferred(fitting, there, place):
        try:
            steps = _steps(cuda, there.get(cuda, ""), facts, place)
        except (GpudoctorError, Uncovered):
            continue
        if cuda in there or all(map(_is_trusted, steps)):
            return Libraries(steps, cuda)
        found = found or Libraries(steps, cuda)
    if found is None:
        raise NoLibraries(_why_not(fitting, place))
    return found


def _preferred(fitting: list[CudaVersion], there: dict[CudaVersion, str], place: _Place) -> list[CudaVersion]:
    """Those that are there first. Of others the newest for what compiles on the machine, and else the oldest.

    What was compiled elsewhere was tried with the CUDA that its range begins with; TensorFlow 2.4 takes CUDA 11, but
    asks for the libcusolver of 11.0. Source: tensorflow/tensorflow#45263.
    """
    compiles = place.row.cuda is None or traits_of(place.row.package).compiles
    return sorted(sorted(fitting, reverse=compiles), key=lambda one: one not in there)


def _steps(cuda: CudaVersion, there: str, facts: Facts | None, place: _Place) -> tuple[Step, ...]:
    """The toolkit, what compiles with it, and cuDNN in its directory; `there` is where that toolkit lies already."""
    home = there or home_of(CudaOrder(), str(cuda), place.target)
    toolkit = (Already(f"CUDA {cuda} in {home}"),) if there else _toolkit(cuda, home, place)
    return (*toolkit, *_compiler(cuda, place), *_cudnn(cuda, home, facts, place))


def _is_trusted(step: Step) -> bool:
    """Whether it can be carried out as it stands: no login, and no file of an unknown digest."""
    return not isinstance(step, (Download, UseFile)) or step.sha256 != ()


def _why_not(fitting: list[CudaVersion], place: _Place) -> str:
    row, cards = place.row, " and ".join(one.sm for one in place.where.capabilities)
    system = " ".join(
        filter(None, (place.target.distribution or place.target.os_family, place.target.distribution_version))
    )
    name = f"{row.package} {row.versions.removeprefix('==')}".strip()
    if not fitting:
        return f"{name} needs CUDA {row.cuda or 'of its time'}, which cannot compile for {cards}"
    among = ", ".join(map(str, fitting))
    return (
        f"no toolkit is known for {name}, {cards} and {system}. CUDA {among} would fit, but "
        f"its installer, cuDNN {row.cudnn_accepts or ''} or g++ is unknown"
    ).replace("  ", " ")


# --- the toolkit ------------------------------------------------------------------------------------------------------


def _cudas(place: _Place) -> tuple[CudaVersion, ...]:
    if place.row.cuda:
        return accepted_cudas(place.row, place.matrix)
    return tuple(dict.fromkeys(row.cuda for row in place.matrix.rows("cuda", "toolkits")))


def _builds(cuda: CudaVersion, place: _Place) -> bool:
    return not any(one.kind == BAD for one in toolkit_reasons(cuda, place.where, place.matrix))


def _there(facts: Facts | None) -> dict[CudaVersion, str]:
    """The toolkits of this machine by their version."""
    toolkits = value_or(facts.toolkit.toolkits, ()) if facts else ()
    kinds = {"directory", "windows"}
    return {value_or(one.cuda, None): one.path for one in toolkits if one.kind in kinds and value_or(one.cuda, None)}  # type: ignore[misc]


def _toolkit(cuda: CudaVersion, home: str, place: _Place) -> tuple[Step, ...]:
    """From NVIDIA's repository for the distribution where a row says that it has it, else by its own installer."""
    packaged = _of_packages(cuda, place)
    plan = packaged or installer_plan(CudaOrder(version=str(cuda)), place.target, place.matrix)
    steps = tuple(step for step in plan.steps if not isinstance(step, Check))
    if packaged:
        steps += (nvcc_on_path(home),)
    compiler = f"{home}\\bin\\nvcc.exe" if place.target.os_family == "windows" else f"{home}/bin/nvcc"
    return (Unless(f"the CUDA {cuda} toolkit", path=compiler), *steps, Unless("", ends=True))


def _of_packages(cuda: CudaVersion, place: _Place) -> Plan | None:
    if place.target.os_family != "linux":
        return None
    try:
        if repository_row(place.target, place.matrix).cuda is None:
            return None
        plan = cuda_toolkit.plan(InstallToolkit(f"=={cuda}.*"), place.target, place.matrix)
    except (GpudoctorError, Uncovered):
        return None
    return plan if any(isinstance(step, Command) for step in plan.steps) else None


def _compiler(cuda: CudaVersion, place: _Place) -> tuple[Step, ...]:
    """The compiler that nvcc calls, for a framework that compiles on the machine with whatever toolkit is there.

    Raises NoLibraries where the distribution has none that this toolkit takes.
    """
    if place.row.cuda is not None:
        return ()
    if place.target.os_family != "linux":
        page = place.matrix.page("visual-studio").url
        year = newest_visual_studio(str(cuda), place.matrix)
        text = f"install Visual Studio {year} with its part for C++ from {page}"
        return (ByHand(text, f"nvcc of CUDA {cuda} calls its cl.exe"),)
    hosts: CompilerRow = place.matrix.compilers(f"{cuda}.999")
    newest = hosts.gcc_max
    packaged = packaged_compilers(place.target, place.matrix)
    if not packaged or newest is None:
        text = f"install g++, not newer than {newest or 'this CUDA accepts'}"
        return (ByHand(text, f"nvcc of CUDA {cuda} needs it"),)
    if max(packaged) <= newest and manager_of(place.target) == "apt":
        return (install(place.target, "g++", why=f"nvcc of CUDA {cuda} and {place.row.package} call it"),)
    able = [one for one in packaged if one <= newest]
    if not able:
        name = f"{place.target.distribution}-{place.target.distribution_version}"
        raise NoLibraries(f"CUDA {cuda} accepts g++ up to {newest}, but {name} has only newer ones")
    return plan_for(InstallHostCompiler(f"g++-{max(able)}"), place.target, place.matrix).steps


# --- cuDNN ------------------------------------------------------------------------------------------------------------


def _cudnn(cuda: CudaVersion, home: str, facts: Facts | None, place: _Place) -> tuple[Step, ...]:
    """The newest whose file has a digest, else one that can be fetched, else one behind a login; raises NoLibraries."""
    row = place.row
    if row.cudnn_accepts == "":
        return ()
    wanted = row.cudnn_accepts or (f"=={row.cudnn.release}.*" if row.cudnn else "")
    if not wanted:
        return (Note(f"the cuDNN that {row.package} needs is unknown", "install one of the same age, if it uses any"),)
    there = _cudnn_there(home, wanted, facts)
    if there:
        return (Already(f"cuDNN {there} in {home}"),)
    known = list(_cudnn_plans(cuda, home, wanted, place))
    plans = [one for one in known if one.effects] or known  # the others leave the choice of the file to a person
    plan = next((one for one in plans if all(map(_is_trusted, one.steps))), None)
    plan = plan or next((one for one in plans if any(isinstance(step, Download) for step in one.steps)), None)
    if not plans:
        raise NoLibraries(f"no cuDNN {wanted} for CUDA {cuda} is known")
    return tuple(step for step in (plan or plans[0]).steps if not isinstance(step, Check))


def _cudnn_plans(cuda: CudaVersion, home: str, wanted: str, place: _Place) -> Iterator[Plan]:
    """Newest first."""
    builds: tuple[CudnnBuildRow, ...] = place.matrix.rows("cudnn", "builds")
    for build in sorted(builds, key=lambda one: one.version, reverse=True):
        least, most = build.cuda_min or cuda, build.cuda_max or cuda
        if build.cuda_major != cuda.major or not least <= cuda <= most or not accepts(wanted, build.version):
            continue
        if any(one.kind == BAD for one in cudnn_reasons(build, place.where, place.matrix)):
            continue
        try:
            yield archive_plan(Order(build.version, str(cuda), home), place.target, place.matrix)
        except (GpudoctorError, Uncovered):
            continue


def _cudnn_there(home: str, wanted: str, facts: Facts | None) -> CudnnVersion | None:
    """The copy in that CUDA directory, if it is one that the framework takes."""
    for copy in value_or(facts.cudnn, ()) if facts else ():
        version = value_or(copy.version, None)
        if version is not None and copy.path.startswith(f"{home}/") and accepts(wanted, version):
            return version
    return None
