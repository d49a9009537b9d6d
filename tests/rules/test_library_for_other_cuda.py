"""library-for-other-cuda: NCCL's and TensorRT's CUDA against the framework's, and against the driver."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import ChangePackages, DropFromPath, InstallPackage, as_json
from doctor.model.facts.loader import FoundBy, Way
from doctor.model.finding import Severity, Status
from tests.machine import (
    SITE,
    VENV,
    distribution,
    driver,
    environment,
    framework,
    loader,
    machine,
    prediction,
    seen,
    unseen,
)
from tests.rules.case import answer, answers

CODE = "library-for-other-cuda"
NCCL = prediction("/site/nvidia/nccl/lib/libnccl.so.2", soname="libnccl.so.2", intended=unseen())
TENSORRT = prediction("/site/tensorrt_libs/libnvinfer.so.11", soname="libnvinfer.so.11", intended=unseen())
BINDINGS = framework(
    "tensorrt-cu13-bindings", "11.4.0.106", build=seen(""), cuda=unseen(), cudnn=unseen(), requires=seen(())
)


def told(*predictions: Any, **changes: Any) -> Any:
    return machine(loader=loader(predictions=seen(predictions)), **changes)


def bindings(cuda: Any, release: str) -> Any:
    return told(
        TENSORRT._replace(asker=BINDINGS.package, cuda_major=cuda),
        environments=seen((environment(BINDINGS),)),
        driver=driver(release),
    )


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (told(NCCL._replace(cuda_major=seen(12))), Status.OK),
        (told(NCCL._replace(cuda_major=seen(13))), Status.BAD),
        (told(NCCL._replace(cuda_major=seen(11))), Status.BAD),
        (told(TENSORRT._replace(cuda_major=seen(13))), Status.BAD),
        (told(NCCL._replace(cuda_major=unseen("it does not say"))), Status.UNKNOWN),
        (told(NCCL._replace(cuda_major=unseen("it does not say")), TENSORRT._replace(cuda_major=seen(13))), Status.BAD),
        (told(NCCL._replace(path=unseen(), cuda_major=seen(13))), Status.NOT_APPLICABLE),
        (machine(), Status.NOT_APPLICABLE),
        (bindings(seen(13), "570.195.03"), Status.BAD),
        (bindings(seen(13), "580.95.05"), Status.OK),
        (bindings(seen(12), "570.195.03"), Status.OK),
        (bindings(unseen("no package says it"), "570.195.03"), Status.UNKNOWN),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(("release", "severity"), [("580.95.05", Severity.WARNING), ("570.195.03", Severity.ERROR)])
def test_what_the_driver_does_not_run_is_an_error(release: str, severity: Severity) -> None:
    found = answer(CODE, told(NCCL._replace(cuda_major=seen(13)), driver=driver(release)))
    assert found.severity is severity
    assert ("needs driver" in found.why) is (severity is Severity.ERROR)


def test_the_wheel_that_the_framework_pins_or_the_one_for_its_cuda() -> None:
    wrong = NCCL._replace(cuda_major=seen(13))
    assert [as_json(one).product for one in answer(CODE, told(wrong)).needs] == ["nvidia-nccl-cu12"]
    pinned = environment(framework(requires=seen(("nvidia-nccl-cu12==2.27.5",))))
    found = answer(CODE, told(wrong, environments=seen((pinned,))))
    assert found.needs == (InstallPackage("nvidia-nccl-cu12", "==2.27.5", f"{VENV}/bin/python"),)
    there = pinned._replace(distributions=seen((distribution("nvidia-nccl-cu12", "2.27.5"),)))
    assert as_json(answer(CODE, told(wrong, environments=seen((there,)))).needs[0]).build == "again"


def test_a_variable_that_leads_there_goes() -> None:
    way = Way(FoundBy.LIBRARY_PATH, "libtorch_cuda.so", "/opt/nccl/lib", "/opt/nccl/lib", "~/.bashrc, line 3")
    found = answer(CODE, told(NCCL._replace(cuda_major=seen(13), way=way)))
    assert found.needs == (DropFromPath("LD_LIBRARY_PATH", "/opt/nccl/lib", "~/.bashrc, line 3"),)


def test_the_wheel_for_the_other_cuda_goes_first_where_nothing_else_wants_it() -> None:
    wheels = (distribution("nvidia-cudnn-cu12", "9.10.2.21"), distribution("nvidia-nccl-cu13", "2.28.3"))
    wrong = NCCL._replace(cuda_major=seen(13))
    for pins, wanted in ((("nvidia-nccl-cu12==2.27.5",), "nvidia-nccl-cu12==2.27.5"), ((), "nvidia-nccl-cu12")):
        here = environment(
            framework(requires=seen(("nvidia-cudnn-cu12==9.10.2.21", *pins))), distributions=seen(wheels)
        )
        found = answer(CODE, told(wrong, environments=seen((here,))))
        assert found.needs == (ChangePackages((wanted,), f"{VENV}/bin/python", ("nvidia-nccl-cu13",)),)
        assert ("pip-nvidia-wheels-conflict", here.label) in found.explains


def test_what_the_base_of_a_companion_loads_is_told_of_the_base() -> None:
    vision = framework("torchvision", "0.24.1", path=f"{SITE}/torchvision", cuda=unseen())
    nccl = NCCL._replace(cuda_major=seen(13), asker="torchvision")
    for library, kind in ((f"{SITE}/torch/lib/libtorch_cuda.so", Status.NOT_APPLICABLE), ("/x/_C.so", Status.BAD)):
        facts = told(
            nccl._replace(library=library),
            environments=seen((environment(framework(), vision),)),
            driver=driver("570.195.03"),
        )
        assert next(one.kind for one in answers(CODE, facts) if one.subject == vision.label) is kind
