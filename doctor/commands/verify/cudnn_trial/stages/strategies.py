"""The stage that chooses algorithms as frameworks do: by the time that cuDNN measures, within a workspace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from compat.base.record import NamedTuple
from doctor.commands.verify.cudnn_trial.attempt import wrong_numbers
from doctor.commands.verify.cudnn_trial.convolution import DIRECTIONS, OPERANDS, Convolution, Found, Problem
from doctor.commands.verify.cudnn_trial.cudnn_api import CudnnError
from doctor.commands.verify.cudnn_trial.numbers import (
    Comparison,
    compare,
    from_storage,
    to_storage,
    tolerance,
    whole_numbers,
)
from doctor.commands.verify.cudnn_trial.outcome import Fault, Row
from doctor.commands.verify.cudnn_trial.reference import convolve
from doctor.commands.verify.cudnn_trial.stages.convolving import problem_of
from doctor.commands.verify.cudnn_trial.stages.library import mapped
from doctor.commands.verify.cudnn_trial.trial import StageFailed, Trial

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_LIMITED_BYTES = 8 << 20
# A layer of a residual network: large enough that algorithms differ. Every sum of magnitudes stays below 2^24:
# backward filter adds 32 x 56 x 56 products of at most 2.
_LAYER = ((32, 64, 56, 56), (64, 64, 3, 3), 1)
_SMALL = ((2, 4, 8, 8), (8, 4, 3, 3), 1)  # for a library that computes on the host
_DTYPE = "fp32"


class _Fold(NamedTuple):
    """Which input is folded along which axis, and the axis along which that folds the output."""

    operand: str
    axis: int
    out_axis: int


# The whole layer would take the reference minutes, a fold of it the tenth of a second, and it is of every value.
_FOLDS = {
    "forward": _Fold("w", 0, 1),
    "backward-data": _Fold("w", 1, 1),
    "backward-filter": _Fold("y", 1, 0),
}


class _Pass(NamedTuple):
    """The data of one pass: x, w and y in float64, and on the device."""

    direction: str
    values: dict[str, Array]
    blocks: dict[str, Any]


def strategies(trial: Trial) -> dict[str, Any]:
    """In each pass the fastest algorithm without workspace, within 8 MiB, and within the limit of the order.

    cuDNN measures (cudnnFindConvolution...AlgorithmEx); the chosen ones are run and held against the reference: a
    weighted sum over the output's channels against that sum's own convolution. The differences of rows are of it.
    Facts: `layer`, the shapes of x and w; `limits_bytes`, by strategy ("none", "limited", "fastest"); `chosen`, by pass
    and strategy its `algorithm`, `time_ms` (as cuDNN measured) and `workspace_bytes`, null where none fits; `measured`,
    by pass, the same of every algorithm, fastest first; `cudnn`, `called`: see `library.mapped`.
    """
    problem = problem_of(_DTYPE, _SMALL if trial.is_on_host else _LAYER)
    limits = {"none": 0, "limited": _LIMITED_BYTES, "fastest": _most_bytes(trial)}
    facts: dict[str, Any] = {"layer": [list(problem.x), list(problem.w)], "limits_bytes": limits}
    facts |= {"chosen": {}, "measured": {}}
    with Convolution(trial.cudnn, problem) as convolution:
        for direction in DIRECTIONS:
            _choose(trial, convolution, direction, facts)
    return facts | mapped(trial)


def _choose(trial: Trial, convolution: Convolution, direction: str, facts: dict[str, Any]) -> None:
    """One pass; when it is done its data are given back, for the next one's would not fit beside them."""
    one, limits = _pass_of(trial, convolution.problem, direction), facts["limits_bytes"]
    found = _measured(trial, convolution, one, limits["fastest"])
    facts["measured"][direction] = [_as_fact(each) for each in found]
    chosen = {name: _fastest(found, limit) for name, limit in limits.items()}
    facts["chosen"][direction] = {name: each and _as_fact(each) for name, each in chosen.items()}
    _prove(trial, convolution, one, chosen, facts)


def _pass_of(trial: Trial, problem: Problem, direction: str) -> _Pass:
    values = {
        "x": whole_numbers(problem.x, 2, 0),
        "w": whole_numbers(problem.w, 1, 1),
        "y": whole_numbers(problem.y, 1, 2),
    }
    return _Pass(direction, values, {name: trial.memory.up(to_storage(one, _DTYPE)) for name, one in values.items()})


