"""ptxas-missing, ptxas-too-old and libdevice-not-found."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import AssignVariable, ClearVariable, DropFromPath, InstallPackage
from compat.version import CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.toolkit import CodeTools, Tool
from doctor.model.finding import Severity, Status
from tests.machine import SITE, VENV, environment, framework, gpu, machine, pci_device, seen, toolkit, toolkits, unseen
from tests.rules.case import answer

OWN = f"{SITE}/triton/backends/nvidia/bin/ptxas"
WHEEL = f"{SITE}/nvidia/cuda_nvcc/bin/ptxas"
LIBDEVICE = f"{SITE}/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc"
TRITON = framework("triton", "3.5.1", build=seen(""), cuda=seen(CudaVersion(12, 8)), requires=seen(()))
JAX = framework("jax-cuda12-plugin", "0.7.2", build=seen("cuda"), cuda=unseen("a range of CUDA 12"))
TENSORFLOW = framework("tensorflow", "2.18.0", build=seen("cuda"), cuda=seen(CudaVersion(12, 5)))


def tool(release: str, path: str = WHEEL, why: str = "the nvidia-cuda-nvcc wheel", **changes: Any) -> Tool:
    """A ptxas of one release."""
    return Tool(path, why, seen(release))._replace(**changes)


def having(subject: Any, capability: str = "8.9", /, **changes: Any) -> Facts:
    """A machine whose one framework finds these tools: all that it wants, unless it is said."""
    family = "triton" if subject.package == "triton" else "xla"
    tools = CodeTools(VENV, subject.package, family, seen((tool("12.8.93"),)), seen((LIBDEVICE,)), ("/usr/local/cuda",))
    return machine(
        environments=seen((environment(subject),)),
        code_tools=seen((tools._replace(**changes),)),
        gpus=seen((gpu(capability=capability),)),
        toolkit=toolkits(toolkit("11.8.0")),
    )


@pytest.mark.parametrize("code", ["ptxas-missing", "ptxas-too-old", "libdevice-not-found"])
@pytest.mark.parametrize("subject", [TRITON, JAX, TENSORFLOW])
def test_healthy(code: str, subject: Any) -> None:
    assert answer(code, having(subject)).kind is Status.OK


@pytest.mark.parametrize("code", ["ptxas-missing", "ptxas-too-old", "libdevice-not-found"])
def test_torch_alone_compiles_nothing(code: str) -> None:
    assert answer(code, machine()).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize("code", ["ptxas-missing", "ptxas-too-old", "libdevice-not-found"])
def test_not_seen(code: str) -> None:
    facts = having(JAX)._replace(code_tools=unseen("the probe failed"))
    assert answer(code, facts).kind is Status.UNKNOWN


@pytest.mark.parametrize(
    ("subject", "severity"),
    [(TRITON, Severity.WARNING), (JAX, Severity.ERROR), (TENSORFLOW, Severity.WARNING)],
)
def test_missing(subject: Any, severity: Severity) -> None:
    for code, changes in (("ptxas-missing", {"ptxas": seen(())}), ("libdevice-not-found", {"libdevice": seen(())})):
        found = answer(code, having(subject, **changes))
        assert (found.kind, found.severity) == (Status.BAD, severity)


def test_the_wheel_mends_it() -> None:
    found = answer("libdevice-not-found", having(JAX, libdevice=seen(())))
    assert found.needs == (InstallPackage("nvidia-cuda-nvcc-cu12", "==12.*", f"{VENV}/bin/python"),)


def test_a_toolkit_that_is_there_mends_it_with_a_variable() -> None:
    facts = having(JAX, libdevice=seen(()))._replace(toolkit=toolkits(toolkit("12.8.1")))
    first = answer("libdevice-not-found", facts).needs[0]
    assert first == AssignVariable("XLA_FLAGS", "--xla_gpu_cuda_data_dir=/usr/local/cuda-12.8")


NAMED = "TRITON_PTXAS_PATH"
OLD = tool("12.4.131", "/usr/local/cuda-12.4/bin/ptxas", "PATH")
ANCIENT = tool("10.1.243", "/usr/bin/ptxas", "PATH")


@pytest.mark.parametrize(
    ("subject", "capability", "found", "kind"),
    [
        (TRITON, "12.1", (tool("12.8.93", OWN, "it comes with Triton"),), Status.BAD),  # a GB10
        (TRITON, "12.0", (tool("12.8.93", OWN, "it comes with Triton"),), Status.OK),
        (JAX, "12.0", (OLD, tool("12.8.93")), Status.BAD),  # PATH comes before the wheel
        (JAX, "8.9", (OLD, tool("12.8.93")), Status.OK),
        (JAX, "8.9", (ANCIENT, tool("12.8.93")), Status.OK),  # XLA passes over it
        (JAX, "8.9", (ANCIENT,), Status.NOT_APPLICABLE),
        (JAX, "12.0", (tool("12.3.103"), tool("12.8.93", OWN, "PATH")), Status.OK),  # the one that XLA refuses
        (TENSORFLOW, "8.9", (OLD._replace(release=unseen("a script")),), Status.UNKNOWN),
    ],
)
def test_too_old(subject: Any, capability: str, found: tuple[Tool, ...], kind: Status) -> None:
    assert answer("ptxas-too-old", having(subject, capability, ptxas=seen(found))).kind is kind


def test_triton_takes_another_for_blackwell() -> None:
    both = (tool("12.8.93", OWN), tool("13.0.88", f"{OWN}-blackwell", "it comes with Triton", is_for_blackwell=True))
    assert answer("ptxas-too-old", having(TRITON, "12.1", ptxas=seen(both))).kind is Status.OK


def test_path_is_to_blame() -> None:
    found = answer("ptxas-too-old", having(JAX, "12.0", ptxas=seen((OLD, tool("12.8.93")))))
    assert found.needs == (DropFromPath("PATH", "/usr/local/cuda-12.4/bin"),)
    assert "(CUDA 12.4), which does not support compute capability" in found.why


def test_the_variable_is_to_blame() -> None:
    chosen = (OLD._replace(why=NAMED, set_by=NAMED), tool("12.8.93", OWN, "it comes with Triton", set_by=NAMED))
    found = answer("ptxas-too-old", having(TRITON, "12.0", ptxas=seen(chosen)))
    assert found.needs == (ClearVariable("TRITON_PTXAS_PATH"),)


def test_a_newer_toolkit_serves_triton() -> None:
    facts = having(TRITON, "12.1", ptxas=seen((tool("12.8.93", OWN, "it comes with Triton", set_by=NAMED),)))
    facts = facts._replace(toolkit=toolkits(toolkit("13.0.1")))
    (need,) = answer("ptxas-too-old", facts).needs
    assert need == AssignVariable("TRITON_PTXAS_PATH", "/usr/local/cuda-13.0/bin/ptxas")


def test_offline_no_card_is_known() -> None:
    facts = having(JAX)
    assert answer("ptxas-too-old", facts._replace(machine=facts.machine._replace(kind="root"))).kind is (
        Status.NOT_APPLICABLE
    )
    assert answer("ptxas-too-old", facts._replace(gpus=seen(()), pci=seen((pci_device(),)))).kind is Status.UNKNOWN
