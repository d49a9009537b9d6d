"""The child: one measurement, and lines about it in a file of events.

Each is an event: "doing", with `what`, before everything that may take long or end the process; "machine" (the versions
that are loaded), "timing", "choice" and "lack", each with its `value`; "end" is the last.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from typing import Any

from doctor.commands.bench import images, job, shapes, timing
from doctor.commands.bench.algorithms import is_out_of_memory, strategies
from doctor.commands.bench.backends import Backend
from doctor.commands.bench.backends.cudnn import CudnnBackend, CudnnConvolver
from doctor.commands.bench.job import Job
from doctor.commands.bench.model import Model
from doctor.commands.bench.networks import DATA
from doctor.commands.bench.outcome import Choice, Layer, Timing
from doctor.commands.verify.cudnn_trial.convolution import DIRECTIONS
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError

_RUNS = 5  # of every algorithm in the table
_AMPERE = 8  # the first compute capability with TF32
Write = Callable[[str, Any], None]  # the event, and its value


def start(job_path: str, events_path: str) -> None:
    """`main`, and the end of the process: exit handlers of CUDA's libraries can hang or crash after the answer."""
    main(job_path, events_path)
    os._exit(0)


def main(job_path: str, events_path: str) -> None:
    """Do what the job says; whatever goes wrong becomes a line."""
    told = job.read(job_path)
    with open(events_path, "a", encoding="utf-8", buffering=1) as events:

        def write(event: str, value: Any) -> None:
            events.write(json.dumps({"event": event, "what" if event == "doing" else "value": value}) + "\n")

        try:
            measure(told, write)
        except Exception as error:  # noqa: BLE001 - the parent is told, whatever it was
            write("lack", {"needs": needs(error), "why": f"{type(error).__name__}: {error}"})
        write("end", None)


def needs(error: Exception) -> str:
    """What is missing, as `outcome.Lack` calls it; "" where the error is none of those."""
    if isinstance(error, ImportError):
        return "numpy" if (error.name or "").startswith("numpy") else "cupy"
    if is_out_of_memory(error):
        return "memory"
    words = str(error)
    if "cudaErrorInsufficientDriver" in words or "libcuda.so" in words:
        return "driver"
    if "cudaErrorNoDevice" in words or "cudaErrorInvalidDevice" in words:
        return "gpu"
    return "cudnn" if isinstance(error, (OSError, CudnnError)) else ""


def measure(told: Job, write: Write) -> None:
    """The steps, or the table."""
    write("doing", "loading")
    base = base_of(told)
    write("machine", versions(base))
    if told.path != "gpu+cudnn":
        write("timing", timed(told, base, write)._asdict())
        return
    backend = with_cudnn(told, base, write)
    if told.is_table:
        write_table(told, backend, write)
    else:
        write("timing", timed(told, backend, write)._asdict())


# What is measured with


def base_of(told: Job) -> Backend:
    """The array module; raises what stands in its way."""
    from doctor.commands.bench.backends.gpu import GpuBackend
    from doctor.commands.bench.backends.host import HostBackend

    if told.path == "cpu" or told.order.memory == "host":
        return HostBackend()
    return GpuBackend(told.order.gpu, has_pool=bool(told.pool))


def with_cudnn(told: Job, base: Backend, write: Write) -> CudnnBackend:
    """The copy that was ordered, whose version is written down; raises OSError, CudnnError."""

    def note(doing: str) -> None:
        write("doing", doing)

    cudnn = Cudnn(told.order.library, note)
    write("machine", {"cudnn": cudnn.version, "cudnn_path": cudnn.path})
    cudnn.create_handle(base.stream)
    return CudnnBackend(base, cudnn, told.order.dtype, told.order.workspace_limit_bytes, note)


def versions(backend: Backend) -> dict[str, Any]:
    """Of what is loaded, as outcome.Machine names it; and where the GPU sits."""
    import numpy as np

    found = {"python": platform.python_version(), "numpy": np.__version__, "blas": _blas(np)}
    if backend.xp.__name__ != "cupy":
        return found
    cuda = backend.xp.cuda
    properties = cuda.runtime.getDeviceProperties(cuda.Device().id)
    return {
        **found,
        "cupy": backend.xp.__version__,
        "gpu": properties["name"].decode(errors="replace"),
        "capability": f"{properties['major']}.{properties['minor']}",
        "cuda_runtime": _cuda_version(cuda.runtime.runtimeGetVersion()),
        "pci": cuda.Device().pci_bus_id.lower(),
    }


