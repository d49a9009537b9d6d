"""Where the data of a trial lie: on the GPU by CuPy, or on the host for a library that computes there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

Block = Any  # an array of NumPy, or one of CuPy: a piece of memory and what keeps it
_PEER_ACCESS_ALREADY_ENABLED = 704  # cudaErrorPeerAccessAlreadyEnabled
_DEVICE_MEMORY = 2  # cudaMemoryTypeDevice
_PEER_COPIES = 4
MOST_BYTES = 256 << 20  # of the GPU's, by a trial: others compute there, too
_NOT_A_NUMBER = 0xFF  # every byte so: not a number in each of the dtypes


class Memory(Protocol):
    """A device's memory and the stream that work is put on."""

    stream: int  # its address; 0 is the default stream

    def up(self, array: Array) -> Block:
        """A copy of an array on the device."""

    def down(self, block: Block) -> Array:
        """A copy of what lies there, for NumPy; waits for the stream."""

    def empty(self, size_bytes: int) -> Block:
        """Room with anything in it."""

    def garbage(self, shape: tuple[int, ...], storage: str) -> Block:
        """Room full of what is no number, so that a value that was never written shows."""

    def address(self, block: Block) -> int:
        """Where it begins."""

    def synchronise(self) -> None:
        """Wait for the stream; an error of earlier work comes up here."""

    def time_ms(self, work: Callable[[], Any], times: int = 1) -> float:
        """Milliseconds of one piece of work on the stream, averaged over so many in a row."""

    def space_bytes(self) -> tuple[int, int]:
        """Free, and in all."""

    def taken_bytes(self) -> int:
        """What the trial holds of it, besides CUDA's and cuDNN's own."""

    def is_on_gpu(self, block: Block) -> bool:
        """Whether it is in the memory of the GPU that is meant, by CUDA's own account."""

    def gpus(self) -> int:
        """How many GPUs this process sees."""

    def copy_to_peer(self, array: Array, source: int, target: int) -> Array:
        """The array put on one GPU, copied from there to another, and brought back."""

    def peer_ms(self, size_bytes: int, source: int, target: int) -> float:
        """Milliseconds that a copy of that size takes from one GPU to another."""

    def reaches_peer(self, source: int, target: int) -> bool:
        """Whether the one GPU writes into the other's memory itself (NVLink, PCIe) and not by way of the host."""


