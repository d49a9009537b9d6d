"""A convolution through frameworks: the real ones in slow tests, and made-up ones for what real ones rarely do."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from doctor.facts.environment import Environment, Framework
from doctor.facts.loader import Prediction
from doctor.facts.seen import Seen, Unseen
from doctor.host import NotRunnable
from doctor.host.live import LiveHost
from doctor.verify.problem import small_problem
from doctor.verify.trial import CPU, Case, Trial, fault_of, program_of, programs, try_framework
from tests import machine
from tests.wheels import JAX_WHEELS, fetch, unpack

# A made-up onnxruntime: the program for it needs the least of a framework.
FAKE = """
__version__ = "1.0"
import json, os, signal, sys, time
{first}
def get_available_providers():
    return ["CUDAExecutionProvider", "CPUExecutionProvider"]
class InferenceSession:
    def __init__(self, model, providers):
        self.providers = {providers}
    def get_providers(self):
        return self.providers
    def run(self, names, fed):
        {run}
        class Result:
            def tolist(self):
                return json.loads(os.environ["EXPECTED"])
        return [Result()]
"""


def environment(site: Path) -> Environment:
    return machine.environment(interpreter=sys.executable, prefix=str(site))


def framework(package: str, site: Path) -> Framework:
    folder = site / package.partition("-")[0]
    return machine.framework(package, "1.0", path=str(folder), environment=str(site))


def tried(site: Path, package: str = "onnxruntime-gpu", gpu: int = 0, **options: object) -> Trial:
    expected = json.dumps(options.pop("expected", small_problem().expected["forward"]))
    environ = {**os.environ, "PYTHONPATH": str(site), "EXPECTED": expected}
    case = Case(LiveHost(environ), environment(site), framework(package, site), gpu)
    return try_framework(case, options.pop("predictions", ()), **options)  # type: ignore[arg-type]


@pytest.fixture
def made_up(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A site directory with an onnxruntime of the words that are given."""

    def make(first: str = "", run: str = "", providers: str = "[providers[0][0]]") -> Path:
        (tmp_path / "onnxruntime").mkdir()
        text = FAKE.format(first=first, run=run or "pass", providers=providers)
        (tmp_path / "onnxruntime" / "__init__.py").write_text(text)
        return tmp_path

    return make


def states(trial: Trial) -> dict[str, str]:
    return {one.name: one.status for one in trial.stages}


def test_a_framework_that_convolves_has_passed(made_up) -> None:  # type: ignore[no-untyped-def]
    trial = tried(made_up())
    assert trial.has_passed
    assert states(trial) == dict.fromkeys(("import", "device", "convolution", "mapped"), "passed")
    assert [(row.direction, row.status, row.difference) for row in trial.rows] == [("forward", "right", 0.0)]


def test_wrong_numbers_are_wrong(made_up) -> None:  # type: ignore[no-untyped-def]
    beside = np.array(small_problem().expected["forward"], dtype=float)
    beside[1, 2, 3, 4] += 1
    trial = tried(made_up(), expected=beside.tolist())
    assert not trial.has_passed
    assert [row.status for row in trial.rows] == ["wrong"]
    assert states(trial)["convolution"] == "passed"  # it ran: the numbers are another matter


def test_noise_on_both_streams_is_no_matter(made_up) -> None:  # type: ignore[no-untyped-def]
    noise = "print('\\x1egpudoctor {broken', end=''); print('x' * 100000); sys.stderr.write('warning\\n')"
    trial = tried(made_up(first=noise))
    assert trial.has_passed
    assert trial.ending.stderr.endswith("warning")


@pytest.mark.parametrize(
    ("words", "stage", "status", "ending"),
    [
        ({"first": "os.kill(os.getpid(), signal.SIGSEGV)"}, "import", "cut-off", ("signal", 11)),
        ({"run": "os.abort()"}, "convolution", "cut-off", ("signal", 6)),
        ({"run": "time.sleep(60)"}, "convolution", "cut-off", ("timed-out", 0)),
        ({"first": "raise SystemExit(3)"}, "import", "failed", ("exited", 0)),
        ({"first": "raise KeyError('name')"}, "import", "failed", ("exited", 0)),
        ({"run": "raise KeyError('name')"}, "convolution", "failed", ("exited", 0)),
        ({"first": "os._exit(0)"}, "import", "cut-off", ("exited", 0)),  # a good exit status is no proof
    ],
)
def test_how_it_can_end(made_up, words, stage, status, ending) -> None:  # type: ignore[no-untyped-def]
    trial = tried(made_up(**words), timeout_s=3.0)
    assert states(trial)[stage] == status
    assert (trial.ending.kind, trial.ending.code) == ending
    assert trial.ending.stage == (stage if status == "cut-off" else "")
    assert not trial.has_passed


def test_what_is_not_there_is_missing_not_failed(made_up) -> None:  # type: ignore[no-untyped-def]
    trial = tried(made_up(providers="['CPUExecutionProvider']"))
    found = {one.name: one for one in trial.stages}
    assert found["convolution"].status == "missing"
    assert "fell back to ['CPUExecutionProvider']" in found["convolution"].lacks
    assert found["mapped"].status == "passed"
    assert not trial.has_passed


