"""What a framework's own convolution came to, judged; the trial itself is another test's."""

from __future__ import annotations

import pytest

from doctor.commands.verify.cudnn_trial.outcome import Ending, Fault, Row, Stage
from doctor.commands.verify.machine_rules import against_the_driver
from doctor.commands.verify.missing import lacks_of_framework
from doctor.commands.verify.subject import Known
from doctor.commands.verify.trial import STAGES, Surprise, Trial
from doctor.commands.verify.verification import FrameworkTried
from doctor.commands.verify.via_framework import Way, answers_through, share_of, through
from doctor.host import BadRequest
from doctor.host.live import LiveHost
from doctor.model.facts import Facts
from doctor.model.facts.environment import Variable
from doctor.model.facts.seen import Unseen
from doctor.model.finding import Answer, Status
from doctor.rules.shared.engine import root_causes
from tests.commands.verify.outcomes import fault, row
from tests.machine import SITE, VENV, configuration, framework, gpu, machine, seen
from tests.rules.case import MATRIX

NO_GPU = machine(gpus=seen(()), pci=seen(()))
RIGHT = tuple(row(direction=one, algorithm="") for one in ("forward", "backward-data", "backward-filter"))


def trial(
    until: str = "mapped",
    why: Fault | None = None,
    *,
    rows: tuple[Row, ...] = RIGHT,
    ending: Ending | None = None,
    surprises: tuple[Surprise, ...] = (),
    status: str = "",
    lacks: str = "",
) -> Trial:
    """A trial of torch that passed, or ended in this stage."""
    begun = STAGES[: STAGES.index(until) + 1]
    stages = [Stage(name, "passed", 0.1, None, "", {}) for name in begun]
    if why or status:
        stages[-1] = stages[-1]._replace(status=status or "failed", fault=why, lacks=lacks)
    return Trial(
        framework="torch 2.9.1+cu128",
        package="torch",
        environment=VENV,
        interpreter=f"{VENV}/bin/python",
        gpu=0,
        stages=tuple(stages),
        rows=rows,
        surprises=surprises,
        compared=8,
        ending=ending or Ending("exited", 0, "", "", ""),
    )


def judged(one: Trial, facts: Facts | None = None) -> tuple[Answer, ...]:
    return tuple(answers_through(one, framework(), Known(LiveHost({}), facts or machine(), MATRIX)))


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (trial("import", fault("python", "ImportError", "numpy is too new")), "framework-convolution-failed"),
        (trial("convolution", fault("python", "AttributeError", "no such thing")), "framework-convolution-failed"),
        (trial("import", status="cut-off", ending=Ending("signal", 11, "import", "", "")), "framework-import-crash"),
        (trial("import", status="cut-off", ending=Ending("timed-out", 0, "import", "", "")), "framework-import-hang"),
        (trial("convolution", fault("cudnn", "CUDNN_STATUS_ARCH_MISMATCH", "x")), "cudnn-arch-mismatch"),
        (trial("convolution", fault("cuda", "cudaErrorMemoryAllocation", "x")), "out-of-memory-not-a-stack-fault"),
        (trial("device", fault("cuda", "cudaErrorInsufficientDriver", "x")), "driver-too-old-for-runtime"),
        (trial("convolution", rows=(*RIGHT[:2], row("wrong", difference=0.3))), "cudnn-wrong-result"),
        (
            trial("convolution", status="cut-off", ending=Ending("signal", 6, "convolution", "", "")),
            "cudnn-crash",
        ),
    ],
)
def test_each_failure_has_its_code(one: Trial, code: str) -> None:
    (answer,) = judged(one)
    assert (answer.code, answer.kind) == (code, Status.BAD)
    assert answer.subject.startswith("torch 2.9.1+cu128")
    assert answer.needs
    assert answer.evidence
    assert FrameworkTried(one, (answer,), "").result == "failed"


def test_one_that_passed_says_nothing() -> None:
    assert judged(trial()) == ()
    assert FrameworkTried(trial(), (), "").result == "passed"


@pytest.mark.parametrize(
    "one",
    [
        trial(surprises=(Surprise("libcudnn_ops.so.9", "/opt/libcudnn_ops.so.9", f"{SITE}/libcudnn_ops.so.9"),)),
        trial("import", ending=Ending("not-started", 0, "", "", "no such file")),
        trial("convolution", rows=()),
    ],
)
def test_what_is_no_fault_of_the_stack_stays_open(one: Trial) -> None:
    answers = judged(one)
    assert [answer.kind for answer in answers] == [Status.UNKNOWN]
    assert FrameworkTried(one, answers, "").result == "incomplete"


def test_without_a_gpu_it_is_said_in_one_line() -> None:
    one = trial("device", status="missing", lacks="CUDA is not available", rows=())
    line = lacks_of_framework(one, NO_GPU)
    assert line == "torch 2.9.1+cu128 needs an NVIDIA GPU (this machine has none): CUDA is not available"
    answers = judged(one, NO_GPU)
    assert answers == ()
    assert FrameworkTried(one, answers, line).result == "incomplete"


