"""gpu-too-new-for-cuda, gpu-too-old-dropped and gpu-arch-not-in-build: one cause for a framework and its GPUs."""

from __future__ import annotations

from typing import Any

import pytest

from compat.build import serves
from compat.need import InstallPackage, Need, as_json
from compat.version import CodeTarget, ComputeCapability, CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework, Variable
from doctor.model.finding import Severity, Status
from doctor.rules.shared.gpu_code import NOT_IN_BUILD, TOO_NEW, TOO_OLD
from tests.machine import VENV, configuration, driver, environment, framework, gpu, machine, seen, system, unseen
from tests.rules.case import answer

CODES = ("gpu-too-new-for-cuda", "gpu-too-old-dropped", "gpu-arch-not-in-build")
PYTHON = f"{VENV}/bin/python"


def torch(version: str, **changes: Any) -> Framework:
    """A torch build as its files show it; its targets come from the matrix."""
    tag = version.partition("+")[2]
    facts = {"build": seen(tag), "cuda": seen(CudaVersion.from_tag(tag)), "targets": unseen("not in the package")}
    return framework(version=version, **(facts | changes))


def with_gpus(built: Framework, *capabilities: str, **changes: Any) -> Facts:
    """A machine with these GPUs, and this framework on Python 3.12."""
    gpus = tuple(gpu(f"GPU sm {one}", one, number=number) for number, one in enumerate(capabilities))
    return machine(gpus=seen(gpus), environments=seen((environment(built),)), **changes)


@pytest.mark.parametrize("code", CODES)
def test_cards_that_cannot_be_asked(code: str) -> None:
    facts = machine(gpus=unseen("NVML does not answer"), environments=seen((environment(torch("2.9.1+cu128")),)))
    assert answer(code, facts).kind is Status.UNKNOWN


@pytest.mark.parametrize(
    ("version", "capabilities", "bad"),
    [
        ("2.9.1+cu128", ("8.9",), ""),  # an RTX 4090 runs sm_86: same major, higher minor
        ("2.13.0+cu130", ("8.9",), ""),
        ("2.9.1+cu128", ("12.0",), ""),
        ("2.9.1+cu128", ("12.1",), ""),
        ("2.9.1+cu128", ("10.3",), ""),
        ("2.5.1+cu124", ("12.0",), TOO_NEW),
        ("2.5.1+cu124", ("10.0",), TOO_NEW),
        ("1.10.2+cu102", ("8.6",), TOO_NEW),
        ("2.13.0+cu130", ("6.1",), TOO_OLD),
        ("2.13.0+cu130", ("7.0",), TOO_OLD),
        ("2.9.1+cu128", ("6.1",), TOO_OLD),
        ("2.5.1+cu124", ("3.5",), TOO_OLD),
        ("2.9.1+cu126", ("12.0",), TOO_NEW),
        ("2.5.1+cu124", ("8.9", "12.0"), TOO_NEW),
        ("2.9.1+cu126", ("3.5", "12.0"), TOO_NEW),  # two causes: the newer GPU counts
    ],
)
def test_exactly_one_cause(version: str, capabilities: tuple[str, ...], bad: str) -> None:
    facts = with_gpus(torch(version), *capabilities)
    found = {code: answer(code, facts) for code in CODES}
    assert [code for code, one in found.items() if one.kind is Status.BAD] == ([bad] if bad else [])
    healthy = Status.NOT_APPLICABLE if bad else Status.OK
    assert {one.kind for code, one in found.items() if code != bad} == {healthy}


def test_a_gap_in_the_build_is_neither_too_new_nor_too_old() -> None:
    built = torch("2.9.1+cu128", targets=seen((CodeTarget.parse("sm_75"), CodeTarget.parse("sm_120"))))
    assert answer(NOT_IN_BUILD, with_gpus(built, "9.0")).kind is Status.BAD


@pytest.mark.parametrize("targets", ["sm_75 sm_120", "sm_70 sm_75 sm_80 sm_86 sm_90 sm_120"])
def test_where_binary_and_row_disagree_the_binary_is_right_and_it_is_said(targets: str) -> None:
    read = seen(tuple(map(CodeTarget.parse, targets.split())), "libtorch_cuda.so")
    found = answer(NOT_IN_BUILD, with_gpus(torch("2.9.1+cu128", targets=read), "10.0"))
    assert found.kind is Status.BAD  # the row lists sm_100
    sources = [one.source for one in found.evidence]
    assert "libtorch_cuda.so" in sources
    assert "matrix, torch-2.9.1-cu128" in sources


def test_a_row_that_agrees_is_not_mentioned() -> None:
    row = torch("2.5.1+cu124")
    listed = tuple(map(CodeTarget.parse, ["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"]))
    found = answer(TOO_NEW, with_gpus(row._replace(targets=seen(listed, "libtorch_cuda.so")), "12.0"))
    assert not any(one.source == "matrix, torch-2.5.1-cu124" for one in found.evidence)


