"""framework-wants-other-cuda."""

from __future__ import annotations

from typing import Any

import pytest

from compat.build import release_key
from compat.need import ChangePackages, InstallPackage, as_json
from compat.version import CudaVersion
from doctor.model.facts import Facts, Machine
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Outcome, Prediction
from doctor.model.facts.toolkit import ToolkitFacts
from doctor.model.finding import Status
from tests.machine import (
    SITE,
    VENV,
    distribution,
    environment,
    framework,
    loader,
    machine,
    prediction,
    seen,
    toolkit,
    toolkits,
    unseen,
)
from tests.rules.case import answer, answers

CODE = "framework-wants-other-cuda"
PYTHON = f"{VENV}/bin/python"
NONE = ToolkitFacts(seen(()), seen(()))


def built(package: str, version: str, **changes: Any) -> Framework:
    """A framework whose files tell nothing but the version."""
    usual = {"build": seen("cuda"), "cuda": unseen("no word"), "requires": seen(()), "targets": unseen("no word")}
    return framework(package, version, **(usual | changes))


def with_framework(one: Framework, *wheels: tuple[str, str], **changes: Any) -> Facts:
    """A machine with it, and these wheels beside it."""
    installed = tuple(distribution(name, version) for name, version in ((one.package, one.version), *wheels))
    return machine(environments=seen((environment(one, distributions=seen(installed)),)), **changes)


@pytest.mark.parametrize(
    ("package", "version", "release", "kind"),
    [
        ("tensorflow", "2.10.1", "11.8.0", Status.OK),  # 11.x: the libraries keep their names
        ("tensorflow", "2.10.1", "12.8.1", Status.BAD),
        ("tensorflow", "2.10.1", "10.1.243", Status.BAD),
        ("tensorflow-gpu", "1.8.0", "9.0.176", Status.OK),
        ("tensorflow-gpu", "1.8.0", "10.0.130", Status.BAD),
        ("cupy-cuda12x", "13.6.0", "12.8.1", Status.OK),
        ("cupy-cuda12x", "13.6.0", "13.0.2", Status.BAD),
        ("onnxruntime-gpu", "1.18.0", "12.8.1", Status.BAD),
        ("onnxruntime-gpu", "1.22.0", "12.8.1", Status.OK),
        ("tensorflow", "99.0.0", "12.8.1", Status.UNKNOWN),
    ],
)
def test_toolkit(package: str, version: str, release: str, kind: Status) -> None:
    facts = with_framework(built(package, version), toolkit=toolkits(toolkit(release)))
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(("assumed", "kind"), [(("gpus",), Status.BAD), ((), Status.NOT_APPLICABLE)])
def test_a_disk_is_judged_for_the_gpu_that_is_assumed(assumed: tuple[str, ...], kind: Status) -> None:
    there = {"machine": Machine("root", "/mnt"), "assumed": assumed, "toolkit": toolkits(toolkit("13.0.2"))}
    assert answer(CODE, with_framework(built("onnxruntime-gpu", "1.22.0"), **there)).kind is kind


@pytest.mark.parametrize(
    ("wheels", "kind"),
    [
        ((("nvidia-cuda-runtime-cu12", "12.5.82"),), Status.OK),
        ((("nvidia-cuda-runtime-cu11", "11.8.89"),), Status.BAD),
        ((("nvidia-cuda-runtime-cu12", "0.0.1.dev5"),), Status.BAD),
        ((), Status.BAD),
    ],
)
def test_wheels(wheels: tuple[tuple[str, str], ...], kind: Status) -> None:
    facts = with_framework(built("tensorflow", "2.20.0"), *wheels, toolkit=NONE)
    assert answer(CODE, facts).kind is kind


def test_the_extra_with_the_wheels_comes_first() -> None:
    facts = with_framework(built("tensorflow", "2.20.0"), toolkit=NONE)
    assert answer(CODE, facts).needs[0] == InstallPackage("tensorflow", "==2.20.0", PYTHON)


