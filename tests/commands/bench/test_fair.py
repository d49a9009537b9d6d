"""What a reader is told besides times: TF32, how busy the GPU was, and an algorithm that found no memory."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from doctor.commands.bench.algorithms import Trial, fastest
from doctor.commands.bench.backends.cudnn import CudnnBackend
from doctor.commands.bench.backends.host import HostBackend
from doctor.commands.bench.card import Card
from doctor.commands.bench.command import Options, command_of, order_of
from doctor.commands.bench.encode import decode_bench, encode_bench
from doctor.commands.bench.markdown import render as as_page
from doctor.commands.bench.outcome import Timing
from doctor.commands.bench.results_table import Report
from doctor.commands.bench.text import render
from doctor.commands.bench.worker import _notes
from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS
from doctor.host.live import LiveHost
from doctor.model.facts.seen import Seen, Unseen
from doctor.output.document import TextStyle
from doctor.probes import nvml
from tests.commands.bench.made import now, report

OUT_OF_MEMORY = type("OutOfMemoryError", (MemoryError,), {})  # CuPy's, by its name


class Convolution:
    """Every algorithm wants another MiB of workspace."""

    def workspace_bytes(self, direction: str, algorithm: str) -> int:
        return ALGORITHMS[direction].index(algorithm) << 20

    def run(self, *_: object) -> None:
        pass


def trial(room: Callable[[int], int]) -> Trial:
    return Trial(
        convolution=Convolution(),  # type: ignore[arg-type]
        graph=None,
        plans={},
        direction="forward",
        first=0,
        second=0,
        out=0,
        room=room,
    )


@pytest.mark.parametrize(
    "error", [OUT_OF_MEMORY("4 MiB"), MemoryError("4 MiB"), RuntimeError("cudaErrorMemoryAllocation: out of memory")]
)
def test_an_algorithm_that_finds_no_memory_costs_that_algorithm(error: Exception) -> None:
    def room(size_bytes: int) -> int:
        if size_bytes == 4 << 20:
            raise error
        return 0

    found = trial(room).measured(HostBackend(), 64 << 20, 1)
    assert [one.status for one in found] == ["ran"] * 4 + ["failed"] + ["ran"] * (len(found) - 5)
    assert found[4].detail == f"out of memory: {error}"
    best = fastest(found, 64 << 20)
    assert best is not None
    assert best.algorithm != found[4].algorithm


def test_another_error_is_no_want_of_memory() -> None:
    def room(size_bytes: int) -> int:
        raise RuntimeError("cudaErrorIllegalAddress")

    with pytest.raises(RuntimeError, match="IllegalAddress"):
        trial(room).measured(HostBackend(), 64 << 20, 1)


def test_the_workspace_is_still_there_after_one_that_was_too_large() -> None:
    base = HostBackend()

    def empty(size: int, dtype: str) -> Any:
        if size > 1 << 20:
            raise OUT_OF_MEMORY
        return np.empty(size, dtype)

    base.xp = SimpleNamespace(empty=empty)
    backend = CudnnBackend(base, None, "fp32", 1 << 30, lambda _: None)  # type: ignore[arg-type]
    assert backend.room(1024)
    with pytest.raises(MemoryError):
        backend.room(1 << 21)
    assert backend.room(1024)


def test_tf32_is_an_option_and_part_of_the_command() -> None:
    assert order_of(Options(), ()).dtype == "fp32"
    assert order_of(Options(tf32=True), ()).dtype == "tf32"
    assert command_of(Options(networks=("lenet",), tf32=True)) == "gpudoctor bench lenet --tf32"
    assert "tf32" not in command_of(Options())


@pytest.mark.parametrize(("major", "path", "is_said"), [(7, "gpu", True), (8, "gpu", False), (7, "cpu", False)])
def test_a_card_without_tf32_is_said(major: int, path: str, is_said: bool) -> None:
    runtime = SimpleNamespace(getDeviceProperties=lambda number: {"major": major})
    xp = SimpleNamespace(__name__="cupy", cuda=SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0)))
    told = SimpleNamespace(path=path, order=SimpleNamespace(dtype="tf32"), network=SimpleNamespace(batch=8))
    notes = _notes(told, SimpleNamespace(xp=xp), 8, [1.0])  # type: ignore[arg-type]
    assert any("TF32 was requested" in one for one in notes) is is_said


def told(change: Callable[[Timing], Timing]) -> Report:
    made = report({"lenet": 12.5})
    timings = tuple(one if one.path == "cpu" else change(one) for one in made.bench.timings)
    return made._replace(bench=made.bench._replace(timings=timings))


def test_tf32_and_the_busy_share_stand_in_the_rows() -> None:
    shown = told(lambda one: one._replace(dtype="tf32", gpu_busy_percent=37))
    text = render(shown, TextStyle(colour=False, symbols=True))
    rows = [line for line in text.splitlines() if line.startswith(("  CPU", "  GPU")) and ":" not in line]
    assert ["TF32" in row for row in rows] == [False, True, True, True]
    assert ["37 %" in row for row in rows] == [False, True, True, True]
    assert max(map(len, text.splitlines())) <= 80
    page = as_page(shown, "")
    assert "| GPU busy |" in page
    assert page.count("| 37 % |") == 3


def test_what_was_saved_before_the_share_was_told_is_read() -> None:
    shown = told(lambda one: one._replace(gpu_busy_percent=5))
    saved = encode_bench(shown)
    assert decode_bench(saved).bench == shown.bench
    for one in saved["timings"]:
        del one["gpu_busy_percent"]
    assert {one.gpu_busy_percent for one in decode_bench(saved).bench.timings} == {None}


@pytest.mark.parametrize(("share", "expected"), [(Seen(37, "NVML"), 37), (Unseen("not supported"), None)])
def test_the_share_is_that_of_the_middle_of_the_steps(
    share: Any, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = now(60)._replace(utilisation_percent=share, throttle_reasons=Seen((), "NVML"))
    one = SimpleNamespace(pci_address=Seen("0000:01:00.0", "NVML"), now=reading)
    answer = nvml.nothing("")._replace(gpus=Seen((one,), "NVML"))  # type: ignore[arg-type]
    monkeypatch.setattr(nvml, "start", lambda *_: nvml.NvmlChild(lambda: answer))
    card = Card(LiveHost())
    card.listen("step 2 of 3")
    assert card.seen_while_busy("0000:01:00.0") == ""
    assert card.busy_percent == expected
    assert card.seen_while_busy("0000:01:00.0") == ""
    assert card.busy_percent is None  # of the next, which was not asked about
