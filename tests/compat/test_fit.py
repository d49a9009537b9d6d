"""fit: one build under given circumstances, with the shipped rows and with rows made for a case."""

from __future__ import annotations

from typing import Any

import pytest

from compat.fit import Reason, TargetMachine, cudnns_of, fit
from compat.matrix import Matrix
from compat.reason import BAD, OK, UNKNOWN, cudnn_reasons, driver_drives, reaches, toolkit_reasons, verdict_of
from compat.row import FrameworkRow
from compat.version import CodeTarget, ComputeCapability, CudaVersion, CudnnVersion, DriverRelease

MATRIX = Matrix()
ROW = FrameworkRow(
    id="made-1.0-cu124",
    package="made",
    versions="==1.0",
    build="cu124",
    os=("linux",),
    arch=("x86_64", "jetson"),
    python=("3.11", "3.12", "3.13t"),
    cuda="==12.4",
    cudnn=CudnnVersion.parse("9.1.0.70"),
    cudnn_accepts=">=9.1,<10",
    libraries="wheels",
    targets=tuple(map(CodeTarget.parse, ("sm_50", "sm_80", "compute_90"))),
    glibc="2.28",
    pins={},
    source="made for this test",
    read_on="2026-11-20",
    confidence="high",
    note="",
)

PTX = (CodeTarget.parse("compute_80"),)


def where(gpus: str = "", driver: str = "", **changes: Any) -> TargetMachine:
    """Linux on x86_64 with these cards and this driver."""
    return TargetMachine(
        capabilities=tuple(map(ComputeCapability.parse, gpus.split())),
        driver=DriverRelease.parse(driver) if driver else None,
    )._replace(**changes)


def reasons(row: FrameworkRow, circumstances: TargetMachine) -> list[tuple[str, str]]:
    return [(one.kind, one.what) for one in fit(row, circumstances, MATRIX).reasons]


@pytest.mark.parametrize(
    ("changes", "circumstances", "verdict"),
    [
        ({}, where(), "yes"),
        ({}, where(os_family="windows"), "unknown"),  # no row says that there is no such build
        ({}, where(arch="sbsa"), "unknown"),
        ({}, where("7.0", "590.44.01", arch="sbsa"), "no"),  # whatever the build, the driver does not know the card
        ({}, where("8.9", os_family="macos"), "no"),
        ({}, where(os_family="macos"), "unknown"),  # there may be a build without GPU code
        ({}, where(python="3.12"), "yes"),
        ({}, where(python="3.13"), "no"),  # only the free-threaded one has a wheel
        ({}, where(python="3.13t"), "yes"),
        ({"python": None}, where(python="3.12"), "unknown"),
        ({}, where(glibc="2.28"), "yes"),
        ({}, where(glibc="2.9"), "no"),
        ({"glibc": None}, where(glibc="2.39"), "unknown"),
        ({"glibc": ""}, where(glibc="2.5"), "yes"),
        ({}, where("8.0"), "yes"),
        ({}, where("8.9"), "yes"),  # sm_80 code
        ({}, where("8.0 3.7"), "no"),
        ({}, where("9.0"), "yes"),  # PTX
        ({}, where("9.0", "550.54.14"), "yes"),
        ({}, where("9.0", "535.183"), "no"),  # runs CUDA 12.4, but does not compile its PTX
        ({}, where("8.0", "535.183"), "yes"),
        ({}, where("8.0", "525.60.13"), "yes"),
        ({}, where("8.0", "525"), "yes"),  # a branch stands for its releases
        ({}, where("8.0", "520.61.05"), "no"),
        ({}, where("8.0", "9999.1"), "unknown"),  # a branch that no row has
        ({}, where("5.0", "590.44"), "no"),  # R580 is Maxwell's last
        ({}, where("12.0", "550.54.14"), "no"),  # older than Blackwell
        ({}, where("8.7", arch="jetson"), "no"),  # machine code of a lower minor is for desktops
        ({}, where("8.0", arch="jetson"), "yes"),
        ({"targets": None}, where("8.9"), "unknown"),
        ({"targets": None}, where("3.5"), "no"),  # CUDA 12.4 has no compiler for it
        ({"targets": None, "package": "cupy-cuda12x"}, where("8.9"), "yes"),  # compiled where it runs
        ({"targets": None, "package": "cupy-cuda12x"}, where("12.0"), "unknown"),
        ({"targets": ()}, where("8.9"), "yes"),
        ({"targets": None, "package": "jax-cuda12-plugin", "versions": "==0.8.0"}, where("5.0"), "no"),  # from 5.2 on
        ({"targets": None, "package": "jax-cuda12-plugin", "versions": "==0.8.0"}, where("5.2"), "yes"),
        ({"package": "tensorrt", "versions": "==8.4.3.1"}, where("8.6"), "yes"),
        ({"package": "tensorrt", "versions": "==8.4.3.1"}, where("8.7"), "yes"),  # the newest card of 8.4
        ({"package": "tensorrt", "versions": "==8.4.3.1"}, where("8.9"), "no"),
        ({"package": "tensorrt", "versions": "==8.5.1.7"}, where("8.9"), "yes"),
        ({"package": "tensorrt", "versions": "==8.5.1.7"}, where("9.0"), "yes"),
        ({"package": "tensorrt", "versions": "==8.5.1.7"}, where("10.0"), "no"),
        ({"package": "tensorrt", "versions": "==10.8.0.43"}, where("10.0"), "unknown"),  # no row names its newest
        ({"build": "cpu", "cuda": "", "targets": ()}, where("8.9"), "no"),
        ({"build": "cpu", "cuda": "", "targets": ()}, where(), "yes"),
        ({"build": "rocm6.4", "cuda": "", "targets": ()}, where("8.9"), "no"),
        ({"package": "keras", "cuda": "", "targets": ()}, where("8.9"), "yes"),
        ({"cuda": None}, where("8.9"), "unknown"),
        ({"confidence": "low"}, where("8.9"), "unknown"),
        ({"cudnn": CudnnVersion.parse("9.11.0")}, where("5.0"), "no"),  # that cuDNN starts at 7.5
        (
            {"cudnn": CudnnVersion.parse("8.9.7"), "targets": (CodeTarget.parse("compute_80"),)},
            where("12.0"),
            "unknown",
        ),
    ],
)
def test_verdicts(changes: dict[str, Any], circumstances: TargetMachine, verdict: str) -> None:
    assert fit(ROW._replace(**changes), circumstances, MATRIX).verdict == verdict


