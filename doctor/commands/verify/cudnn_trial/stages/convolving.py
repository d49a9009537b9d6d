"""The stages that convolve: the quick proof, and every dtype, rank and algorithm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from doctor.commands.verify.cudnn_trial.attempt import Algorithms, Attempt, attempts
from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS, DIRECTIONS, Problem
from doctor.commands.verify.cudnn_trial.numbers import DTYPES
from doctor.commands.verify.cudnn_trial.outcome import Fault, Row
from doctor.commands.verify.cudnn_trial.stages.library import mapped
from doctor.commands.verify.cudnn_trial.trial import Lacking, StageFailed, Trial

# They multiply and add, nothing else: the answer must be exact.
_GEMM: Algorithms = {
    "forward": ("IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM"),
    "backward-data": ("ALGO_0", "ALGO_1"),
    "backward-filter": ("ALGO_0", "ALGO_1", "ALGO_3"),
}
_NOTHING_CLASSIC = "NVIDIA's JIT edition leaves the classic functions out"
QUICK = ((4, 8, 16, 16), (16, 8, 3, 3), 1)
_DILATION_SINCE, _GROUPS_SINCE = 6, 7


def problem_of(dtype: str, shapes: tuple[tuple[int, ...], tuple[int, ...], int], **unusual: int) -> Problem:
    """A problem whose padding, stride and dilation are the same along each axis; unusual: stride, dilation, groups."""
    x, w, padding = shapes
    dims = len(x) - 2
    stride, dilation = unusual.get("stride", 1), unusual.get("dilation", 1)
    return Problem(
        dtype=dtype,
        x=x,
        w=w,
        padding=(padding,) * dims,
        stride=(stride,) * dims,
        dilation=(dilation,) * dims,
        groups=unusual.get("groups", 1),
    )


def convolution(trial: Trial) -> dict[str, Any]:
    """fp32, 2D, the algorithms that multiply and add: each pass must have one that is right, and none may be wrong.

    Facts: `not_asked`, why not, of a copy without the classic functions; else `rows`, and how many are `right`,
    `wrong`, `declined`, `too_big`, `failed`; `cudnn` and `called`, the files that are mapped now (see `library.mapped`:
    some are opened only when they are needed).
    """
    if trial.cudnn.is_jit_edition:
        return {"not_asked": _NOTHING_CLASSIC}
    tried = list(attempts(trial, problem_of("fp32", QUICK), _GEMM))
    facts = counts(tried)
    demand_no_fault(tried, facts)
    for direction in DIRECTIONS:
        demand_one_right([one for one in tried if one.row.direction == direction], direction, facts)
    return facts | mapped(trial)


def matrix(trial: Trial) -> dict[str, Any]:
    """Every dtype and algorithm on each of `problems`: none may fail or be wrong. What is declined is not offered here.

    Facts: as `convolution`'s, and `dtypes_without_result`, by dtype the reason given most often; `without_result`, the
    dtypes, ranks, problems and passes of which nothing was right though something of the dtype was;
    `greatest_difference`, by dtype, of the algorithms with a tolerance. What has no result has not been proved.
    """
    if trial.cudnn.is_jit_edition:
        raise Lacking("classic", {})
    tried = [one for problem in problems(trial.cudnn.major) for one in attempts(trial, problem, ALGORITHMS)]
    rows = [one.row for one in tried]
    silent = {dtype: _most_given(rows, dtype) for dtype in DTYPES if not _has_right(rows, dtype)}
    facts = {
        **counts(tried),
        "dtypes_without_result": silent,
        "without_result": _without_result(rows, silent),
        "greatest_difference": _greatest_difference(rows),
    }
    demand_no_fault(tried, facts)
    if len(silent) == len(DTYPES):
        demand_one_right(tried, "any dtype", facts)
    return facts | mapped(trial)


def problems(major: int) -> Iterator[Problem]:
    """What a release of that major is asked: 1D, 2D and 3D; 5x5; and what is not usual, as far as it knows it."""
    for dtype in DTYPES:
        yield problem_of(dtype, ((2, 8, 33), (16, 8, 3), 1))
        yield problem_of(dtype, ((2, 8, 14, 14), (16, 8, 3, 3), 1))
        yield problem_of(dtype, ((2, 8, 14, 14), (16, 8, 5, 5), 2))
        yield problem_of(dtype, ((2, 4, 6, 7, 8), (8, 4, 3, 3, 3), 1))
        yield problem_of(dtype, ((2, 8, 15, 15), (16, 8, 3, 3), 1), stride=2)
        if major >= _DILATION_SINCE:
            yield problem_of(dtype, ((2, 8, 14, 14), (16, 8, 3, 3), 2), dilation=2)
        if major >= _GROUPS_SINCE:
            yield problem_of(dtype, ((2, 8, 14, 14), (16, 4, 3, 3), 1), groups=2)


def counts(tried: list[Attempt]) -> dict[str, Any]:
    """How many there are, and of each kind."""
    found = Counter(one.row.status for one in tried)
    kinds = ("right", "wrong", "declined", "too-big", "failed")
    return {"rows": len(tried), **{kind.replace("-", "_"): found[kind] for kind in kinds}}


def demand_no_fault(tried: list[Attempt], facts: dict[str, Any]) -> None:
    """One that is wrong, or that fails where none of its pass is right: frameworks pass over one that fails."""
    right = {_pass_of(one.row) for one in tried if one.row.status == "right"}
    for one in tried:
        if one.fault and (one.row.status == "wrong" or (one.row.status == "failed" and _pass_of(one.row) not in right)):
            raise StageFailed(one.fault, facts)


def demand_one_right(tried: list[Attempt], what: str, facts: dict[str, Any]) -> None:
    """Raises StageFailed where none of them is right, with what was said of the first."""
    if any(one.row.status == "right" for one in tried):
        return
    fault = next(
        (one.fault for one in tried if one.fault),
        Fault(kind="cudnn", function="", status=0, name="", text="every workspace is too big"),
    )
    raise StageFailed(fault._replace(text=f"no algorithm worked for {what}: {fault.text}".rstrip(": ")), facts)


def _has_right(rows: Iterable[Row], dtype: str) -> bool:
    return any(row.dtype == dtype and row.status == "right" for row in rows)


def _most_given(rows: Iterable[Row], dtype: str) -> str:
    """The words that most of the dtype's rows have for why nothing came of them."""
    given = Counter(row.detail or f"workspace of {row.workspace_bytes} bytes" for row in rows if row.dtype == dtype)
    return given.most_common(1)[0][0]


def _without_result(rows: list[Row], silent: dict[str, str]) -> list[str]:
    right = {_pass_of(row) for row in rows if row.status == "right"}
    every = dict.fromkeys(_pass_of(row) for row in rows if row.dtype not in silent)
    return [one for one in every if one not in right]


def _pass_of(row: Row) -> str:
    return f"{row.dtype} {row.dims}D {row.problem} {row.direction}"


def _greatest_difference(rows: Iterable[Row]) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in rows:
        if row.tolerance and row.status in {"right", "wrong"}:
            found[row.dtype] = max(found.get(row.dtype, 0.0), row.difference)
    return found
