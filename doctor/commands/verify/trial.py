"""The same small convolution through a framework, in its own interpreter, and the files that it really mapped.

One child a framework, in the environment that the user's own program would have. What it answers is compared here, in
plain Python: neither NumPy nor CuPy is needed, in our environment or in the user's.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compat.base.discover import load_one, names_in
from compat.base.record import NamedTuple
from doctor.commands.verify import frameworks
from doctor.commands.verify.cudnn_trial.events import Reading
from doctor.commands.verify.cudnn_trial.outcome import Ending, Fault, Row, Stage
from doctor.commands.verify.problem import SmallProblem, difference, small_problem
from doctor.host import Host, HostError, NotRunnable
from doctor.host.optional_reads import real_path_of
from doctor.host.supervised_child import Program, watch
from doctor.host.user_interpreter import foreign
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Seen

STAGES = ("import", "device", "convolution", "mapped")
CPU = -1
_HERE = os.path.dirname(os.path.abspath(__file__))
_STDERR_BYTES = 16384
# Winograd and FFT transform the numbers before they multiply; TF32 and fp32 both stay far below this.
_TOLERANCE = 2e-3
# What convolves: the one library of 5 to 7, the parts of 8, the engines of 9 (whose cnn holds only the classic calls).
_CONVOLVING = re.compile(r"(lib)?cudnn(\.so\.[5-7]\b|64_[5-7]\.dll|_cnn|_engines)", re.IGNORECASE)
# What exceptions of frameworks say, and whose fault that is; the first that matches.
_FAULTS = (
    ("driver", r"(?i)(driver on your system is too old|driver version is insufficient|Driver version is insufficient)"),
    ("cudnn", r"\b(CUDNN_STATUS_\w+)"),
    ("cudnn", r"(cuDNN version incompatibility)"),  # pytorch/pytorch:torch/backends/cudnn/__init__.py@v2.9.1
    ("dlerror", r"(?:Could not load dynamic library|Could not dlopen library) '(?!libnvinfer)[^']+'; dlerror: (.*)"),
    ("dlerror", r"Failed to load library \S*providers_cuda\S* with error: (.*)"),
    ("cuda", r"\b(cudaError[A-Z]\w+|CUDA_ERROR_[A-Z_]+)"),
    ("number", r"(?:\b[Ee]rror |UNKNOWN ERROR \()(3[456]?|46|100|2\d\d|30[34]|80\d|810|999)\b"),
    ("unknown", r"(CUDA unknown error)"),
    ("busy", r"(?i)(devices?(?:\(s\))? (?:is/are|are) (?:all )?busy or unavailable)"),
    ("nodriver", r"(Found no NVIDIA driver|Could not find cuda drivers)"),
    ("nodevice", r"(?i)(no CUDA GPUs are available|no CUDA-capable device is detected)"),
    ("memory", r"(?i)(out of memory|RESOURCE_EXHAUSTED|OutOfMemoryError)"),
    ("kernel", r"(?i)(no kernel image is available)"),
    ("loader", r"(\S+\.(?:so[\d.]*|dll)\b.{0,80}(?:cannot open|undefined symbol|not found|failed)|DLL load failed)"),
)
_NAMES = {
    "driver": "cudaErrorInsufficientDriver",
    "memory": "cudaErrorMemoryAllocation",
    "kernel": "cudaErrorNoKernelImageForDevice",
    "unknown": "cudaErrorUnknown",
    "busy": "cudaErrorDevicesUnavailable",
    "nodriver": "cudaErrorSharedObjectInitFailed",
    "nodevice": "cudaErrorNoDevice",
}


class Surprise(NamedTuple):
    """A library that the process mapped from another place than was predicted."""

    name: str  # "libcudnn_ops.so.9"
    mapped: str  # real path of the file
    predicted: str  # real path; "" where it was predicted that none is found


class Trial(NamedTuple):
    """What one framework of one environment came to."""

    framework: str  # label, "torch 2.9.1+cu128"
    package: str
    environment: str  # prefix
    interpreter: str
    gpu: int
    stages: tuple[Stage, ...]  # those of STAGES that were begun
    rows: tuple[Row, ...]  # one a direction
    surprises: tuple[Surprise, ...]
    compared: int  # mapped libraries of which it was predicted where they come from
    ending: Ending
    doubt: str = ""  # why numbers that are right do not prove that cuDNN computed them; "" where they do

    @property
    def has_passed(self) -> bool:
        """Whether it convolved on the device by cuDNN, every answer was right, and it loaded what was predicted."""
        passed = {one.name for one in self.stages if one.status == "passed"}
        right = bool(self.rows) and all(one.status == "right" for one in self.rows)
        return (
            self.ending.kind == "exited" and passed >= set(STAGES) and right and not self.surprises and not self.doubt
        )


def programs() -> tuple[str, ...]:
    """The frameworks that a convolution can be tried through, by the names that a user gives them."""
    return names_in(frameworks)


def program_of(package: str) -> str:
    """The program for a distribution ("tensorflow-gpu", "cupy-cuda12x"), "" for one that has none."""
    plain = package.replace("-", "_").lower()
    for name in programs():
        if plain == name or plain.startswith(f"{name}_"):
            return "" if "plugin" in plain or "pjrt" in plain else name
    return ""


class Case(NamedTuple):
    """Through what, where."""

    host: Host
    environment: Environment
    framework: Framework
    gpu: int = 0  # `CPU`: on none
    share: float = 0.0  # of the memory of the smallest GPU, that a trial may take; 0.0: not known


def try_framework(case: Case, predictions: Iterable[Prediction], timeout_s: float = 300.0) -> Trial:
    """Convolve through a framework in a child; raises NotRunnable for one that there is no program for."""
    name = program_of(case.framework.package)
    if not name:
        raise NotRunnable(case.framework.path, f"there is a trial for {programs()}, not for {case.framework.package}")
    problem = small_problem()
    numbers = {"x": problem.x, "w": problem.w, "dy": problem.dy, "padding": problem.padding}
    order = {"gpu": case.gpu, "share": case.share, "problem": numbers}
    path = os.path.join(_HERE, "frameworks", f"{name}.py")
    argv = (case.environment.interpreter, path, json.dumps(order))
    return _trial(case, problem, *_run(case, argv, timeout_s), predictions)


def _run(case: Case, argv: tuple[str, ...], timeout_s: float) -> tuple[tuple[Stage, ...], Ending]:
    reading = Reading(STAGES)
    with tempfile.TemporaryDirectory(prefix="gpudoctor-", ignore_cleanup_errors=True) as folder:
        events = os.path.join(folder, "events")
        told = Program(argv=(*argv, events), environ={}, events=events, timeout_s=timeout_s, stderr_bytes=_STDERR_BYTES)
        try:
            program = foreign(case.host, os.path.join(_HERE, "child.py"), case.framework.path, told)
        except HostError as error:
            return (), Ending(kind="not-started", code=0, stage="", doing="", stderr=str(error))
        ended = watch(program, reading.hear)
    log = reading.log(ended.seconds)
    ending = Ending(kind=ended.kind, code=ended.code, stage=log.stage, doing=log.doing, stderr=ended.stderr.strip())
    return log.stages, ending


def _trial(
    case: Case,
    problem: SmallProblem,
    said: tuple[Stage, ...],
    ending: Ending,
    predictions: Iterable[Prediction],
) -> Trial:
    framework, environment = case.framework, case.environment
    facts = {one.name: one.facts for one in said}
    used, files = facts.get("convolution", {}), facts.get("mapped", {}).get("files")
    results = used.get("results")
    told = [one for one in predictions if (one.environment, one.asker) == (environment.prefix, framework.package)]
    surprises, compared = _surprises(case.host, files, told)
    return Trial(
        framework=framework.label,
        package=framework.package,
        environment=environment.prefix,
        interpreter=environment.interpreter,
        gpu=case.gpu,
        stages=tuple(map(_judged, said)),
        rows=tuple(_rows(framework.package, problem, results)) if isinstance(results, dict) else (),
        surprises=surprises,
        compared=compared,
        ending=ending,
        doubt=_doubt(case.gpu, used, files),
    )


def _doubt(gpu: int, used: Mapping[str, Any], files: Any) -> str:
    """What the framework said of its convolution, and whether a library of cuDNN's that convolves is mapped."""
    executed = used.get("executed")
    if "results" not in used:
        return ""  # it did not come so far
    if executed is not None and not executed:
        return "what was executed holds no convolution"
    if gpu == CPU:
        return ""
    if used.get("cudnn") is False:
        return f"computed without cuDNN: {used.get('why')}"
    if not isinstance(files, list):
        return "" if used.get("cudnn") else "this system does not show which libraries were mapped"
    if not any(_CONVOLVING.match(os.path.basename(str(one))) for one in files):
        return "computed without cuDNN: no library of cuDNN's that convolves was mapped"
    return ""


