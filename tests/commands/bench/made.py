"""Benchmarks made up for tests of what is shown: no time in them was measured."""

from __future__ import annotations

from doctor.commands.bench.outcome import Bench, Choice, Lack, Machine, Timing
from doctor.commands.bench.results_table import Report, Subject
from doctor.model.facts.gpu import GpuNow
from doctor.model.facts.seen import Seen, Unseen

EPOCHS_S = {"cpu": 1.0, "gpu False": 0.12, "gpu True": 0.06, "gpu+cudnn": 0.02}
ALL_PATHS = tuple(EPOCHS_S)
NO_GPU = Lack("", "gpu", "gpu", "no NVIDIA GPU is here")


def subject(name: str, images: int = 45000, batch: int = 32, shape: tuple[int, int, int] = (3, 32, 32)) -> Subject:
    return Subject(name, f"{name} network", shape, 10, batch, images, 1_000, "a source", "")


def timing(name: str, path: str, pool: bool | None, epoch_s: float) -> Timing:
    images, batch = 45000, 32
    step_s = epoch_s * batch / images
    return Timing(
        name,
        path,
        pool,
        "fp32",
        batch,
        2,
        30,
        step_s,
        step_s * 0.93,
        step_s * 1.12,
        step_s * 0.9,
        step_s * 1.5,
        images,
        epoch_s,
        True,
        "perf_counter" if path == "cpu" else "CUDA events",
        "synthetic",
        (2.3, 2.1),
        1 << 30,
        {"conv1 forward": "IMPLICIT_PRECOMP_GEMM"} if path == "gpu+cudnn" else {},
        (),
    )


def choices(name: str) -> tuple[Choice, ...]:
    problem = "32x3x32x32 * 32x3x3x3"
    return (
        Choice(name, "conv1", "forward", problem, "IMPLICIT_GEMM", "ran", 0.031, 0, ("no-workspace",), ""),
        Choice(name, "conv1", "forward", problem, "WINOGRAD", "ran", 0.012, 9 << 20, ("fastest",), ""),
        Choice(name, "conv1", "forward", problem, "FFT", "too-big", 0.0, 3 << 30, (), ""),
        Choice(name, "conv1", "forward", problem, "DIRECT", "declined", 0.0, 0, (), "CUDNN_STATUS_NOT_SUPPORTED"),
    )


def now(temperature_c: int) -> GpuNow:
    unseen = Unseen("not asked")
    return GpuNow(
        Seen(temperature_c, "NVML"),
        Seen(401.5, "NVML"),
        unseen,
        Seen(1980, "NVML"),
        Seen(("sw-power-cap",), "NVML"),
        unseen,
        unseen,
        unseen,
        unseen,
    )


def machine(*, gpu: bool = True) -> Machine:
    ours = ("14.2.0", "NVIDIA H200", "9.0", "580.159", "13.0", "9.19.0", "/opt/cudnn/lib/libcudnn.so.9")
    readings = (now(41), now(66)) if gpu else (None, None)
    head = ("AMD EPYC", 2, 2, "Linux 6.1.0", "3.12.4", "2.5.0", "OpenBLAS 0.3.31 (Haswell kernels)")
    return Machine(*head, *(ours if gpu else ("",) * 7), *readings)


def report(
    epochs_s: dict[str, float], *, paths: tuple[str, ...] = tuple(EPOCHS_S), notes: tuple[str, ...] = ()
) -> Report:
    """Networks by name, with their seconds per epoch on the CPU; the other paths are faster by fixed ratios."""
    timings = []
    for name, epoch_s in epochs_s.items():
        for way in paths:
            path, _, pool = way.partition(" ")
            has_pool = None if path == "cpu" else pool != "False"
            timings.append(timing(name, path, has_pool, epoch_s * EPOCHS_S[way]))
    gpu = paths != ("cpu",)
    chosen = tuple(one for name in epochs_s for one in choices(name)) if "gpu+cudnn" in paths else ()
    lacks = () if gpu else (NO_GPU,)
    bench = Bench("2026-11-21", machine(gpu=gpu), tuple(timings), chosen, lacks, notes)
    return Report(f"gpudoctor bench {' '.join(epochs_s)}", tuple(map(subject, epochs_s)), bench)


FOUR = {"cifar10": 61.3, "mnist": 44.0, "dogs-vs-cats": 130.2, "lenet": 12.5}
ALL = {**FOUR, "alexnet": 930_000.0, "caffenet": 905_000.0, "googlenet": 2_140_000.0}
