"""jetson-wrong-wheel."""

from __future__ import annotations

import pytest

from compat.version import CodeTarget, CudaVersion
from doctor.model.facts.driver import DriverFacts
from doctor.model.facts.environment import Framework
from doctor.model.facts.system import SystemFacts
from doctor.model.finding import Status, Symptom
from tests.machine import driver, driver_library, environment, framework, gpu, machine, seen, system, unseen
from tests.rules.case import answer

CODE = "jetson-wrong-wheel"
ORIN = system(jetson=seen("36.4.3"), machine=seen("aarch64"))
SERVER = system(machine=seen("aarch64"))
CPU = framework(version="2.9.1+cpu", build=seen("cpu"), cuda=unseen("a CPU build"))


THOR, XAVIER = (system(jetson=seen(release), machine=seen("aarch64")) for release in ("38.2.0", "35.4.1"))
CU13 = framework(version="2.11.0+cu130", cuda=seen(CudaVersion(13, 0)), targets=unseen())
COMPAT = driver_library("libcuda", "525.60.13", origin="compat")


@pytest.mark.parametrize(
    ("one", "where", "drivers", "kind"),
    [
        (CU13, ORIN, driver(), Status.BAD),
        (CU13, THOR, driver(), Status.OK),
        (framework(targets=unseen()), ORIN, driver(), Status.OK),
        (framework(targets=unseen()), XAVIER, driver(), Status.BAD),
        (framework(targets=unseen()), XAVIER, driver(libraries=seen((COMPAT,))), Status.OK),
        (CU13, system(jetson=seen("99.1"), machine=seen("aarch64")), driver(), Status.OK),  # no row
    ],
)
def test_the_cuda_of_its_system(one: Framework, where: SystemFacts, drivers: DriverFacts, kind: Status) -> None:
    facts = machine(system=where, driver=drivers, environments=seen((environment(one),)))
    assert answer(CODE, facts).kind is kind


def built_for(*targets: str) -> Framework:
    """A CUDA build with this code."""
    return framework(version="2.11.0+cu130", targets=seen(tuple(map(CodeTarget.parse, targets))))


@pytest.mark.parametrize(
    ("built", "where", "kind"),
    [
        (CPU, ORIN, Status.BAD),
        (framework("onnxruntime", "1.22.0", build=seen("cpu")), ORIN, Status.BAD),
        (built_for("sm_80", "sm_90", "sm_120"), ORIN, Status.BAD),
        (built_for("sm_87"), ORIN, Status.OK),
        (built_for("sm_80", "compute_80"), ORIN, Status.OK),
        (framework(version="2.5.0a0+872d972e41.nv24.08", targets=unseen("not in the package")), ORIN, Status.OK),
        (framework("keras", "3.9.0", build=seen("")), ORIN, Status.NOT_APPLICABLE),
        (CPU, SERVER, Status.OK),
        (CPU, system(), Status.NOT_APPLICABLE),
        (CPU, system(jetson=unseen("no /etc/nv_tegra_release")), Status.UNKNOWN),
    ],
)
def test_builds(built: Framework, where: SystemFacts, kind: Status) -> None:
    orin = gpu("Orin", "8.7")
    found = answer(CODE, machine(system=where, gpus=seen((orin,)), environments=seen((environment(built),))))
    assert found.kind is kind
    if kind is Status.BAD:
        assert Symptom("cpu-only-wheel", built.label) in found.explains