@pytest.mark.parametrize(
    ("capabilities", "severity"), [(("12.0",), Severity.ERROR), (("8.9", "12.0"), Severity.WARNING)]
)
def test_severity_and_which_gpu(capabilities: tuple[str, ...], severity: Severity) -> None:
    found = answer(TOO_NEW, with_gpus(torch("2.5.1+cu124"), *capabilities))
    assert found.severity is severity
    assert "sm_120" in found.why
    assert "sm_89" not in found.why.partition(":")[0]


@pytest.mark.parametrize(
    ("version", "capability", "first"),
    [
        ("2.5.1+cu124", "12.0", InstallPackage("torch", "==2.7.0", PYTHON, "cu128")),
        ("2.13.0+cu130", "6.1", InstallPackage("torch", "==2.13.0", PYTHON, "cu126")),
        ("2.15.0+cu132", "6.1", InstallPackage("torch", "==2.14.1", PYTHON, "cu126")),
        ("2.9.1+cu126", "12.0", InstallPackage("torch", "==2.9.1", PYTHON, "cu130")),
    ],
)
def test_remedy_is_the_nearest_build_that_has_the_code(version: str, capability: str, first: Need) -> None:
    code = TOO_NEW if capability == "12.0" else TOO_OLD
    assert answer(code, with_gpus(torch(version), capability)).needs[0] == first


def test_remedy_runs_on_the_driver() -> None:
    facts = with_gpus(torch("2.9.1+cu126"), "12.0", driver=driver("570.86.10", "12.8"))
    assert as_json(answer(TOO_NEW, facts).needs[0]).build == "cu129"


def test_remedy_that_waits_for_a_driver_says_so() -> None:
    facts = with_gpus(torch("1.10.2+cu102"), "8.6", driver=driver("440.33.01", "10.2"))
    need = answer(TOO_NEW, facts).needs[0]
    assert as_json(need).product == "by-hand"
    assert "driver 525" in as_json(need).spec


def test_no_known_build_is_said() -> None:
    found = answer(TOO_OLD, with_gpus(torch("2.9.1+cu128"), "2.1"))
    assert "no published build with it is known" in found.why
    assert as_json(found.needs[0]).product == "by-hand"


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "99.0.0+cu128"},
        {"version": "2.9.0a0+145a3a7bda.nv25.10", "build": unseen("not a published tag")},
    ],
)
def test_a_build_that_nobody_knows_is_unknown(changes: dict[str, Any]) -> None:
    built = framework(**({"targets": unseen("not in the package")} | changes))
    assert answer(NOT_IN_BUILD, with_gpus(built, "8.9")).kind is Status.UNKNOWN


@pytest.mark.parametrize(
    ("package", "version", "capability", "matters"),
    [
        ("jax-cuda12-plugin", "0.9.0", "3.5", True),
        ("cupy-cuda12x", "13.6.0", "3.5", True),
        ("cupy-cuda112", "10.6.0", "12.0", True),
        ("torch", "99.0.0", "8.9", True),
    ],
)
def test_not_knowing_matters_only_where_something_speaks_against_the_build(
    package: str, version: str, capability: str, matters: bool
) -> None:
    built = framework(package, version, build=seen("cuda"), cuda=unseen("no word"), targets=unseen("no word"))
    found = answer(NOT_IN_BUILD, with_gpus(built, capability))
    assert (found.kind, found.blocks_verdict) == (Status.UNKNOWN, matters)


@pytest.mark.parametrize(("package", "version"), [("jax-cuda12-plugin", "0.9.0"), ("cupy-cuda12x", "13.6.0")])
def test_what_compiles_for_the_card_that_it_meets(package: str, version: str) -> None:
    built = framework(package, version, build=seen("cuda"), cuda=unseen("no word"), targets=unseen("no word"))
    assert answer(NOT_IN_BUILD, with_gpus(built, "8.9")).kind is Status.OK


@pytest.mark.parametrize(
    "changes",
    [
        {"gpus": unseen("NVML: driver not loaded")},
        {"gpus": seen(())},
        {"gpus": seen((gpu()._replace(capability=unseen("not supported")),))},
    ],
)
def test_gpus_that_could_not_be_asked_are_unknown(changes: dict[str, Any]) -> None:
    assert answer(NOT_IN_BUILD, machine(**changes)).kind is Status.UNKNOWN


