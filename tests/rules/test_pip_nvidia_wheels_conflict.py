"""pip-nvidia-wheels-conflict."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import AssignVariable, ChangePackages, InstallPackage, as_json
from compat.version import CudaVersion, CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework, Overlap, WheelRequirement
from doctor.model.finding import Severity, Status, Symptom
from doctor.rules.shared.engine import judge, load_rules, root_causes
from tests.machine import (
    CUDNN_DIR,
    VENV,
    cudnn_copy,
    distribution,
    environment,
    framework,
    loader,
    machine,
    prediction,
    seen,
    unseen,
)
from tests.rules.case import MATRIX, answer
from tests.rules.cudnn import parts

CODE = "pip-nvidia-wheels-conflict"
PYTHON = f"{VENV}/bin/python"
TORCH = framework()
CUDNN = ("nvidia-cudnn-cu12", "9.10.2.21")


def torch(*requires: str, **changes: Any) -> Framework:
    """torch with these requirements."""
    return framework(**({"requires": seen(requires)} | changes))


def jax(*requires: str) -> Framework:
    """JAX's CUDA 12 plugin."""
    cuda = unseen("runs on a range")
    return framework("jax-cuda12-plugin", "0.9.0", build=seen("cuda"), cuda=cuda, requires=seen(requires))


def with_wheels(frameworks: tuple[Framework, ...], *wheels: tuple[str, str], **changes: Any) -> Facts:
    """An environment with these frameworks and wheels."""
    found = [distribution(one.package, one.version) for one in frameworks]
    found += [distribution(name, version) for name, version in wheels]
    return machine(environments=seen((environment(*frameworks, distributions=seen(tuple(found)), **changes),)))


@pytest.mark.parametrize(
    ("requires", "wheel", "kind", "severity"),
    [
        (("nvidia-cudnn-cu12==9.10.2.21",), CUDNN, Status.OK, Severity.ERROR),
        (("nvidia-cudnn-cu12==9.10.2.21",), ("nvidia-cudnn-cu12", "9.5.1.17"), Status.BAD, Severity.ERROR),
        (("nvidia-cudnn-cu12==9.10.2.21",), ("nvidia-cudnn-cu12", "9.12.0.46"), Status.BAD, Severity.WARNING),
        (("nvidia-cudnn-cu12==8.9.2.26",), CUDNN, Status.BAD, Severity.ERROR),
        (("nvidia-cublas-cu12==12.8.4.1",), ("nvidia-cublas-cu12", "12.1.3.1"), Status.BAD, Severity.ERROR),
        (("nvidia-cublas-cu12 (==12.8.4.1)",), ("nvidia-cublas-cu12", "12.8.4.1"), Status.OK, Severity.ERROR),
        (("cuda-toolkit[cublas,cudart]==13.0.2",), ("cuda-toolkit", "13.0.2"), Status.OK, Severity.ERROR),
        (("nvidia-cudnn-cu12<10.0,>=9.8",), CUDNN, Status.OK, Severity.ERROR),
        (("nvidia-cudnn-cu12~=9.8",), CUDNN, Status.OK, Severity.ERROR),
        (("nvidia-cudnn-cu12==9.10.*",), CUDNN, Status.OK, Severity.ERROR),
        (('nvidia-cudnn-cu12==9.1.0.70; platform_system == "Linux"',), CUDNN, Status.BAD, Severity.WARNING),
        (('nvidia-cudnn-cu12==9.1.0.70; platform_system == "Windows"',), CUDNN, Status.OK, Severity.ERROR),
        (('nvidia-cudnn-cu12==9.1.0.70; python_version < "3.10"',), CUDNN, Status.OK, Severity.ERROR),
        (("nvidia-cudnn-cu12==9.1.0.70; not a marker",), CUDNN, Status.OK, Severity.ERROR),
        (("nvidia-cudnn-cu12 @ file:///wheels/x.whl",), CUDNN, Status.OK, Severity.ERROR),
        (("nvidia-nccl-cu12==2.27.5",), CUDNN, Status.OK, Severity.ERROR),  # what is missing is another code's
    ],
)
def test_pins(requires: tuple[str, ...], wheel: tuple[str, str], kind: Status, severity: Severity) -> None:
    found = answer(CODE, with_wheels((torch(*requires),), wheel))
    assert (found.kind, found.severity) == (kind, severity)


