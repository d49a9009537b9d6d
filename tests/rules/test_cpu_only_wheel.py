"""cpu-only-wheel."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import ChangePackages, InstallPackage, Need, as_json
from compat.version import CodeTarget, CudaVersion
from doctor.model.facts import Machine
from doctor.model.facts.environment import Extension, Framework
from doctor.model.facts.loader import Outcome
from doctor.model.finding import Severity, Status, Symptom
from tests.machine import (
    VENV,
    distribution,
    driver,
    environment,
    framework,
    gpu,
    loader,
    machine,
    prediction,
    seen,
    system,
    unseen,
)
from tests.rules.case import answer, answers

CODE = "cpu-only-wheel"
PYTHON = f"{VENV}/bin/python"
TORCH = framework()


def cpu(package: str = "torch", version: str = "2.9.1+cpu") -> Framework:
    """A CPU build."""
    return framework(package, version, build=seen("cpu"), cuda=unseen("a CPU build"), targets=unseen("a CPU build"))


@pytest.mark.parametrize(
    ("built", "kind"),
    [
        (TORCH, Status.OK),
        (framework("jax-cuda12-plugin", "0.9.0", build=seen("cuda"), cuda=unseen("a range")), Status.OK),
        (cpu(), Status.BAD),
        (cpu("tensorflow", "2.20.0"), Status.BAD),
        (cpu("onnxruntime", "1.22.0"), Status.BAD),
        (cpu("jaxlib", "0.9.0"), Status.BAD),
        (framework(build=unseen("torch/version.py is damaged"), cuda=unseen("damaged")), Status.UNKNOWN),
        (framework("jax", "0.9.0", build=seen(""), cuda=unseen("pure Python")), Status.NOT_APPLICABLE),
    ],
)
def test_builds(built: Framework, kind: Status) -> None:
    assert answer(CODE, machine(environments=seen((environment(built),)))).kind is kind


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"gpus": seen(()), "pci": seen(())}, Status.NOT_APPLICABLE),
        ({"gpus": unseen("no NVML"), "pci": unseen("no sysfs")}, Status.UNKNOWN),
        ({"system": system(family=seen("macos"))}, Status.NOT_APPLICABLE),
        ({"machine": Machine("root", "/mnt")}, Status.NOT_APPLICABLE),
        ({"machine": Machine("root", "/mnt"), "assumed": ("driver",)}, Status.NOT_APPLICABLE),
        ({"machine": Machine("root", "/mnt"), "assumed": ("gpus",)}, Status.BAD),
    ],
)
def test_only_beside_a_gpu(changes: dict[str, object], kind: Status) -> None:
    assert answer(CODE, machine(environments=seen((environment(cpu()),)), **changes)).kind is kind


def test_a_plugin_brings_jaxlib_its_gpu_code() -> None:
    jaxlib = cpu("jaxlib", "0.9.0")
    here = environment(jaxlib, distributions=seen((distribution("jax-cuda12-plugin", "0.9.0"),)))
    assert answer(CODE, machine(environments=seen((here,)))).kind is Status.OK


def test_another_package_takes_the_place_of_this_one() -> None:
    facts = machine(environments=seen((environment(cpu("paddlepaddle", "3.0.0")),)))
    need = answer(CODE, facts).needs[0]
    assert (as_json(need).product, as_json(need).spec[:16], as_json(need).build) == (
        "wheels",
        "paddlepaddle-gpu",
        "paddlepaddle",
    )


def test_an_old_jaxlib_that_no_plugin_fits_gets_a_new_jax() -> None:
    jaxlib = cpu("jaxlib", "0.4.13")
    here = environment(jaxlib, distributions=seen((distribution("jax", "0.4.13"), distribution("jaxlib", "0.4.13"))))
    assert answer(CODE, machine(environments=seen((here,)))).needs[0] == InstallPackage(
        "jax", interpreter=PYTHON, build="cuda12"
    )


@pytest.mark.parametrize(
    ("frameworks", "severity"),
    [
        ((cpu("tensorflow", "2.15.1"),), Severity.ERROR),
        ((cpu("tensorflow-cpu", "2.15.1"),), Severity.WARNING),  # its name says it
        ((cpu("tensorflow", "2.15.1"), TORCH), Severity.WARNING),  # a GPU build beside it
        ((cpu("tensorflow", "2.15.1"), cpu("mxnet", "1.9.1")), Severity.ERROR),
        ((cpu("onnxruntime", "1.22.0"),), Severity.WARNING),  # other packages ask for it
    ],
)
def test_one_reason_that_it_may_be_meant(frameworks: tuple[Framework, ...], severity: Severity) -> None:
    facts = machine(environments=seen((environment(*frameworks),)))
    found = next(one for one in answers(CODE, facts) if one.subject.startswith(frameworks[0].package))
    assert (found.kind, found.severity) == (Status.BAD, severity)


@pytest.mark.parametrize(
    ("built", "card", "release", "need"),
    [
        (cpu("torch", "2.9.1+cpu"), gpu(), "580.95.05", InstallPackage("torch", "==2.9.1", PYTHON, "cu130")),
        (cpu("torch", "2.9.1+cpu"), gpu(), "570.86.10", InstallPackage("torch", "==2.9.1", PYTHON, "cu129")),
        (
            cpu("torch", "2.9.1+cpu"),
            gpu("GTX 1080", "6.1"),
            "580.95.05",
            InstallPackage("torch", "==2.9.1", PYTHON, "cu126"),
        ),
        (
            cpu("tensorflow", "2.15.1"),
            gpu(),
            "580.95.05",
            InstallPackage("tensorflow", "==2.15.1", PYTHON, reinstall=True),
        ),  # by PTX
        (
            cpu("onnxruntime", "1.22.1"),
            gpu(),
            "580.95.05",
            ChangePackages(("onnxruntime-gpu==1.22.*",), PYTHON, ("onnxruntime",)),
        ),
    ],
)
def test_remedy_fits_gpu_and_driver(built: Framework, card: object, release: str, need: Need) -> None:
    facts = machine(
        gpus=seen((card,)), driver=driver(release), environments=seen((environment(built, python=seen("3.11.4")),))
    )
    assert answer(CODE, facts).needs[0] == need


@pytest.mark.parametrize(
    ("release", "installed", "needs"),
    [
        # what the package index has for ARM up to 2.10 is for the CPU; from 2.11 on it is for CUDA
        ("580.95.05", "2.10.0+cpu", [("==2.10.0", "cu130"), ("==2.15.0", "cu132")]),
        ("580.95.05", "2.15.0+cpu", [("==2.15.0", "cu132")]),
        ("550.54.14", "2.10.0+cpu", [("==2.10.0", "cu128"), ("==2.14.1", "cu126")]),
        ("550.54.14", "2.15.0+cpu", [("==2.14.1", "cu126")]),
    ],
)
def test_a_server_with_arm(release: str, installed: str, needs: list[tuple[str, str]]) -> None:
    here = environment(cpu("torch", installed), python=seen("3.12.4"))
    card = gpu("NVIDIA GH200 480GB", "9.0")
    arm = system(machine=seen("aarch64"))
    facts = machine(system=arm, gpus=seen((card,)), driver=driver(release), environments=seen((here,)))
    assert [(as_json(one).spec, as_json(one).build) for one in answer(CODE, facts).needs] == needs


@pytest.mark.parametrize(("release", "extra"), [("580.95.05", "cuda13"), ("570.86.10", "cuda12")])
def test_remedy_for_jaxlib_is_the_extra_that_the_driver_runs(release: str, extra: str) -> None:
    jaxlib = cpu("jaxlib", "0.9.0")
    here = environment(jaxlib, distributions=seen((distribution("jax", "0.9.0"), distribution("jaxlib", "0.9.0"))))
    facts = machine(driver=driver(release), environments=seen((here,)))
    assert answer(CODE, facts).needs[0] == InstallPackage("jax", "==0.9.0", PYTHON, extra)


def test_a_gpu_build_is_not_looked_up() -> None:
    built = framework(build=seen("cu999"), cuda=seen(CudaVersion(99, 9)), targets=seen((CodeTarget.parse("sm_89"),)))
    assert answer(CODE, machine(environments=seen((environment(built),)))).kind is Status.OK


@pytest.mark.parametrize(
    ("package", "beside", "kind", "severity"),
    [
        ("onnxruntime", "chromadb", Status.BAD, Severity.WARNING),  # asked for by another package, mostly
        ("jaxlib", "flax", Status.BAD, Severity.WARNING),
        ("torch", "faster-whisper", Status.BAD, Severity.ERROR),
        ("onnxruntime", "faster-whisper", Status.OK, Severity.ERROR),  # voice detection, which runs on the CPU
    ],
)
def test_what_another_package_asks_for(package: str, beside: str, kind: Status, severity: Severity) -> None:
    built = cpu(package, "1.22.0")
    there = environment(built, distributions=seen((distribution(package, "1.22.0"), distribution(beside, "1.0"))))
    found = answer(CODE, machine(environments=seen((there,))))
    assert (found.kind, found.severity) == (kind, severity)


@pytest.mark.parametrize(
    ("package", "version", "expected"),
    [
        ("onnxruntime", "1.31.1", "onnxruntime-gpu==1.26.*"),  # 1.27 and later bring CUDA 13, and its cuDNN
        ("jaxlib", "0.7.2", "cuda12"),
    ],
)
def test_a_build_for_the_cuda_of_the_framework_beside_it(package: str, version: str, expected: str) -> None:
    beside = (TORCH, cpu(package, version))
    facts = machine(environments=seen((environment(*beside),)))
    found = next(one for one in answers(CODE, facts) if package in one.subject)
    assert found.severity is Severity.WARNING
    assert expected in (as_json(found.needs[0]).spec, as_json(found.needs[0]).build)


def extension(name: str, cudart: str = "libcudart.so.12") -> Extension:
    """A compiled extension of torch."""
    asked = seen(("libtorch_cuda.so",))
    return Extension(name, "1", f"{VENV}/{name}/_C.so", seen(()), seen(()), seen(cudart), asked)


def riding(name: str, **changes: Any) -> Framework:
    """What runs on torch."""
    usual = {"build": seen("cuda"), "cuda": unseen("no word"), "requires": seen(("torch",)), "targets": unseen("none")}
    return framework(name, "1", **(usual | changes))


@pytest.mark.parametrize(
    ("rider", "found", "need"),
    [
        (riding("xformers", cuda=seen(CudaVersion(12, 8))), (), InstallPackage("torch", "==2.9.1", PYTHON, "cu128")),
        (riding("xformers", requires=seen(("torch==2.8.0",))), (), InstallPackage("torch", "==2.8.0", PYTHON, "cu129")),
        (
            riding("torchvision", requires=seen(("torch==2.8.0",))),
            (),
            InstallPackage("torch", "==2.9.1", PYTHON, "cu130"),
        ),
        (riding("flash-attn"), (extension("flash-attn"),), InstallPackage("torch", "==2.9.1", PYTHON, "cu129")),
        (
            riding("flash-attn"),
            (extension("flash-attn", "libcudart.so.13"),),
            InstallPackage("torch", "==2.9.1", PYTHON, "cu130"),
        ),
    ],
)
def test_the_torch_that_its_extensions_are_for(rider: Framework, found: tuple[Extension, ...], need: Need) -> None:
    here = environment(cpu(), rider, python=seen("3.11.4"), extensions=seen(found))
    found_bad = next(one for one in answers(CODE, machine(environments=seen((here,)))) if one.kind is Status.BAD)
    assert found_bad.needs[0] == need


@pytest.mark.parametrize(("soname", "explained"), [("libtorch_cuda.so", True), ("libavcodec.so.61", False)])
def test_it_explains_what_extensions_lack_of_torch(soname: str, explained: bool) -> None:
    lost = prediction(soname=soname, asker="flash-attn", outcome=Outcome.MISSING, path=unseen("no"))
    here = environment(cpu(), riding("flash-attn"), extensions=seen((extension("flash-attn"),)))
    facts = machine(environments=seen((here,)), loader=loader(predictions=seen((lost,))))
    found = next(one for one in answers(CODE, facts) if one.kind is Status.BAD)
    assert (Symptom("needed-library-missing", "flash-attn 1") in found.explains) is explained
