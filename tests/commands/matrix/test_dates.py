"""The date of a product's rows is shown where they are old and a newer release could change the answer."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.matrix import dates

OF_TORCH = date.fromisoformat(Matrix().as_of("torch"))


@pytest.mark.parametrize(
    ("asked", "days", "is_shown"),
    [
        ("can torch --gpu H100", 61, True),
        ("can torch --gpu H100", 60, False),
        ("solve torch --gpu H100", 61, True),
        ("solve torch==2.9.1 --gpu H100", 61, False),  # it was named, and works
        ("can torch==2.9.1 --gpu H100", 61, False),
        ("can torch==2.99 --gpu H100", 61, True),  # it may be there by now
        ("solve torch==2.15.0 --gpu V100", 61, True),
    ],
)
def test_old_rows(
    asked: str, days: int, is_shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dates, "today", lambda: OF_TORCH + timedelta(days=days))
    execute(["matrix", *asked.split()])
    assert (f"torch {OF_TORCH}. gpudoctor matrix refresh torch" in capsys.readouterr().out) == is_shown
    execute(["matrix", *asked.split(), "--format", "json"])
    old = [{"package": "torch", "as_of": OF_TORCH.isoformat()}] if is_shown else []
    assert json.loads(capsys.readouterr().out)["old_rows"] == old
