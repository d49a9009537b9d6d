"""driver-too-old-for-runtime."""

from __future__ import annotations

import pytest

from compat.need import InstallDriver, InstallPackage, Need, as_json
from compat.version import CudaVersion
from doctor.model.facts.driver import DriverLibrary
from doctor.model.facts.seen import Fact
from doctor.model.finding import Status
from tests.machine import VENV, driver, driver_library, environment, framework, gpu, machine, seen, system, unseen
from tests.rules.case import answer

CODE = "driver-too-old-for-runtime"


@pytest.mark.parametrize(
    ("release", "cuda", "kind"),
    [
        ("580.95.05", "12.8", Status.OK),
        ("535.183.01", "12.8", Status.OK),  # minor-version compatibility: 12.x starts on 525.60.13
        ("580.95.05", "13.2", Status.OK),  # "corresponding driver" 595 is not a floor
        ("525.60.12", "12.8", Status.BAD),
        ("525.60.13", "12.8", Status.OK),
        ("525.60.14", "12.8", Status.OK),
        ("579.99.99", "13.0", Status.BAD),
        ("580.65.06", "13.0", Status.OK),
        ("470.82", "13.0", Status.BAD),
        ("440.33.01", "11.8", Status.BAD),
        ("580.95.05", "99.0", Status.UNKNOWN),
    ],
)
def test_floor(release: str, cuda: str, kind: Status) -> None:
    built = framework(cuda=seen(CudaVersion.parse(cuda)))
    facts = machine(driver=driver(release), environments=seen((environment(built),)))
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("serves", "kind"),
    [
        (seen(CudaVersion(98, 9)), Status.UNKNOWN),
        (seen(CudaVersion(99, 0)), Status.OK),
        (seen(CudaVersion(99, 1)), Status.OK),
        (unseen("no NVML"), Status.UNKNOWN),
    ],
)
def test_the_drivers_own_word_counts_where_the_matrix_has_no_row(serves: Fact[CudaVersion], kind: Status) -> None:
    built = framework(cuda=seen(CudaVersion(99, 0)))
    facts = machine(driver=driver("999.10")._replace(cuda=serves), environments=seen((environment(built),)))
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("compat", "kind"),
    [
        (driver_library("libcuda", "580.95.05", origin="compat"), Status.OK),
        (driver_library("libcuda", "580", origin="compat"), Status.OK),
        (driver_library("libcuda", "579.99", origin="compat"), Status.BAD),
        (driver_library("libcuda", "580.95.05", origin="compat", loads=False), Status.BAD),
        (driver_library("libcuda", "580.95.05", origin="system"), Status.BAD),
        (driver_library("libnvidia-ml", "580.95.05", origin="compat"), Status.BAD),
    ],
)
def test_forward_compatible_libcuda(compat: DriverLibrary, kind: Status) -> None:
    built = framework(cuda=seen(CudaVersion(13, 0)))
    old = driver("535.183.01", "12.2", libraries=seen((compat,)))
    assert answer(CODE, machine(driver=old, environments=seen((environment(built),)))).kind is kind


@pytest.mark.parametrize(
    ("release", "card", "needs"),
    [
        (
            "560.35.03",
            gpu(),
            (InstallDriver(">=580"), InstallPackage("torch", "==2.13.0", f"{VENV}/bin/python", "cu129")),
        ),
        # no build that this driver starts has code for the card: only a newer driver helps
        ("470.82", gpu("NVIDIA GeForce RTX 5090", "12.0"), (InstallDriver(">=580"),)),
    ],
)
def test_remedies(release: str, card: object, needs: tuple[Need, ...]) -> None:
    built = framework(version="2.13.0+cu130", build=seen("cu130"), cuda=seen(CudaVersion(13, 0)))
    facts = machine(driver=driver(release), gpus=seen((card,)), environments=seen((environment(built),)))
    assert answer(CODE, facts).needs[:2] == needs


def test_cuda_from_the_matrix_where_the_package_does_not_tell() -> None:
    built = framework(version="2.13.0+cu130", build=seen("cu130"), cuda=unseen("no version file"))
    facts = machine(driver=driver("470.82"), environments=seen((environment(built),)))
    assert answer(CODE, facts).kind is Status.BAD


def test_unseen_driver_is_unknown() -> None:
    facts = machine(driver=driver()._replace(release=unseen("no rung of the ladder")))
    assert answer(CODE, facts).kind is Status.UNKNOWN


def test_cpu_build_and_no_gpu_do_not_apply() -> None:
    cpu = framework(version="2.9.1+cpu", build=seen("cpu"), cuda=unseen("a CPU build"))
    assert answer(CODE, machine(environments=seen((environment(cpu),)))).kind is Status.NOT_APPLICABLE
    assert answer(CODE, machine(gpus=seen(()), pci=seen(()))).kind is Status.NOT_APPLICABLE


def test_in_a_container_no_driver_is_asked_for_that_does_not_drive_the_card() -> None:
    """Kepler's last branch is 470: a sentence to the host's keeper is judged by nothing else."""
    built = framework(cuda=seen(CudaVersion(12, 1)))
    for card, advised in ((gpu("NVIDIA GeForce GTX 780", "3.5"), False), (gpu(), True)):
        facts = machine(
            driver=driver("470.256.02", "11.4"), gpus=seen((card,)), environments=seen((environment(built),))
        )
        facts = facts._replace(system=system(container=seen("docker")), pci=seen(()))
        asked = [need for need in answer(CODE, facts).needs if as_json(need).spec.startswith("On the host")]
        assert bool(asked) is advised
