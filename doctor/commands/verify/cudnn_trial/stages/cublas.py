"""The stage that multiplies matrices by cuBLAS: a product for each number format, against exact integers."""

from __future__ import annotations

from typing import Any

from doctor.commands.verify.cudnn_trial.numbers import DTYPES, compare, from_storage, to_storage, whole_numbers
from doctor.commands.verify.cudnn_trial.stages.on_gpu import demand_library, demand_on_gpu, needing, wrong
from doctor.commands.verify.cudnn_trial.trial import Trial

# Sums of 128 products of -1, 0 and 1 are exact in every format, partial ones in any order too.
_ROWS, _COLUMNS, _DEPTH = 192, 160, 128
# cudaDataType_t of the matrices and cublasComputeType_t. Source: library_types.h and cublas_api.h of CUDA 12.8.
_KINDS = {"fp64": (1, 70), "fp32": (0, 68), "tf32": (0, 77), "fp16": (2, 68), "bf16": (14, 68)}
_SINCE_AMPERE, _AMPERE = ("tf32", "bf16"), (8, 0)
_DEFAULT_ALGORITHM = -1


def cublas(trial: Trial) -> dict[str, Any]:
    """One product a format: every number of it must be exact.

    Facts: `dtypes`, by format "right" or why it was not asked; `libraries`, the mapped files of cuBLAS; `memory_bytes`.
    """
    facts: dict[str, Any] = {"dtypes": {}}
    a, b = whole_numbers((_ROWS, _DEPTH), 1, 0), whole_numbers((_DEPTH, _COLUMNS), 1, 1)
    for dtype in DTYPES:
        if dtype in _SINCE_AMPERE and trial.capability is not None and trial.capability < _AMPERE:
            facts["dtypes"][dtype] = "not before compute capability 8.0"
            continue
        trial.events.doing(f"cublasGemmEx {dtype}")
        with needing("cublas", trial):
            difference = compare(_product(trial, dtype, a, b), a @ b)
        facts["dtypes"][dtype] = difference.detail or "right"
        if difference.detail:
            raise wrong("cublasGemmEx", f"a product of matrices in {dtype} is wrong: {difference.detail}", facts)
    return facts | demand_library("cublas", trial, facts)


def _product(trial: Trial, dtype: str, a: Any, b: Any) -> Any:
    """cuBLAS counts by columns: what it is told to be b times a is, by rows, a times b."""
    import cupy
    import numpy as np

    memory, (kind, compute) = trial.memory, _KINDS[dtype]
    left, right = (memory.up(to_storage(one, dtype)) for one in (a, b))
    out = memory.garbage((_ROWS, _COLUMNS), DTYPES[dtype].storage)
    one, zero = (np.array(number, "float64" if dtype == "fp64" else "float32") for number in (1, 0))
    first, second = (memory.address(right), kind, _COLUMNS), (memory.address(left), kind, _DEPTH)
    last = (zero.ctypes.data, memory.address(out), kind, _COLUMNS, compute, _DEFAULT_ALGORITHM)
    sizes = (cupy.cuda.cublas.CUBLAS_OP_N, cupy.cuda.cublas.CUBLAS_OP_N, _COLUMNS, _ROWS, _DEPTH)
    cupy.cuda.cublas.gemmEx(cupy.cuda.get_cublas_handle(), *sizes, one.ctypes.data, *first, *second, *last)
    memory.synchronise()
    demand_on_gpu(trial, out)
    return from_storage(memory.down(out), dtype)