def test_an_exception_says_whose_fault_it_is(made_up) -> None:  # type: ignore[no-untyped-def]
    run = "raise RuntimeError('CUDNN failure 3: CUDNN_STATUS_ARCH_MISMATCH ; GPU=0 ;')"
    fault = {one.name: one.fault for one in tried(made_up(run=run)).stages}["convolution"]
    assert fault
    assert (fault.kind, fault.name) == ("cudnn", "CUDNN_STATUS_ARCH_MISMATCH")


@pytest.mark.parametrize(
    ("error", "text", "kind", "name"),
    [
        ("RuntimeError", "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", "cudnn", "CUDNN_STATUS_NOT_INITIALIZED"),
        ("RuntimeError", "cuDNN version incompatibility: ...", "cudnn", "cuDNN version incompatibility"),
        ("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 MiB", "cuda", "cudaErrorMemoryAllocation"),
        ("X", "RESOURCE_EXHAUSTED: Out of memory while trying", "cuda", "cudaErrorMemoryAllocation"),
        ("X", "CUDA error: no kernel image is available for execution", "cuda", "cudaErrorNoKernelImageForDevice"),
        ("X", "cudaErrorInsufficientDriver: CUDA driver version", "cuda", "cudaErrorInsufficientDriver"),
        ("X", "failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "cuda", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        ("ImportError", "libcudnn.so.8: cannot open shared object file", "loader", "ImportError"),
        ("ImportError", "/x/libtorch.so: undefined symbol: cublasLt", "loader", "ImportError"),
        ("ImportError", "DLL load failed while importing _C", "loader", "ImportError"),
        ("ModuleNotFoundError", "No module named 'numpy'", "python", "ModuleNotFoundError"),
    ],
)
def test_faults_by_their_words(error: str, text: str, kind: str, name: str) -> None:
    fault = fault_of(error, text)
    assert (fault.kind, fault.name, fault.text) == (kind, name, text)


@pytest.mark.parametrize(
    ("package", "program"),
    [
        ("torch", "torch"),
        ("tensorflow-gpu", "tensorflow"),
        ("tensorflow", "tensorflow"),
        ("jax", "jax"),
        ("jaxlib", ""),
        ("jax-cuda12-plugin", ""),
        ("jax-cuda12-pjrt", ""),
        ("cupy-cuda12x", "cupy"),
        ("onnxruntime-gpu", "onnxruntime"),
        ("torchvision", ""),
        ("theano", ""),
    ],
)
def test_which_program_a_distribution_has(package: str, program: str) -> None:
    assert program_of(package) == program


def test_a_framework_without_a_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotRunnable, match="not for theano"):
        tried(tmp_path, "theano")


def test_no_program_runs_when_it_is_merely_imported() -> None:
    assert set(programs()) == {"cupy", "jax", "onnxruntime", "tensorflow", "torch"}


def predicted(name: str, path: str, site: Path) -> Prediction:
    found = Seen(path, "test") if path else Unseen("nowhere")
    return Prediction(str(site), "onnxruntime-gpu", name, found, found)


@pytest.mark.parametrize("where", ["as predicted", "elsewhere", "nowhere"])
def test_mapped_files_beside_the_prediction(made_up, where: str) -> None:  # type: ignore[no-untyped-def]
    """A real library is mapped under the name of CUDA's: the one that ctypes itself brings along."""
    import _ctypes

    site = made_up(first="import ctypes; ctypes.CDLL(os.environ['LIBRARY'])")
    library = site / "libcudart.so.12.8.90"
    library.write_bytes(Path(_ctypes.__file__).read_bytes())
    os.environ["LIBRARY"] = str(library)
    told = {"as predicted": str(library), "elsewhere": "/usr/lib/libcudart.so.12.1", "nowhere": ""}[where]
    try:
        trial = tried(site, predictions=(predicted("libcudart.so.12", told, site),))
    finally:
        del os.environ["LIBRARY"]
    assert trial.compared == 1
    assert trial.has_passed == (where == "as predicted")
    if where != "as predicted":
        assert [(one.name, one.mapped, one.predicted) for one in trial.surprises] == [
            ("libcudart.so.12", str(library), told)
        ]


def site_of(folder: Path, *requirements: str) -> Path:
    for requirement in requirements:
        unpack(fetch(requirement, python=f"{sys.version_info.major}.{sys.version_info.minor}"), folder)
    return folder


@pytest.mark.slow
def test_the_real_onnxruntime_convolves(tmp_path: Path) -> None:
    site = site_of(tmp_path, "onnxruntime==1.22.0")
    os.symlink(Path(np.__file__).parent, site / "numpy")
    assert tried(site, "onnxruntime", CPU).has_passed
    trial = tried(site, "onnxruntime", 0)
    assert "CPU build" in trial.stages[1].lacks
    assert not trial.has_passed


@pytest.mark.slow
def test_the_real_jax_convolves(tmp_path: Path) -> None:
    site = site_of(tmp_path, *JAX_WHEELS)
    trial = tried(site, "jax", CPU)
    assert trial.has_passed, trial
    assert [row.direction for row in trial.rows] == ["forward", "backward-data", "backward-filter"]
    assert "gpu" in tried(site, "jax", 0).stages[1].lacks


@pytest.mark.slow
def test_a_cupy_without_its_cudnn_says_which_library(tmp_path: Path) -> None:
    site = site_of(tmp_path, "cupy-cuda12x==13.6.0", "fastrlock==0.8.3")
    fault = {one.name: one.fault for one in tried(site, "cupy-cuda12x").stages}["device"]
    assert fault
    assert fault.kind == "loader"
    assert "libcudnn.so.8: cannot open shared object file" in fault.text