class CupyMemory:
    """One GPU's, by CuPy, which needs neither NVRTC nor cuBLAS for it. Raises CuPy's errors."""

    def __init__(self, gpu: int) -> None:
        """Make it the current GPU, and a stream of our own on it the current stream. Raises ImportError."""
        import cupy

        self._cupy: Any = cupy
        self._gpu = gpu
        cupy.cuda.Device(gpu).use()
        self._pool = cupy.get_default_memory_pool()
        self._pool.set_limit(size=MOST_BYTES)
        cupy.cuda.set_allocator(self._room)
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._stream.use()
        self.stream = int(self._stream.ptr)

    def _room(self, size_bytes: int) -> Any:
        """The limit counts what lies unused in the pool, too, and CuPy gives that back only where CUDA has no more."""
        try:
            return self._pool.malloc(size_bytes)
        except self._cupy.cuda.memory.OutOfMemoryError:
            self._pool.free_all_blocks()
            return self._pool.malloc(size_bytes)

    def up(self, array: Array) -> Block:
        """`Memory.up`."""
        return self._cupy.asarray(array)

    def down(self, block: Block) -> Array:
        """`Memory.down`."""
        array: Array = self._cupy.asnumpy(block)
        return array

    def empty(self, size_bytes: int) -> Block:
        """`Memory.empty`."""
        return self._cupy.empty(max(size_bytes, 1), dtype="uint8")

    def garbage(self, shape: tuple[int, ...], storage: str) -> Block:
        """`Memory.garbage`."""
        room = self._cupy.empty(shape, dtype=storage)
        room.data.memset_async(_NOT_A_NUMBER, room.nbytes, self._stream)
        return room

    def address(self, block: Block) -> int:
        """`Memory.address`."""
        return int(block.data.ptr)

    def synchronise(self) -> None:
        """`Memory.synchronise`."""
        self._stream.synchronize()

    def time_ms(self, work: Callable[[], Any], times: int = 1) -> float:
        """`Memory.time_ms`, by events on the stream."""
        begin, end = self._cupy.cuda.Event(), self._cupy.cuda.Event()
        begin.record(self._stream)
        for _ in range(times):
            work()
        end.record(self._stream)
        end.synchronize()
        return float(self._cupy.cuda.get_elapsed_time(begin, end)) / times

    def space_bytes(self) -> tuple[int, int]:
        """`Memory.space_bytes`."""
        free, total = self._cupy.cuda.runtime.memGetInfo()
        return int(free), int(total)

    def taken_bytes(self) -> int:
        """`Memory.taken_bytes`."""
        return int(self._pool.total_bytes())

    def is_on_gpu(self, block: Block) -> bool:
        """`Memory.is_on_gpu`; CuPy before 11 does not tell the type of memory."""
        told = self._cupy.cuda.runtime.pointerGetAttributes(self.address(block))
        return told.device == self._gpu and getattr(told, "type", _DEVICE_MEMORY) == _DEVICE_MEMORY

    def gpus(self) -> int:
        """`Memory.gpus`."""
        return int(self._cupy.cuda.runtime.getDeviceCount())

    def copy_to_peer(self, array: Array, source: int, target: int) -> Array:
        """`Memory.copy_to_peer`, by cudaMemcpyPeer, which goes by way of the host where it must."""
        if self.reaches_peer(source, target):
            self._on(source, self._enable_peer, target)
        there = self._on(source, self._cupy.asarray, array)
        room = self._on(target, self._cupy.zeros_like, array)
        self._cupy.cuda.runtime.memcpyPeer(room.data.ptr, target, there.data.ptr, source, array.nbytes)
        copied: Array = self._on(target, self._cupy.asnumpy, room)
        return copied

    def peer_ms(self, size_bytes: int, source: int, target: int) -> float:
        """`Memory.peer_ms`, without the first, which is slower."""
        runtime = self._cupy.cuda.runtime
        given, room = (self._on(gpu, self.empty, size_bytes) for gpu in (source, target))
        where = (self.address(room), target, self.address(given), source, size_bytes)

        def timed(times: int) -> float:
            begin = time.perf_counter()
            for _ in range(times):
                runtime.memcpyPeerAsync(*where, 0)
            runtime.deviceSynchronize()
            return (time.perf_counter() - begin) * 1e3 / times

        return float(self._on(source, lambda times: (timed(1), timed(times))[1], _PEER_COPIES))

    def reaches_peer(self, source: int, target: int) -> bool:
        """`Memory.reaches_peer`."""
        return bool(self._cupy.cuda.runtime.deviceCanAccessPeer(source, target))

    def _enable_peer(self, target: int) -> None:
        """Without it CUDA would go by way of the host, and the link between the two would not be tried."""
        runtime = self._cupy.cuda.runtime
        try:
            runtime.deviceEnablePeerAccess(target)
        except runtime.CUDARuntimeError as refused:
            if refused.status != _PEER_ACCESS_ALREADY_ENABLED:
                raise

    def _on(self, gpu: int, make: Callable[[Any], Any], what: Any) -> Any:
        """Done on that GPU's default stream, and finished: our own stream belongs to one GPU."""
        with self._cupy.cuda.Device(gpu), self._cupy.cuda.Stream.null:
            made = make(what)
            self._cupy.cuda.Stream.null.synchronize()
        return made


class HostMemory:
    """The host's own, for a library that computes there. Raises ImportError."""

    stream = 0

    def __init__(self) -> None:
        import numpy as np

        self._numpy = np

    def up(self, array: Array) -> Block:
        """`Memory.up`."""
        return self._numpy.array(array)

    def down(self, block: Block) -> Array:
        """`Memory.down`."""
        array: Array = block.copy()
        return array

    def empty(self, size_bytes: int) -> Block:
        """`Memory.empty`."""
        return self._numpy.empty(max(size_bytes, 1), dtype="uint8")

    def garbage(self, shape: tuple[int, ...], storage: str) -> Block:
        """`Memory.garbage`."""
        room = self._numpy.empty(shape, dtype=storage)
        room.view("uint8").fill(_NOT_A_NUMBER)
        return room

    def address(self, block: Block) -> int:
        """`Memory.address`."""
        return int(block.ctypes.data)

    def synchronise(self) -> None:
        """`Memory.synchronise`: work here is done when it returns."""

    def time_ms(self, work: Callable[[], Any], times: int = 1) -> float:
        """`Memory.time_ms`, by the clock."""
        begin = time.perf_counter()
        for _ in range(times):
            work()
        return (time.perf_counter() - begin) * 1e3 / times

    def space_bytes(self) -> tuple[int, int]:
        """`Memory.space_bytes`: not asked."""
        return 0, 0

    def taken_bytes(self) -> int:
        """`Memory.taken_bytes`: nothing of a GPU's."""
        return 0

    def is_on_gpu(self, block: Block) -> bool:
        """`Memory.is_on_gpu`: never."""
        return False

    def gpus(self) -> int:
        """`Memory.gpus`: the host stands for one."""
        return 1

    def copy_to_peer(self, array: Array, source: int, target: int) -> Array:
        """`Memory.copy_to_peer`: a copy."""
        return array.copy()

    def peer_ms(self, size_bytes: int, source: int, target: int) -> float:
        """`Memory.peer_ms`: not measured."""
        return 0.0

    def reaches_peer(self, source: int, target: int) -> bool:
        """`Memory.reaches_peer`: it is the same memory."""
        return True
