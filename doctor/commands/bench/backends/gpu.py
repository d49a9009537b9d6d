"""The GPU without cuDNN: CuPy, whose products of matrices are cuBLAS'."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from doctor.commands.bench.backends.kernels import KernelIm2col, KernelOperations, Kernels
from doctor.commands.bench.shapes import Geometry

# All columns of AlexNet's first layer would take 1.1 GB at its batch of 256; products of this size keep any GPU busy.
_COLUMNS_BYTES = 256 << 20


class GpuBackend:
    """CuPy on one GPU.

    Source of the pool's switch: CuPy's guide to memory management: `set_allocator(None)` asks CUDA for every array
    again, which is what Theano did before CNMeM.
    """

    clock = "CUDA events"
    algorithms: Mapping[str, str] = {}

    def __init__(self, gpu: int, has_pool: bool = True) -> None:
        """Take the GPU of that number; raises ImportError without CuPy, CuPy's own errors without driver or GPU."""
        import cupy  # late: only the child that measures has any use for it

        self.xp: Any = cupy
        cupy.cuda.Device(gpu).use()
        self._pool = cupy.get_default_memory_pool() if has_pool else None
        if not has_pool:
            cupy.cuda.set_allocator(None)
        self.operations = KernelOperations(cupy, Kernels(cupy))

    def convolver(self, name: str, geometry: Geometry, batch: int) -> KernelIm2col:
        """By im2col."""
        return KernelIm2col(self.xp, geometry, _COLUMNS_BYTES, self.operations.launch)

    def seconds(self, work: Callable[[], None], times: int = 1) -> list[float]:
        """By events in the stream between one and the next: nobody waits until the last, as in training."""
        cuda = self.xp.cuda
        events = [cuda.Event() for _ in range(times + 1)]
        events[0].record()
        for event in events[1:]:
            work()
            event.record()
        events[-1].synchronize()
        return [float(cuda.get_elapsed_time(*pair)) / 1e3 for pair in pairwise(events)]

    def address(self, array: Any) -> int:
        """In the GPU's memory."""
        return int(array.data.ptr)

    @property
    def stream(self) -> int:
        """CuPy's current one."""
        return int(self.xp.cuda.get_current_stream().ptr)

    def peak_bytes(self) -> int:
        """What the pool took from the GPU: it gives nothing back by itself."""
        return int(self._pool.total_bytes()) if self._pool is not None else 0