def _judged(said: Stage) -> Stage:
    """Without what was only for this module, and with what its exception means."""
    facts = {key: value for key, value in said.facts.items() if key not in {"results", "files"}}
    return said._replace(facts=facts, fault=said.fault and fault_of(said.fault.name, said.fault.text))


def fault_of(error: str, text: str) -> Fault:
    """What an exception of a framework means, by its words."""
    for kind, pattern in _FAULTS:
        match = re.search(pattern, text)
        if match and kind in _NAMES:
            return Fault(kind="cuda", function="", status=0, name=_NAMES[kind], text=text)
        if match and kind == "number":
            return Fault(kind="cuda", function="", status=int(match[1]), name="", text=text)
        if match:
            name = match[1] if kind in {"cudnn", "cuda"} else error
            if kind == "dlerror":  # the loader's words among many others
                return Fault(kind="loader", function="dlopen", status=0, name=name, text=match[1])
            return Fault(kind=kind, function="", status=0, name=name, text=text)
    return Fault(kind="python", function="", status=0, name=error, text=text)


def _rows(package: str, problem: SmallProblem, results: dict[str, Any]) -> Iterator[Row]:
    """One a direction; a direction that the framework has, and gave nothing for, has failed."""
    for direction in load_one(frameworks, program_of(package), "DIRECTIONS", tuple):
        worst = difference(results.get(direction), problem.expected[direction])
        status = "failed" if direction not in results else "right" if worst <= _TOLERANCE else "wrong"
        yield Row(
            direction=direction,
            algorithm="",
            dtype="fp32",
            dims=2,
            problem="3x3",
            status=status,
            difference=worst,
            tolerance=_TOLERANCE,
            workspace_bytes=0,
        )


def _surprises(host: Host, files: Any, predictions: list[Prediction]) -> tuple[tuple[Surprise, ...], int]:
    """The mapped files that were predicted elsewhere, and how many could be compared."""
    told = {one.soname: one.path.value if isinstance(one.path, Seen) else "" for one in predictions}
    by_path = {path for path in told.values() if path}
    found, compared = [], 0
    for path in files if isinstance(files, list) else ():
        real = real_path_of(host, str(path)) or str(path)
        file_name = os.path.basename(real)
        # The name by which a file is asked for: libcudnn_ops.so.9 of libcudnn_ops.so.9.10.2; "" for none that was told.
        name = next((name for name in told if file_name == name or file_name.startswith(f"{name}.")), "")
        if real in by_path or name:
            compared += 1
            if real not in by_path:
                found.append(Surprise(name, real, told[name]))
    return tuple(found), compared
