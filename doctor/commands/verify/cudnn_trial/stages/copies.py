"""The stage that copies between the host and the GPU, both ways, and takes the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from doctor.commands.verify.cudnn_trial.stages.meeting import in_turn
from doctor.commands.verify.cudnn_trial.stages.on_gpu import demand_on_gpu, wrong
from doctor.commands.verify.cudnn_trial.trial import Trial

_WORDS = 16 << 20  # 64 MiB, more than any cache
_TIMES = 4
_MIXED = 2654435761  # Knuth's multiplicative hash: neighbours differ in many bits
_TO_GPU, _TO_HOST = 1, 2  # cudaMemcpyKind


def copies(trial: Trial) -> dict[str, Any]:
    """Copy 64 MiB of pinned memory to the GPU and back, one GPU of the machine at a time; every word must arrive.

    Facts: `bytes`; `gb_per_s`, by way ("to the GPU", "to the host") in 1e9 bytes; `memory_bytes`.
    """
    import cupy
    import numpy as np

    memory, size_bytes = trial.memory, _WORDS * 4
    pinned = [cupy.cuda.alloc_pinned_memory(size_bytes) for _ in range(2)]
    sent, back = (np.frombuffer(one, "uint32", _WORDS) for one in pinned)
    sent[:] = np.arange(_WORDS, dtype="uint32") * np.uint32(_MIXED) + np.uint32(trial.order.gpu)
    back[:] = 0
    block = memory.garbage((_WORDS,), "uint32")
    demand_on_gpu(trial, block)
    there, here = memory.address(block), [one.ctypes.data for one in (sent, back)]
    copy = cupy.cuda.runtime.memcpyAsync
    ways: dict[str, Callable[[], Any]] = {
        "to the GPU": lambda: copy(there, here[0], size_bytes, _TO_GPU, memory.stream),
        "to the host": lambda: copy(here[1], there, size_bytes, _TO_HOST, memory.stream),
    }
    facts: dict[str, Any] = {"bytes": size_bytes, "gb_per_s": {}}
    with in_turn(trial):
        for way, work in ways.items():
            trial.events.doing(f"copies of 64 MiB {way}")
            work()  # the first is slower
            facts["gb_per_s"][way] = round(size_bytes / memory.time_ms(work, _TIMES) / 1e6, 2)
    changed = int((sent != back).sum())
    if changed:
        raise wrong("cudaMemcpyAsync", f"{changed} of {_WORDS} words came back changed from the GPU", facts)
    return {**facts, "memory_bytes": memory.taken_bytes()}
