"""cuDNN's algorithms for one pass of one convolution, each timed: the fastest is trained with, all make the table.

Those are the classic ones and, from cuDNN 8 on, the engines of the graph API, among which PyTorch chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import median

from compat.base.record import NamedTuple
from doctor.commands.bench.backends import Backend
from doctor.commands.bench.outcome import STRATEGIES
from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS, Convolution
from doctor.commands.verify.cudnn_trial.cudnn_api import CudnnError
from doctor.commands.verify.cudnn_trial.graph import GraphConvolution, Plan


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
    graph: GraphConvolution | None  # what `plans` are run by
    plans: Mapping[str, Plan]  # engines of the graph API, by their labels
    direction: str
    first: int
    second: int
    out: int
    room: Callable[[int], int]  # the address of that many bytes to work in

    def run(self, algorithm: str, needed_bytes: int) -> None:
        """Put it on the stream; raises CudnnError."""
        addresses = (self.first, self.second, self.out)
        workspace = self.room(needed_bytes)
        if self.graph and algorithm in self.plans:
            self.graph.run(self.direction, self.plans[algorithm], addresses, workspace)
        else:
            self.convolution.run(self.direction, algorithm, *addresses, workspace, needed_bytes)

    def measured(self, backend: Backend, limit_bytes: int, runs: int) -> tuple[Measured, ...]:
        """Every algorithm and engine, once to warm up and then timed; raises nothing of cuDNN's: it is an answer."""
        names = (*ALGORITHMS[self.direction], *self.plans)
        return tuple(self._one(name, backend, limit_bytes, runs) for name in names)

    def _one(self, algorithm: str, backend: Backend, limit_bytes: int, runs: int) -> Measured:
        needed = 0
        try:
            plan = self.plans.get(algorithm)
            needed = plan.workspace_bytes if plan else self.convolution.workspace_bytes(self.direction, algorithm)
            if needed > limit_bytes:
                return Measured(algorithm=algorithm, status="too-big", ms=0.0, workspace_bytes=needed, detail="")
            _, *taken = backend.seconds(lambda: self.run(algorithm, needed), 1 + runs)
            return Measured(
                algorithm=algorithm, status="ran", ms=1e3 * median(taken), workspace_bytes=needed, detail=""
            )
        except Exception as error:
            is_of_cudnn = isinstance(error, CudnnError)
            if not (is_of_cudnn or is_out_of_memory(error)):
                raise
            return Measured(
                algorithm=algorithm,
                status="declined" if isinstance(error, CudnnError) and error.is_declined else "failed",
                ms=0.0,
                workspace_bytes=needed,
                detail=str(error) if is_of_cudnn else f"out of memory: {error}",
            )


def is_out_of_memory(error: Exception) -> bool:
    """Of the host's, of CuPy's pool, or of cuDNN's own."""
    words = str(error)
    named = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return named or "ALLOC_FAILED" in words or "cudaErrorMemoryAllocation" in words


def fastest(found: Iterable[Measured], limit_bytes: int) -> Measured | None:
    """Of those that ran within that workspace; None where none did."""
    fitting = [one for one in found if one.status == "ran" and one.workspace_bytes <= limit_bytes]
    return min(fitting, key=lambda one: one.ms, default=None)


def strategies(found: tuple[Measured, ...], limited_bytes: int, limit_bytes: int) -> dict[str, str]:
    """Which algorithm each of cuDNN v2's preferences takes: strategy to algorithm, without those that find none."""
    limits = zip(STRATEGIES, (0, limited_bytes, limit_bytes), strict=True)
    picked = {strategy: fastest(found, limit) for strategy, limit in limits}
    return {strategy: one.algorithm for strategy, one in picked.items() if one}
