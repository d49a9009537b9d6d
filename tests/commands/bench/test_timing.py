"""Steps into figures, and an order into measurements: each in a child that may fail alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.bench import child, job, measure, networks, timing, worker
from doctor.commands.bench.card import Card
from doctor.commands.bench.outcome import Lack, Order, Progress
from doctor.commands.verify.cudnn_trial.cudnn_api import CudnnError
from doctor.host.live import LiveHost
from doctor.model.facts.gpu import GpuNow
from doctor.model.facts.seen import Seen, Unseen
from doctor.probes import nvml
from tests.commands.bench.host_kernels import build
from tests.commands.bench.small import branched, straight
from tests.commands.verify.cudnn_trial import stub

SEEN: Callable[[Any], Seen[Any]] = lambda value: Seen(value, "NVML")  # noqa: E731


@pytest.mark.parametrize(
    ("step_s", "seconds", "asked", "expected"),
    [(0.1, 2.0, 0, 20), (0.001, 20.0, 0, 50), (30.0, 20.0, 0, 3), (30.0, 20.0, 1, 1), (0.0, 1.0, 0, 50)],
)
def test_as_many_steps_as_fit(step_s: float, seconds: float, asked: int, expected: int) -> None:
    assert timing.steps_within(step_s, seconds, asked) == expected


def of(taken: Iterator[float], asked: list[int]) -> Callable[[int], list[float]]:
    """Steps that take these seconds; how many were asked for at once."""

    def steps(times: int) -> list[float]:
        asked.append(times)
        return [next(taken) for _ in range(times)]

    return steps


def test_the_first_steps_are_not_timed() -> None:
    said: list[str] = []
    asked: list[int] = []
    samples = timing.take(of(iter([9.0, 0.6, *[0.5] * 50]), asked), 20.0, 0, said.append)
    assert samples.warmup_steps == 4  # until a tenth of the seconds is gone, the first aside
    assert samples.seconds == (0.5,) * 40
    assert said == ["warming up", "step 1 of 40", "step 21 of 40"]
    assert asked == [1, 1, 1, 1, 20, 20]


def test_long_steps_are_few_and_made_one_by_one() -> None:
    asked: list[int] = []
    samples = timing.take(of(iter([30.0] * 5), asked), 20.0, 0)
    assert samples == timing.Samples(2, (30.0, 30.0, 30.0))
    assert asked == [1] * 5


def test_an_odd_number_of_steps_is_made_whole() -> None:
    asked: list[int] = []
    assert len(timing.take(of(iter([0.1] * 20), asked), 1.0, 7).seconds) == 7
    assert sum(asked) == 7 + 2


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ((2.0,), (2.0, 2.0, 2.0, 2.0, 2.0)),
        ((3.0, 1.0, 2.0, 5.0, 4.0), (3.0, 2.0, 4.0, 1.0, 5.0)),
        ((1.0, 1.0, 1.0, 100.0), (1.0, 1.0, 25.75, 1.0, 100.0)),
    ],
)
def test_figures(seconds: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert tuple(timing.figures(seconds)) == pytest.approx(expected)


def test_nothing_timed_is_no_figure() -> None:
    with pytest.raises(ValueError, match="nothing was timed"):
        timing.figures(())


# Jobs


def test_an_order_is_one_job_a_measurement() -> None:
    order = Order((branched(), straight()), ("cpu", "gpu", "gpu+cudnn"))
    found = [(one.network.classes, one.what, one.pool) for one in job.jobs(order)]
    each = [("cpu", None), ("gpu", True), ("gpu", False), ("gpu+cudnn", True), ("choices", True)]
    assert found == [(3, *one) for one in each] + [(2, *one) for one in each]


def test_a_job_goes_through_a_file_and_comes_back(tmp_path: Path) -> None:
    order = Order((branched(),), ("gpu",), data={"small": "/somewhere"}, library_dirs=("/a",), pools=(False,))
    (told,) = job.jobs(order)
    job.write(told, str(tmp_path / "job"))
    read = job.read(str(tmp_path / "job"))
    assert read.network == told.network
    assert read.order.data == {"small": "/somewhere"}
    assert (read.path, read.pool, read.is_table) == ("gpu", False, False)
    job.write(read, str(tmp_path / "again"))
    assert (tmp_path / "again").read_text() == (tmp_path / "job").read_text()


# Measurements, each in a real child

QUICK = {"steps": 3, "seconds": 0.5, "threads": 1}


def test_the_cpu_is_measured() -> None:
    heard: list[Progress] = []
    bench = measure.run(Order((straight(),), ("cpu",), **QUICK), heard.append)  # type: ignore[arg-type]
    (found,) = bench.timings
    assert bench.lacks == ()
    assert (found.network, found.path, found.pool, found.batch, found.steps) == ("small", "cpu", None, 8, 3)
    assert 0 < found.step_s_fastest <= found.step_s_low <= found.step_s_median <= found.step_s_high
    assert found.epoch_s == pytest.approx(found.step_s_median * 80 / 8)
    assert found.is_extrapolated
    assert found.clock == "perf_counter"
    assert found.peak_bytes > 10 << 20
    assert bench.timing("small", "cpu", None) == found
    assert bench.machine.numpy
    assert bench.machine.threads == 1
    assert bench.machine.gpu == bench.machine.cupy == ""
    assert [one.doing for one in heard][-1].endswith("of 3")
    assert {(one.done, one.total, one.network) for one in heard} == {(0, 1, "small")}


def test_another_batch_than_the_network_s_own_is_said() -> None:
    (found,) = measure.run(Order((straight(),), ("cpu",), batch=4, **QUICK)).timings  # type: ignore[arg-type]
    assert found.batch == 4
    (note,) = found.notes
    assert note == "batches of 4 instead of the network's own 8: an epoch updates the weights more often"
    assert found.epoch_s == pytest.approx(found.step_s_median * 80 / 4)


def test_a_whole_epoch_is_not_called_extrapolated() -> None:
    order = Order((straight(),), ("cpu",), steps=10, seconds=0.5, threads=1)
    assert not measure.run(order).timings[0].is_extrapolated


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(stub.build(tmp_path_factory.mktemp("stub")) / "libcudnn.so.9")


def with_cudnn(library: str, **more: Any) -> Order:
    return Order((branched(),), ("gpu+cudnn",), library=library, memory="host", **{**QUICK, **more})


def test_cudnn_is_measured_with_its_table(library: str) -> None:
    bench = measure.run(with_cudnn(library))
    assert bench.lacks == ()
    (found,) = bench.timings
    assert set(found.algorithms) == {
        *("conv1 forward", "conv1 backward-filter"),
        *("left forward", "left backward-data", "left backward-filter"),
    }
    assert bench.machine.cudnn_path == library
    assert bench.machine.cudnn.startswith("9.")
    tried = {(one.layer, one.direction) for one in bench.choices}
    assert len(tried) == 5  # nobody wants the gradient of the images
    for layer, direction in tried:
        rows = [one for one in bench.choices if (one.layer, one.direction) == (layer, direction)]
        fastest = min((one for one in rows if one.status == "ran"), key=lambda one: one.ms)
        assert [one.algorithm for one in rows if "fastest" in one.strategies] == [fastest.algorithm]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("abort@cudnnConvolutionForward", "SIGABRT"),
        ("segv@cudnnConvolutionForward", "SIGSEGV"),
        ("status:1001@cudnnCreate", "CUDNN_STATUS_NOT_INITIALIZED"),
    ],
)
def test_a_library_that_fails_costs_its_own_measurement(
    library: str, monkeypatch: pytest.MonkeyPatch, fault: str, words: str
) -> None:
    monkeypatch.setenv("STUB_CUDNN_FAULT", fault)
    bench = measure.run(with_cudnn(library, has_choices=False)._replace(paths=("cpu", "gpu+cudnn")))
    assert [one.path for one in bench.timings] == ["cpu"]
    (lack,) = bench.lacks
    assert (lack.network, lack.path) == ("small", "gpu+cudnn")
    assert words in lack.why


def test_a_hanging_library_is_ended(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_CUDNN_FAULT", "hang@cudnnConvolutionForward")
    (lack,) = measure.run(with_cudnn(library, has_choices=False, timeout_s=4.0)).lacks
    assert lack.needs == "time"
    assert lack.why.startswith("not done within 4 s while")


def test_no_library_is_said_without_a_child() -> None:
    bench = measure.run(Order((straight(), branched()), ("gpu+cudnn",), memory="host"))
    assert bench.lacks == (Lack("", "gpu+cudnn", "cudnn", "no copy of cuDNN was found or named"),)


def test_a_file_that_is_no_library_is_said(tmp_path: Path) -> None:
    (tmp_path / "libcudnn.so.9").write_bytes(b"no library")
    (lack,) = measure.run(with_cudnn(str(tmp_path / "libcudnn.so.9"), has_choices=False)).lacks
    assert lack.needs == "cudnn"
    assert "libcudnn.so.9" in lack.why


def test_what_every_child_misses_is_found_out_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cupy.py").write_text("raise ImportError('none here', name='cupy')\n")
    monkeypatch.syspath_prepend(tmp_path)
    started = []
    real = child.run

    def counted(*arguments: Any) -> Any:
        started.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(child, "run", counted)
    bench = measure.run(Order((straight(), branched()), ("gpu",)))
    assert len(started) == 1
    assert bench.lacks == (Lack("", "gpu", "cupy", "ImportError: none here"),)


def test_images_of_a_folder_that_is_not_there(tmp_path: Path) -> None:
    order = Order((straight(),), ("cpu",), data={"small": str(tmp_path / "none")}, **QUICK)  # type: ignore[arg-type]
    (lack,) = measure.run(order).lacks
    assert (lack.network, lack.path) == ("small", "cpu")
    assert "FileNotFoundError" in lack.why


@pytest.mark.parametrize("wrong", [{"batch": -1}, {"steps": -1}, {"seconds": 0.0}])
def test_orders_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="may not be negative"):
        measure.run(Order((straight(),), **wrong))


@pytest.mark.parametrize(
    ("error", "needs"),
    [
        (ImportError("no", name="numpy.linalg"), "numpy"),
        (ImportError("no", name="cupy"), "cupy"),
        (ImportError("libcublas.so.13: cannot open"), "cupy"),
        (MemoryError(), "memory"),
        (RuntimeError("cudaErrorMemoryAllocation: out of memory"), "memory"),
        (CudnnError("cudnnCreate", 2002, "CUDNN_STATUS_ALLOC_FAILED", ""), "memory"),
        (RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient"), "driver"),
        (OSError("libcuda.so.1: cannot open shared object file"), "driver"),
        (RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected"), "gpu"),
        (OSError("libcudnn.so.9: file too short"), "cudnn"),
        (ValueError("something else"), ""),
    ],
)
def test_what_an_error_says_is_missing(error: Exception, needs: str) -> None:
    assert worker.needs(error) == needs


# The child's surroundings


def surroundings(order: Order, **environ: str) -> dict[str, str]:
    return child.environment(job.jobs(order)[0], 2, environ)


def test_the_child_s_surroundings() -> None:
    order = Order((straight(),), ("gpu",), library_dirs=("/cublas",))
    found = surroundings(order, LD_LIBRARY_PATH="/mine", NVIDIA_TF32_OVERRIDE="0")
    assert found["LD_LIBRARY_PATH"] == "/mine:/cublas"  # behind what the user has
    assert found["OPENBLAS_NUM_THREADS"] == found["MKL_NUM_THREADS"] == "2"
    assert found["CUPY_TF32"] == "0"
    assert "NVIDIA_TF32_OVERRIDE" not in found
    assert surroundings(order._replace(dtype="tf32"))["CUPY_TF32"] == "1"
    assert surroundings(order)["LD_LIBRARY_PATH"] == "/cublas"


# The card


def told(reasons: tuple[str, ...], address: str = "0000:01:00.0") -> Any:
    nothing = Unseen("not asked")
    now = GpuNow(*[nothing] * len(GpuNow._fields))._replace(
        throttle_reasons=SEEN(reasons), sm_clock_mhz=SEEN(1410), temperature_c=SEEN(83)
    )

    class OneGpu:
        pci_address = SEEN(address)

    OneGpu.now = now  # type: ignore[attr-defined]
    return nvml.nothing("").__class__(nothing, nothing, nothing, SEEN((OneGpu,)))


@pytest.mark.parametrize(
    ("reasons", "pci", "expected"),
    [
        (("sw-power-cap",), "0000:01:00.0", "the GPU held its clocks back: sw-power-cap (1410 MHz, 83 °C)"),
        ((), "0000:01:00.0", ""),
        (("sw-power-cap",), "0000:02:00.0", ""),  # another card's
    ],
)
def test_a_card_is_looked_at_while_it_is_busy(
    monkeypatch: pytest.MonkeyPatch, reasons: tuple[str, ...], pci: str, expected: str
) -> None:
    monkeypatch.setattr(nvml, "start", lambda *_: nvml.NvmlChild(lambda: told(reasons)))
    card = Card(LiveHost())
    card.look_before()
    for doing in ("loading", "warming up", "step 1 of 3", "step 2 of 3", "step 3 of 3"):
        card.listen(doing)
    assert card.seen_while_busy(pci) == expected
    assert card.seen_while_busy(pci) == ""  # not asked again
    assert len(list(card.notes())) == bool(expected)
    assert (card.before(pci) is None) == (pci != "0000:01:00.0")


def test_a_card_is_not_asked_while_the_cpu_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is idle then, and its answer would stand beside the first row of the GPU."""
    asked: list[str] = []

    def start(*_: object) -> nvml.NvmlChild:
        asked.append(doing[-1])
        return nvml.NvmlChild(lambda: told(()))

    def ran(one: job.Job, threads: int, hear: Callable[[Any], None], host: Any) -> child.Ended:
        doing.append(one.path)
        hear({"event": "doing", "what": "step 2 of 2"})
        return child.Ended("", "")

    doing = ["before"]
    monkeypatch.setattr(nvml, "start", start)
    monkeypatch.setattr(child, "run", ran)
    measure.run(Order((straight(),), ("cpu", "gpu"), pools=(True,), torch=("python", "torch")))
    assert doing == ["before", "cpu", "cpu+torch", "gpu"]
    assert asked == ["before", "gpu", "gpu"]  # the last after all was done


