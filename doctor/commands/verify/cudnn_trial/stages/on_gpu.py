"""What every stage of level node demands: numbers that the GPU computed, by the library that it is about."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from doctor.commands.verify.cudnn_trial.mapped_files import mapped_libraries
from doctor.commands.verify.cudnn_trial.outcome import Fault
from doctor.commands.verify.cudnn_trial.trial import Lacking, StageFailed, Trial

# glibc's words, Windows', and those of cuda-pathfinder, by which CuPy 14 looks for the libraries
_ABSENT = re.compile(r"cannot open shared object file: No such file|Could not find module|Failure finding|No such file")


def wrong(function: str, text: str, facts: Mapping[str, Any]) -> StageFailed:
    """Numbers that differ from the right ones."""
    return StageFailed(Fault(kind="wrong", function=function, status=0, name="", text=text), facts)


@contextmanager
def needing(library: str, trial: Trial) -> Iterator[None]:
    """Raises Lacking where a library is not found from here, StageFailed where the loader refuses the one that is."""
    try:
        yield
    except (ImportError, OSError, RuntimeError) as refused:
        text = str(refused).strip()
        if _ABSENT.search(text) or isinstance(refused, ModuleNotFoundError):
            raise Lacking(library, {"extra": trial.extra, "why": text}) from refused
        if isinstance(refused, (ImportError, OSError)) or "failed to load" in text:
            fault = Fault(kind="loader", function="dlopen", status=0, name=type(refused).__name__, text=text)
            raise StageFailed(fault, {}) from refused
        raise


def demand_on_gpu(trial: Trial, block: Any) -> None:
    """Raises StageFailed for data outside of the memory of the GPU that is meant, by CUDA's own account."""
    if not trial.memory.is_on_gpu(block):
        text = f"what was computed is not in the memory of GPU {trial.order.gpu}"
        raise StageFailed(Fault(kind="unused", function="cudaPointerGetAttributes", status=0, name="", text=text), {})


def demand_library(stem: str, trial: Trial, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The mapped files of a library; raises StageFailed where there is none: then something else computed."""
    called = [
        one for one in mapped_libraries()[1] if os.path.basename(one).lower().removeprefix("lib").startswith(stem)
    ]
    if not called:
        text = f"the numbers are right, but no library of {stem} is mapped in the process"
        raise StageFailed(Fault(kind="unproven", function="", status=0, name=stem, text=text), facts)
    return {"libraries": called, "memory_bytes": trial.memory.taken_bytes()}
