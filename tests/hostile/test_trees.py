"""A sample of the hostile trees; SECURITY.md has the figures of the long run.

GPUDOCTOR_HOSTILE_TREES says how many the slow suite checks.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.trees import MARK, Broken, Outside, broken_by, scratch

pytestmark = pytest.mark.skipif(os.name != "posix" or not os.path.exists("/proc/self/clear_refs"), reason="Linux only")
_SLOW = int(os.environ.get("GPUDOCTOR_HOSTILE_TREES", "5000"))
_SHARDS = 4  # for two workers, of which one may be busy with something else
_MANY = (pytest.mark.slow, pytest.mark.timeout(3600))


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=scratch()) as path:
        yield Path(path)


@pytest.mark.parametrize(
    ("first", "count", "every"),
    [
        pytest.param(1, 15, 16, id="few"),
        *(
            pytest.param(1 + shard * _SLOW // _SHARDS, _SLOW // _SHARDS, 1, id=f"many-{shard}", marks=_MANY)
            for shard in range(_SHARDS)
        ),
    ],
)
def test_no_promise_is_broken(first: int, count: int, every: int, folder: Path) -> None:
    outside = Outside(folder / "outside", every)
    found: list[Broken] = []
    for seed in range(first, first + count):
        found += broken_by(seed, folder, outside)
    assert not found


def test_an_escape_would_be_seen(folder: Path) -> None:
    outside = Outside(folder / "outside", every=16)
    assert outside.opened() == []
    assert MARK in (folder / "outside/etc/os-release").read_text()
    assert outside.opened()


def test_who_else_looks_there_is_no_escape(folder: Path) -> None:
    outside = Outside(folder / "outside", every=16)
    subprocess.run(["ls", "-R", str(folder)], check=True, stdout=subprocess.DEVNULL, start_new_session=True)
    if os.geteuid() == 0:  # fanotify is for root
        assert outside.opened() == []
