"""What the stages of one trial share, and how a stage says that it did not pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn
from doctor.commands.verify.cudnn_trial.events import EventWriter
from doctor.commands.verify.cudnn_trial.memory import Memory
from doctor.commands.verify.cudnn_trial.outcome import Fault, Order


class StageFailed(Exception):
    """A stage found a fault."""

    def __init__(self, fault: Fault, facts: Mapping[str, Any]) -> None:
        super().__init__(fault.text)
        self.fault = fault
        self.facts = facts


class Lacking(Exception):
    """What a stage needs is not here: "driver", "gpu", "numpy", "cupy"; of a copy "classic" functions, "engines"."""

    def __init__(self, what: str, facts: Mapping[str, Any]) -> None:
        super().__init__(what)
        self.what = what
        self.facts = facts


class Trial:
    """One copy on one GPU. Each stage finds what those before it have made."""

    cudnn: Cudnn  # from `load` on
    memory: Memory  # from `device` on
    capability: tuple[int, int] | None = None  # compute capability, from `device` on; None on the host

    extra: str = ""  # of gpudoctor, that brings CuPy and CUDA's libraries for it, from `device` on
    without_driver: str = ""  # the loader's words, where something stands in for libcuda since `load`

    def __init__(self, order: Order, events: EventWriter) -> None:
        self.order = order
        self.events = events

    @property
    def is_open(self) -> bool:
        """Whether the main library could be opened."""
        return hasattr(self, "cudnn")

    @property
    def has_memory(self) -> bool:
        """Whether stage `device` found some."""
        return hasattr(self, "memory")

    @property
    def is_on_host(self) -> bool:
        """Whether the library computes in host memory."""
        return self.order.memory == "host"
