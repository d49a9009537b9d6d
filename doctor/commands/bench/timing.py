"""Steps into figures: how many to time, medians and quartiles, an epoch's worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median, quantiles
from typing import Any

from compat.base.record import NamedTuple
from doctor.commands.bench.job import Job
from doctor.commands.bench.outcome import Timing

LEAST_STEPS = 3
MOST_STEPS = 50
LEAST_WARMUP = 2
MOST_WARMUP = 5
LONG_STEP_S = 0.5  # a progress bar moves once a step from here on


class Samples(NamedTuple):
    """What was timed."""

    warmup_steps: int
    seconds: tuple[float, ...]  # of every timed step


class Figures(NamedTuple):
    """What the samples come to, in seconds a step."""

    middle: float
    low: float  # lower quartile
    high: float  # upper quartile
    fastest: float
    slowest: float


def steps_within(step_s: float, seconds: float, asked: int) -> int:
    """How many steps to time: those asked for, or as many as fit, within `LEAST_STEPS` and `MOST_STEPS`."""
    if asked:
        return asked
    fitting = int(seconds / step_s) if step_s > 0 else MOST_STEPS
    return min(MOST_STEPS, max(LEAST_STEPS, fitting))


def take(
    steps: Callable[[int], Sequence[float]],
    seconds: float,
    asked: int,
    report: Callable[[str], None] = lambda _: None,
) -> Samples:
    """Warm up, then time steps: as many as `asked`, or with 0 as fit. `steps` makes so many and says their seconds.

    The first step loads kernels and chooses algorithms, so that its time says nothing: there is always a second. More
    follow for a tenth of the seconds, up to `MOST_WARMUP`. Short steps are made in two goes, without a stop between
    one and the next.
    """
    report("warming up")
    steps(1)
    (last,) = steps(1)
    spent, warmup = last, LEAST_WARMUP
    while warmup < MOST_WARMUP and spent + last < seconds / 10:
        (last,) = steps(1)
        spent += last
        warmup += 1
    wanted = steps_within(last, seconds, asked)
    at_once = 1 if last > LONG_STEP_S else max(1, wanted // 2)
    found: list[float] = []
    while len(found) < wanted:
        report(f"step {len(found) + 1} of {wanted}")
        found += steps(min(at_once, wanted - len(found)))
    return Samples(warmup, tuple(found))


def figures(seconds: Sequence[float]) -> Figures:
    """Median, quartiles and ends; raises ValueError for no samples."""
    if not seconds:
        raise ValueError("nothing was timed")
    low, _, high = quantiles(seconds, n=4, method="inclusive") if len(seconds) > 1 else (seconds[0],) * 3
    return Figures(middle=median(seconds), low=low, high=high, fastest=min(seconds), slowest=max(seconds))


def timing(told: Job, samples: Samples, epoch: int, **said: Any) -> Timing:
    """What was timed, as an epoch of so many images; `said`: the fields that are no figures."""
    found, batch = figures(samples.seconds), told.order.batch or told.network.batch
    return Timing(
        network=told.network.name,
        path=told.path,
        pool=told.pool,
        batch=batch,
        warmup_steps=samples.warmup_steps,
        steps=len(samples.seconds),
        step_s_median=found.middle,
        step_s_low=found.low,
        step_s_high=found.high,
        step_s_fastest=found.fastest,
        step_s_slowest=found.slowest,
        images_per_epoch=epoch,
        epoch_s=found.middle * epoch / batch,
        is_extrapolated=len(samples.seconds) * batch < epoch,
        **said,
    )