@pytest.mark.parametrize(
    ("changes", "cuda", "cudnn", "kind"),
    [
        ({}, "11.8", "8.9.7", OK),  # it brings its own
        ({"libraries": "system"}, "12.4", "9.5.1", OK),
        ({"libraries": "system"}, "12.4", "8.9.7", BAD),
        ({"libraries": "system"}, "12.6", "9.5.1", BAD),
        ({"libraries": "system", "cudnn_accepts": None}, "12.4", "9.5.1", UNKNOWN),
        ({"libraries": "system", "cudnn_accepts": ""}, "12.4", "5.1", OK),
    ],
)
def test_libraries_of_the_system(changes: dict[str, Any], cuda: str, cudnn: str, kind: str) -> None:
    here = where(cuda=CudaVersion.parse(cuda), cudnn=CudnnVersion.parse(cudnn))
    found = [one for one, _ in reasons(ROW._replace(**changes), here)]
    assert (BAD if BAD in found else UNKNOWN if UNKNOWN in found else OK) == kind


def test_a_toolkit_of_the_system_decides_for_what_compiles_with_it() -> None:
    theano = MATRIX.framework("theano", "0.8.2")
    assert fit(theano, where("3.0", cuda=CudaVersion(7, 5)), MATRIX).verdict == "unknown"  # Theano names none
    assert fit(theano, where("3.0", cuda=CudaVersion(11, 0)), MATRIX).verdict == "no"
    assert fit(theano, where("3.0"), MATRIX).verdict == "unknown"


def test_a_pin_that_admits_several_cudnns_is_narrowed_to_those_with_code() -> None:
    plugin = MATRIX.framework("jax-cuda12-plugin", "0.7.0")
    said = [what for kind, what in reasons(plugin, where("6.1")) if "pin it" in what and kind == OK]
    assert len(said) == 1
    assert "9.10.2" in said[0]
    assert not [what for _, what in reasons(plugin, where("8.9")) if "pin it" in what]
    assert cudnns_of(plugin, 12, MATRIX)[0].version == CudnnVersion.parse("9.8.0")


@pytest.mark.parametrize(
    ("package", "version", "cuda", "gpu", "kind"),
    [
        ("tensorrt", "==10.9", ">=12.6,<13", "12.0", UNKNOWN),  # 12.8 runs what 12.6 built, which has no such code
        ("tensorrt-cu12", "==10.9", ">=12.6,<13", "12.0", UNKNOWN),
        ("tensorrt-cu12", "==10.6", ">=12.6,<13", "12.0", BAD),  # it refuses what is newer, whoever runs it
        ("tensorrt", "==10.8", ">=12.8,<13", "12.0", OK),
        ("tensorrt", "==10.6", ">=12.6,<13", "8.9", OK),
        ("cupy-cuda12x", "==13.5", ">=12.0,<13", "12.0", OK),  # it compiles where it runs
        ("tensorrt-cu12", "==10.6", ">=12.6,<13", "7.0", BAD),
    ],
)
def test_a_later_cuda_did_not_build_it(package: str, version: str, cuda: str, gpu: str, kind: str) -> None:
    row = ROW._replace(package=package, versions=version, cuda=cuda, targets=None, cudnn=None, cudnn_accepts="")
    sm = ComputeCapability.parse(gpu).sm
    assert [found for found, what in reasons(row, where(gpu)) if sm in what or "supports cards" in what] == [kind]


