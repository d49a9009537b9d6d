"""A remedy that breaks what another package asks for is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lab.case import fault, run_here
from tests.lab.cases.extensions import CPU_TORCH
from tests.lab.parts import HOME, files, package, site_of


def first_of(tmp_path: Path, *requires: str) -> list[dict[str, Any]]:
    """The remedies for a CPU build of torch below a package that asks for it."""
    other = package("speech", "1.0", requires=requires)
    case = fault("dependent", "a package that asks for torch", CPU_TORCH, other, codes=("cpu-only-wheel",))
    findings = run_here(case, tmp_path).report["findings"]
    found = next(one for one in findings if one["code"] == "cpu-only-wheel")  # a requirement may be unmet as it is
    remedies: list[dict[str, Any]] = found["remedies"]
    return remedies


@pytest.mark.parametrize(
    ("requirement", "given"),
    [
        ("torch>=2.0", ["==2.9.1", "==2.15.0"]),
        ("torch==2.9.1", ["==2.9.1"]),
        ("torch (<2.10)", ["==2.9.1"]),
        ("torch==2.9.1; extra == 'all'", ["==2.9.1", "==2.15.0"]),
        ("torch==2.9.1; sys_platform == 'win32'", ["==2.9.1", "==2.15.0"]),
        ("torch==2.8.0", ["==2.9.1", "==2.15.0"]),  # it is broken as it is
        ("torchvision==0.24.1", ["==2.9.1", "==2.15.0"]),
    ],
)
def test_releases_that_others_admit(tmp_path: Path, requirement: str, given: list[str]) -> None:
    assert [one["need"]["spec"] for one in first_of(tmp_path, requirement)] == given


@pytest.mark.parametrize(("told", "given"), [(f"file://{HOME}/project", 2), ("file:///elsewhere", 1), ("", 1)])
def test_the_project_itself_is_no_neighbour(told: str, given: int, tmp_path: Path) -> None:
    """uv installs a packaged project into its own environment; `uv add` changes what it requires."""
    other = package("app", "1.0", requires=("torch==2.9.1",))
    url = f'{{"url":"{told}","dir_info":{{"editable":true}}}}'
    project = {f"{HOME}/project/uv.lock": "", f"{HOME}/project/pyproject.toml": '[project]\nname = "app"\n'}
    here = files({f"{site_of()}/app-1.0.dist-info/direct_url.json": url, **project})
    case = fault("own", "a project that asks for torch", CPU_TORCH, other, here, codes=("cpu-only-wheel",))
    (found,) = run_here(case, tmp_path).report["findings"]
    assert len(found["remedies"]) == given
