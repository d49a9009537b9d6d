"""A convolution through frameworks: the real ones in slow tests, and made-up ones for what real ones rarely do."""

from __future__ import annotations

import _ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from doctor.commands.verify import frameworks
from doctor.commands.verify.problem import small_problem
from doctor.commands.verify.trial import CPU, Case, Trial, _doubt, fault_of, program_of, programs, try_framework
from doctor.host import NotRunnable
from doctor.host.live import LiveHost
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Seen, Unseen
from tests import machine
from tests.wheels import JAX_WHEELS, TORCH_WHEELS, fetch, installed, unpack

PROBLEM = json.dumps({name: getattr(small_problem(), name) for name in ("x", "w", "dy", "padding")})
# A made-up onnxruntime: the program for it needs the least of a framework.
FAKE = """
__version__ = "1.0"
import ctypes, json, os, signal, sys, time
if "ENGINE" in os.environ:
    ctypes.CDLL(os.environ["ENGINE"])
{first}
def get_available_providers():
    return ["CUDAExecutionProvider", "CPUExecutionProvider"]
class SessionOptions:
    pass
class InferenceSession:
    def __init__(self, model, options, providers):
        self.providers = {providers}
        self.profile = options.profile_file_prefix + ".json"
    def end_profiling(self):
        ran = [dict(cat="Node", args=dict(op_name=name, provider=provider)) for name, provider in {executed}]
        with open(self.profile, "w") as stream:
            json.dump([dict(cat="Session"), *ran], stream)
        return self.profile
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
    engine = next(site.glob("libcudnn*"), None)
    environ |= {"ENGINE": str(engine)} if engine else {}
    case = Case(LiveHost(environ), environment(site), framework(package, site), gpu)
    return try_framework(case, options.pop("predictions", ()), **options)  # type: ignore[arg-type]


@pytest.fixture
def made_up(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A site directory with an onnxruntime of the words that are given."""

    def make(
        first: str = "",
        run: str = "",
        providers: str = "[providers[0][0]]",
        executed: str = "[('Conv', 'CUDAExecutionProvider')]",
        engine: str = "libcudnn_engines_precompiled.so.9",
    ) -> Path:
        """A real library is mapped under the name of cuDNN's: the one that ctypes itself brings along."""
        (tmp_path / "onnxruntime").mkdir()
        if engine:
            shutil.copy(_ctypes.__file__, tmp_path / engine)
        text = FAKE.format(first=first, run=run or "pass", providers=providers, executed=executed)
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


@pytest.mark.parametrize(
    ("words", "doubt"),
    [
        ({"executed": "[]"}, "what was executed holds no convolution"),
        ({"executed": "[('Reshape', 'CUDAExecutionProvider')]"}, "what was executed holds no convolution"),
        ({"engine": ""}, "computed without cuDNN: no library of cuDNN's that convolves was mapped"),
        ({"engine": "libcudnn.so.9"}, "computed without cuDNN: no library of cuDNN's that convolves was mapped"),
        ({"engine": "libcudnn_ops.so.9"}, "computed without cuDNN: no library of cuDNN's that convolves was mapped"),
        ({"engine": "libcudnn_cnn_infer.so.8"}, ""),
        ({"engine": "libcudnn.so.7"}, ""),
    ],
)
def test_numbers_that_are_right_are_no_proof_without_cudnn(made_up, words, doubt: str) -> None:  # type: ignore[no-untyped-def]
    trial = tried(made_up(**words))
    assert [row.status for row in trial.rows] == ["right"]
    assert (trial.doubt, trial.has_passed) == (doubt, not doubt)


@pytest.mark.parametrize(
    ("name", "convolves"),
    [
        ("cudnn64_7.dll", True),
        ("cudnn_cnn_infer64_8.dll", True),
        ("cudnn_engines_precompiled64_9.dll", True),
        ("CUDNN_ENGINES_RUNTIME_COMPILED64_9.DLL", True),
        ("cudnn64_8.dll", False),
        ("cudnn64_9.dll", False),
        ("cudnn_ops64_9.dll", False),
        ("libcudnn.so.9", False),
        ("libcudnn.so.7.6.5", True),
    ],
)
def test_which_library_of_cudnn_convolves(name: str, convolves: bool) -> None:
    facts = {"results": {}, "executed": [("Conv", "gpu")]}
    assert bool(_doubt(0, facts, [f"C:/site/nvidia/cudnn/bin/{name}"])) is not convolves


