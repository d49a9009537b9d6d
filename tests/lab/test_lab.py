"""Each fault is named, its root first; each healthy machine is left in peace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from doctor.check.judge import codes
from doctor.gate.verdict import Level
from tests.lab.case import Case, complaint, run_here
from tests.lab.cases import CASES
from tests.lab.chroot import run_live, run_root

# Codes that no tree shows, each with the reason.
ELSEWHERE = {
    "check-error": "tests/check/test_judge.py makes rules and probes fail",
    "driver-hang": "tests/probes/test_nvml.py lets NVML hang",
    "framework-not-published": "it judges what --framework plans, not what a tree holds",
    "matrix-overlay-damaged": "it is about the user's own rows of the matrix, not about the machine",
    "windows-driver-missing": "tests/windows runs a Windows without a driver; no tree has a registry",
    "libcuda-link-missing": "tests/rules/test_libcuda_link_missing.py; a cuDNN of that age is no tree's",
    "container-gpus-hidden": "tests/rules/test_image.py; a tree has no configuration of an image",
    "container-requirement-unmet": "the same",
    "container-without-compute": "the same",
    "dockerfile-caches-left": "tests/dockerfile; a tree has no Dockerfile",
    "dockerfile-library-path": "the same",
    "dockerfile-nvcc-missing": "the same",
    "dockerfile-two-toolkits": "the same",
    "policy-not-met": "tests/policy; a policy is a project's, no machine's",
    "policy-exception-expired": "the same",
    "conda-cudatoolkit-vs-pip": "tests/rules/test_cuda_libraries.py; an interpreter of conda's is no tree's",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_here(case: Case, tmp_path: Path) -> None:
    outcome = run_here(case, tmp_path / "tree")
    assert complaint(case, outcome) == ""
    findings = outcome.report["findings"]
    assert not [one["code"] for one in findings if one["explained_by"] and one["remedies"]]
    if case.where == "live" and not case.codes:
        assert outcome.level is Level.READY
    if any(one["severity"] == "error" for one in findings):
        assert outcome.level in {Level.NOT_READY, Level.UNKNOWN}


@pytest.mark.system
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may enter a tree")
@pytest.mark.parametrize("case", [case for case in CASES if case.where == "live"], ids=lambda case: case.name)
def test_live(case: Case, tmp_path: Path) -> None:
    assert complaint(case, run_live(case, tmp_path / "tree")) == ""


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.where == "root" and not case.environ], ids=lambda case: case.name
)
def test_root_option(case: Case, tmp_path: Path) -> None:
    assert complaint(case, run_root(case, tmp_path / "tree")) == ""


def test_names_are_told_apart() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


def test_the_lab_shows_every_code() -> None:
    shown = {code for case in CASES for code in case.codes}
    assert shown <= set(codes())
    missing = set(codes()) - shown - set(ELSEWHERE)
    assert not missing, f"no case shows {sorted(missing)}"
