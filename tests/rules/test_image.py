"""What an image asks of the container runtime, and whether it runs where it shall."""

from __future__ import annotations

from typing import Any

import pytest

from compat.base.choice import NoSuchName
from compat.matrix import Matrix
from compat.need import as_json
from doctor.host import BadRequest
from doctor.model.facts import Facts, Machine
from doctor.model.facts.image import ImageFacts
from doctor.model.finding import Severity, Status
from doctor.planned.assumed import with_assumed
from tests.machine import machine, report_on, seen, unseen, without_driver
from tests.rules.case import answer

MATRIX = Matrix()
BRANCHES = "cuda>=12.8 brand=tesla,driver>=550,driver<551 brand=nvidia,driver>=550,driver<551"
CUDA = "cuda>=12.8 brand=geforce,driver>=550,driver<551"


def image(driver: str = "", gpus: tuple[str, ...] = (), **env: Any) -> Facts:
    """The healthy machine's files as an image with these variables, to run on that driver and those GPUs."""
    said = ImageFacts(
        format="OCI layout", names=(), digest="", platform="linux/amd64", user="", command=(), has_config=True,
        gpu_env=tuple(env.items()), layers=(), read_bytes=0, unpacked_bytes=0, kept_bytes=0,
    )  # fmt: skip
    facts = machine(machine=Machine("image", "app.tar"), image=seen(said), gpus=unseen(), pci=unseen())
    return with_assumed(facts, MATRIX, driver, gpus) if driver or gpus else facts


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, Status.OK),
        ("", Status.OK),
        ("all", Status.OK),
        ("utility, compute", Status.OK),
        ("graphics,utility", Status.BAD),
        ("all,moon", Status.OK),
        ("compute,utility,opengl", Status.BAD),
        ("Compute", Status.BAD),
        ("none", Status.BAD),
    ],
)
def test_container_without_compute(value: str | None, kind: Status) -> None:
    given: dict[str, Any] = {} if value is None else {"NVIDIA_DRIVER_CAPABILITIES": value}
    assert answer("container-without-compute", image(**given)).kind is kind


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, Status.OK),
        ("all", Status.OK),
        ("0,1", Status.OK),
        ("void", Status.BAD),
        ("none", Status.BAD),
        ("", Status.BAD),
        ("all,none", Status.OK),
        ("none,all", Status.BAD),
        ("0, void", Status.BAD),
        (",", Status.BAD),
    ],
)
def test_container_gpus_hidden(value: str | None, kind: Status) -> None:
    given: dict[str, Any] = {} if value is None else {"NVIDIA_VISIBLE_DEVICES": value}
    assert answer("container-gpus-hidden", image(**given)).kind is kind


