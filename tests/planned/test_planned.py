"""`check --framework`: a framework that is not installed, judged by the rules as if it were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.matrix import Matrix
from compat.spec import Spec
from compat.version import ComputeCapability
from doctor.cli import execute
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen, Unseen
from doctor.model.finding import Answer, Status
from doctor.planned.framework_from_row import version_of
from doctor.planned.planned import parse_plan, planned
from doctor.rules.shared.engine import judge, load_rules
from tests import machine as healthy

MATRIX = Matrix()
PUBLISHED = "framework-not-published"
WINDOWS = {"family": healthy.seen("windows"), "machine": healthy.seen("AMD64")}


def plan(*specs: str, **changes: Any) -> Facts:
    """A healthy machine with these changes, and a plan for it."""
    return planned(healthy.machine(**changes), parse_plan(specs), MATRIX)


def judged(facts: Facts) -> tuple[Answer, ...]:
    return judge(facts, MATRIX, load_rules())


def bad_codes(facts: Facts) -> set[str]:
    return {answer.code for answer in judged(facts) if answer.kind is Status.BAD}


def gpus(name: str, capability: str) -> Any:
    return healthy.seen((healthy.gpu(name, capability),))


def python(version: str) -> Any:
    return healthy.seen((healthy.environment(python=healthy.seen(version)),))


@pytest.mark.parametrize(
    ("specs", "changes", "label"),
    [
        (("torch==2.9.1",), {}, "torch 2.9.1+cu128"),
        (("torch==2.9.1+cu126",), {}, "torch 2.9.1+cu126"),
        (("torch==2.9.1",), {"gpus": gpus("NVIDIA GeForce GTX 1080 Ti", "6.1")}, "torch 2.9.1+cu126"),
        (("jax==0.7.0",), {}, "jax-cuda12-plugin 0.7.0"),
        (("tensorflow==2.19.0",), {}, "tensorflow 2.19.0"),
        (("onnxruntime-gpu==1.20.2",), {}, "onnxruntime-gpu 1.20.2"),
        (("liger-kernel==0.2.0",), {}, "liger-kernel 0.2.0"),  # a wheel that names no Python
    ],
)
def test_the_build_that_fits_is_judged_and_found_fine(
    specs: tuple[str, ...], changes: dict[str, Any], label: str
) -> None:
    facts = plan(*specs, **changes)
    assert [one.label for environment in facts.environments.get() for one in environment.frameworks.get()] == [label]
    assert bad_codes(facts) == set()
    assert not [one for one in judged(facts) if one.kind is Status.UNKNOWN and one.blocks_verdict]


@pytest.mark.parametrize(
    ("specs", "changes", "code"),
    [
        (("torch==2.9.1",), {"driver": healthy.driver("470.256.02", "11.4")}, "driver-too-old-for-runtime"),
        (("torch==2.6.0",), {"gpus": gpus("NVIDIA GeForce RTX 5090", "12.0")}, "gpu-too-new-for-cuda"),
        (("torch==2.9.1+cu130",), {"gpus": gpus("NVIDIA GeForce GTX 1080 Ti", "6.1")}, "gpu-too-old-dropped"),
        (("torch==2.9.1",), {"system": healthy.system(glibc=healthy.seen("2.17"))}, "glibc-too-old"),
        (("torch==2.9.1",), {"environments": python("3.8.10")}, "python-version-no-wheel"),
        (("tensorflow==2.19.0",), {"system": healthy.system(**WINDOWS)}, "tf-native-windows-after-2-10"),
        (("jax-cuda12-plugin==0.7.0",), {"system": healthy.system(**WINDOWS)}, PUBLISHED),
        (("torch==2.9.1+cpu",), {}, "cpu-only-wheel"),
    ],
)
def test_what_stands_against_a_plan(specs: tuple[str, ...], changes: dict[str, Any], code: str) -> None:
    facts = plan(*specs, **changes)
    found = [answer for answer in judged(facts) if answer.kind is Status.BAD and answer.severity.value == "error"]
    assert code in {answer.code for answer in found}


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("torch==99.0", "no matrix row covers torch 99.0"),
        ("torch==2.9.1+xpu", "torch 2.9.1 is known, but its xpu build on linux x86_64 is not"),
    ],
)
def test_a_release_that_no_row_has_is_unknown(spec: str, why: str) -> None:
    answers = [one for one in judged(plan(spec)) if one.code == PUBLISHED]
    assert [one.kind for one in answers] == [Status.UNKNOWN]
    assert answers[0].blocks_verdict
    assert why in answers[0].why


def test_rules_about_installed_files_do_not_apply() -> None:
    codes = {"cudnn-missing", "cudnn-sublibrary-missing", "cudnn-wrong-major", "ld-library-path-shadowing"}
    codes |= {"cudnn-version-mismatch-loaded-vs-compiled", "framework-import-crash", "pip-nvidia-wheels-conflict"}
    kinds = {one.code: one.kind for one in judged(plan("torch==2.9.1")) if one.code in codes}
    assert kinds == dict.fromkeys(codes, Status.NOT_APPLICABLE)


def test_a_plan_leaves_out_what_is_installed_and_keeps_the_machine() -> None:
    before = healthy.machine()
    facts = planned(before, parse_plan(("tensorflow==2.19.0",)), MATRIX)
    environment = facts.environments.get()[0]
    assert environment.prefix == healthy.VENV
    assert [one.name for one in environment.distributions.get()] == ["tensorflow"]
    assert not [copy for copy in facts.cudnn.get() if copy.environment]
    assert facts.driver == before.driver
    assert facts.gpus == before.gpus


def test_without_an_environment_the_plan_has_one_of_its_own() -> None:
    facts = plan("torch==2.9.1", environments=Unseen("nothing found"))
    environment = facts.environments.get()[0]
    assert isinstance(environment.python, Unseen)
    assert [one.is_planned for one in environment.frameworks.get()] == [True]
    assert bad_codes(facts) == set()


def test_without_a_gpu_the_default_build_is_judged() -> None:
    facts = plan("torch==2.9.1", gpus=Seen((), "NVML"), pci=Seen((), "PCI"))
    framework = facts.environments.get()[0].frameworks.get()[0]
    assert framework.version == "2.9.1+cu128"
    assert ComputeCapability(12, 0) in {target.capability for target in framework.targets.get()}


def test_a_build_that_pip_does_not_install_by_itself_names_its_index() -> None:
    facts = plan("torch==2.9.1", gpus=gpus("NVIDIA GeForce GTX 1080 Ti", "6.1"))
    framework = facts.environments.get()[0].frameworks.get()[0]
    assert framework.note.endswith("/whl/cu126")
    (default,) = plan("torch==2.9.1").environments.get()[0].frameworks.get()
    assert default.note == "planned, not installed"


def test_installed_frameworks_are_never_asked_whether_they_are_published() -> None:
    answers = [one for one in judged(healthy.machine()) if one.code == PUBLISHED]
    assert [one.kind for one in answers] == [Status.NOT_APPLICABLE]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("torch 2 9", "'torch 2 9' is not a package with a version specifier"),
        ("trch==2.9.1", "no product 'trch'; did you mean torch"),
        ("cudnn==9.10.2", "no product 'cudnn'"),
    ],
)
def test_a_plan_that_cannot_be_read_is_one_line_and_exit_2(
    spec: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["check", "--root", str(tmp_path), "--framework", spec]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1


def test_the_command_shows_the_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    execute(["check", "--root", str(tmp_path), "--framework", "torch==2.9.1"])
    assert "torch 2.9.1+cu128, planned" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "rows", "version"),
    [
        (">=0.60", "==0.68.*", "0.68"),  # the newest one that pip takes, not the lower bound
        ("==0.68.1", "==0.68.*", "0.68.1"),
        (">=2.0,<2.3", "==2.2.1", "2.2.1"),
        ("", "==0.68.*", "0.68"),
    ],
)
def test_the_release_of_a_row_that_an_installer_takes(asked: str, rows: str, version: str) -> None:
    row = Matrix().rows("numba", "builds")[0]._replace(versions=rows, build="")
    assert version_of(row, Spec("numba", asked, "", ())) == version