def test_the_pinned_version_is_the_remedy_and_explains_what_it_breaks() -> None:
    found = answer(CODE, with_wheels((TORCH,), ("nvidia-cudnn-cu12", "9.5.1.17")))
    assert found.needs == (InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", PYTHON),)
    assert Symptom("cudnn-version-mismatch-loaded-vs-compiled", TORCH.label) in found.explains


def test_several_pins_are_one_remedy() -> None:
    built = torch("nvidia-cudnn-cu12==9.10.2.21", "nvidia-nccl-cu12==2.27.5")
    found = answer(CODE, with_wheels((built,), ("nvidia-cudnn-cu12", "9.5.1.17"), ("nvidia-nccl-cu12", "2.20.5")))
    assert found.needs == (ChangePackages(("nvidia-cudnn-cu12==9.10.2.21", "nvidia-nccl-cu12==2.27.5"), PYTHON),)


@pytest.mark.parametrize(
    ("version", "requirement", "kind"),
    [
        ("9.1.0.70", "nvidia-cudnn-cu12<10.0,>=9.8; extra == 'with-cuda'", Status.BAD),
        ("9.10.2.21", "nvidia-cudnn-cu12<10.0,>=9.8; extra == 'with-cuda'", Status.OK),
        ("9.10.2.21", "nvidia-cudnn-cu12==8.9.7.29; extra == 'and-cuda'", Status.OK),  # asked for or not: nobody knows
    ],
)
def test_extras(version: str, requirement: str, kind: Status) -> None:
    found = answer(CODE, with_wheels((jax(requirement),), ("nvidia-cudnn-cu12", version)))
    assert found.kind is kind
    assert kind is Status.OK or found.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("code", "version", "wheels", "by_cudnn"),
    [
        ("cudnn-version-mismatch-loaded-vs-compiled", "9.1.0", (("nvidia-cudnn-cu12", "9.1.0.70"),), True),
        ("cudnn-wrong-major", "8.9.7", (("nvidia-cudnn-cu12", "8.9.7.29"),), True),
        (
            "cudnn-version-mismatch-loaded-vs-compiled",
            "9.1.0",
            (("nvidia-cudnn-cu12", "9.1.0.70"), ("nvidia-nccl-cu12", "2.1")),
            False,  # another wheel is wrong, too
        ),
    ],
)
def test_the_cudnn_that_an_extra_asks_for_is_one_cause(
    code: str, version: str, wheels: tuple[tuple[str, str], ...], by_cudnn: bool
) -> None:
    asked = ("nvidia-cudnn-cu12<10.0,>=9.8; extra == 'with-cuda'", "nvidia-nccl-cu12>=2.18.1; extra == 'with-cuda'")
    plugin = jax(*asked)._replace(cudnn=seen(CudnnVersion.parse("9.8")))
    copy = cudnn_copy(version, parts=parts(version, CUDNN_DIR))
    told = prediction(copy.parts.get()[0].path, intended=unseen("pins none"))._replace(asker=plugin.package)
    facts = with_wheels((plugin,), *wheels)._replace(cudnn=seen((copy,)), loader=loader(predictions=seen((told,))))
    answers = judge(facts, MATRIX, load_rules((CODE, code)))
    cause = root_causes(answers).get((CODE, answer(CODE, facts).subject))
    assert {one.code for one in answers if one.kind is Status.BAD} == {CODE, code}
    assert (cause.code if cause else "") == (code if by_cudnn else "")


def test_frameworks_that_exclude_each_other_need_two_environments() -> None:
    one = torch("nvidia-cudnn-cu12==9.1.0.70")
    other = framework("tensorflow", "2.17.0", requires=seen(("nvidia-cudnn-cu12==8.9.7.29",)))
    (need,) = answer(CODE, with_wheels((one, other), ("nvidia-cudnn-cu12", "8.9.7.29"))).needs
    assert as_json(need).product == "by-hand"
    assert "separate environments" in as_json(need).spec


