"""A user who cannot be root gets what he can carry out, first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.matrix import Matrix
from compat.need import InstallCudnn, InstallDriver, InstallPackage, InstallToolkit, as_json
from doctor.model.finding import bad
from doctor.prescribe.remedies import prescribe
from doctor.prescribe.rootless import instead
from doctor.prescribe.target import may_be_root
from tests.lab.case import run_here
from tests.lab.cases.clusters import CASES
from tests.lab.cases.libraries import CASES as CASES_OF_LIBRARIES
from tests.machine import SITE, VENV, environment, framework, machine, seen, system, unseen

MATRIX = Matrix()
ALONE = {"groups": seen(("user", "video"))}


@pytest.mark.parametrize(
    ("changes", "may"),
    [
        ({}, True),  # in sudo
        (ALONE, False),
        ({"groups": seen(("user", "wheel"))}, True),
        ({"groups": unseen()}, True),  # nobody knows
        ({**ALONE, "is_root": seen(True)}, True),
        ({**ALONE, "container": seen("apptainer")}, False),
        ({**ALONE, "family": seen("windows")}, True),
    ],
)
def test_who_may_be_root(changes: dict[str, Any], may: bool) -> None:
    assert may_be_root(machine(system=system(**changes))) is may


def test_what_needs_root_says_so_and_comes_last() -> None:
    facts = machine(system=system(**ALONE))
    needs = (InstallDriver(">=580"), InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu126"))
    first, second = prescribe(bad("broken", *needs), facts, MATRIX)
    assert as_json(first.need).product == "torch"
    assert second.commands[0].startswith("# needs root, but user cannot use sudo")
    assert any(line.startswith("sudo ") for line in second.commands)


@pytest.mark.parametrize(
    ("kind", "expected"), [("venv", "nvidia-cudnn-cu12>=9.3,<10"), ("conda", f"-p {VENV} -c conda-forge")]
)
def test_cudnn_comes_from_where_the_environment_has_it(kind: str, expected: str) -> None:
    one = framework()
    facts = machine(system=system(**ALONE), environments=seen((environment(one, kind=kind),)))
    answer = bad("no cuDNN", InstallCudnn(">=9.3,<10", cuda="12"))._replace(subject=one.label)
    first, *_, last = prescribe(answer, facts, MATRIX)
    assert expected in first.commands[-1]
    assert "needs root" in last.commands[0]


def test_the_first_remedies_on_a_cluster_need_no_root(tmp_path: Path) -> None:
    for case in CASES:
        for one in run_here(case, tmp_path / case.name).report["findings"]:
            if not one["explained_by"]:
                lines = [line for line in one["remedies"][0]["commands"] if not line.startswith("#")]
                assert not any("sudo" in line for line in lines), case.name


def test_a_module_is_unloaded(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "cluster-module")
    (finding, *_) = run_here(case, tmp_path / "tree").report["findings"]
    assert finding["remedies"][0]["commands"] == ["module unload cudnn/9.5.1"]


@pytest.mark.parametrize(
    ("cuda", "there"),
    [("", False), ("10", False), ("10.2", False), ("11", True), ("11.0", True), ("12.4", True), ("13", True)],
)
def test_cudnn_is_a_wheel_from_cuda_11_on(cuda: str, there: bool) -> None:
    facts = machine()
    answer = bad("none")._replace(subject=facts.environments.get()[0].frameworks.get()[0].label)
    found = [*instead(answer, InstallCudnn(">=7,<8", cuda=cuda), facts, MATRIX)]
    assert bool(found) is there


def test_a_cuda_that_the_distribution_has_no_more_comes_as_wheels() -> None:
    """Ubuntu 24.04 has no CUDA 11: root is no help there."""
    one = framework("onnxruntime-gpu", "1.16.3", path=f"{SITE}/onnxruntime", requires=seen(()))
    facts = machine(environments=seen((environment(one),)))
    needs = (InstallToolkit("==11.*"), InstallPackage("onnxruntime-gpu", "==1.19.*", f"{VENV}/bin/python"))
    first, second, *_ = prescribe(bad("no CUDA 11", *needs)._replace(subject=one.label), facts, MATRIX)
    assert as_json(first.need).product == "onnxruntime-gpu"  # what is here first
    assert any("nvidia-cublas-cu11==" in one for one in second.commands)
    assert any(one.startswith("export LD_LIBRARY_PATH=") for one in second.commands)


def test_no_cuda_of_the_system_is_offered_where_wheels_serve(tmp_path: Path) -> None:
    """Nothing as root that needs no root: a CUDA of the system's is the remedy only where no wheels are."""
    case = next(case for case in CASES_OF_LIBRARIES if case.name == "onnxruntime-no-cuda")
    found = {one["code"]: one for one in run_here(case, tmp_path / "tree").report["findings"]}
    proven = [each for each in found["framework-wants-other-cuda"]["remedies"] if each["proven"]]
    assert proven
    assert not any("apt" in line or "ln -s" in line for each in proven for line in each["commands"])
