"""How the trials of several GPUs, each in its own process, find each other: by files in one directory."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from doctor.commands.verify.cudnn_trial.trial import Lacking, Trial

_WAITING, _LOOK_S = 0.5, 0.02  # the share of a trial's time


def meet(trial: Trial) -> None:
    """Wait for the others; raises Lacking where one does not come: NCCL itself would wait for ever."""
    order, started = trial.order, time.monotonic()
    here = [os.path.join(order.meeting, f"here-{rank}") for rank in range(order.together)]
    _put(here[order.rank], True)
    trial.events.doing("waiting for the other GPUs")
    while late := [rank for rank, path in enumerate(here) if not os.path.exists(path)]:
        if time.monotonic() - started > _WAITING * order.timeout_s:
            raise Lacking("partner", {"why": f"GPU {', '.join(map(str, late))} did not come to the all-reduce"})
        time.sleep(_LOOK_S)


def agreed(trial: Trial, name: str, make: Callable[[], Any]) -> Any:
    """What the first one makes, as JSON, on each of them."""
    path = os.path.join(trial.order.meeting, name)
    if trial.order.rank == 0:
        _put(path, make())
    while not os.path.exists(path):
        time.sleep(_LOOK_S)
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def _put(path: str, content: Any) -> None:
    """Whole, or not there."""
    with open(f"{path}.new", "w", encoding="utf-8") as stream:
        json.dump(content, stream)
    os.replace(f"{path}.new", path)


@contextmanager
def in_turn(trial: Trial) -> Iterator[None]:
    """While none of the others does it: GPUs share lanes, and the host's memory."""
    if sys.platform == "win32" or not trial.order.meeting:
        yield
        return
    import fcntl

    trial.events.doing("waiting for other GPUs' turn to end")
    with open(os.path.join(trial.order.meeting, "turn"), "w", encoding="utf-8") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # given back by the kernel, too, where the process dies
        yield
