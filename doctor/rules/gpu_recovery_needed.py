"""The driver asks for a GPU to be recovered."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, Need, ResetGpu
from doctor.model.facts import Facts
from doctor.model.facts.gpu import Gpu
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import GPUS, need_live


def check(gpu: Gpu, facts: Facts, matrix: Matrix) -> Answer:
    """By the driver's own word: NVML_FI_DEV_GET_GPU_RECOVERY_ACTION (nvml.h), which Xid 154 announces in the log."""
    need_live(facts)
    action = gpu.recovery.get()
    if action == "none":
        return ok("the driver requests no action")
    return bad(
        f"the driver requests a recovery of {gpu.label}: {action}",
        _need(action, gpu),
        evidence=(Evidence.of(gpu.recovery, f"recovery action of {gpu.label}: {action}"),),
    )


def _need(action: str, gpu: Gpu) -> Need:
    """GPUs that talk to one another are reset together."""
    if action in _RESETS:
        return ResetGpu(gpu.number if _RESETS[action] else None)
    return Advice(f"{_HOW.get(action, _OTHERWISE)} (the driver requests: {action}).")


_RESETS = {"reset": True, "drain and reset": False}  # whether the GPU alone is reset
_HOW = dict.fromkeys(("restart", "restart of the system"), "Stop the programs and reboot")
_OTHERWISE = "Stop the programs on this machine and ask its administrator"
RULE = Rule(GPUS, check, blocks_verdict=False)