CU11 = (("nvidia-cublas-cu11", "11.11.3.6"), ("nvidia-cudnn-cu11", "8.7.0.84"))


@pytest.mark.parametrize(
    ("frameworks", "wheels", "kind"),
    [
        ((TORCH,), (CUDNN, *CU11), Status.BAD),
        ((TORCH, framework("tensorflow", "2.14.0", requires=seen(("nvidia-cublas-cu11==11.11.3.6; extra == 'x'",)))),
         (CUDNN, *CU11), Status.OK),
        ((TORCH, framework("onnxruntime-gpu", "1.18.0", cuda=seen(CudaVersion(11, 8)), requires=seen(()))),
         (CUDNN, *CU11), Status.OK),
        ((TORCH,), (CUDNN, *CU11, ("cudf-cu11", "24.2")), Status.OK),  # its requirements are not read
        ((TORCH,), (CUDNN, *CU11, ("nvidia-dali-cuda110", "1.30")), Status.OK),
        ((TORCH, framework("vllm-like", "1", cuda=unseen("?"), requires=unseen("?"))), (CUDNN, *CU11), Status.OK),
        ((torch("nvidia-cudnn-cu13==9.12.0.46"), jax("nvidia-cublas-cu12>=12.1; extra == 'with-cuda'")),
         (("nvidia-cudnn-cu13", "9.12.0.46"), ("nvidia-cublas", "13.0.0.19"), ("nvidia-cublas-cu12", "12.8.4.1")),
         Status.OK),
        ((TORCH,), CU11, Status.OK),  # nothing of the major that torch uses: another fault
    ],
)  # fmt: skip
def test_leftovers(frameworks: tuple[Framework, ...], wheels: tuple[tuple[str, str], ...], kind: Status) -> None:
    found = answer(CODE, with_wheels(frameworks, *wheels))
    assert found.kind is kind
    assert kind is Status.OK or found.severity is Severity.WARNING


def test_leftovers_go_and_what_shared_files_with_them_comes_anew() -> None:
    shared = Overlap(
        "nvidia/cublas/include/cublas.h", ("nvidia-cublas-cu11 11.11.3.6", "nvidia-cublas-cu12 12.8.4.1"), unseen()
    )
    facts = with_wheels((TORCH,), CUDNN, *CU11, overlaps=seen((shared,)))
    (need,) = answer(CODE, facts).needs
    assert need == ChangePackages(
        ("nvidia-cublas-cu12==12.8.4.1",), PYTHON, ("nvidia-cublas-cu11", "nvidia-cudnn-cu11")
    )


@pytest.mark.parametrize("changes", [{"distributions": unseen("?")}, {"frameworks": unseen("?")}])
def test_unseen_is_unknown(changes: dict[str, Any]) -> None:
    assert answer(CODE, machine(environments=seen((environment()._replace(**changes),)))).kind is Status.UNKNOWN


def test_wheels_of_the_users_own_directory_are_not_looked_for_inside() -> None:
    facts = with_wheels((TORCH,), CUDNN, ("nvidia-cublas-cu11", "11.11.3.6"))
    (home,) = facts.environments.get()
    *inside, left = home.distributions.get()
    outside = left._replace(site="/home/user/.local/lib/python3.12/site-packages")
    home = home._replace(distributions=seen((*inside, outside)))
    first, need = answer(CODE, machine(environments=seen((home,)))).needs
    assert first == AssignVariable("PYTHONNOUSERSITE", "1")
    assert as_json(need).product == "by-hand"
    assert "PYTHONNOUSERSITE=1" in as_json(need).spec
    assert "/home/user/.local" in as_json(need).spec


def test_a_framework_of_the_users_own_directory_is_not_hidden() -> None:
    facts = with_wheels((TORCH,), CUDNN, ("nvidia-cublas-cu11", "11.11.3.6"))
    (home,) = facts.environments.get()
    *inside, left = home.distributions.get()
    site = "/home/user/.local/lib/python3.12/site-packages"
    torch = TORCH._replace(path=f"{site}/torch")
    home = home._replace(distributions=seen((*inside, left._replace(site=site))), frameworks=seen((torch,)))
    (need,) = answer(CODE, machine(environments=seen((home,)))).needs
    assert as_json(need).product == "by-hand"


