"""cuDNN's algorithms for one pass of one convolution, each timed: the fastest is trained with, all make the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median

from compat.record import NamedTuple
from doctor.bench.backends import Backend
from doctor.bench.outcome import STRATEGIES
from doctor.smoke.convolution import ALGORITHMS, Convolution
from doctor.smoke.cudnn_api import CudnnError


class Measured(NamedTuple):
    """One algorithm's try."""

    algorithm: str
    status: str  # as in outcome.Choice
    ms: float
    workspace_bytes: int
    detail: str


class Trial(NamedTuple):
    """One pass of one convolution, with what it works on: addresses in the order of `Convolution.run`."""

    convolution: Convolution
    direction: str
    first: int
    second: int
    out: int
    room: Callable[[int], int]  # the address of that many bytes to work in

    def run(self, algorithm: str, needed_bytes: int) -> None:
        """Put it on the stream; raises CudnnError."""
        addresses = (self.first, self.second, self.out, self.room(needed_bytes))
        self.convolution.run(self.direction, algorithm, *addresses, needed_bytes)

    def measured(self, backend: Backend, limit_bytes: int, runs: int) -> tuple[Measured, ...]:
        """Every algorithm there is, once to warm up and then timed; raises nothing of cuDNN's: it is an answer."""
        return tuple(self._one(algorithm, backend, limit_bytes, runs) for algorithm in ALGORITHMS[self.direction])

    def _one(self, algorithm: str, backend: Backend, limit_bytes: int, runs: int) -> Measured:
        needed = 0
        try:
            needed = self.convolution.workspace_bytes(self.direction, algorithm)
            if needed > limit_bytes:
                return Measured(algorithm, "too-big", 0.0, needed, "")
            _, *taken = backend.seconds(lambda: self.run(algorithm, needed), 1 + runs)
            return Measured(algorithm, "ran", 1e3 * median(taken), needed, "")
        except CudnnError as error:
            return Measured(algorithm, "declined" if error.is_declined else "failed", 0.0, needed, str(error))


def fastest(found: Iterable[Measured], limit_bytes: int) -> Measured | None:
    """Of those that ran within that workspace; None where none did."""
    fitting = [one for one in found if one.status == "ran" and one.workspace_bytes <= limit_bytes]
    return min(fitting, key=lambda one: one.ms, default=None)


def strategies(found: tuple[Measured, ...], limited_bytes: int, limit_bytes: int) -> dict[str, str]:
    """Which algorithm each of cuDNN v2's preferences takes: strategy to algorithm, without those that find none."""
    limits = zip(STRATEGIES, (0, limited_bytes, limit_bytes), strict=True)
    picked = {strategy: fastest(found, limit) for strategy, limit in limits}
    return {strategy: one.algorithm for strategy, one in picked.items() if one}