@pytest.mark.parametrize(
    "built",
    [
        framework(
            version="2.9.1+cpu",
            build=seen("cpu"),
            cuda=unseen("no framework has a CUDA build for macOS, only CPU builds"),
        ),
        framework(version="2.9.1+rocm6.4", build=seen("rocm6.4"), cuda=unseen("a ROCm build")),
        framework("keras", "3.9.0", build=unseen("pure Python"), targets=unseen("pure Python")),
        framework(targets=seen(())),
    ],
)
@pytest.mark.parametrize("code", CODES)
def test_what_has_no_gpu_code_does_not_apply(code: str, built: Framework) -> None:
    assert answer(code, with_gpus(built, "12.0")).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize("code", CODES)
def test_without_a_gpu_or_offline_it_does_not_apply(code: str) -> None:
    assert answer(code, machine(gpus=seen(()), pci=seen(()))).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("variables", "kind"),
    [
        ({"CUDA_VISIBLE_DEVICES": "GPU-aaaa"}, Status.OK),
        ({"CUDA_VISIBLE_DEVICES": "GPU-bbbb"}, Status.BAD),
        ({"CUDA_VISIBLE_DEVICES": "0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, Status.OK),
        ({"CUDA_VISIBLE_DEVICES": "0"}, Status.BAD),  # CUDA counts the fastest first: which one 0 is, is not known
        ({"CUDA_VISIBLE_DEVICES": ""}, Status.BAD),
    ],
)
def test_only_visible_gpus_count(variables: dict[str, str], kind: Status) -> None:
    gpus = (gpu(uuid=seen("GPU-aaaa-1")), gpu("NVIDIA GeForce RTX 5090", "12.0", number=1, uuid=seen("GPU-bbbb-2")))
    names = tuple(Variable(name, value, "") for name, value in variables.items())
    facts = with_gpus(torch("2.5.1+cu124"))._replace(gpus=seen(gpus))
    assert answer(TOO_NEW, facts._replace(configuration=configuration(variables=seen(names)))).kind is kind


@pytest.mark.parametrize(
    ("targets", "gpu_name", "jetson", "runs"),
    [
        ("sm_80", "8.7", False, True),
        ("sm_80", "8.7", True, False),  # no binary compatibility between desktop and Tegra
        ("sm_87", "8.7", True, True),
        ("compute_80", "8.7", True, True),
        ("sm_90a", "9.0", False, True),
        ("sm_90a", "10.0", False, False),
        ("sm_100f", "10.3", False, True),
        ("compute_90", "12.0", False, True),
        ("compute_90a", "12.0", False, False),
    ],
)
def test_serves(targets: str, gpu_name: str, jetson: bool, runs: bool) -> None:
    assert serves((CodeTarget.parse(targets),), ComputeCapability.parse(gpu_name), jetson=jetson) is runs


def test_a_jetson_needs_its_own_code() -> None:
    built = framework(version="2.11.0+cu130", build=seen("cu130"), cuda=seen(CudaVersion(13, 0)), targets=unseen())
    orin = system(jetson=seen("36.4.3"), machine=seen("aarch64"))
    assert answer(NOT_IN_BUILD, with_gpus(built, "8.7", system=orin)).kind is Status.UNKNOWN  # no row of such a build


TENSORFLOW = {"targets": seen((CodeTarget.parse("sm_89"), CodeTarget.parse("compute_90"))), "build": seen("")}


@pytest.mark.parametrize(
    ("version", "capabilities", "kind"),
    [
        ("2.20.0", ("12.0",), Status.BAD),
        ("2.20.0", ("8.9", "12.0"), Status.BAD),
        ("2.20.0", ("9.0",), Status.OK),  # by the same PTX, of which nobody says that
        ("2.15.1", ("12.0",), Status.OK),
    ],
)
def test_ptx_that_is_reported_not_to_load(version: str, capabilities: tuple[str, ...], kind: Status) -> None:
    """A warning, with the reports: the code is there, and others say what comes of it."""
    built = framework("tensorflow", version, cuda=seen(CudaVersion(12, 5)), **TENSORFLOW)
    found = answer(NOT_IN_BUILD, with_gpus(built, *capabilities))
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.severity is Severity.WARNING
        assert "GPU sm 12.0" in found.why
        assert "8.9" not in found.why
        assert any("issues/101746" in one.detail for one in found.evidence)
        assert all(
            code == NOT_IN_BUILD or answer(code, with_gpus(built, *capabilities)).kind is not Status.BAD
            for code in CODES
        )


@pytest.mark.parametrize(
    ("capabilities", "severity"),
    [
        (("6.1",), Severity.ERROR),
        (("6.1", "8.9"), Severity.INFO),  # an idle old card: programs use the other one
        (("6.1", "5.2", "8.9"), Severity.INFO),
        (("6.1", "6.1"), Severity.ERROR),
    ],
)
def test_an_older_card_beside_one_that_is_served_is_information(
    capabilities: tuple[str, ...], severity: Severity
) -> None:
    assert answer(TOO_OLD, with_gpus(torch("2.13.0+cu130"), *capabilities)).severity is severity