def test_without_wheels_it_does_not_apply() -> None:
    assert answer(CODE, with_wheels((TORCH,))).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(("version", "kind"), [("12.9.86", Status.BAD), ("12.8.93", Status.OK)])
def test_what_the_code_of_a_framework_refuses(version: str, kind: Status) -> None:
    one = framework("jax", "0.4.35", build=seen(""), cuda=unseen("-"), fails_unless=("nvidia-cuda-nvcc-cu12<12.9",))
    found = answer(CODE, with_wheels((one,), ("nvidia-cuda-nvcc-cu12", version)))
    assert (found.kind, found.severity) == (kind, Severity.ERROR)
    if kind is Status.BAD:
        assert found.why == "jax 0.4.35 cannot be imported beside nvidia-cuda-nvcc-cu12 12.9.86: it needs <12.9"
        assert found.needs == (InstallPackage("nvidia-cuda-nvcc-cu12", "<12.9", PYTHON),)


def test_a_wheel_whose_release_is_not_known_yet_comes_as_it_is_asked_for() -> None:
    """As after a remedy that brings a range of NCCL: what shared its files goes."""
    torch = framework(requires=seen(("nvidia-nccl-cu12>=2.29.3,<3",)))
    overlap = Overlap("nvidia/nccl/lib/libnccl.so.2", ("nvidia-nccl-cu12 ", "nvidia-nccl-cu13 2.30.7"), unseen())
    wheels = (distribution("nvidia-nccl-cu12", ""), distribution("nvidia-nccl-cu13", "2.30.7"))
    here = environment(torch, distributions=seen(wheels), overlaps=seen((overlap,)))
    facts = machine(environments=seen((here,)))
    for code in (CODE, "wheel-files-overwritten"):
        (need,) = answer(code, facts).needs
        assert (as_json(need).spec, as_json(need).build) == ("nvidia-nccl-cu12>=2.29.3,<3", "nvidia-nccl-cu13")


@pytest.mark.parametrize(
    ("there", "floor", "kind"),
    [
        ("9.3.0.75", "9.3", Status.OK),
        ("9.3.0.75", "9.1", Status.BAD),  # what torch pins would serve both
        ("9.3.0.75", "9.8", Status.BAD),  # it serves neither
        ("9.3.0.75", "8.9", Status.BAD),
        ("9.0.0.312", "9.3", Status.BAD),
    ],
)
def test_a_newer_cudnn_than_a_pin_that_another_framework_needs(there: str, floor: str, kind: Status) -> None:
    other = framework("tensorflow", "2.18.1", requires=seen(()), cudnn=seen(CudnnVersion.parse(floor)))
    facts = with_wheels((torch("nvidia-cudnn-cu12==9.1.0.70"), other), ("nvidia-cudnn-cu12", there))
    assert answer(CODE, facts).kind is kind


DSL = ("nvidia-cutlass-dsl-libs-cu12", "4.8.0")


@pytest.mark.parametrize(
    ("required", "kind"),
    [
        ((), Status.BAD),
        ((WheelRequirement("nvidia-cutlass-dsl", DSL[0]),), Status.OK),  # METADATA of nvidia-cutlass-dsl 4.8.0
        ((WheelRequirement(DSL[0], DSL[0]),), Status.BAD),  # only what is unused itself requires it
    ],
)
def test_what_any_package_requires_is_no_leftover(required: tuple[WheelRequirement, ...], kind: Status) -> None:
    cu13 = torch("nvidia-cudnn-cu13==9.12.0.46")._replace(cuda=seen(CudaVersion(13, 0)))
    facts = with_wheels((cu13,), ("nvidia-cudnn-cu13", "9.12.0.46"), ("nvidia-cutlass-dsl", "4.8.0"), DSL)
    (home,) = facts.environments.get()
    facts = facts._replace(environments=seen((home._replace(wheel_requirements=seen(required)),)))
    assert answer(CODE, facts).kind is kind
