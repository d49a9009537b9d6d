"""On a machine with a GPU: memory behaves, and the whole matrix is right through each installed copy of cuDNN."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.verify.cudnn_trial.memory import MOST_BYTES, CupyMemory
from doctor.commands.verify.cudnn_trial.numbers import DTYPES
from doctor.commands.verify.cudnn_trial.outcome import Order
from doctor.commands.verify.cudnn_trial.run import run
from tests.gpu.steps import gpu_name

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def memory() -> CupyMemory:
    if not gpu_name():
        pytest.skip("no GPU")
    pytest.importorskip("cupy")
    return CupyMemory(0)


def copies() -> list[str]:
    """The main libraries of the wheels of this interpreter."""
    found = (path for entry in sys.path if entry for path in Path(entry).glob("nvidia/cudnn/lib/libcudnn.so.[0-9]*"))
    return sorted({str(path) for path in found})


def beside(library: str) -> tuple[str, ...]:
    """Where the wheels of CUDA lie, which the parts of some releases do not look for themselves."""
    return tuple(str(path) for path in sorted(Path(library).parents[2].glob("*/lib")))


@pytest.mark.parametrize("dtype", DTYPES)
def test_memory_holds_what_it_is_given_and_garbage_is_no_number(memory: CupyMemory, dtype: str) -> None:
    import numpy as np

    storage: Any = DTYPES[dtype].storage
    numbers = np.arange(1000).astype(storage)
    assert np.array_equal(memory.down(memory.up(numbers)), numbers)
    garbage = memory.down(memory.garbage((3, 5), storage))
    assert garbage.shape == (3, 5)
    assert set(garbage.tobytes()) == {0xFF}
    assert memory.address(memory.empty(1 << 20)) % 256 == 0  # as cudaMalloc aligns, which cuDNN's workspaces need


def test_time_is_that_of_the_stream(memory: CupyMemory) -> None:
    import cupy

    room = cupy.empty(MOST_BYTES // 2, dtype="uint8")
    once = memory.time_ms(lambda: room.data.memset_async(0, room.nbytes))
    assert 0.01 < once < 100
    assert memory.time_ms(lambda: room.data.memset_async(0, room.nbytes), 20) < 10 * once
    free, total = memory.space_bytes()
    assert 0 < free < total


@pytest.mark.parametrize("library", copies())
def test_the_whole_matrix_is_right(memory: CupyMemory, library: str) -> None:
    outcome = run(Order(library, level="full", library_dirs=beside(library)))
    bad = [row for row in outcome.rows if row.status in {"wrong", "failed"}]
    assert not bad
    assert outcome.has_passed, (outcome.stages[-1], outcome.ending)
    matrix = outcome.stage("matrix")
    assert matrix is not None
    capability = outcome.stage("device").facts["compute_capability"]  # type: ignore[union-attr]
    if tuple(map(int, capability.split("."))) >= (8, 0):
        assert matrix.facts["dtypes_without_result"] == {}