def test_one_that_is_not_installed_is_bad_usage() -> None:
    way = Way(Known(LiveHost({}), machine(), MATRIX), 0, 10.0)
    with pytest.raises(BadRequest, match="--framework jax: it is not installed"):
        through(("jax",), way, lambda _: None)


def blind(lacks: str, stderr: str = "", is_meant: bool = False) -> Trial:
    """A trial of a framework that found no GPU."""
    one = trial("device", status="missing", lacks=lacks, rows=(), ending=Ending("exited", 0, "", "", stderr))
    return one._replace(stages=tuple(stage._replace(facts={"is_meant": is_meant}) for stage in one.stages))


ABSENT = "cannot open shared object file: No such file or directory"
# As the frameworks word it; the lines were printed by their releases on machines of others.
TENSORFLOW = f"""\
W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; \
dlerror: libnvinfer.so.7: {ABSENT}
W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; \
dlerror: libcudnn.so.8: {ABSENT}
W tensorflow/core/common_runtime/gpu/gpu_device.cc:1850] Cannot dlopen some GPU libraries."""
ONNX = f"""[E:onnxruntime:Default, provider_bridge_ort.cc:2395 TryGetProviderInfo_CUDA] Failed to load library \
libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: {ABSENT}
[W:onnxruntime:Default, onnxruntime_pybind_state.cc:1139] Failed to create CUDAExecutionProvider."""


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (blind("The NVIDIA driver on your system is too old (found version 11040)"), "driver-too-old-for-runtime"),
        (blind("tensorflow sees 0 GPU(s): []", TENSORFLOW), "cudnn-missing"),
        (blind("CUDAExecutionProvider could not be used", ONNX), "cudart-soname-missing"),
        (blind("jax", "Unable to load libcudnn: CUDA_ERROR_SYSTEM_NOT_READY"), "fabric-manager-not-running"),
        (blind("cudaGetDeviceCount() Error 804: forward compatibility was attempted"), "forward-compat-mistake"),
        (blind("Error 304: OS call failed or operation not supported on this OS"), "cuda-call-failed"),
        (blind("CUDA unknown error - this may be due to"), "uvm-broken-after-suspend"),
        (blind("No CUDA GPUs are available"), "cuda-call-failed"),
        (blind("Found no NVIDIA driver on your system."), "driver-libraries-missing"),
        (blind("Torch not compiled with CUDA enabled"), "framework-without-gpu"),
        (blind("it computes on the CPU: Conv2D"), "framework-without-gpu"),
        (blind("words that nobody knows"), "framework-without-gpu"),
    ],
)
def test_a_framework_that_does_not_use_the_gpu_is_the_finding(one: Trial, code: str) -> None:
    (answer,) = judged(one)
    assert (answer.code, answer.kind) == (code, Status.BAD)
    assert answer.evidence
    assert answer.needs
    assert FrameworkTried(one, (answer,), "").result == "failed"
    assert judged(one, NO_GPU) == ()  # and no fault on a machine without one


@pytest.mark.parametrize("is_meant", [True, False])
def test_one_that_is_not_made_to_use_a_gpu_stays_open(is_meant: bool) -> None:
    one = blind("no binding of cuDNN", is_meant=True) if is_meant else blind("CPU build")
    built = framework() if is_meant else framework(cuda=Unseen("none"), build=seen("cpu"), version=seen("2.9.1+cpu"))
    answers = tuple(answers_through(one, built, Known(LiveHost({}), machine(), MATRIX)))
    assert not [answer for answer in answers if answer.kind is Status.BAD]


def test_check_s_own_rules_explain_why() -> None:
    hidden = machine(
        configuration=configuration(variables=seen((Variable("CUDA_VISIBLE_DEVICES", "", "environment"),)))
    )
    said = judged(blind("No CUDA GPUs are available"), hidden)
    known = Known(LiveHost({}), hidden, MATRIX)
    (rule,) = against_the_driver(known, said)
    assert rule.code == "cuda-visible-devices-empty-or-invalid"
    root = {code: cause.code for (code, _), cause in root_causes((*said, rule)).items()}
    assert root == {"cuda-call-failed": "cuda-visible-devices-empty-or-invalid"}
    assert against_the_driver(known, ()) == ()


def test_right_numbers_without_cudnn_stay_open() -> None:
    one = trial()._replace(doubt="computed without cuDNN: torch.backends.cudnn.enabled is False")
    answers = judged(one)
    assert [(answer.kind, answer.code) for answer in answers] == [(Status.UNKNOWN, "cudnn-not-used")]
    assert "computed without cuDNN" in answers[0].why
    assert FrameworkTried(one, answers, "").result == "incomplete"


@pytest.mark.parametrize(
    ("sizes", "is_cut", "expected"),
    [((80 << 30, 8 << 30), False, 1 / 32), ((80 << 30,), True, 0.0), ((), False, 0.0), ((80 << 30, 0), False, 0.0)],
)
def test_a_trial_may_take_a_share_of_the_smallest_gpu(sizes: tuple[int, ...], is_cut: bool, expected: float) -> None:
    cards = tuple(gpu(memory_bytes=seen(size), mig_enabled=seen(is_cut)) for size in sizes)
    assert share_of(machine(gpus=seen(cards))) == expected
