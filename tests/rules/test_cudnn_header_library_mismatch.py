"""cudnn-header-library-mismatch."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import InstallCudnn, InstallPackage, Need, as_json
from compat.version import CudnnVersion
from doctor.model.finding import Severity, Status
from tests.machine import SITE, VENV, cudnn_copy, distribution, environment, machine, seen, toolkit, toolkits, unseen
from tests.rules.case import answer
from tests.rules.cudnn import OPT, other

CODE = "cudnn-header-library-mismatch"


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, Status.OK),
        ({"header_version": seen(CudnnVersion.parse("9.10.2.21"))}, Status.OK),
        ({"header_version": seen(CudnnVersion.parse("8.9.7"))}, Status.BAD),
        ({"header_version": seen(CudnnVersion.parse("9.10.1"))}, Status.BAD),
        ({"header_version": unseen("no header")}, Status.NOT_APPLICABLE),
        ({"version": unseen("no symbol")}, Status.UNKNOWN),
        ({"parts": seen(())}, Status.NOT_APPLICABLE),
    ],
)
def test_kinds(changes: dict[str, Any], kind: Status) -> None:
    assert answer(CODE, machine(cudnn=seen((cudnn_copy()._replace(**changes),)))).kind is kind


HEADER = "/usr/local/cuda/include/cudnn_version.h"


def alone(release: str, *others: Any, **changes: Any) -> Any:
    """A header without libraries in the toolkit, and these copies of the system."""
    copy = cudnn_copy(directory="/usr/local/cuda/lib64", environment="", parts=seen(()), header_path=seen(HEADER))
    copy = copy._replace(header_version=seen(CudnnVersion.parse(release)))
    return machine(cudnn=seen((copy, *others)), **changes)


SYSTEM = cudnn_copy(directory="/usr/lib/x86_64-linux-gnu", environment="", search_rank=seen(0))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (alone("9.10.2", SYSTEM), Status.OK),
        (alone("8.9.7", SYSTEM), Status.BAD),
        (alone("8.9.7", SYSTEM._replace(version=unseen())), Status.UNKNOWN),
        (alone("8.9.7", SYSTEM, toolkit=toolkits(toolkit(nvcc=unseen()))), Status.OK),  # nothing is built here
        (alone("8.9.7"), Status.NOT_APPLICABLE),
    ],
)
def test_a_header_alone_goes_with_what_the_linker_takes(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_it_only_bites_builds() -> None:
    copy = cudnn_copy(header_version=seen(CudnnVersion.parse("8.9.7")))
    found = answer(CODE, machine(cudnn=seen((copy,))))
    assert found.severity is Severity.WARNING
    assert found.needs == (InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", f"{VENV}/bin/python", reinstall=True),)


def test_a_copy_without_a_package_is_mended_from_the_archive() -> None:
    copy = other("8.9.7", header_version=seen(CudnnVersion.parse("9.10.2")), cuda_major=seen(12))
    (need,) = answer(CODE, machine(cudnn=seen((copy,)))).needs
    assert need == InstallCudnn("==8.9.7", OPT, "12")


def test_no_copy_at_all_is_not_applicable() -> None:
    assert answer(CODE, machine(cudnn=seen(()))).kind is Status.NOT_APPLICABLE


CU11, CU12 = distribution("nvidia-cudnn-cu11", "8.9.6.50"), distribution("nvidia-cudnn-cu12", "9.10.2.21")
ELSEWHERE = CU12._replace(version="9.1.0.70", site="/usr/lib/python3/dist-packages")


@pytest.mark.parametrize("folder", ["lib", "bin", "bin/x64"])
@pytest.mark.parametrize(
    "listed", [(CU12,), (CU11, CU12), (ELSEWHERE, CU12), (CU12._replace(version="9.1.0.70", hidden_by="x"), CU12)]
)
def test_libraries_that_were_put_over_a_wheels_go_with_the_wheel_anew(folder: str, listed: tuple[Any, ...]) -> None:
    """By their sizes no package owns them, and the wheel's own release comes back, not that of the strangers."""
    (need,) = _strangers(folder, environment(distributions=seen(listed)))
    assert need == InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", f"{VENV}/bin/python", reinstall=True)


@pytest.mark.parametrize(
    ("folder", "around"),
    [("lib", environment(interpreter="")), ("other", environment()), ("lib", environment(distributions=seen(())))],
)
def test_no_wheel_is_named_that_was_not_there_or_that_no_pip_can_lay(folder: str, around: Any) -> None:
    assert [as_json(need).product for need in _strangers(folder, around)] == ["cudnn"]


def _strangers(folder: str, around: Any) -> tuple[Need, ...]:
    copy = cudnn_copy("9.14.0", f"{SITE}/nvidia/cudnn/{folder}")._replace(owner="", origin="directory")
    copy = copy._replace(header_version=seen(CudnnVersion.parse("9.10.2")))
    return answer(CODE, machine(cudnn=seen((copy,)), environments=seen((around,)))).needs
