"""The stage in which the GPUs of the machine add up their numbers by NCCL: one process a GPU, as in training."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from doctor.commands.verify.cudnn_trial.numbers import compare, whole_numbers
from doctor.commands.verify.cudnn_trial.outcome import Fault
from doctor.commands.verify.cudnn_trial.stages.meeting import agreed, meet
from doctor.commands.verify.cudnn_trial.stages.on_gpu import demand_library, demand_on_gpu, wrong
from doctor.commands.verify.cudnn_trial.trial import Lacking, StageFailed, Trial

_NUMBERS = 1 << 20
_GREATEST = 100  # sums of those of 160,000 GPUs are exact in fp32
_Way = Callable[[Trial, Any], tuple[Any, dict[str, Any]]]


def nccl(trial: Trial) -> dict[str, Any]:
    """An all-reduce of fp32, each GPU with numbers of its own: the sum must be exact on each.

    Facts: `gpus`, how many took part; `by`, whose NCCL ("CuPy", "PyTorch"), `version`; `libraries`; `memory_bytes`
    besides NCCL's own; `not_asked`, why not. `why`, where another GPU's process did not come.
    """
    import numpy as np

    order = trial.order
    mine = whole_numbers((_NUMBERS,), _GREATEST, order.rank).astype("float32")
    expected = np.sum([whole_numbers((_NUMBERS,), _GREATEST, rank) for rank in range(order.together)], axis=0)
    # By CuPy's binding, else by PyTorch, where it lies beside gpudoctor; None for neither.
    way = next((way for has_one, way in ((_has_cupys, _by_cupy), (_has_torchs, _by_torch)) if _asked(has_one)), None)
    if way is None and order.together == 1:
        return {"not_asked": "there is one GPU, which reduces with none, and no NCCL"}
    if way is None:
        raise Lacking("nccl", {"extra": trial.extra})
    meet(trial)
    trial.events.doing(f"an all-reduce over {order.together} GPUs")
    got, facts = way(trial, mine)
    facts["gpus"] = order.together
    found = compare(got.astype("float64"), expected)
    if found.detail:
        raise wrong("ncclAllReduce", f"the sum over {order.together} GPUs is wrong: {found.detail}", facts)
    return facts


def _asked(has_one: Callable[[], bool]) -> bool:
    try:
        return has_one()
    except (ImportError, AttributeError, OSError):
        return False


def _has_cupys() -> bool:
    from cupy.cuda import nccl as binding

    return bool(getattr(binding, "available", False))


def _has_torchs() -> bool:
    import torch

    return bool(torch.distributed.is_nccl_available())


def _by_cupy(trial: Trial, mine: Any) -> tuple[Any, dict[str, Any]]:
    from cupy.cuda import nccl as binding

    order, memory = trial.order, trial.memory
    told = agreed(trial, "nccl-id", lambda: _for_json(binding.get_unique_id()))
    one_id = bytes.fromhex(told) if isinstance(told, str) else tuple(told)
    given, out = memory.up(mine), memory.garbage(mine.shape, "float32")
    team = binding.NcclCommunicator(order.together, one_id, order.rank)
    addresses = memory.address(given), memory.address(out)
    team.allReduce(*addresses, _NUMBERS, binding.NCCL_FLOAT32, binding.NCCL_SUM, memory.stream)
    memory.synchronise()
    demand_on_gpu(trial, out)
    facts = {"by": "CuPy", "version": str(binding.get_version())}
    return memory.down(out), facts | demand_library("nccl", trial, facts)


def _for_json(unique: bytes | tuple[int, ...]) -> str | list[int]:
    """CuPy's id of a group: 128 bytes from CuPy 14 on, before that as many C chars, signed."""
    return unique.hex() if isinstance(unique, bytes) else list(unique)


def _by_torch(trial: Trial, mine: Any) -> tuple[Any, dict[str, Any]]:
    """PyTorch may have NCCL within its own libraries: that it used it, it says itself."""
    import torch

    order, team = trial.order, torch.distributed
    where = f"file://{os.path.join(order.meeting, 'torch')}"
    torch.cuda.set_device(order.gpu)
    team.init_process_group("nccl", init_method=where, rank=order.rank, world_size=order.together)
    numbers = torch.from_numpy(mine).to(f"cuda:{order.gpu}")
    team.all_reduce(numbers)
    if not numbers.is_cuda:
        text = "what PyTorch reduced is not in a GPU's memory"
        raise StageFailed(Fault(kind="unused", function="all_reduce", status=0, name="", text=text), {})
    facts = {"by": "PyTorch", "version": ".".join(map(str, torch.cuda.nccl.version()))}
    facts["memory_bytes"] = torch.cuda.memory_reserved()
    return numbers.cpu().numpy(), facts