def test_a_convolution_on_the_cpu_is_none_on_the_gpu(made_up) -> None:  # type: ignore[no-untyped-def]
    trial = tried(made_up(executed="[('Conv', 'CPUExecutionProvider')]"))
    assert states(trial)["convolution"] == "missing"
    assert {one.lacks for one in trial.stages} == {"", "it computes on the CPU: Conv"}
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
        (
            "",
            "The NVIDIA driver on your system is too old (found version 11040).",
            "cuda",
            "cudaErrorInsufficientDriver",
        ),
        ("", "Found no NVIDIA driver on your system.", "cuda", "cudaErrorSharedObjectInitFailed"),
        ("", "No CUDA GPUs are available", "cuda", "cudaErrorNoDevice"),
        ("", "CUDA unknown error - this may be due to an incorrectly set up environment", "cuda", "cudaErrorUnknown"),
        ("", "CUDA-capable device(s) is/are busy or unavailable", "cuda", "cudaErrorDevicesUnavailable"),
        ("", "failed call to cuInit: UNKNOWN ERROR (303)", "cuda", ""),
        ("", "cudaGetDeviceCount(). Error 804: forward compatibility was attempted", "cuda", ""),
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
    """A real library is mapped under the name of CUDA's, too."""
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


def executed(trial: Trial) -> set[str]:
    """The operations that the framework says it executed, all of them on the CPU."""
    facts = next(one.facts for one in trial.stages if one.name == "convolution")
    assert {where for _, where in facts["executed"]} == {"cpu"}
    return {name for name, _ in facts["executed"]}


def without_gpu(trial: Trial) -> str:
    assert not trial.has_passed
    return next(one.lacks for one in trial.stages if one.name == "device")


@pytest.mark.slow
def test_the_real_onnxruntime_executes_the_convolution(tmp_path: Path) -> None:
    site = site_of(tmp_path, "onnxruntime==1.22.0")
    os.symlink(Path(np.__file__).parent, site / "numpy")
    trial = tried(site, "onnxruntime", CPU)
    assert trial.has_passed, trial
    assert executed(trial) == {"Conv"}
    assert "CPU build" in without_gpu(tried(site, "onnxruntime", 0))


def test_jax_is_held_to_its_share_by_the_name_that_every_release_takes(tmp_path: Path) -> None:
    """With both names of the variable JAX falls back to the CPU; before jaxlib 0.4.1 the share was of free memory."""
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax/__init__.py").write_text(
        "import os\n__version__ = '1'\n"
        "def devices(kind):\n"
        "    raise RuntimeError(str({name: one for name, one in os.environ.items() if 'MEM_FRACTION' in name}))\n"
    )
    site = {"XLA_CLIENT_MEM_FRACTION": "0.9"}
    for release, share, expected in (
        ("0.4.1", 0.01, {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.010000"}),
        ("0.11.0.dev2", 3.0, {"XLA_PYTHON_CLIENT_MEM_FRACTION": "1.000000"}),
        ("0.4.0", 0.01, site),
        ("0.9.2", 0.0, site),
    ):
        (tmp_path / "jaxlib.py").write_text(f"__version__ = {release!r}\n")
        environ = {**os.environ, **site, "PYTHONPATH": str(tmp_path)}
        case = Case(LiveHost(environ), environment(tmp_path), framework("jax", tmp_path), share=share)
        assert without_gpu(try_framework(case, ())) == str(expected)


@pytest.mark.slow
def test_the_real_jax_executes_the_convolution(tmp_path: Path) -> None:
    site = site_of(tmp_path, *JAX_WHEELS)
    trial = tried(site, "jax", CPU)
    assert trial.has_passed, trial
    assert [row.direction for row in trial.rows] == ["forward", "backward-data", "backward-filter"]
    assert executed(trial) == {"convolution"}
    assert "gpu" in without_gpu(tried(site, "jax", 0))


@pytest.mark.slow
def test_the_real_torch_executes_the_convolution(tmp_path: Path) -> None:
    site = site_of(tmp_path, *TORCH_WHEELS)
    trial = tried(site, "torch", CPU)
    assert trial.has_passed, trial
    assert {"aten::convolution", "aten::convolution_backward"} <= executed(trial)
    assert "CUDA" in without_gpu(tried(site, "torch", 0))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_real_tensorflow_executes_the_convolution(tmp_path: Path) -> None:
    """Fed constants, Grappler computes it before, and the graph that is executed holds none."""
    site = installed("tensorflow-cpu==2.21.0", tmp_path)
    trial = tried(site, "tensorflow", CPU)
    assert trial.has_passed, trial
    kinds = ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")
    assert all(any(name.endswith(kind) for name in executed(trial)) for kind in kinds)
    program = Path(frameworks.__file__).with_name("tensorflow.py").read_text()
    folded = program.replace(
        "v1.placeholder(tf.float32, _shape(problem[name]), name)", "tf.constant(problem[name], tf.float32)"
    )
    assert folded != program
    folded = folded.replace("{fed[name]: problem[name] for name in fed}", "{}")
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{folded}\nimport json, sys\nprint(convolve('/CPU:0', json.loads(sys.argv[1]))[1])",
            PROBLEM,
        ],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "'executed': []" in ran.stdout


@pytest.mark.slow
def test_a_cupy_without_its_cudnn_says_which_library(tmp_path: Path) -> None:
    site = site_of(tmp_path, "cupy-cuda12x==13.6.0", "fastrlock==0.8.3")
    fault = {one.name: one.fault for one in tried(site, "cupy-cuda12x").stages}["device"]
    assert fault
    assert fault.kind == "loader"
    assert "libcudnn.so.8: cannot open shared object file" in fault.text
