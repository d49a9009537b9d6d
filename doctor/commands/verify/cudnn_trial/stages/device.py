"""The stages in which the GPU is first met."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

from doctor.commands.verify.cudnn_trial.faults import fault_of
from doctor.commands.verify.cudnn_trial.memory import CupyMemory, HostMemory
from doctor.commands.verify.cudnn_trial.outcome import Fault
from doctor.commands.verify.cudnn_trial.stages.on_gpu import demand_on_gpu
from doctor.commands.verify.cudnn_trial.trial import Lacking, StageFailed, Trial
from doctor.probes.driver_api import NO_DEVICE, DriverAnswer, ask_driver

_CUDA_13 = 13000
_NUMBERS = 1024


def device(trial: Trial) -> dict[str, Any]:
    """Find the driver, the GPU, NumPy and CuPy; copy numbers to the GPU and back.

    Facts: `memory` ("cupy" or "host"), `extra` (of gpudoctor, which has the CuPy for this copy's CUDA: "cuda12",
    "cuda13"), `also_lacks` (besides `Stage.lacks`), `why` (the words of who could not be asked, where something lacks).
    Where nothing does: `numpy` (version), `free_bytes`, `total_bytes`; and, but not on the host, `cupy` (version),
    `driver_cuda`, `runtime_cuda` (13000: 13.0), `gpus` (how many), `gpu` (name), `compute_capability` ("9.0"),
    `pci_bus_id`.
    """
    trial.extra = extra_for(trial.cudnn.cudart_version) if trial.is_open else ""
    facts: dict[str, Any] = {"memory": trial.order.memory, "extra": trial.extra}
    if trial.is_on_host:
        _demand([name for name in ("numpy",) if find_spec(name) is None], facts)
        trial.memory = HostMemory()
    else:
        facts |= _gpu(trial, facts)
    facts["numpy"] = importlib.import_module("numpy").__version__
    facts["free_bytes"], facts["total_bytes"] = trial.memory.space_bytes()
    _copy_there_and_back(trial, facts)
    return facts


def extra_for(cudart_version: int | None) -> str:
    """The extra of gpudoctor whose CuPy has the CUDA major of a copy; those for CUDA before 12 get the older one."""
    return "cuda13" if (cudart_version or 0) >= _CUDA_13 else "cuda12"


def _gpu(trial: Trial, facts: dict[str, Any]) -> dict[str, Any]:
    answer = DriverAnswer.absent(trial.without_driver) if trial.without_driver else ask_driver()
    if not trial.is_open:  # no copy says which CUDA
        trial.extra = facts["extra"] = extra_for(answer.driver_cuda)
    lacking = _lacking_of(answer, trial.order.gpu) + [name for name in ("numpy", "cupy") if find_spec(name) is None]
    if answer.why_not_opened:
        facts["why"] = answer.why_not_opened
    elif answer.status not in {0, NO_DEVICE}:
        fault = Fault(kind="cuda", function="cuInit", status=answer.status, name=answer.name, text=answer.text)
        raise StageFailed(fault, {**facts, "also_lacks": lacking})
    facts |= {"driver_cuda": answer.driver_cuda, "gpus": answer.gpus}
    _demand(lacking, facts)
    try:
        import cupy
    except ImportError as refused:
        raise Lacking("cupy", {**facts, "also_lacks": [], "why": str(refused).strip()}) from refused
    try:
        trial.memory = CupyMemory(trial.order.gpu)
        return _gpu_facts(trial, cupy)
    except Exception as refused:
        raise StageFailed(fault_of(refused), facts) from refused  # with what the driver said before


def _lacking_of(answer: DriverAnswer, gpu: int) -> list[str]:
    """A machine without driver or GPU is not helped by CuPy: these come first."""
    if answer.why_not_opened:
        return ["driver"]
    return ["gpu"] if answer.status == NO_DEVICE or (not answer.status and answer.gpus <= gpu) else []


def _demand(lacking: list[str], facts: dict[str, Any]) -> None:
    if lacking:
        raise Lacking(lacking[0], {**facts, "also_lacks": lacking[1:]})


def _gpu_facts(trial: Trial, cupy: Any) -> dict[str, Any]:
    runtime, number = cupy.cuda.runtime, trial.order.gpu
    properties = runtime.getDeviceProperties(number)
    trial.capability = (int(properties["major"]), int(properties["minor"]))
    return {
        "cupy": cupy.__version__,
        "runtime_cuda": int(runtime.runtimeGetVersion()),
        "gpu": properties["name"].decode(errors="replace"),
        "compute_capability": "{}.{}".format(*trial.capability),
        "pci_bus_id": str(runtime.deviceGetPCIBusId(number)),
    }


def _copy_there_and_back(trial: Trial, facts: dict[str, Any]) -> None:
    import numpy as np

    trial.events.doing("a copy to the GPU and back")
    numbers = np.arange(_NUMBERS, dtype="float32")
    there = trial.memory.up(numbers)
    if not trial.is_on_host:
        demand_on_gpu(trial, there)
    back = trial.memory.down(there)
    if not np.array_equal(numbers, back):
        wrong = int((numbers != back).sum())
        text = f"{wrong} of {_NUMBERS} numbers came back changed from the GPU"
        raise StageFailed(Fault(kind="wrong", function="cudaMemcpy", status=0, name="", text=text), facts)


def handle(trial: Trial) -> dict[str, Any]:
    """cudnnCreate on the stream that everything else is put on.

    Facts: `free_bytes` after it.
    """
    trial.cudnn.create_handle(trial.memory.stream)
    trial.memory.synchronise()
    return {"free_bytes": trial.memory.space_bytes()[0]}
