"""The GPU with cuDNN: everything as without it, but for the convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from doctor.commands.bench.algorithms import Measured, Trial, fastest
from doctor.commands.bench.backends import Backend
from doctor.commands.bench.shapes import Geometry
from doctor.commands.verify.cudnn_trial.convolution import Convolution, Problem
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError
from doctor.commands.verify.cudnn_trial.graph import GraphConvolution, Plan

_RUNS_TO_CHOOSE = 3


class NoAlgorithm(Exception):
    """cuDNN has no algorithm for a convolution within the workspace."""


class CudnnBackend:
    """cuDNN on top of another backend: its array module, clock and memory."""

    def __init__(self, base: Backend, cudnn: Cudnn, dtype: str, limit_bytes: int, note: Callable[[str], None]) -> None:
        """`cudnn` has a handle on the base's stream; `limit_bytes`: of workspace; `note` is told before each search."""
        self.xp = base.xp
        self.operations = base.operations
        self.clock = base.clock
        self.seconds = base.seconds
        self.peak_bytes = base.peak_bytes
        self.address = base.address
        self.stream = base.stream
        self.algorithms: dict[str, str] = {}
        self.cudnn = cudnn
        self.dtype = dtype
        self.limit_bytes = limit_bytes
        self.note = note
        self._room: Any = base.xp.empty(1, "uint8")

    def convolver(self, name: str, geometry: Geometry, batch: int) -> CudnnConvolver:
        """By cuDNN, with the algorithms that prove to be the fastest when they are first needed."""
        return CudnnConvolver(self, name, geometry, batch)

    def room(self, size_bytes: int) -> int:
        """Workspace, one for all layers: they work one after the other."""
        if self._room.size < size_bytes:
            self._room = self.xp.empty(1, "uint8")  # first: there may not be memory for both
            self._room = self.xp.empty(size_bytes, "uint8")
        return self.address(self._room)


class CudnnConvolver:
    """One convolution's three passes."""

    def __init__(self, backend: CudnnBackend, name: str, geometry: Geometry, batch: int) -> None:
        """`batch`: images a step; another number of them is another problem for cuDNN."""
        self._backend = backend
        self._name = name
        self._problem = problem(geometry, batch, backend.dtype)
        self._convolution = Convolution(backend.cudnn, self._problem)
        self._graph: GraphConvolution | None = None
        self._plans: dict[str, dict[str, Plan]] = {}
        self._chosen: dict[str, Measured] = {}

    def forward(self, x: Any, weights: Any) -> Any:
        """What goes out."""
        return self._run("forward", x, weights)

    def backward_data(self, weights: Any, dy: Any) -> Any:
        """The gradient of what went in."""
        return self._run("backward-data", weights, dy)

    def backward_filter(self, x: Any, dy: Any) -> Any:
        """The gradient of the weights."""
        return self._run("backward-filter", x, dy)

    @property
    def label(self) -> str:
        """Its shapes, and what is not usual: "256x3x227x227 * 96x3x11x11 stride 4"."""
        shapes = " * ".join("x".join(map(str, shape)) for shape in (self._problem.x, self._problem.w))
        extra = self._problem.label.partition(" ")[2]
        return f"{shapes} {extra}".strip()

    def measured(self, direction: str, limit_bytes: int, runs: int) -> tuple[Measured, ...]:
        """Every algorithm and engine for this pass, timed on numbers that nobody needs."""
        shapes = self._problem.shapes(direction)
        first, second, out = (self._backend.xp.zeros(shape, "float32") for shape in shapes)
        return self._trial(direction, first, second, out).measured(self._backend, limit_bytes, runs)

    def _run(self, direction: str, first: Any, second: Any) -> Any:
        xp = self._backend.xp
        first, second = xp.ascontiguousarray(first), xp.ascontiguousarray(second)
        out = xp.empty(self._problem.shapes(direction)[2], first.dtype)
        trial = self._trial(direction, first, second, out)
        chosen = self._chosen.get(direction) or self._choose(trial)
        trial.run(chosen.algorithm, chosen.workspace_bytes)
        return out

    def _trial(self, direction: str, first: Any, second: Any, out: Any) -> Trial:
        backend = self._backend
        plans = self._plans_for(direction)  # makes the graph
        return Trial(
            convolution=self._convolution,
            graph=self._graph,
            plans=plans,
            direction=direction,
            first=backend.address(first),
            second=backend.address(second),
            out=backend.address(out),
            room=backend.room,
        )

    def _plans_for(self, direction: str) -> dict[str, Plan]:
        """The engines of the graph API, by their labels: none before cuDNN 8, or where it has none for this."""
        if direction not in self._plans:
            self._plans[direction] = {}
            try:
                self._graph = self._graph or GraphConvolution(self._backend.cudnn, self._problem)
                self._plans[direction] = {plan.label: plan for plan in self._graph.plans(direction)}
            except CudnnError:
                self._backend.note(f"{self._name} {direction}: no engines of the graph API")
        return self._plans[direction]

    def _choose(self, trial: Trial) -> Measured:
        backend, place = self._backend, f"{self._name} {trial.direction}"
        backend.note(f"{place}: choosing an algorithm")
        found = trial.measured(backend, backend.limit_bytes, _RUNS_TO_CHOOSE)
        best = fastest(found, backend.limit_bytes)
        if best is None:
            why_not = (f"{one.algorithm} {one.status} {one.detail}".strip() for one in found)
            raise NoAlgorithm(f"{place} {self._problem.label}: {'; '.join(why_not)}")
        self._chosen[trial.direction] = best
        backend.algorithms[place] = best.algorithm
        return best


def problem(geometry: Geometry, batch: int, dtype: str) -> Problem:
    """The convolution of that many images, as cuDNN is asked for it."""
    return Problem(
        dtype=dtype,
        x=(batch, geometry.channels, geometry.height, geometry.width),
        w=geometry.weights,
        padding=(geometry.padding,) * 2,
        stride=(geometry.stride,) * 2,
        dilation=(1, 1),
        groups=geometry.groups,
    )