def test_every_reason_names_a_row_and_its_source() -> None:
    found = fit(MATRIX.framework("torch", "2.9.1", "cu128"), where("8.9", "550.54.14", python="3.12"), MATRIX)
    assert len(found.reasons) >= 4
    assert all(reason.rows and reason.source for reason in found.reasons)
    assert found.reasons[0].rows == ("torch.builds[torch-2.9.1-cu128]",)


@pytest.mark.parametrize(
    ("cuda", "gpus", "driver", "kinds"),
    [
        ("12.4", "8.9", "550.54.14", [OK, OK, OK]),
        ("11.1", "8.9", "", [OK]),  # builds for 8.6
        ("12.4", "12.0", "", [BAD]),
        ("13.0", "6.1", "", [BAD]),
        ("13.2", "", "580", [OK]),
        ("13.2", "", "580.65.06", [OK]),
        ("13.2", "", "575.57.08", [BAD]),
        ("12.8", "12.0", "535", [OK, OK, BAD]),  # CUDA 12.8 starts on 535, which does not know the card
        ("12.8", "7.0", "590", [OK, OK, BAD]),
        ("99.0", "8.9", "580", [UNKNOWN, UNKNOWN, OK]),
    ],
)
def test_toolkits(cuda: str, gpus: str, driver: str, kinds: list[str]) -> None:
    found = toolkit_reasons(CudaVersion.parse(cuda), where(gpus, driver), MATRIX)
    assert [reason.kind for reason in found] == kinds


def test_no_driver_of_branch_580_is_told_to_upgrade_for_any_cuda_13() -> None:
    for row in MATRIX.rows("cuda", "toolkits"):
        if row.cuda.major == 13:
            for driver in ("580", "580.65.06", "580.95.05"):
                told = list(toolkit_reasons(row.cuda, where("", driver), MATRIX))
                assert [reason.kind for reason in told] == [OK], row.id


@pytest.mark.parametrize(
    ("gpu", "driver", "kind"),
    [
        ("6.1", "580.95.05", OK),
        ("6.1", "590.44.01", BAD),
        ("12.0", "570.86.10", OK),
        ("12.0", "565.57.01", BAD),
        ("8.9", "520.61.05", OK),
        ("3.0", "470.256.02", OK),
        ("3.0", "495.44", BAD),
    ],
)
def test_which_driver_drives_which_card(gpu: str, driver: str, kind: str) -> None:
    assert driver_drives(ComputeCapability.parse(gpu), DriverRelease.parse(driver), MATRIX).kind == kind


def test_a_branch_reaches_its_own_releases_only() -> None:
    floor = DriverRelease.parse("580.65.06")
    assert reaches(DriverRelease.parse("580"), floor)
    assert not reaches(DriverRelease.parse("580.1"), floor)
    assert not reaches(DriverRelease.parse("575"), floor)


def test_one_bad_reason_outweighs_the_others() -> None:
    made = {kind: Reason(kind, "", (), "") for kind in (OK, BAD, UNKNOWN)}
    assert verdict_of((made[OK], made[UNKNOWN], made[BAD])) == "no"
    assert verdict_of((made[OK], made[UNKNOWN])) == "unknown"
    assert verdict_of((made[OK],)) == "yes"
    assert verdict_of(()) == "yes"


@pytest.mark.parametrize(
    ("release", "major", "gpu", "kind"),
    [
        ("8.7.0", 11, "12.0", UNKNOWN),  # its row names no newest card; CUDA 11.8 builds for none above 9.0
        ("8.7.0", 11, "9.0", OK),
        ("8.7.0", 11, "3.5", OK),
        ("8.4.1", 11, "9.0", UNKNOWN),
        ("8.4.1", 11, "8.6", OK),
        ("6.0.21", 8, "8.0", UNKNOWN),
        ("6.0.21", 8, "6.1", OK),
        ("9.27.0", 13, "12.1", OK),  # of its CUDA nobody knows the newest
        ("9.27.0", 13, "7.0", BAD),
    ],
)
def test_a_cudnn_knows_no_card_that_its_compiler_does_not(release: str, major: int, gpu: str, kind: str) -> None:
    build = MATRIX.cudnn_build(CudnnVersion.parse(release), major)
    [reason] = cudnn_reasons(build, where(gpu), MATRIX)
    assert reason.kind == kind
