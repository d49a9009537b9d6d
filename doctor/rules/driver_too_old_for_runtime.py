"""The driver is older than the CUDA that a framework brings needs."""

from __future__ import annotations

from compat.build import name_of
from compat.matrix import Matrix, Uncovered
from compat.need import Need
from compat.row import FrameworkRow
from compat.version import CudaVersion, DriverRelease
from doctor.facts import Facts
from doctor.facts.driver import DriverLibrary
from doctor.facts.environment import Framework
from doctor.facts.seen import Seen, how, value_or
from doctor.finding import Answer, Evidence, Symptom, bad, ok
from doctor.judging.builds import cuda_of, nearest_and_newest, need_of, need_own_cuda, other_builds
from doctor.judging.gpu_code import code_for
from doctor.rule import NotApplicable, Rule
from doctor.subjects import FRAMEWORKS, need_gpu


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the driver with the floor of the framework's CUDA (minor-version compatibility from 11 on)."""
    need_gpu(facts)
    need_own_cuda(framework)
    cuda = cuda_of(framework, facts, matrix)
    if value_or(facts.system.jetson, "") and not isinstance(facts.driver.release, Seen):
        raise NotApplicable("a Jetson's driver comes with its system image, and does not tell its release")
    driver = facts.driver.release.get()
    try:
        floor = matrix.driver_floor(cuda.value, facts.system.family.get())
    except Uncovered:
        if not _says_so(facts, cuda.value):
            raise
        return ok(f"driver {driver} says that it runs CUDA {cuda.value}")
    if driver >= floor:
        return ok(f"driver {driver} runs CUDA {cuda.value}")
    compat = _compat(facts, floor)
    if compat:
        return ok(f"{compat.path}, a forward-compatible libcuda, runs CUDA {cuda.value} on driver {driver}")
    return _bad(framework, facts, matrix, cuda, floor)


def _says_so(facts: Facts, cuda: CudaVersion) -> bool:
    return isinstance(facts.driver.cuda, Seen) and facts.driver.cuda.value >= cuda


def _compat(facts: Facts, floor: DriverRelease) -> DriverLibrary | None:
    """The libcuda of a cuda-compat package, where the loader takes it and it is new enough."""
    return next(
        (
            library
            for library in value_or(facts.driver.libraries, ())
            if library.origin == "compat" and library.loads and library.stem == "libcuda" and library.release >= floor
        ),
        None,
    )


def _bad(framework: Framework, facts: Facts, matrix: Matrix, cuda: Seen[CudaVersion], floor: DriverRelease) -> Answer:
    driver, builds = facts.driver.release.get(), _builds(framework, facts, matrix)
    instead = f"; {name_of(builds[0])} runs on this driver" if builds else ""
    return bad(
        f"{framework.label} is built with CUDA {cuda.value}, which needs driver {floor} or newer; "
        f"this is {driver}{instead}",
        Need("driver", f">={floor}"),
        *(need_of(row, framework, facts) for row in builds),
        evidence=(
            Evidence(how(facts.driver.release), f"driver {driver}"),
            Evidence(cuda.how, f"built with CUDA {cuda.value}"),
            Evidence("matrix, cuda.toolkits", f"CUDA {cuda.value} starts on driver {floor} or newer"),
        ),
        explains=(Symptom("ptx-newer-than-driver", framework.label),),
    )


def _builds(framework: Framework, facts: Facts, matrix: Matrix) -> tuple[FrameworkRow, ...]:
    """Builds that this driver starts and that have code for its GPUs, as far as these are known."""
    has_code = code_for(value_or(facts.gpus, ()), framework, facts)
    return nearest_and_newest(other_builds(framework, facts, matrix, has_code))


RULE = Rule("The driver is older than the CUDA runtime in use needs", FRAMEWORKS, check)
