"""What level node uses of CuPy, computed on the host: CUDA, cuBLAS, NVRTC and NCCL, failing where a test tells them to.

`STAND_IN` is a directory with `lib<name>.so` for each library that may be mapped, and `libmix.so`, the kernel.
`STAND_IN_CUPY` is the release, 14.2.0 if not set.
`STAND_IN_NCCL` is "absent" for a CuPy that was built without it, "unknown" for one that does not have the module.
`STAND_IN_FAULT` is what goes wrong, "wrong@gemmEx" or the like, on GPU `STAND_IN_FAULT_GPU` alone where that is set.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

__version__ = os.environ.get("STAND_IN_CUPY", "14.2.0")
_UNIQUE = bytes if int(__version__.partition(".")[0]) >= 14 else tuple  # what an id of NCCL is
_GPUS = int(os.environ.get("STAND_IN_GPUS", "2"))
_FOLDER = Path(os.environ["STAND_IN"])
_DTYPES = {0: "float32", 1: "float64", 2: "float16", 14: "uint16"}
_current = [0]


def _fails(fault: str) -> bool:
    gpu = os.environ.get("STAND_IN_FAULT_GPU", "")
    return os.environ.get("STAND_IN_FAULT") == fault and gpu in {"", str(_current[0])}


def _call(name: str) -> None:
    """A function of a library that may die, hang or answer an error."""
    if _fails(f"die@{name}"):
        os.abort()
    while _fails(f"hang@{name}"):
        time.sleep(1)


def _load(library: str) -> None:
    """A library is mapped when it is first needed."""
    if _fails(f"missing@{library}"):
        raise ImportError(f"lib{library}.so.12: cannot open shared object file: No such file or directory")
    if _fails(f"damaged@{library}"):
        raise ImportError(f"/cuda/lib/lib{library}.so.12: file too short")
    if not _fails(f"not-used@{library}"):
        ctypes.CDLL(str(_FOLDER / f"lib{library}.so.12"))


class Block(np.ndarray):
    """Memory with an address."""

    @property
    def data(self) -> Any:
        address = self.ctypes.data
        return SimpleNamespace(
            ptr=address, memset_async=lambda value, size, stream: ctypes.memset(address, value, size)
        )


def asarray(array: Any) -> Any:
    return np.array(array).view(Block)


def asnumpy(block: Any) -> Any:
    return np.array(block).view(np.ndarray)


def empty(shape: Any, dtype: str) -> Any:
    return np.empty(shape, dtype).view(Block)


def zeros_like(array: Any) -> Any:
    return np.zeros_like(array).view(Block)


class _Pool:
    taken = 0

    def set_limit(self, size: int) -> None:
        assert size == 256 << 20

    def total_bytes(self) -> int:
        return 3 << 20


def get_default_memory_pool() -> Any:
    return _Pool()


class RawKernel:
    """The kernel's own text, compiled for the host by the test."""

    def __init__(self, code: str, name: str) -> None:
        assert f"void {name}(" in code

    def compile(self) -> None:
        _call("compile")
        if _fails("raise@compile"):
            raise CompileException("nvrtc: error: invalid value for --gpu-architecture (-arch)")
        _load("nvrtc")

    def __call__(self, blocks: tuple[int], threads: tuple[int], given: tuple[Any, ...]) -> None:
        source, made, count = given
        run = ctypes.CDLL(str(_FOLDER / "libmix.so")).run_mix
        run(blocks[0], threads[0], *(ctypes.c_void_p(one.data.ptr) for one in (source, made)), int(count))
        if _fails("wrong@kernel"):
            made[7] += 1


class CompileException(Exception):
    pass


class CUBLASError(RuntimeError):
    status = 13


class NcclError(RuntimeError):
    status = 3


class CUDARuntimeError(RuntimeError):
    status = 719


def _at(address: int, count: int, dtype: str) -> Any:
    size = np.dtype(dtype).itemsize * count
    return np.frombuffer(memoryview((ctypes.c_char * size).from_address(address)), dtype)


def _wide(stored: Any, kind: int) -> Any:
    return (stored.astype("uint32") << 16).view("float32") if kind == 14 else stored


def _gemm(handle: int, *given: Any) -> None:
    """By columns, as cuBLAS counts; the leading dimensions are those of whole matrices."""
    first, second, m, n, k, alpha, a, kind_a, lda, b, _, ldb, beta, c, kind_c, ldc, compute, algorithm = given
    _call("gemmEx")
    _load("cublas")
    assert (first, second, lda, ldb, ldc, algorithm) == (0, 0, m, k, m, -1)
    assert (kind_a, compute) in {(1, 70), (0, 68), (0, 77), (2, 68), (14, 68)}
    scalar = "float64" if kind_a == 1 else "float32"
    assert (_at(alpha, 1, scalar)[0], _at(beta, 1, scalar)[0]) == (1, 0)
    if _fails("raise@gemmEx"):
        raise CUBLASError("CUBLAS_STATUS_EXECUTION_FAILED")
    left = _wide(_at(a, m * k, _DTYPES[kind_a]), kind_a).reshape(k, m)
    right = _wide(_at(b, k * n, _DTYPES[kind_a]), kind_a).reshape(n, k)
    product = right.astype("float64") @ left.astype("float64")
    if _fails("wrong@gemmEx") and kind_c == 14:
        product[3, 5] += 2
    out = _at(c, m * n, _DTYPES[kind_c]).reshape(n, m)
    out[:] = (product.astype("float32").view("uint32") >> 16) if kind_c == 14 else product