@pytest.mark.parametrize("code", ["container-without-compute", "container-gpus-hidden"])
def test_nothing_is_said_of_what_was_not_seen(code: str) -> None:
    variables: dict[str, Any] = {"NVIDIA_DRIVER_CAPABILITIES": "video", "NVIDIA_VISIBLE_DEVICES": "void"}
    assert answer(code, image(**variables)._replace(environments=unseen())).kind is Status.UNKNOWN
    assert answer(code, machine()).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("expression", "driver", "gpus", "kind"),
    [
        ("cuda>=12.8", "580.95.05", (), Status.OK),
        ("cuda>=12.8", "550.54.14", (), Status.BAD),
        (CUDA, "550.54.14", ("RTX 4090",), Status.OK),
        (CUDA, "535.104.05", ("RTX 4090",), Status.BAD),
        (CUDA, "550.54.14", (), Status.UNKNOWN),  # the brand of no GPU
        ("cuda>=13.0 brand=tesla,driver>=550", "550.54.14", ("H100 PCIe",), Status.UNKNOWN),  # tesla or nvidia
        (BRANCHES, "550.54.14", ("H100 PCIe",), Status.OK),
        (BRANCHES, "535.183.01", ("H100 PCIe",), Status.BAD),
        (BRANCHES, "550.54.14", ("H100 PCIe", "RTX 4090"), Status.BAD),  # each GPU by itself
        (
            "brand=GeForce,driver>=550 brand=quadro brand=quadrortx",
            "550.54.14",
            ("RTX 4090", "Quadro RTX 8000"),
            Status.OK,
        ),
        ("brand=titan", "550.54.14", ("Jetson AGX Orin",), Status.UNKNOWN),
        ("arch>=9.0", "550.54.14", ("RTX 4090",), Status.BAD),
        ("arch>=8.0", "550.54.14", ("RTX 4090",), Status.OK),
        ("moon=full", "550.54.14", (), Status.BAD),  # ends the tool
        ("cuda>=12.4 moon=full", "550.54.14", (), Status.OK),  # is never looked at
        ("brand=tesla moon=full", "550.54.14", (), Status.UNKNOWN),  # may be looked at
        ("cuda>=12.8,moon=full", "550.54.14", (), Status.BAD),
        ("cuda >= 12.0", "550.54.14", (), Status.BAD),
        ("cuda>=12.x", "550.54.14", (), Status.BAD),
        ("cuda==12.4", "550.54.14", (), Status.BAD),
        ("brand>tesla", "550.54.14", (), Status.BAD),
        ("CUDA>=12.4.0,Driver!=550.54", "550.54.14", (), Status.OK),
        ("cuda >= 12.0", "", (), Status.BAD),  # on any machine
        ("  ", "550.54.14", (), Status.NOT_APPLICABLE),
        ("cuda>=12.8", "617.1", (), Status.UNKNOWN),
        ("cuda>=12.8", "", (), Status.NOT_APPLICABLE),
    ],
)
def test_container_requirement_unmet(expression: str, driver: str, gpus: tuple[str, ...], kind: Status) -> None:
    found = answer("container-requirement-unmet", image(driver, gpus, NVIDIA_REQUIRE_CUDA=expression))
    assert found.kind is kind
    if kind is Status.BAD:
        assert (found.severity, as_json(found.needs[0]).product) == (Severity.ERROR, "by-hand")


@pytest.mark.parametrize(
    ("given", "driver", "kind", "told"),
    [
        ({"CUDA_VERSION": "12.8.1"}, "550.54.14", Status.BAD, "means cuda>=12.8"),
        ({"CUDA_VERSION": "12.4.1"}, "550.54.14", Status.OK, ""),
        ({"CUDA_VERSION": "12.8.1", "NVIDIA_REQUIRE_CUDA": "cuda>=12.0"}, "550.54.14", Status.OK, ""),
        ({"CUDA_VERSION": "12.8.1", "NVIDIA_REQUIRE_CUDA": ""}, "550.54.14", Status.BAD, "means cuda>=12.8"),
        ({"CUDA_VERSION": "12.8.1"}, "", Status.NOT_APPLICABLE, ""),
        ({"CUDA_VERSION": "cu121"}, "", Status.BAD, "NVIDIA's runtime reads"),
        ({"CUDA_VERSION": "121"}, "", Status.BAD, "no driver supports CUDA 121.0"),
        ({"CUDA_VERSION": "cu121", "NVIDIA_DISABLE_REQUIRE": "True"}, "", Status.OK, ""),
        ({"NVIDIA_REQUIRE_JETPACK": "csv-mounts=all"}, "550.54.14", Status.NOT_APPLICABLE, ""),
    ],
)
def test_a_release_that_stands_for_a_requirement(given: dict[str, Any], driver: str, kind: Status, told: str) -> None:
    found = answer("container-requirement-unmet", image(driver, **given))
    assert (found.kind, told in found.why) == (kind, True)


