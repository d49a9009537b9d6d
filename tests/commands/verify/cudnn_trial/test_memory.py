"""The bound of what a trial takes of a GPU's memory, with a pool that counts as CuPy's does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from doctor.commands.verify.cudnn_trial.memory import MOST_BYTES, CupyMemory


class OutOfMemoryError(MemoryError):
    """CuPy's: raised for the limit without a look at what lies unused in the pool."""


class Pool:
    """What is in use, and what lies unused; source: cupy/cupy:cupy/cuda/memory.pyx (_try_malloc, free_all_blocks)."""

    def __init__(self) -> None:
        self.limit = self.used = self.unused = 0

    def set_limit(self, size: int) -> None:
        self.limit = size

    def malloc(self, size: int) -> int:
        if self.used + self.unused + size > self.limit:
            raise OutOfMemoryError
        self.used += size
        return size

    def free(self, size: int) -> None:
        self.used, self.unused = self.used - size, self.unused + size

    def free_all_blocks(self) -> None:
        self.unused = 0


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    pool = Pool()
    allocator: list[Callable[[int], int]] = []
    used = SimpleNamespace(use=lambda: None, ptr=7)
    cuda = SimpleNamespace(
        Device=lambda gpu: used,
        Stream=lambda non_blocking: used,
        set_allocator=allocator.append,
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
    )
    made = SimpleNamespace(cuda=cuda, get_default_memory_pool=lambda: pool, pool=pool, allocator=allocator)
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


def test_what_lies_unused_is_given_back_before_memory_is_said_to_be_out(cupy: Any) -> None:
    CupyMemory(0)
    (room,) = cupy.allocator
    cupy.pool.free(room(MOST_BYTES // 2))
    assert room(MOST_BYTES) == MOST_BYTES
    with pytest.raises(OutOfMemoryError):
        room(1)
