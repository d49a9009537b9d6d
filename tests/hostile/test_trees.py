"""A sample of the hostile trees; SECURITY.md has the figures of the long run.

GPUDOCTOR_HOSTILE_TREES says how many the slow suite checks.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.trees import MARK, Broken, Outside, broken_by, scratch

pytestmark = pytest.mark.skipif(os.name != "posix" or not os.path.exists("/proc/self/clear_refs"), reason="Linux only")
_SLOW = int(os.environ.get("GPUDOCTOR_HOSTILE_TREES", "1000"))


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=scratch()) as path:
        yield Path(path)


@pytest.mark.parametrize(
    ("count", "every"), [(15, 16), pytest.param(_SLOW, 1, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_no_promise_is_broken(count: int, every: int, folder: Path) -> None:
    outside = Outside(folder / "outside", every)
    found: list[Broken] = []
    for seed in range(1, 1 + count):
        found += broken_by(seed, folder, outside)
    assert not found


def test_an_escape_would_be_seen(folder: Path) -> None:
    outside = Outside(folder / "outside", every=16)
    assert outside.opened() == []
    assert MARK in (folder / "outside/etc/os-release").read_text()
    assert outside.opened()
