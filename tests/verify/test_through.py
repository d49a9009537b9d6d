"""What a framework's own convolution came to, judged; the trial itself is another test's."""

from __future__ import annotations

import pytest

from doctor.check.finding import Answer, Kind
from doctor.facts import Facts
from doctor.host import BadRequest
from doctor.host.live import LiveHost
from doctor.smoke.outcome import Ending, Fault, Row, Stage
from doctor.verify.missing import lacks_of_framework
from doctor.verify.subject import Known
from doctor.verify.through import Way, answers_through, through
from doctor.verify.trial import STAGES, Surprise, Trial
from doctor.verify.verification import FrameworkTried
from tests.machine import SITE, VENV, framework, machine, seen
from tests.rules.case import MATRIX
from tests.verify.outcomes import fault, row

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
    assert (answer.code, answer.kind) == (code, Kind.BAD)
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
    assert [answer.kind for answer in answers] == [Kind.UNKNOWN]
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
