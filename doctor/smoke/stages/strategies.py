"""The stage that chooses algorithms as frameworks do: by the time that cuDNN measures, within a workspace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.smoke.attempt import wrong_numbers
from doctor.smoke.convolution import DIRECTIONS, OPERANDS, Convolution, Found, Problem
from doctor.smoke.cudnn_api import CudnnError
from doctor.smoke.numbers import Comparison, compare, from_storage, to_storage, tolerance, whole_numbers
from doctor.smoke.outcome import Fault, Row
from doctor.smoke.reference import convolve
from doctor.smoke.stages.convolving import problem_of
from doctor.smoke.stages.library import mapped
from doctor.smoke.trial import StageFailed, Trial

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_LIMITED_BYTES = 8 << 20
# A layer of a residual network: large enough that algorithms differ. Every sum of magnitudes stays below 2^24:
# backward filter adds 32 x 56 x 56 products of at most 2.
_LAYER = ((32, 64, 56, 56), (64, 64, 3, 3), 1)
_SMALL = ((2, 4, 8, 8), (8, 4, 3, 3), 1)  # for a library that computes on the host
_COMPARED = 4  # channels: the whole layer would take the reference minutes
_DTYPE = "fp32"


class _Pass(NamedTuple):
    """The data of one pass: x, w and y in float64, and on the device."""

    direction: str
    values: dict[str, Array]
    blocks: dict[str, Any]


def strategies(trial: Trial) -> dict[str, Any]:
    """In each pass the fastest algorithm without workspace, within 8 MiB, and within the limit of the order.

    cuDNN measures (cudnnFindConvolution...AlgorithmEx); the chosen ones are run and held against the reference.
    Facts: `layer`, the shapes of x and w; `limits_bytes`, by strategy ("none", "limited", "fastest"); `chosen`, by pass
    and strategy its `algorithm`, `time_ms` (as cuDNN measured) and `workspace_bytes`, null where none fits; `measured`,
    by pass, the same of every algorithm, fastest first; `cudnn`, `called`: see `library.mapped`.
    """
    problem = problem_of(_DTYPE, _SMALL if trial.is_on_host else _LAYER)
    limits = {"none": 0, "limited": _LIMITED_BYTES, "fastest": trial.order.workspace_limit_bytes}
    facts: dict[str, Any] = {"layer": [list(problem.x), list(problem.w)], "limits_bytes": limits}
    facts |= {"chosen": {}, "measured": {}}
    with Convolution(trial.cudnn, problem) as convolution:
        for direction in DIRECTIONS:
            one = _pass_of(trial, problem, direction)
            found = _measured(trial, convolution, one)
            facts["measured"][direction] = [_as_fact(each) for each in found]
            chosen = {name: _fastest(found, limit) for name, limit in limits.items()}
            facts["chosen"][direction] = {name: each and _as_fact(each) for name, each in chosen.items()}
            _prove(trial, convolution, one, chosen, facts)
    return facts | mapped(trial)


def _pass_of(trial: Trial, problem: Problem, direction: str) -> _Pass:
    values = {
        "x": whole_numbers(problem.x, 2, 0),
        "w": whole_numbers(problem.w, 1, 1),
        "y": whole_numbers(problem.y, 1, 2),
    }
    return _Pass(direction, values, {name: trial.memory.up(to_storage(one, _DTYPE)) for name, one in values.items()})


def _measured(trial: Trial, convolution: Convolution, one: _Pass) -> list[Found]:
    """What cuDNN could measure, with the workspace that each asks for now (a search may try other math types)."""
    trial.events.doing(f"{one.direction}: cuDNN measures its algorithms")
    limit = trial.order.workspace_limit_bytes
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
        raise StageFailed(Fault("cudnn", function, 0, "", text), facts)
    expected = _expected(convolution.problem, one)
    for found in dict.fromkeys(each for each in chosen.values() if each):
        trial.events.doing(f"{one.direction} {found.algorithm} {_DTYPE} of the whole layer")
        answer = _answer(trial, convolution, one, found)
        row = _judged(convolution.problem, one.direction, found, compare(_corner(answer, expected.shape), expected))
        trial.events.row(row)
        if row.status == "wrong":
            raise StageFailed(wrong_numbers(row), facts)


def _answer(trial: Trial, convolution: Convolution, one: _Pass, found: Found) -> Array:
    memory, (first, second, out) = trial.memory, OPERANDS[one.direction]
    room, workspace = memory.garbage(one.values[out].shape, "float32"), memory.empty(found.workspace_bytes)
    blocks = (one.blocks[first], one.blocks[second], room, workspace)
    a, b, into, space = (memory.address(block) for block in blocks)
    needed = found.workspace_bytes
    convolution.run(one.direction, found.algorithm, a, b, into, space if needed else 0, needed)
    memory.synchronise()
    return from_storage(memory.down(room), _DTYPE)


def _expected(problem: Problem, one: _Pass) -> Array:
    """The reference's answer for the first image or channels: those do not depend on the others."""
    images = problem.x[0] if one.direction == "backward-filter" else 1
    inputs = problem.w[1] if one.direction == "forward" else _COMPARED
    outputs = problem.w[0] if one.direction == "backward-data" else _COMPARED
    sizes = {"x": (images, inputs), "w": (outputs, inputs), "y": (images, outputs)}
    part = {name: values[: sizes[name][0], : sizes[name][1]] for name, values in one.values.items()}
    first, second, _ = OPERANDS[one.direction]
    small = problem._replace(x=part["x"].shape, w=part["w"].shape)
    return convolve(one.direction, part[first], part[second], small)


def _corner(answer: Array, shape: tuple[int, ...]) -> Array:
    return answer[: shape[0], : shape[1]]


def _judged(problem: Problem, direction: str, found: Found, comparison: Comparison) -> Row:
    allowed = tolerance(_DTYPE, found.algorithm)
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