def _most_bytes(trial: Trial) -> int:
    """The order's limit, or half of what is free where other programs hold most of the GPU's memory."""
    free_bytes, total_bytes = trial.memory.space_bytes()
    return min(trial.order.workspace_limit_bytes, free_bytes // 2) if total_bytes else trial.order.workspace_limit_bytes


def _measured(trial: Trial, convolution: Convolution, one: _Pass, limit: int) -> list[Found]:
    """What cuDNN could measure, with the workspace that each asks for now (a search may try other math types)."""
    trial.events.doing(f"{one.direction}: cuDNN measures its algorithms")
    workspace = trial.memory.empty(limit)
    x, w, y, room = (trial.memory.address(block) for block in (*one.blocks.values(), workspace))
    found: dict[str, Found] = {}
    for each in convolution.find(one.direction, x, w, y, room, limit):
        if each.status == 0 and each.algorithm not in found:
            try:
                needed = convolution.workspace_bytes(one.direction, each.algorithm)
            except CudnnError:
                continue  # offered in another math type only
            found[each.algorithm] = each._replace(workspace_bytes=needed)
    return sorted(found.values(), key=lambda each: each.time_ms)


def _as_fact(found: Found) -> dict[str, Any]:
    return {
        "algorithm": found.algorithm,
        "time_ms": round(found.time_ms, 4),
        "workspace_bytes": found.workspace_bytes,
    }


def _fastest(found: Iterable[Found], limit_bytes: int) -> Found | None:
    return next((one for one in found if one.workspace_bytes <= limit_bytes), None)


def _prove(
    trial: Trial, convolution: Convolution, one: _Pass, chosen: dict[str, Found | None], facts: dict[str, Any]
) -> None:
    """Run what was chosen; raises StageFailed where a value is wrong, or where there was nothing to choose."""
    if chosen["fastest"] is None:
        text = f"{one.direction}: no algorithm could be measured"
        function = f"cudnnFindConvolution of {one.direction}"
        raise StageFailed(Fault(kind="cudnn", function=function, status=0, name="", text=text), facts)
    expected = _expected(convolution.problem, one)
    for found in dict.fromkeys(each for each in chosen.values() if each):
        trial.events.doing(f"{one.direction} {found.algorithm} {_DTYPE} of the whole layer")
        answer = _folded(_answer(trial, convolution, one, found), _FOLDS[one.direction].out_axis)
        row = _judged(convolution.problem, one.direction, found, compare(answer, expected))
        trial.events.row(row)
        if row.status == "wrong":
            raise StageFailed(wrong_numbers(row), facts)


def _answer(trial: Trial, convolution: Convolution, one: _Pass, found: Found) -> Array:
    memory, (first, second, out) = trial.memory, OPERANDS[one.direction]
    workspace = memory.empty(found.workspace_bytes)  # first: else the output would split the piece that it fits into
    room = memory.garbage(one.values[out].shape, "float32")
    blocks = (one.blocks[first], one.blocks[second], room, workspace)
    a, b, into, space = (memory.address(block) for block in blocks)
    needed = found.workspace_bytes
    convolution.run(one.direction, found.algorithm, a, b, into, space if needed else 0, needed)
    memory.synchronise()
    return from_storage(memory.down(room), _DTYPE)


def _expected(problem: Problem, one: _Pass) -> Array:
    """The reference's answer, folded: convolution is linear, so folding an input folds the output."""
    name, axis, _ = _FOLDS[one.direction]
    values = {**one.values, name: _folded(one.values[name], axis)}
    x, w = list(problem.x), list(problem.w)
    if one.direction == "backward-data":
        x[1] = w[1] = 1
    else:
        w[0] = 1
    first, second, _ = OPERANDS[one.direction]
    return convolve(one.direction, values[first], values[second], problem._replace(x=tuple(x), w=tuple(w)))


def _folded(array: Array, axis: int) -> Array:
    """Its channels summed up, each by a weight of its own, none of them zero: one wrong value changes the sum."""
    import numpy as np

    weights = np.resize(np.array([1.0, -2.0, 3.0, -1.0, 2.0, -3.0, 4.0]), array.shape[axis])
    return np.expand_dims(np.tensordot(array, weights, (axis, 0)), axis)


def _judged(problem: Problem, direction: str, found: Found, comparison: Comparison) -> Row:
    allowed = tolerance(problem, found.algorithm)
    is_right = comparison.difference <= allowed
    return Row(
        direction=direction,
        algorithm=found.algorithm,
        dtype=_DTYPE,
        dims=problem.dims,
        problem=f"{problem.label} of {'x'.join(map(str, problem.x))}",
        status="right" if is_right else "wrong",
        difference=comparison.difference,
        tolerance=allowed,
        workspace_bytes=found.workspace_bytes,
        detail="" if is_right else comparison.detail,
    )
