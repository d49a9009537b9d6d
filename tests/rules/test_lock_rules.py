"""The four rules about a lock file and its project, by the facts; tests/commands/lock reads these from real files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.model.facts.dockerfile import DockerfileLine, ProjectRequirement, ProjectSource
from doctor.model.facts.seen import Place
from doctor.model.finding import Status
from tests.commands.dockerfile.judged import facts
from tests.machine import seen
from tests.rules.case import answer

AT = Place("pyproject.toml", 3)
TORCH = ProjectRequirement("torch", ">=2.8", "", AT, "uv.lock", ("2.9.1+cu128",), "cu128")
INDEX = ProjectSource("torch", "pytorch-cu128", "", AT, is_used=True)
NEVER = "sys_platform == 'linux' and platform_machine == 'arm64'"  # Linux says aarch64
OK, BAD = Status.OK, Status.BAD


@pytest.mark.parametrize(
    ("code", "told", "kind"),
    [
        ("lock-stale", {"requirements": (TORCH,)}, OK),
        ("lock-stale", {"requirements": (TORCH._replace(marker=NEVER, locked=()),)}, OK),
        ("lock-stale", {"requirements": (TORCH._replace(locked=("2.7.1+cu128",)),)}, BAD),
        ("lock-stale", {"requirements": (TORCH._replace(build="cu126"),)}, BAD),
        ("lock-no-wheel", {}, OK),
        ("lock-no-wheel", {"no_wheels": (DockerfileLine("torch 2.9.1", Place("uv.lock", 9)),)}, BAD),
        ("lock-source-without-effect", {"sources": (INDEX,)}, OK),
        ("lock-source-without-effect", {"sources": (INDEX._replace(is_used=False),)}, BAD),
        ("lock-marker-never-true", {"requirements": (TORCH._replace(marker="sys_platform == 'linux'"),)}, OK),
        ("lock-marker-never-true", {"sources": (INDEX._replace(marker=NEVER),)}, BAD),
    ],
)
def test_kinds(code: str, told: dict[str, Any], kind: Status, tmp_path: Path) -> None:
    read = facts(tmp_path, "FROM python:3.12\n")
    found = answer(code, read._replace(dockerfile=seen(read.dockerfile.get()._replace(**told))))
    assert found.kind is kind, found