def _cuda_version(encoded: int) -> str:
    return f"{encoded // 1000}.{encoded % 1000 // 10}"


def _blas(np: Any) -> str:
    """Name and version as NumPy was built with; "" where it does not say."""
    try:
        said = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    except (TypeError, KeyError):  # before NumPy 1.25
        return ""
    return f"{said.get('name', '')} {said.get('version', '')}".strip()


# Steps


def timed(told: Job, backend: Backend, write: Write) -> Timing:
    """Train for some steps."""
    order, network = told.order, told.network
    batch = order.batch or network.batch
    folder = order.data.get(network.name, "")
    pixels, labels = images.of_folder(folder, network) if folder else images.made_up(network, batch)
    source = images.Images(pixels, labels, backend, batch)
    write("doing", "building the network")
    model = Model(network, backend, batch)
    losses: list[float] = []

    def steps(times: int) -> list[float]:
        taken = backend.seconds(lambda: model.train(*source.take()), times)
        losses.append(model.loss())
        return taken

    samples = timing.take(steps, order.seconds, order.steps, lambda doing: write("doing", doing))
    return timing.timing(
        told,
        samples,
        len(pixels) if folder else network.images_per_epoch,
        dtype=order.dtype if told.path != "cpu" else "fp32",
        clock=backend.clock,
        data=folder or "synthetic",
        losses=(losses[0], losses[-1]),
        peak_bytes=backend.peak_bytes(),
        algorithms=dict(backend.algorithms),
        notes=tuple(_notes(told, backend, batch, losses)),
    )


def _notes(told: Job, backend: Backend, batch: int, losses: list[float]) -> list[str]:
    found = []
    if told.order.dtype == "tf32" and told.path != "cpu" and not _has_tf32(backend):
        found.append("TF32 was requested, but this GPU has none (before compute capability 8.0): it computed in fp32")
    if batch != told.network.batch:
        often = "more" if batch < told.network.batch else "less"
        found.append(
            f"batches of {batch} instead of the network's own {told.network.batch}: "
            f"an epoch updates the weights {often} often"
        )
    if any(loss != loss for loss in losses):  # noqa: PLR0124 - what is no number differs from itself
        found.append("the loss became no number: what was timed is not a training that works")
    return found


def _has_tf32(backend: Backend) -> bool:
    """As far as the array module tells: the host stands for any GPU."""
    if backend.xp.__name__ != "cupy":
        return True
    cuda = backend.xp.cuda
    return bool(cuda.runtime.getDeviceProperties(cuda.Device().id)["major"] >= _AMPERE)


# The table


def write_table(told: Job, backend: CudnnBackend, write: Write) -> None:
    """A line for every algorithm of every convolution layer."""
    known = shapes.shapes(told.network)
    batch = told.order.batch or told.network.batch
    seen: dict[Any, list[dict[str, Any]]] = {}
    for layer in told.network.layers:
        if layer.kind != "conv":
            continue
        geometry = shapes.geometry(layer, known[layer.inputs[0]])
        for direction in DIRECTIONS:
            if direction == "backward-data" and layer.inputs[0] == DATA:
                continue  # nobody wants the gradient of the images
            key = geometry, direction
            if key not in seen:
                write("doing", f"{layer.name} {direction}")
                convolver = backend.convolver(layer.name, geometry, batch)
                seen[key] = _choices(told, convolver, layer, direction)
            for choice in seen[key]:
                write("choice", {**choice, "layer": layer.name})


def _choices(told: Job, convolver: CudnnConvolver, layer: Layer, direction: str) -> list[dict[str, Any]]:
    order = told.order
    found = convolver.measured(direction, order.workspace_limit_bytes, _RUNS)
    picked = strategies(found, order.limited_workspace_bytes, order.workspace_limit_bytes)
    return [
        Choice(
            network=told.network.name,
            layer=layer.name,
            direction=direction,
            problem=convolver.label,
            algorithm=one.algorithm,
            status=one.status,
            ms=one.ms,
            workspace_bytes=one.workspace_bytes,
            strategies=tuple(name for name, algorithm in picked.items() if algorithm == one.algorithm),
            detail=one.detail,
        )._asdict()
        for one in found
    ]
