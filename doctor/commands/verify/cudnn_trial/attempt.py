"""One algorithm of one pass on one problem: tried, and its answer held against the reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from compat.base.record import NamedTuple
from doctor.commands.verify.cudnn_trial.convolution import Convolution, Problem
from doctor.commands.verify.cudnn_trial.cudnn_api import NOT_EXPORTED, CudnnError
from doctor.commands.verify.cudnn_trial.faults import fault_of
from doctor.commands.verify.cudnn_trial.numbers import DTYPES, compare, from_storage, operands, to_storage, tolerance
from doctor.commands.verify.cudnn_trial.outcome import Fault, Row
from doctor.commands.verify.cudnn_trial.reference import convolve
from doctor.commands.verify.cudnn_trial.trial import Trial

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

Algorithms = dict[str, tuple[str, ...]]  # by direction
_NOTHING = -1.0  # nothing was computed
_TF32_CAPABILITY, _TF32_MAJOR = (8, 0), 8


class Attempt(NamedTuple):
    """A row, and what stands behind one that is not "right"."""

    row: Row
    fault: Fault | None


class AttemptOrder(NamedTuple):
    """Which algorithm of which pass."""

    direction: str
    algorithm: str


def attempts(trial: Trial, problem: Problem, algorithms: Algorithms) -> Iterator[Attempt]:
    """Every one of the algorithms, in turn; each is written as an event too. Raises CuPy's errors."""
    for attempt in _attempts(trial, problem, algorithms):
        trial.events.row(attempt.row)
        yield attempt


def _attempts(trial: Trial, problem: Problem, algorithms: Algorithms) -> Iterator[Attempt]:
    every = [AttemptOrder(direction, name) for direction, names in algorithms.items() for name in names]
    not_offered = _why_not_offered(trial, problem.dtype)
    if not_offered:
        yield from (Attempt(row_of(asked, problem, "declined", not_offered), None) for asked in every)
        return
    trial.events.doing(f"descriptors of {problem.dtype} {problem.dims}D {problem.label}")
    try:
        convolution = Convolution(trial.cudnn, problem)
    except CudnnError as refused:
        yield from (refused_attempt(asked, problem, refused, 0) for asked in every)
        return
    with convolution:
        for direction, names in algorithms.items():
            bench = _Bench(trial, convolution, direction)
            yield from (bench.attempt(AttemptOrder(direction, name)) for name in names)


def _why_not_offered(trial: Trial, dtype: str) -> str:
    """TF32 is not a dtype of cuDNN's but a way to multiply: where there is none, fp32 would run and pass for it.

    Source: NVIDIA's cuDNN API reference, cudnnMathType_t: since cuDNN 8, on GPUs from compute capability 8.0 on.
    """
    if dtype != "tf32":
        return ""
    if trial.cudnn.major < _TF32_MAJOR:
        return f"cuDNN {trial.cudnn.version} has no TF32"
    if trial.capability is not None and trial.capability < _TF32_CAPABILITY:
        return "a GPU of compute capability {}.{} has no TF32".format(*trial.capability)
    return ""


class _Bench:
    """The inputs of one pass on the device, and the answer that must come out."""

    def __init__(self, trial: Trial, convolution: Convolution, direction: str) -> None:
        self._trial = trial
        self._convolution = convolution
        self._problem = problem = convolution.problem
        first, second = operands(direction, problem)
        self._inputs = [trial.memory.up(to_storage(one, problem.dtype)) for one in (first, second)]
        self._expected = convolve(direction, first, second, problem)

    def attempt(self, asked: AttemptOrder) -> Attempt:
        problem, needed = self._problem, 0
        self._trial.events.doing(f"{asked.direction} {asked.algorithm} {problem.dtype} {problem.dims}D {problem.label}")
        try:
            needed = self._convolution.workspace_bytes(*asked)
            if needed > self._trial.order.workspace_limit_bytes:
                return Attempt(row_of(asked, problem, "too-big")._replace(workspace_bytes=needed), None)
            return self._judged(asked, self._answer(asked, needed), needed)
        except CudnnError as refused:
            return refused_attempt(asked, problem, refused, needed)

    def _answer(self, asked: AttemptOrder, needed: int) -> Array:
        memory = self._trial.memory
        out = memory.garbage(self._expected.shape, DTYPES[self._problem.dtype].storage)
        workspace = memory.empty(needed)
        a, b, into, room = (memory.address(one) for one in (*self._inputs, out, workspace))
        self._convolution.run(*asked, a, b, into, room if needed else 0, needed)
        memory.synchronise()
        return from_storage(memory.down(out), self._problem.dtype)

    def _judged(self, asked: AttemptOrder, answer: Array, needed: int) -> Attempt:
        allowed = tolerance(self._problem, asked.algorithm)
        difference, detail = compare(answer, self._expected)
        is_right = difference <= allowed
        row = row_of(asked, self._problem, "right" if is_right else "wrong", "" if is_right else detail)
        row = row._replace(difference=difference, workspace_bytes=needed)
        return Attempt(row, None if is_right else wrong_numbers(row))


def wrong_numbers(row: Row) -> Fault:
    """What a wrong row is as a fault."""
    what = f"{row.direction} {row.algorithm} {row.dtype} {row.dims}D {row.problem}"
    text = f"{what}: {row.detail} (off by {row.difference:.3g} of the greatest value, allowed {row.tolerance:.3g})"
    return Fault(kind="wrong", function="", status=0, name="", text=text)


def refused_attempt(asked: AttemptOrder, problem: Problem, refused: CudnnError, needed: int) -> Attempt:
    """One that cuDNN refused: not offered, or failed."""
    row = row_of(asked, problem, "declined" if refused.is_declined else "failed", str(refused))
    error = "" if refused.name == NOT_EXPORTED else refused.name
    return Attempt(row._replace(workspace_bytes=needed, error=error), fault_of(refused))


def row_of(asked: AttemptOrder, problem: Problem, status: str, detail: str = "") -> Row:
    """An attempt of which nothing was computed."""
    return Row(
        direction=asked.direction,
        algorithm=asked.algorithm,
        dtype=problem.dtype,
        dims=problem.dims,
        problem=problem.label,
        status=status,
        difference=_NOTHING,
        tolerance=tolerance(problem, asked.algorithm),
        workspace_bytes=0,
        detail=detail,
    )