def test_what_is_to_be_written_instead() -> None:
    def needs(**given: Any) -> str:
        return as_json(answer("container-requirement-unmet", image(**given)).needs[0]).spec

    assert needs(CUDA_VERSION="cu121") == "In the Dockerfile, set ENV NVIDIA_REQUIRE_CUDA=cuda>=12.1"
    assert needs(CUDA_VERSION="latest") == "In the Dockerfile, set ENV NVIDIA_DISABLE_REQUIRE=true"
    assert needs(NVIDIA_REQUIRE_CUDA="cuda >= 12.0") == 'In the Dockerfile, set ENV NVIDIA_REQUIRE_CUDA="cuda>=12.0"'


def test_requirements_turned_off() -> None:
    facts = image("470.57.02", NVIDIA_REQUIRE_CUDA="cuda>=12.8", NVIDIA_DISABLE_REQUIRE="1")
    assert answer("container-requirement-unmet", facts).kind is Status.OK
    both = image("550.54.14", NVIDIA_REQUIRE_CUDA="cuda>=12.0", NVIDIA_REQUIRE_DRIVER="driver>=570")
    assert answer("container-requirement-unmet", both).kind is Status.BAD


def test_runtime_and_code_where_it_shall_run() -> None:
    code, floor = "gpu-arch-not-in-build", "driver-too-old-for-runtime"
    assert answer(floor, image("450.80.02")).kind is Status.BAD
    assert answer(floor, image("580.95.05")).kind is Status.OK
    assert answer(code, image("580.95.05")).kind is Status.NOT_APPLICABLE
    assert answer(code, image(gpus=("RTX 4090",))).kind is Status.OK
    assert answer(floor, image(gpus=("RTX 4090",))).kind is Status.NOT_APPLICABLE
    assert all(as_json(need).product == "by-hand" for need in answer(floor, image("450.80.02")).needs[:1])


@pytest.mark.parametrize(
    ("driver", "gpu", "kind"),
    [
        ("580.95.05", "GTX 1080", Status.OK),
        ("590.44.01", "GTX 1080", Status.BAD),  # 580 is the last branch for Pascal
        ("525.60.13", "RTX 5090", Status.BAD),
        ("580.95.05", "RTX 5090", Status.OK),
        ("580.95.05", "", Status.NOT_APPLICABLE),
    ],
)
def test_a_driver_that_does_not_know_the_gpu(driver: str, gpu: str, kind: Status) -> None:
    found = answer("driver-does-not-support-gpu", image(driver, (gpu,) if gpu else ()))
    assert found.kind is kind
    assert all(as_json(need).product == "by-hand" for need in found.needs)


def test_the_toolkit_of_an_image_and_the_driver_it_shall_run_on() -> None:
    code = "driver-too-old-for-toolkit"
    assert answer(code, image()).kind is Status.NOT_APPLICABLE
    assert answer(code, image("580.95.05")).kind is Status.OK
    found = answer(code, image("450.80.02"))
    assert found.kind is Status.BAD
    assert as_json(found.needs[0]).product == "by-hand"
    assert answer("driver-branch-ended", image("450.80.02")).severity is Severity.INFO
    assert answer("driver-branch-ended", image()).kind is Status.NOT_APPLICABLE


def test_what_is_assumed_is_known() -> None:
    with pytest.raises(NoSuchName, match="did you mean"):
        image(gpus=("RTX 4909",))
    with pytest.raises(BadRequest, match="a release such as"):
        image("new")
    with pytest.raises(BadRequest, match="this machine has driver 580"):
        with_assumed(machine(), MATRIX, "550.54.14", ())


def test_a_machine_without_a_driver_takes_an_assumed_one() -> None:
    """Nothing that only a running driver shows is asked: the files are judged for the machine that is named."""
    facts = with_assumed(without_driver(), MATRIX, "550.54.14", ("RTX 4090",))
    report = report_on(facts)
    assert (report.verdict, [one.code for one in report.findings]) == ("healthy", ["driver-branch-ended"])
    old = with_assumed(without_driver(), MATRIX, "450.80.02", ("RTX 5090",))
    assert "driver-too-old-for-runtime" in {one.code for one in report_on(old).findings}