def test_a_card_that_nobody_can_see_is_said() -> None:
    card = Card(LiveHost())
    card._before = nvml.nothing("no driver")
    assert list(card.notes()) == ["whether the GPU held its clocks back was not seen: no driver"]
    assert card.driver == ""
    assert card.after("0000:01:00.0") is None


def test_the_cpu_s_name() -> None:
    assert measure.cpu_name(LiveHost())


@pytest.mark.parametrize(("load", "is_said"), [(0.0, False), (0.2, False), (0.3, True), (4.0, True)])
def test_a_busy_machine_is_said(monkeypatch: pytest.MonkeyPatch, load: float, is_said: bool) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load * measure.cores(), 0.0, 0.0))
    assert bool(measure.busy()) is is_said


def test_the_smallest_network_is_measured_as_it_is() -> None:
    bench = measure.run(Order((networks.load("lenet"),), ("cpu",), **QUICK))  # type: ignore[arg-type]
    assert bench.timings[0].images_per_epoch == 60_000
    assert bench.timings[0].losses[0] == pytest.approx(2.3, abs=0.2)


# The GPU's paths, with what stands in for CuPy


@pytest.fixture
def cupy_log(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_CUPY_KERNELS", build(tmp_path)._name)
    monkeypatch.setenv("FAKE_CUPY_LOG", str(tmp_path / "log"))
    monkeypatch.syspath_prepend(Path(__file__).parent / "fake")
    monkeypatch.syspath_prepend(Path(__file__).parent.parent.parent.parent)
    return tmp_path / "log"


def test_all_paths_side_by_side(library: str, cupy_log: Path) -> None:
    order = Order((branched(),), ("cpu", "gpu", "gpu+cudnn"), library=library, gpu=1, **QUICK)  # type: ignore[arg-type]
    bench = measure.run(order)
    assert bench.lacks == ()
    found = {(one.path, one.pool): one for one in bench.timings}
    assert list(found) == [("cpu", None), ("gpu", True), ("gpu", False), ("gpu+cudnn", True)]
    for one in found.values():
        assert one.losses[0] == pytest.approx(found["cpu", None].losses[0], rel=1e-3)  # after one step, as ever
        assert one.losses[1] < one.losses[0]  # after as many as the time allowed
    assert {one.clock for one in bench.timings} == {"perf_counter", "CUDA events"}
    assert [one.peak_bytes for one in bench.timings][1:] == [123 << 20, 0, 123 << 20]
    assert [bool(one.algorithms) for one in bench.timings] == [False, False, False, True]
    assert {one.status for one in bench.choices} >= {"ran"}
    machine = bench.machine
    assert (machine.gpu, machine.capability, machine.cupy) == ("Imagined GPU", "9.0", "14.2.0")
    assert (machine.cuda_runtime, machine.gpu_before) == ("13.0", None)
    asked = cupy_log.read_text().splitlines()
    assert asked.count("GPU 1") == 4  # with the pool, without, cuDNN, the table
    assert asked.count("allocator None") == 1
    assert {"kernel im2col", "kernel max_pool", "kernel lrn_gradient", "kernel sgd"} <= set(asked)