def test_a_release_that_takes_the_cuda_of_this_machine_is_offered() -> None:
    facts = with_framework(built("onnxruntime-gpu", "1.18.0"))
    needs = answer(CODE, facts).needs
    assert as_json(needs[0]).product == "cuda"
    assert any(as_json(need).product == "onnxruntime-gpu" for need in needs)


@pytest.mark.parametrize("release", ["13.0.2", "11.8.0"])
def test_torch_does_not_care_about_the_toolkit(release: str) -> None:
    pinned = framework()
    bundled = framework(version="2.5.1+cu118", build=seen("cu118"), cuda=seen(CudaVersion(11, 8)), requires=seen(()))
    for one in (pinned, bundled):
        facts = with_framework(one, toolkit=toolkits(toolkit(release)))
        assert answer(CODE, facts).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("prefix", "where", "kind"),
    [
        ("/opt/conda/envs/mine", "/opt/conda/envs/mine", Status.OK),
        ("/opt/conda/envs/mine", "/opt/conda/envs/mine/lib", Status.OK),
        ("/opt/conda/envs/mine", "/opt/conda", Status.BAD),
        ("/opt/conda/envs/mine", "/usr/local/cuda-11.8", Status.OK),
        ("/opt/conda", "/opt/conda/envs/mine", Status.OK),  # an environment that was not looked at
    ],
)
def test_a_toolkit_of_another_environment_does_not_count(prefix: str, where: str, kind: Status) -> None:
    base = environment(prefix="/opt/conda", kind="conda")._replace(frameworks=seen(()))
    mine = environment(built("tensorflow", "2.10.1", environment=prefix), prefix=prefix, kind="conda")
    for here in ((base, mine), (mine, base)) if prefix != base.prefix else ((mine,),):
        facts = machine(environments=seen(here), toolkit=toolkits(toolkit("11.8.0", path=where, kind="conda")))
        assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    "found",
    [
        ToolkitFacts(unseen("no directory could be listed"), seen(())),
        ToolkitFacts(seen((toolkit(cuda=unseen("no version file")),)), seen(())),
    ],
)
def test_a_toolkit_that_cannot_be_told_is_unknown(found: ToolkitFacts) -> None:
    assert answer(CODE, with_framework(built("tensorflow", "2.10.1"), toolkit=found)).kind is Status.UNKNOWN


@pytest.mark.parametrize(
    "one",
    [
        built("tensorflow", "2.20.0", build=seen("cpu")),
        built("keras", "3.9.0", build=seen("")),
        built("theano", "1.0.5", build=seen("")),
    ],
)
def test_without_cuda_of_its_own_it_does_not_apply(one: Framework) -> None:
    assert answer(CODE, with_framework(one)).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize("beside", [True, False])
def test_the_cuda_of_a_framework_beside_it_comes_before_a_toolkit(beside: bool) -> None:
    one = built("onnxruntime-gpu", "1.31.1")
    facts = with_framework(one, ("nvidia-cuda-runtime-cu12", "12.8.90"), toolkit=NONE)
    if beside:
        there = facts.environments.get()[0]._replace(frameworks=seen((one, framework())))
        facts = facts._replace(environments=seen((there,)))
    products = [as_json(need).product for need in answer(CODE, facts).needs]
    assert products.index("wheels") < products.index("cuda") if beside else products[0] == "cuda"


def ctranslate2(release: str, *told: Prediction, cuda: str = "12.8.1") -> Facts:
    """CTranslate2, which asks for cuBLAS by its name and is there because another package wants it."""
    loading = loader(predictions=seen(told))
    return with_framework(built("ctranslate2", release), toolkit=toolkits(toolkit(cuda)), loader=loading)


def cublas(major: int) -> Prediction:
    name = f"libcublas.so.{major}"
    where = seen(f"{SITE}/nvidia/cublas/lib/{name}")
    return prediction(asker="ctranslate2", soname=name, intended=where)._replace(path=where)


def aside(one: Prediction) -> Prediction:
    """In a wheel, where it does not look."""
    return one._replace(path=unseen("no"), outcome=Outcome.MISSING)


