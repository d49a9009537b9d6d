"""The driver is older than the CUDA that a framework brings needs."""

from __future__ import annotations

from compat.build import name_of
from compat.matrix import Matrix
from compat.version import CudaVersion, DriverRelease
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import cuda_of, nearest_and_newest, need_of, need_own_cuda, other_builds
from doctor.rules.shared.cards import newer_driver
from doctor.rules.shared.driver_floor import start_of
from doctor.rules.shared.gpu_code import code_for
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import FRAMEWORKS, need_where


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the driver with the floor of the framework's CUDA (minor-version compatibility from 11 on)."""
    need_where(facts, "driver")
    need_own_cuda(framework)
    cuda = cuda_of(framework, facts, matrix)
    start = start_of(cuda.value, facts, matrix)
    if start.floor is None:
        return ok(start.why)
    return _bad(framework, facts, matrix, cuda, start.floor)


def _bad(framework: Framework, facts: Facts, matrix: Matrix, cuda: Seen[CudaVersion], floor: DriverRelease) -> Answer:
    has_code = code_for(value_or(facts.gpus, ()), framework, facts)
    driver, builds = facts.driver.release.get(), nearest_and_newest(other_builds(framework, facts, matrix, has_code))
    instead = f"; {name_of(builds[0])} runs on this driver" if builds else ""
    return bad(
        f"{framework.label} is built with CUDA {cuda.value}, which needs driver {floor} or newer; "
        f"this is {driver}{instead}",
        *newer_driver(facts, floor, matrix),
        *(need_of(row, framework, facts) for row in builds),
        evidence=(
            Evidence.of(facts.driver.release, f"driver {driver}"),
            Evidence.at(cuda.how, f"built with CUDA {cuda.value}"),
            Evidence(f"CUDA {cuda.value} starts on driver {floor} or newer", label="matrix, cuda.toolkits"),
        ),
        explains=(Symptom("ptx-newer-than-driver", framework.label), Symptom("driver-too-old-for-toolkit")),
    )


RULE = Rule(FRAMEWORKS, check)
