"""`check --dockerfile`: the Dockerfiles and compose files of tests/commands/dockerfile."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.commands.dockerfile.test_compose import APP, CUDA, GIVEN
from tests.commands.dockerfile.test_findings import BAD, BROKEN, FINE, OPEN, REFUSED, SILENT
from tests.commands.dockerfile.test_healthy import HEALTHY
from tests.golden.area import Area, Outputs
from tests.golden.product import run
from tests.lab.case import Case
from tests.lab.cases import CASES

FORMATS = ("text", "json", "sarif", "github")
ASSUMED = ("--assume-driver", "550.54.14", "--assume-gpu", "RTX 5090")


@cache
def _texts() -> dict[str, dict[str, str]]:
    """By job, texts by the digits of their digests."""
    groups = {
        "healthy": HEALTHY.values(),
        "broken": [text for _, text, *_ in BROKEN],
        "open": [text for _, text in OPEN],
        "fine": [text for _, text in FINE],
        "silent": SILENT,
        "bad": [text for _, text in BAD],
        "refused": [f"FROM python:3.12-slim\n{text}" for text, *_ in REFUSED],
        "compose": [f"x-gpu: &gpu\n  gpus: all\n{APP}{text}" for text in ("", *GIVEN.values())],
    }
    return {
        group: {hashlib.sha256(text.encode()).hexdigest()[:8]: text for text in texts}
        for group, texts in groups.items()
    }


def jobs() -> Sequence[str]:
    """The groups."""
    return list(_texts())


def outputs(job: str, folder: Path) -> Outputs:
    """Of each file every format; then for a driver and a GPU that are assumed."""
    case = next(case for case in CASES if case.where == "live")
    case.build(folder / "tree")  # a Dockerfile is checked on a machine, of which nothing is looked at
    (folder / "src").mkdir()
    (folder / "src/Dockerfile").write_text(CUDA, encoding="utf-8")
    return {name: "\n".join(_printed(text, folder, case)) for name, text in _texts()[job].items()}


def _printed(text: str, folder: Path, case: Case) -> list[str]:
    name = "compose.yaml" if text.startswith("x-gpu") else "Dockerfile"
    (folder / name).write_text(text, encoding="utf-8")
    words = ("check", "--dockerfile", name, "--platform", "linux/amd64")
    ran = [run(*words, "--format", style, folder=folder, machine=case) for style in FORMATS]
    return [one.text() for one in (*ran, run(*words, *ASSUMED, folder=folder, machine=case))]


AREA = Area(jobs, outputs, 8)