def lost(one: Prediction) -> Prediction:
    return aside(one)._replace(intended=unseen("no"))


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ((cublas(11),), Status.OK),  # LD_LIBRARY_PATH names the wheel: no runtime is asked for, it is inside
        ((aside(cublas(11)),), Status.OK),  # wheel-libs-not-on-loader-path
        ((lost(cublas(11)),), Status.BAD),
        ((), Status.BAD),
    ],
)
def test_the_libraries_that_it_asks_for_are_enough(told: tuple[Prediction, ...], kind: Status) -> None:
    assert answer(CODE, ctranslate2("3.24.0", *told)).kind is kind


def test_what_others_ask_for_comes_in_the_newest_release_for_the_cuda_that_is_here() -> None:
    needs = answer(CODE, ctranslate2("3.24.0", lost(cublas(11)))).needs
    assert [as_json(one).product for one in needs] == ["ctranslate2", "ctranslate2", "wheels", "cuda"]
    assert release_key(as_json(needs[0]).spec) > release_key(as_json(needs[1]).spec)


def test_one_wheel_comes_before_a_toolkit_where_no_release_fits() -> None:
    needs = answer(CODE, ctranslate2("4.8.5", lost(cublas(12)), cuda="13.0.2")).needs
    assert needs[0] == ChangePackages(("nvidia-cublas-cu12",), PYTHON)
    assert as_json(needs[1]).product == "cuda"


@pytest.mark.parametrize(
    ("package", "version", "release", "first"),
    [
        ("cupy-cuda11x", "12.3.0", "12.8.1", "cupy-cuda12x==12.3.0"),
        ("cupy-cuda12x", "13.6.0", "11.8.0", "cupy-cuda11x==13.6.0"),
        ("cupy-cuda12x", "13.6.0", "13.0.2", "cupy-cuda13x==13.6.0"),
    ],
)
def test_the_same_release_has_a_build_of_another_name_for_the_cuda_that_is_here(
    package: str, version: str, release: str, first: str
) -> None:
    found = answer(CODE, with_framework(built(package, version), toolkit=toolkits(toolkit(release))))
    assert found.needs[0] == ChangePackages((first,), PYTHON, (package,))
    assert f"{first.replace('==', ' ')} works with the installed CUDA" in found.why


def test_wheels_that_it_finds_by_itself_come_before_its_sister() -> None:
    """The CUDA 13 that is here may be a part of one, and another package may ask for cupy-cuda12x."""
    names = ("libcublas.so.13", "libcublas.so.12", "libcurand.so.11", "libcurand.so.10")  # cuda.pathfinder tries all
    told = tuple(lost(prediction(asker="cupy-cuda12x", soname=one)) for one in names)
    loading = loader(predictions=seen(told))
    facts = with_framework(built("cupy-cuda12x", "14.2.0"), toolkit=toolkits(toolkit("13.0.2")), loader=loading)
    wheels, *others = answer(CODE, facts).needs
    assert wheels == ChangePackages(("nvidia-cublas-cu12", "nvidia-curand-cu12", "nvidia-cuda-runtime-cu12"), PYTHON)
    assert ChangePackages(("cupy-cuda13x==14.2.0",), PYTHON, ("cupy-cuda12x",)) in others


def test_beside_the_wheels_of_torch_no_extra_brings_them_again() -> None:
    """onnxruntime-gpu 1.27.0 has an extra that no index can serve."""
    there = (built("onnxruntime-gpu", "1.24.1"), framework("torch", "2.14.0+cu130", cuda=seen(CudaVersion(13, 0))))
    wheels = seen((distribution("onnxruntime-gpu", "1.24.1"), distribution("nvidia-cuda-runtime", "13.0.96")))
    facts = machine(environments=seen((environment(*there, distributions=wheels),)), toolkit=NONE)
    needs = next(one for one in answers(CODE, facts) if one.subject.startswith("onnxruntime")).needs
    assert as_json(needs[0]).product == "wheels"
    assert as_json(needs[0]).spec.startswith("onnxruntime-gpu==1.2")
    assert as_json(needs[0]).build == ""
