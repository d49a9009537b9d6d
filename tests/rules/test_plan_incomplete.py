"""plan-incomplete: what was not read is listed with its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer


@pytest.mark.parametrize(
    ("lines", "kind", "listed"),
    [
        ("RUN pip install torch==2.9.1\n", Status.OK, ""),
        ("RUN ./a.sh\nRUN pip install -r a.txt\n", Status.UNKNOWN, "Dockerfile:3 reads a.txt, which was not found"),
        ("".join(f"RUN ./{number}.sh\n" for number in range(8)), Status.UNKNOWN, "; and 3 more"),
    ],
)
def test_kinds(lines: str, kind: Status, listed: str, tmp_path: Path) -> None:
    found = answer("plan-incomplete", facts(tmp_path, f"FROM python:3.12\n{lines}"))
    assert (found.kind, listed in found.why, found.blocks_verdict) == (kind, True, True)
