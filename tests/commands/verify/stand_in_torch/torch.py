"""What level node uses of PyTorch: its NCCL, computed on the host by files, failing where a test tells it to."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cupy  # the stand-in: its faults are these
import numpy as np


class DistBackendError(RuntimeError):
    pass


class Tensor:
    def __init__(self, array: Any, where: str) -> None:
        self.array, self._where = array, where

    @property
    def is_cuda(self) -> bool:
        return self._where.startswith("cuda:") and not cupy._fails("on-host@all_reduce")

    def to(self, where: str) -> Tensor:
        return Tensor(self.array.copy(), where)

    def cpu(self) -> Tensor:
        return Tensor(self.array, "cpu")

    def numpy(self) -> Any:
        assert self._where == "cpu"
        return self.array


_team: list[Any] = []


def _begin(backend: str, init_method: str, rank: int, world_size: int) -> None:
    assert (backend, init_method[:7]) == ("nccl", "file://")
    _team[:] = Path(init_method[7:]).parent, rank, world_size


def _reduce(numbers: Tensor) -> None:
    cupy._call("all_reduce")
    if cupy._fails("raise@all_reduce"):
        raise DistBackendError("NCCL error in: ProcessGroupNCCL.cpp:3384, unhandled system error, NCCL version 2.27.5")
    folder, rank, ranks = _team
    mine = folder / f"torch-{rank}.npy"
    np.save(mine.with_suffix(".new.npy"), numbers.array)
    mine.with_suffix(".new.npy").rename(mine)
    paths = [folder / f"torch-{one}.npy" for one in range(ranks)]
    while not all(path.exists() for path in paths):
        time.sleep(0.01)
    numbers.array = np.sum([np.load(path) for path in paths], axis=0)
    numbers.array[9] += cupy._fails("wrong@all_reduce")


def from_numpy(array: Any) -> Tensor:
    return Tensor(array, "cpu")


distributed = SimpleNamespace(is_nccl_available=lambda: True, init_process_group=_begin, all_reduce=_reduce)
cuda = SimpleNamespace(
    set_device=lambda number: None, memory_reserved=lambda: 12 << 20, nccl=SimpleNamespace(version=lambda: (2, 27, 5))
)
