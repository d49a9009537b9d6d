"""The stage in which the GPUs of one machine copy to each other."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from doctor.commands.verify.cudnn_trial.outcome import Fault
from doctor.commands.verify.cudnn_trial.trial import StageFailed, Trial

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_WORDS = 1 << 20  # 4 MiB: more than one page table entry, DMA transfer or bounce buffer
_TIMED_BYTES = 64 << 20
_MIXED = 2654435761  # Knuth's multiplicative hash: neighbours differ in many bits


def peers(trial: Trial) -> dict[str, Any]:
    """Copy from each GPU to each other one, and compare what arrived.

    Facts: `gpus`, how many this process sees; `pairs`, of each `source`, `target`, `direct` (whether the one writes
    into the other's memory without the host) and `changed` (how many 32-bit words arrived changed). One GPU has none.
    Of several trials at the same time the first one copies for all: `not_asked`; and it takes the time: `gb_per_s`.
    """
    if trial.order.rank:
        return {"not_asked": "GPU 0's trial copies between all"}
    count = trial.memory.gpus()
    pairs = [_pair(trial, source, target) for source, target in permutations(range(count), 2)]
    facts = {"gpus": count, "pairs": pairs}
    bad = [pair for pair in pairs if pair["changed"]]
    if bad:
        text = "from GPU {source} to GPU {target} {changed} of {words} words arrived changed"
        raise StageFailed(
            Fault(kind="wrong", function="cudaMemcpyPeer", status=0, name="", text=text.format(**bad[0], words=_WORDS)),
            facts,
        )
    if trial.order.level == "node":
        facts["gb_per_s"] = {f"{one['source']} to {one['target']}": _gb_per_s(trial, one) for one in pairs}
    return facts


def _gb_per_s(trial: Trial, pair: dict[str, Any]) -> float:
    source, target = pair["source"], pair["target"]
    trial.events.doing(f"the time of a copy from GPU {source} to GPU {target}")
    return round(_TIMED_BYTES / max(trial.memory.peer_ms(_TIMED_BYTES, source, target), 1e-6) / 1e6, 2)


def _pair(trial: Trial, source: int, target: int) -> dict[str, Any]:
    trial.events.doing(f"a copy from GPU {source} to GPU {target}")
    # Other words for each pair, so that what an earlier copy left does not pass for this one's.
    import numpy as np

    words = np.arange(_WORDS, dtype="uint64") * _MIXED + (source << 16) + (target << 8) + 1
    sent = words.astype("uint32")
    arrived = trial.memory.copy_to_peer(sent, source, target)
    changed = int((sent != arrived).sum())
    return {"source": source, "target": target, "direct": trial.memory.reaches_peer(source, target), "changed": changed}
