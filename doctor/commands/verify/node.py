"""Is this machine ready to train: every GPU with what training needs besides cuDNN, all at the same time."""

from __future__ import annotations

import time
from collections.abc import Iterable

from doctor.commands.verify.copies import Manner, try_copies_at_once
from doctor.commands.verify.cudnn_trial.outcome import Order
from doctor.commands.verify.findings import answers_of
from doctor.commands.verify.missing import lacks_of
from doctor.commands.verify.subject import Subject, TrialSubject, library_dirs
from doctor.commands.verify.verification import GpuTried, Tried
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or

_IN_ALL_S = 60.0
_GPUS_S, _SILENCE_S = 40.0, 35.0  # an all-reduce waits for the others for half of it
_COPY_AT_LEAST_S = 10.0
# One lane of PCI Express in one direction, in 1e9 bytes a second, by generation. Source: PCI-SIG's rates (2.5, 5, 8, 16
# and 32 GT/s) and line codes (8b/10b up to 2, 128b/130b from 3 on).
_LANE_GB_PER_S = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938}


def try_node(
    subjects: tuple[Subject, ...], gpus: tuple[int, ...], manner: Manner, started: float
) -> tuple[tuple[GpuTried, ...], tuple[Tried, ...]]:
    """Each GPU, then each copy of cuDNN on those whose driver and CuPy work; `started`, by time.perf_counter."""
    tried = _try_gpus(subjects, gpus, manner)
    working = tuple(
        one.outcome.gpu for one in tried if (stage := one.outcome.stage("device")) and stage.status == "passed"
    )
    left_s = (_IN_ALL_S - (time.perf_counter() - started)) / max(len(subjects), 1)
    timeout_s = min(manner.order.timeout_s, max(left_s, _COPY_AT_LEAST_S))
    order = manner.order._replace(level="conv", timeout_s=timeout_s, stage_timeout_s=timeout_s)
    return tried, try_copies_at_once(subjects, working, manner._replace(order=order))


def _try_gpus(subjects: Iterable[Subject], gpus: tuple[int, ...], manner: Manner) -> tuple[GpuTried, ...]:
    from doctor.commands.verify.cudnn_trial.run import run_together  # late: bad usage answers at once

    _, facts, matrix = manner.known
    manner.note(f"it tries cuBLAS, NVRTC, copies and NCCL on {len(gpus)} GPUs")
    searched = dict.fromkeys(path for one in subjects for path in library_dirs(one, facts))
    order = Order(
        "",
        level="node",
        library_dirs=tuple(searched),
        timeout_s=min(manner.order.timeout_s, _GPUS_S),
        stage_timeout_s=min(manner.order.timeout_s, _SILENCE_S),
    )
    found = run_together(tuple(order._replace(gpu=gpu) for gpu in gpus))
    patient = TrialSubject("CUDA", None)
    return tuple(GpuTried(one, answers_of(one, patient, facts, matrix), lacks_of(one, facts)) for one in found)


def link_gb_per_s(facts: Facts, pci_bus_id: str) -> float:
    """What the link of that GPU carries one way at most, as NVML tells lanes and generation; 0.0 where it does not."""
    for gpu in value_or(facts.gpus, ()):
        one = value_or(gpu.pci_address, "")
        same_slot = bool(one) and one.lower().lstrip("0") == pci_bus_id.lower().lstrip("0")
        if same_slot:
            lane = _LANE_GB_PER_S.get(value_or(gpu.link_generation_max, 0), 0.0)
            return lane * value_or(gpu.link_width, 0)
    return 0.0
