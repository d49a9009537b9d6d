"""jetson-wrong-wheel."""

from __future__ import annotations

import pytest

from compat.version import CodeTarget
from doctor.check.finding import Kind, Symptom
from doctor.facts.environment import Framework
from doctor.facts.system import SystemFacts
from tests.machine import environment, framework, gpu, machine, seen, system, unseen
from tests.rules.case import answer

CODE = "jetson-wrong-wheel"
ORIN = system(jetson=seen("36.4.3"), machine=seen("aarch64"))
SERVER = system(machine=seen("aarch64"))
CPU = framework(version="2.9.1+cpu", build=seen("cpu"), cuda=unseen("a CPU build"))


def built_for(*targets: str) -> Framework:
    """A CUDA build with this code."""
    return framework(version="2.11.0+cu130", targets=seen(tuple(map(CodeTarget.parse, targets))))


@pytest.mark.parametrize(
    ("built", "where", "kind"),
    [
        (CPU, ORIN, Kind.BAD),
        (framework("onnxruntime", "1.22.0", build=seen("cpu")), ORIN, Kind.BAD),
        (built_for("sm_80", "sm_90", "sm_120"), ORIN, Kind.BAD),
        (built_for("sm_87"), ORIN, Kind.OK),
        (built_for("sm_80", "compute_80"), ORIN, Kind.OK),
        (framework(version="2.5.0a0+872d972e41.nv24.08", targets=unseen("not in the package")), ORIN, Kind.OK),
        (framework("keras", "3.9.0", build=seen("")), ORIN, Kind.NOT_APPLICABLE),
        (CPU, SERVER, Kind.OK),
        (CPU, system(), Kind.NOT_APPLICABLE),
        (CPU, system(jetson=unseen("no /etc/nv_tegra_release")), Kind.UNKNOWN),
    ],
)
def test_builds(built: Framework, where: SystemFacts, kind: Kind) -> None:
    orin = gpu("Orin", "8.7")
    found = answer(CODE, machine(system=where, gpus=seen((orin,)), environments=seen((environment(built),))))
    assert found.kind is kind
    if kind is Kind.BAD:
        assert Symptom("cpu-only-wheel", built.label) in found.explains