def _copy(target: int, source: int, size: int, kind: int, stream: int) -> None:
    _call("memcpyAsync")
    ctypes.memmove(target, source, size)
    if _fails("wrong@memcpyAsync") and kind == 2:
        ctypes.memset(target + 4096, 0x5A, 4)


def _peer(target: int, target_gpu: int, source: int, source_gpu: int, *rest: int) -> None:
    size = rest[0]
    assert target_gpu != source_gpu
    ctypes.memmove(target, source, size)
    if _fails("wrong@memcpyPeer"):
        ctypes.memset(target, 0x5A, 4)


_asked_about: list[int] = []


def _attributes(address: int) -> Any:
    _asked_about.append(address)
    is_on_host = _fails("on-host") or (_fails("on-host-later") and len(_asked_about) > 1)
    return SimpleNamespace(device=_current[0], type=0 if is_on_host else 2)


def _properties(number: int) -> dict[str, Any]:
    major = int(os.environ.get("STAND_IN_MAJOR", "9"))
    return {"name": b"Imagined GPU", "major": major, "minor": 0}


class _Device:
    def __init__(self, number: int) -> None:
        self._number, self._before = number, 0

    def use(self) -> None:
        _current[0] = self._number

    def __enter__(self) -> None:
        self._before, _current[0] = _current[0], self._number

    def __exit__(self, *_: object) -> None:
        _current[0] = self._before


class _Stream:
    ptr = 7
    null: Any = None

    def __init__(self, non_blocking: bool = False) -> None:
        pass

    def use(self) -> None:
        pass

    def synchronize(self) -> None:
        _call("synchronize")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


_Stream.null = _Stream()


class _Event:
    def record(self, stream: Any) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass


class NcclCommunicator:
    """Ranks exchange their numbers by files in the directory that the unique id names."""

    def __init__(self, ranks: int, unique: bytes | tuple[int, ...], rank: int) -> None:
        assert type(unique) is _UNIQUE
        assert len(unique) == 128
        assert rank == _current[0]
        _call("init")
        _load("nccl")
        self._folder = Path(bytes(unique).rstrip(b"\0").decode())
        self._ranks, self._rank = ranks, rank

    def allReduce(self, given: int, out: int, count: int, *rest: int) -> None:  # noqa: N802
        assert rest == (7, 0, 7)  # fp32, a sum, the stream
        _call("allReduce")
        if _fails("raise@allReduce"):
            raise NcclError("NCCL_ERROR_SYSTEM_ERROR: unhandled system error")
        mine = self._folder / f"{self._rank}.npy"
        np.save(mine.with_suffix(".new.npy"), _at(given, count, "float32"))
        mine.with_suffix(".new.npy").rename(mine)
        paths = [self._folder / f"{rank}.npy" for rank in range(self._ranks)]
        while not all(path.exists() for path in paths):
            time.sleep(0.01)
        total = np.sum([np.load(path) for path in paths], axis=0)
        total[9] += _fails("wrong@allReduce")
        _at(out, count, "float32")[:] = total


def _unique_id() -> bytes | tuple[int, ...]:
    return _UNIQUE(tempfile.mkdtemp(dir=_FOLDER).encode().ljust(128, b"\0"))


nccl = SimpleNamespace(
    available=not _fails("missing@nccl") and "STAND_IN_NCCL" not in os.environ,
    NCCL_FLOAT32=7,
    NCCL_SUM=0,
    NcclCommunicator=NcclCommunicator,
    get_unique_id=_unique_id,
    get_version=lambda: 22703,
)
cuda = SimpleNamespace(
    Device=_Device,
    Stream=_Stream,
    Event=_Event,
    get_elapsed_time=lambda begin, end: 1e3 * (end.at - begin.at),
    set_allocator=lambda allocator: None,
    alloc_pinned_memory=bytearray,
    get_cublas_handle=lambda: 11,
    memory=SimpleNamespace(OutOfMemoryError=MemoryError),
    cublas=SimpleNamespace(CUBLAS_OP_N=0, gemmEx=_gemm),
    nvrtc=SimpleNamespace(getVersion=lambda: (12, 9)),
    nccl=nccl,
    runtime=SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=lambda: _GPUS,
        getDeviceProperties=_properties,
        runtimeGetVersion=lambda: 12090,
        deviceGetPCIBusId=lambda number: f"0000:0{number + 1}:00.0",
        memGetInfo=lambda: (70 << 30, 80 << 30),
        pointerGetAttributes=_attributes,
        memcpyAsync=_copy,
        memcpyPeer=_peer,
        memcpyPeerAsync=_peer,
        deviceCanAccessPeer=lambda source, target: True,
        deviceEnablePeerAccess=lambda target: None,
        deviceSynchronize=lambda: None,
    ),
)
sys.modules["cupy.cuda"] = cuda  # type: ignore[assignment]  # a package in CuPy
if os.environ.get("STAND_IN_NCCL") == "unknown":
    del cuda.nccl
