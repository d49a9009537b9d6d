"""Each fault is named, its root first; each healthy machine is left in peace."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from doctor.commands.gate.verdict import XID, Level
from doctor.model.finding import Report, Severity
from doctor.prescribe.remedies import NONE_KNOWN
from doctor.rules.shared.engine import codes
from tests.lab.agreement import by_which, disagreements
from tests.lab.carried_out import outcome_of
from tests.lab.case import Case, Outcome, complaint, examine
from tests.lab.cases import CASES
from tests.lab.chroot import prepare, run_command, run_live, run_root
from tests.lab.rows import ROWS
from tests.real.remedies import SCENARIOS

# Codes that no tree shows, each with the reason.
ELSEWHERE = {
    "check-error": "tests/rules/test_engine.py makes rules and probes fail",
    "vgpu-cannot-compute": "tests/rules/test_vgpu_cannot_compute.py; the lab's stand-in for NVML has no licences",
    "driver-hang": "tests/probes/test_nvml.py lets NVML hang",
    "framework-not-read": "it is never a fault; tests/probes/test_hiding.py closes files",
    "framework-not-published": "it judges what --framework plans, not what a tree holds",
    "evidence-incomplete": "tests/commands/explain/test_incomplete.py cuts and damages files of --from",
    "matrix-overlay-damaged": "it is about the user's own rows of the matrix, not about the machine",
    "windows-driver-missing": "tests/windows runs a Windows without a driver; no tree has a registry",
    "libcuda-link-missing": "tests/rules/test_libcuda_link_missing.py; a cuDNN of that age is no tree's",
    "container-gpus-hidden": "tests/rules/test_image.py; a tree has no configuration of an image",
    "container-requirement-unmet": "the same",
    "container-without-compute": "the same",
    "dockerfile-apt-key": "tests/commands/dockerfile; a tree has no Dockerfile",
    "dockerfile-other-python": "the same",
    "dockerfile-pip-refuses": "the same",
    "dockerfile-prefix-taken": "the same",
    "dockerfile-targets-lack-gpu": "the same",
    "compose-gpu-not-reserved": "tests/commands/dockerfile; a tree has no compose file",
    "dockerfile-caches-left": "tests/commands/dockerfile; a tree has no Dockerfile",
    "dockerfile-glibc-missing": "the same",
    "dockerfile-libraries-missing": "the same",
    "dockerfile-library-path": "the same",
    "dockerfile-nvcc-missing": "the same",
    "dockerfile-two-toolkits": "the same",
    "framework-not-pinned": "the same",
    "framework-replaced": "the same",
    "plan-incomplete": "the same",
    "lock-marker-never-true": "tests/commands/lock; a tree has no lock file",
    "lock-no-wheel": "the same",
    "lock-source-without-effect": "the same",
    "lock-stale": "the same",
    "base-image-unknown": "the same",
    "nvcc-missing-in-use": "the same",
    "wheel-does-not-fit": "the same",
    "policy-not-met": "tests/commands/policy; a policy is a project's, no machine's",
    "policy-exception-expired": "the same",
    "conda-cudatoolkit-vs-pip": "tests/rules/test_cuda_libraries.py; an interpreter of conda's is no tree's",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_here(case: Case, tmp_path: Path, untraced: Callable[[], AbstractContextManager[None]]) -> None:
    """It is named, its gate closes, `which` says the same, and the first remedy of each fault mends.

    Coverage traces one machine of three, as far as its report: all else runs the same lines again.
    """
    laid = case.build(tmp_path / "machine")
    with untraced() if CASES.index(case) % 3 else nullcontext():
        examined = examine(case, laid)
        outcome = examined.outcome
    faults = [complaint(case, outcome), *_faults(case, outcome, examined.report)]
    with untraced():
        faults += [f"check and which differ: {one}" for one in disagreements(examined)]
        found = outcome_of(examined, laid, tmp_path)
    faults += [f"not mended: {one}" for one in found if one.outcome == "NOT CURED" or one.why.startswith(NONE_KNOWN)]
    if found and not case.codes:
        faults.append(f"a healthy machine has remedies: {found}")
    assert [one for one in faults if one] == []


def _faults(case: Case, outcome: Outcome, report: Report) -> Iterator[str]:
    if explained := [one.code for one in report.findings if one.explained_by and one.remedies]:
        yield f"a remedy for what another finding explains: {explained}"
    if (
        case.where == "live"
        and not case.codes
        and outcome.level is not (Level.WARNED if XID in case.besides else Level.READY)
    ):
        yield f"the gate of a healthy machine: {outcome.level}"
    if any(one.severity is Severity.ERROR for one in report.findings) and outcome.level not in (
        Level.NOT_READY,
        Level.UNKNOWN,
    ):
        yield f"the gate lets errors pass: {outcome.level}"


@pytest.mark.system
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may enter a tree")
@pytest.mark.parametrize("case", [case for case in CASES if case.where == "live"], ids=lambda case: case.name)
def test_live(case: Case, tmp_path: Path) -> None:
    assert complaint(case, run_live(case, tmp_path / "tree")) == ""


@pytest.mark.system
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may enter a tree")
def test_the_gate_of_a_process(tmp_path: Path) -> None:
    """Ready, and closed where the driver hangs: by the look's own limit, and by that of the whole."""
    case = next(one for one in CASES if one.where == "live" and not one.codes)
    tree = prepare(case, tmp_path / "tree")
    hung = case._replace(nvml={**case.nvml, "STUB_NVML_HANG": "nvmlDeviceGetHandleByIndex_v2"})
    asked = (
        (case, "20s", 0, "gpudoctor: ready: 1 GPU"),
        (hung, "3s", 1, "gpudoctor: not"),
        (hung, "0s", 1, "gpudoctor: not"),
    )
    for machine, within, status, begins in asked:
        ran = run_command(machine, tree, "gate", "--as", "slurm", "--timeout", within)
        assert (ran.status, ran.output.count("\n")) == (status, 1), ran
        assert ran.output.startswith(begins)


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


def test_there_is_something_to_agree_on(tmp_path: Path) -> None:
    """A process of torch with cuDNN's main library and all of its parts."""
    case = next(one for one in CASES if one.name == "C1a")
    told = by_which(examine(case, case.build(tmp_path)).host)
    names = {name for found in told.values() for name in found}
    assert {"libcudnn.so.9", "libcudnn_graph.so.9", "libcudnn_heuristic.so.9"} <= names


def test_every_row_of_wrong_advice_is_held() -> None:
    """By machines and environments that are there, or by a test of its own."""
    names = {case.name for case in CASES if case.codes}
    for row in ROWS:
        assert row.real or row.lab or row.tests, row.seen
        assert row.real or row.why, row.seen
        assert {*row.lab} <= names, row.seen
        assert {*row.real} <= {*SCENARIOS}, row.seen
        assert all(Path(one).is_file() for one in row.tests), row.seen
