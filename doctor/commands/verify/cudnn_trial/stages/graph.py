"""The stage that convolves by the graph API, as frameworks do: the first plan of each pass that works."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from doctor.commands.verify.cudnn_trial.attempt import Attempt, AttemptOrder, refused_attempt, row_of, wrong_numbers
from doctor.commands.verify.cudnn_trial.convolution import DIRECTIONS, Problem
from doctor.commands.verify.cudnn_trial.cudnn_api import CudnnError
from doctor.commands.verify.cudnn_trial.graph import MODES_SINCE, PLANS, GraphConvolution, Plan
from doctor.commands.verify.cudnn_trial.numbers import DTYPES, compare, from_storage, operands, to_storage
from doctor.commands.verify.cudnn_trial.outcome import Fault
from doctor.commands.verify.cudnn_trial.reference import convolve
from doctor.commands.verify.cudnn_trial.stages.convolving import (
    QUICK,
    counts,
    demand_no_fault,
    demand_one_right,
    problem_of,
)
from doctor.commands.verify.cudnn_trial.stages.library import mapped
from doctor.commands.verify.cudnn_trial.trial import Lacking, StageFailed, Trial

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_NO_ENGINE = "cuDNN names no engine for it"
_LAYOUTS = ("nchw", "nhwc")


def graph(trial: Trial) -> dict[str, Any]:
    """Each pass in both layouts, fp32 and at level full every dtype: none may be wrong, and fp32 must be right once.

    Of a pass the plans are tried in cuDNN's own order until one is right, as PyTorch and XLA pass over those that fail.
    Every plan has the tolerance of its dtype: not every engine says that it transforms the data.
    NVIDIA's JIT edition has no heuristics: where it names no engine, nothing has been proved, and nothing is wrong.
    Facts: as `convolution`'s, and `not_asked`, why not, of a release without such an API.
    """
    if trial.cudnn.raw_version < MODES_SINCE:
        return {"not_asked": "cuDNN before 8.3 has no graph API that names engines as frameworks ask for them"}
    dtypes = ("fp32",) if trial.order.level == "conv" else tuple(DTYPES)
    problems = [problem_of(dtype, QUICK)._replace(layout=layout) for dtype in dtypes for layout in _LAYOUTS]
    tried = [one for problem in problems for direction in DIRECTIONS for one in _attempts(trial, problem, direction)]
    facts = counts(tried)
    demand_no_fault(tried, facts)
    for direction in DIRECTIONS:
        mine = [one for one in tried if (one.row.dtype, one.row.direction) == ("fp32", direction)]
        _demand_engines(trial, mine, direction, facts)
        demand_one_right(mine, direction, facts)
    return facts | mapped(trial)


def _demand_engines(trial: Trial, tried: list[Attempt], direction: str, facts: dict[str, Any]) -> None:
    if not all(one.fault is None and one.row.status == "declined" for one in tried):
        return
    if trial.cudnn.is_jit_edition:
        raise Lacking("engines", facts)
    text = f"cuDNN has no engine for a plain 3x3 convolution, fp32 {direction}"
    raise StageFailed(Fault(kind="no-engine", function="", status=0, name="", text=text), facts)


def _attempts(trial: Trial, problem: Problem, direction: str) -> Iterator[Attempt]:
    for attempt in _plans_tried(trial, problem, direction):
        trial.events.row(attempt.row)
        yield attempt
        if attempt.row.status == "right":
            return


def _plans_tried(trial: Trial, problem: Problem, direction: str) -> Iterator[Attempt]:
    every = asked = AttemptOrder(direction, "engines")
    planning = f"plans of {direction} {problem.dtype} {problem.label}"
    trial.events.doing(planning)
    try:
        with GraphConvolution(trial.cudnn, problem) as convolution:
            for plan in islice(convolution.offered(direction), PLANS):
                asked = AttemptOrder(direction, plan.label)
                yield _tried(trial, convolution, asked, plan)
                trial.events.doing(planning)
    except CudnnError as refused:
        yield refused_attempt(every, problem, refused, 0)
        return
    if asked is every:
        yield Attempt(row_of(every, problem, "declined", _NO_ENGINE), None)


def _tried(trial: Trial, convolution: GraphConvolution, asked: AttemptOrder, plan: Plan) -> Attempt:
    problem, memory, direction = convolution.problem, trial.memory, asked.direction
    trial.events.doing(f"{direction} {plan.label} {problem.dtype} {problem.dims}D {problem.label}")
    allowed = DTYPES[problem.dtype].tolerance
    row = row_of(asked, problem, "too-big")._replace(workspace_bytes=plan.workspace_bytes, tolerance=allowed)
    if plan.workspace_bytes > trial.order.workspace_limit_bytes:
        return Attempt(row, None)
    given = operands(direction, problem)
    expected = convolve(direction, *given, problem)
    blocks = [memory.up(to_storage(_laid(one, problem), problem.dtype)) for one in given]
    room = memory.empty(plan.workspace_bytes)
    out = memory.garbage(_laid(expected, problem).shape, DTYPES[problem.dtype].storage)
    try:
        convolution.run(direction, plan, [memory.address(one) for one in (*blocks, out)], memory.address(room))
    except CudnnError as refused:
        return refused_attempt(asked, problem, refused, plan.workspace_bytes)
    memory.synchronise()
    answer = from_storage(memory.down(out), problem.dtype)
    difference, detail = compare(_read(answer, problem), expected)
    if difference <= allowed:
        return Attempt(row._replace(status="right", difference=difference), None)
    row = row._replace(status="wrong", difference=difference, detail=detail)
    return Attempt(row, wrong_numbers(row))


def _laid(array: Array, problem: Problem) -> Array:
    """N, C, spatial... as it is in memory by the layout."""
    import numpy as np

    return np.moveaxis(array, 1, -1) if problem.layout == "nhwc" else array


def _read(array: Array, problem: Problem) -> Array:
    import numpy as np

    return np.moveaxis(array, -1, 1) if problem.layout == "nhwc" else array
