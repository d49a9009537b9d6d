"""The stage that compiles a kernel by NVRTC, as frameworks do for their fused operators, and launches it."""

from __future__ import annotations

from typing import Any

from doctor.commands.verify.cudnn_trial.stages.on_gpu import demand_library, demand_on_gpu, needing, wrong
from doctor.commands.verify.cudnn_trial.trial import Trial

_NUMBERS, _THREADS = 1 << 16, 256
_KERNEL = """
extern "C" __global__ void mix(const unsigned int* given, unsigned int* made, unsigned int count) {
    unsigned int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) made[at] = (given[at] ^ (given[at] >> 15)) * 2654435761u + at;
}
"""


def nvrtc(trial: Trial) -> dict[str, Any]:
    """Compile it for this GPU, launch it, and compare every number; nothing that was compiled before is used.

    Facts: `version`, NVRTC's; `libraries`, the mapped files of NVRTC; `memory_bytes`.
    """
    import cupy
    import numpy as np

    given = np.arange(_NUMBERS, dtype="uint32") * np.uint32(40503)
    expected = (given ^ (given >> np.uint32(15))) * np.uint32(2654435761) + np.arange(_NUMBERS, dtype="uint32")
    memory = trial.memory
    trial.events.doing("NVRTC compiles a kernel")
    with needing("nvrtc", trial):
        kernel = cupy.RawKernel(_KERNEL, "mix")
        kernel.compile()
    source, made = memory.up(given), memory.garbage(given.shape, "uint32")
    trial.events.doing("a kernel that NVRTC compiled is launched")
    kernel((_NUMBERS // _THREADS,), (_THREADS,), (source, made, np.uint32(_NUMBERS)))
    memory.synchronise()
    demand_on_gpu(trial, made)
    facts = {"version": ".".join(map(str, cupy.cuda.nvrtc.getVersion()))}
    changed = int((memory.down(made) != expected).sum())
    if changed:
        raise wrong("cuLaunchKernel", f"a kernel that NVRTC compiled: {changed} of {_NUMBERS} numbers are wrong", facts)
    return facts | demand_library("nvrtc", trial, facts)
