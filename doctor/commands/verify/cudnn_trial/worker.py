"""The child: goes through the stages of one trial, and writes an event before and after each."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from compat.base.record import NamedTuple
from doctor.commands.verify.cudnn_trial.events import EventWriter
from doctor.commands.verify.cudnn_trial.faults import fault_of
from doctor.commands.verify.cudnn_trial.outcome import LEVELS, Fault, Order, Stage
from doctor.commands.verify.cudnn_trial.stages.convolving import convolution, matrix
from doctor.commands.verify.cudnn_trial.stages.copies import copies
from doctor.commands.verify.cudnn_trial.stages.cublas import cublas
from doctor.commands.verify.cudnn_trial.stages.device import device, handle
from doctor.commands.verify.cudnn_trial.stages.graph import graph
from doctor.commands.verify.cudnn_trial.stages.library import load, mapped, parts, version
from doctor.commands.verify.cudnn_trial.stages.nccl import nccl
from doctor.commands.verify.cudnn_trial.stages.nvrtc import nvrtc
from doctor.commands.verify.cudnn_trial.stages.peers import peers
from doctor.commands.verify.cudnn_trial.stages.planning import plans
from doctor.commands.verify.cudnn_trial.stages.strategies import strategies
from doctor.commands.verify.cudnn_trial.trial import Lacking, StageFailed, Trial

_STAGES: dict[str, Callable[[Trial], dict[str, Any]]] = {
    "load": load,
    "version": version,
    "parts": parts,
    "plans": plans,
    "mapped": mapped,
    "device": device,
    "handle": handle,
    "convolution": convolution,
    "graph": graph,
    "matrix": matrix,
    "strategies": strategies,
    "peers": peers,
    "cublas": cublas,
    "nvrtc": nvrtc,
    "copies": copies,
    "nccl": nccl,
}

_OUR_FAULT = 70  # EX_SOFTWARE of sysexits.h
# What can still be learnt after these have failed. Not after "mapped": it would be said of another copy.
_GOES_ON_AFTER = {"load", "parts", "plans", "convolution", "graph", "matrix", "strategies"}
_OF_GPU = {"cublas", "nvrtc", "copies", "peers"}
_SEM_FAILCRITICALERRORS, _SEM_NOGPFAULTERRORBOX, _SEM_NOOPENFILEERRORBOX = 0x0001, 0x0002, 0x8000


def main(order: Mapping[str, Any], events: str) -> NoReturn:
    """Work and leave, without the exit handlers of the libraries: they can hang or crash after everything was said.

    The exit status is 0 once the last stage is done, whatever it came to.
    """
    status = _OUR_FAULT
    try:
        _die_quietly()
        told = Order(**{**order, "library_dirs": tuple(order["library_dirs"])})
        with open(events, "a", encoding="utf-8") as stream:
            go_through(Trial(told, EventWriter(stream)))
        status = 0
    except BaseException:  # noqa: BLE001 - said on the error output, and the status tells it
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _die_quietly() -> None:
    """No core file and no dialogue box where a library crashes."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.kernel32.SetErrorMode(_SEM_FAILCRITICALERRORS | _SEM_NOGPFAULTERRORBOX | _SEM_NOOPENFILEERRORBOX)
    else:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def go_through(trial: Trial) -> None:
    """The stages of the order's level, up to the first after which nothing more can be learnt."""
    for name in LEVELS[trial.order.level]:
        trial.events.begin(name)
        begun = time.perf_counter()
        end = _run(_STAGES[name], trial)
        seconds = round(time.perf_counter() - begun, 4)
        trial.events.end(
            Stage(name=name, status=end.status, seconds=seconds, fault=end.fault, lacks=end.lacks, facts=end.facts)
        )
        if not _goes_on(name, end, trial):
            return


class _End(NamedTuple):
    status: str
    facts: Mapping[str, Any]
    fault: Fault | None = None
    lacks: str = ""


def _run(stage: Callable[[Trial], dict[str, Any]], trial: Trial) -> _End:
    try:
        return _End("passed", stage(trial))
    except Lacking as lacking:
        return _End("missing", lacking.facts, lacks=lacking.what)
    except StageFailed as failed:
        return _End("failed", failed.facts, failed.fault)
    except Exception as error:  # noqa: BLE001 - whatever a library raises is what this stage found out
        return _End("failed", {}, fault_of(error))


def _goes_on(name: str, end: _End, trial: Trial) -> bool:
    """A CUDA error stays with the process: all that comes later would fail of it."""
    if end.status == "passed":
        return True
    is_cuda = end.fault is not None and end.fault.kind == "cuda"
    return not is_cuda and (name in _OF_GPU or (name in _GOES_ON_AFTER and trial.is_open))
