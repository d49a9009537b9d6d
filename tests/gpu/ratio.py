"""Our best cuDNN convolution beside torch's: same data at the same addresses, same stream, same cuDNN, same run.

`python -m tests.gpu.ratio FILE` writes the rows as JSON; `--tiny --library PATH` goes through the same code on the CPU
with a libcudnn that computes in host memory. Torch chooses with its benchmark mode on; ours is the fastest of the
classic algorithms and, from cuDNN 8 on, the engines of the graph API. Each is timed in rounds, in turn.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from statistics import median
from typing import Any, NamedTuple

from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS, DIRECTIONS, Convolution, Problem
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError
from doctor.commands.verify.cudnn_trial.graph import GraphConvolution, Plan
from doctor.commands.verify.cudnn_trial.numbers import tolerance
from tests.gpu.problems import KINDS, LAYERS, TINY, Layer, all_problems

LEAST = 0.98  # of torch's speed
WORKSPACE_BYTES = 4 << 30  # torch has no limit of its own but the memory
ROUNDS = 15
SCREENING = 3
LEAST_MS = 4.0  # of one sample: so many convolutions in a row
# The greatest difference over the reference's greatest value. Both are cuDNN's own answers: what differs is the order
# of the sums, and for Winograd and FFT in half precision the transform, whose error grows to some units in 2**-10.
TOLERANCES = {"fp64": 1e-12, "fp32": 1e-4, "tf32": 5e-3, "fp16": 2e-2, "bf16": 5e-2}


class Row(NamedTuple):
    """One pass of one problem."""

    layer: str
    label: str
    dtype: str
    layout: str
    direction: str
    ours_ms: float
    ours_by: str
    classic_ms: float  # the best without the graph API; 0.0 where none ran
    classic_by: str
    torch_ms: float
    ratio: float  # torch's time over ours: 1.0 is as fast, more is faster
    difference: float
    is_right: bool
    torch_kernels: tuple[str, ...]  # looked up only where the ratio is too low
    problem: str  # why there is no figure, "" where there is one


class Asked(NamedTuple):
    """What is to be compared."""

    layers: tuple[Layer, ...]
    kinds: tuple[tuple[str, str], ...]
    seconds: float  # after which no other problem is begun


class Way(NamedTuple):
    """One way in which our binding can compute it."""

    name: str
    is_classic: bool
    run: Callable[[], None]


class Device:
    """Where torch's tensors live, and its clock."""

    def __init__(self, torch: Any, *, on_gpu: bool) -> None:
        self.torch = torch
        self.on_gpu = on_gpu
        self.name = "cuda" if on_gpu else "cpu"
        self.stream = torch.cuda.current_stream().cuda_stream if on_gpu else 0
        self._room: Any = None

    def tensor(self, shape: tuple[int, ...], problem: Problem) -> Any:
        """Numbers around zero, laid out as the problem says."""
        torch = self.torch
        dtype = {"fp64": torch.float64, "fp16": torch.float16, "bf16": torch.bfloat16}.get(problem.dtype, torch.float32)
        made = torch.randn(shape, device=self.name, dtype=torch.float32).to(dtype)
        return made.contiguous(memory_format=self._format(problem))

    def empty_like(self, tensor: Any) -> Any:
        """Room that lies as the tensor does."""
        return self.torch.empty_like(tensor, memory_format=self.torch.preserve_format)

    def _format(self, problem: Problem) -> Any:
        return self.torch.channels_last if problem.layout == "nhwc" else self.torch.contiguous_format

    def room(self, size_bytes: int) -> int:
        """Workspace, one for all."""
        if self._room is None or self._room.numel() < size_bytes:
            self._room = None
            self._room = self.torch.empty(max(size_bytes, 1), dtype=self.torch.uint8, device=self.name)
        return int(self._room.data_ptr())

    def ms(self, work: Callable[[], Any], times: int) -> float:
        """Milliseconds of one piece of work, so many in a row: by events on the GPU, else by the clock."""
        if not self.on_gpu:
            begin = time.perf_counter()
            for _ in range(times):
                work()
            return (time.perf_counter() - begin) * 1e3 / times
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(times):
            work()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / times


class Case:
    """One problem's data, and both ways to each of its passes."""

    def __init__(self, device: Device, problem: Problem) -> None:
        self.device = device
        self.problem = problem
        self.x, self.w = device.tensor(problem.x, problem), device.tensor(problem.w, problem)
        self.dy = device.tensor(problem.y, problem)
        device.torch.backends.cudnn.benchmark = True
        device.torch.backends.cudnn.allow_tf32 = problem.dtype == "tf32"

    def of_torch(self, direction: str) -> Any:
        """Torch's answer, by the functions that its layers call."""
        torch, problem = self.device.torch, self.problem
        stride, padding, dilation = (list(one) for one in (problem.stride, problem.padding, problem.dilation))
        if direction == "forward":
            return torch.ops.aten.convolution(
                self.x, self.w, None, stride, padding, dilation, False, [0, 0], problem.groups
            )
        wanted = [direction == "backward-data", direction == "backward-filter", False]
        answers = torch.ops.aten.convolution_backward(
            self.dy, self.x, self.w, None, stride, padding, dilation, False, [0, 0], problem.groups, wanted
        )
        return answers[wanted.index(True)]

    def inputs(self, direction: str) -> tuple[Any, Any, Any]:
        """What goes in, and what the answer lies like."""
        return {
            "forward": (self.x, self.w, self.dy),
            "backward-data": (self.w, self.dy, self.x),
            "backward-filter": (self.x, self.dy, self.w),
        }[direction]


def rows(device: Device, cudnn: Cudnn, asked: Asked, note: Callable[[str], None]) -> Iterator[Row]:
    """Every problem and pass; those that the time did not suffice for say so."""
    deadline = time.monotonic() + asked.seconds
    for layer, problem in all_problems(asked.layers, asked.kinds):
        if time.monotonic() > deadline:
            yield from (
                nothing(layer.name, problem, way)._replace(problem=f"not reached in {asked.seconds:.0f} s")
                for way in DIRECTIONS
            )
            continue
        note(f"{layer.name} {problem.dtype} {problem.layout}")
        case = Case(device, problem)
        for direction in DIRECTIONS:
            with ExitStack() as stack:
                yield row(case, cudnn, layer.name, direction, stack)


def nothing(name: str, problem: Problem, direction: str) -> Row:
    """A row without figures."""
    place = (name, problem.label, problem.dtype, problem.layout, direction)
    return Row(*place, 0.0, "", 0.0, "", 0.0, 0.0, -1.0, False, (), "")


def row(case: Case, cudnn: Cudnn, name: str, direction: str, stack: ExitStack) -> Row:
    """One comparison; what stands in its way is said in it."""
    problem, device = case.problem, case.device
    empty = nothing(name, problem, direction)
    try:
        expected = case.of_torch(direction)
        first, second, like = case.inputs(direction)
        out = device.empty_like(like)
        addresses = [int(one.data_ptr()) for one in (first, second, out)]
        timed = sorted(
            (screened(way, device), number, way)
            for number, way in enumerate(Pass(cudnn, problem, direction, addresses, device).ways(stack))
        )
    except (CudnnError, RuntimeError) as error:
        return empty._replace(problem=f"{type(error).__name__}: {error}"[:400])
    fitting = [(ms, way) for ms, _, way in timed if ms < math.inf]
    if not fitting:
        return empty._replace(problem="no algorithm of ours ran")
    best = fitting[0][1]
    classic_ms, classic_by = next(((ms, way.name) for ms, way in fitting if way.is_classic), (0.0, ""))
    ours_ms, torch_ms = side_by_side(device, best.run, lambda: case.of_torch(direction))
    best.run()
    difference = far_apart(out, expected)
    ratio = torch_ms / ours_ms
    return empty._replace(
        ours_ms=ours_ms,
        ours_by=best.name,
        classic_ms=classic_ms,
        classic_by=classic_by,
        torch_ms=torch_ms,
        ratio=ratio,
        difference=difference,
        is_right=difference <= allowed(problem),
        torch_kernels=kernels(case, direction) if ratio < LEAST and device.on_gpu else (),
        problem="",
    )


class Pass(NamedTuple):
    """One pass of one problem, by our binding."""

    cudnn: Cudnn
    problem: Problem
    direction: str
    addresses: list[int]  # of the two inputs and the output
    device: Device

    def ways(self, stack: ExitStack) -> Iterator[Way]:
        """Every classic algorithm, and every engine of the graph API, whose workspace fits."""
        convolution = stack.enter_context(Convolution(self.cudnn, self.problem))
        for algorithm in ALGORITHMS[self.direction]:
            needed = needed_bytes(convolution, self.direction, algorithm)
            if 0 <= needed <= WORKSPACE_BYTES:
                yield Way(algorithm, True, self._classic(convolution, algorithm, needed))
        if self.cudnn.major < 8 or not self.cudnn.has("cudnnBackendExecute"):
            return
        graph = stack.enter_context(GraphConvolution(self.cudnn, self.problem))
        for plan in graph.plans(self.direction):
            if plan.workspace_bytes <= WORKSPACE_BYTES:
                yield Way(plan.label, False, self._engine(graph, plan))

    def _classic(self, convolution: Convolution, algorithm: str, needed: int) -> Callable[[], None]:
        a, b, out = self.addresses
        return lambda: convolution.run(self.direction, algorithm, a, b, out, self.device.room(needed), needed)

    def _engine(self, graph: GraphConvolution, plan: Plan) -> Callable[[], None]:
        return lambda: graph.run(self.direction, plan, self.addresses, self.device.room(plan.workspace_bytes))


def allowed(problem: Problem) -> float:
    """How far two answers may lie apart: Winograd of 5x5, which torch tries as well, is less exact."""
    of_winograd = tolerance(problem, "WINOGRAD_NONFUSED") if problem.dtype == "fp32" else 0.0
    return max(TOLERANCES[problem.dtype], of_winograd)


def needed_bytes(convolution: Convolution, direction: str, algorithm: str) -> int:
    """Its workspace; -1 where cuDNN declines it."""
    try:
        return convolution.workspace_bytes(direction, algorithm)
    except CudnnError as error:
        if not error.is_declined:
            raise
        return -1


def screened(way: Way, device: Device) -> float:
    """Milliseconds after one run that does not count; infinite where it does not run."""
    try:
        device.ms(way.run, 1)
        return min(device.ms(way.run, 1) for _ in range(SCREENING))
    except CudnnError as error:
        if way.is_classic and not error.is_declined:
            raise
        return math.inf  # of an engine whatever it says: the others may still work, and torch passes it over, too


def side_by_side(device: Device, ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Medians of rounds in which each has its turn, the first of them changing."""
    once = max(min(device.ms(ours, 1), device.ms(theirs, 1)), 1e-3)
    times = max(1, min(200, math.ceil(LEAST_MS / once)))
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS):
        order = ((0, ours), (1, theirs)) if number % 2 else ((1, theirs), (0, ours))
        for which, work in order:
            found[which].append(device.ms(work, times))
    return median(found[0]), median(found[1])


def far_apart(one: Any, other: Any) -> float:
    """The greatest difference over the greatest value; infinite where something is no number."""
    one, other = one.double(), other.double()
    worst = float((one - other).abs().max() / other.abs().max().clamp_min(1e-30))
    return worst if math.isfinite(worst) else math.inf


def kernels(case: Case, direction: str) -> tuple[str, ...]:
    """What torch ran on the GPU, longest first: the reason where it is faster."""
    profiler = case.device.torch.profiler
    try:
        with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as seen:
            case.of_torch(direction)
            case.device.torch.cuda.synchronize()
        events = sorted(seen.key_averages(), key=lambda one: -one.device_time_total)
        return tuple(one.key[:120] for one in events[:3])
    except (RuntimeError, AttributeError) as error:
        return (f"not told: {error}"[:120],)


def library_of_torch(torch: Any) -> str:
    """The cuDNN that torch has mapped; raises LookupError."""
    torch.backends.cudnn.version()
    torch.zeros(1, device="cuda")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "/libcudnn.so." in line}
    if not paths:
        raise LookupError("torch has mapped no libcudnn.so")
    return sorted(paths)[0]


def say(text: str) -> None:
    """A line for who waits."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Compare, and write what came of it: 0 done, 4 no GPU or no torch."""
    parser = argparse.ArgumentParser(description="Our best cuDNN convolution beside torch's.")
    parser.add_argument("output", help="JSON file to write")
    parser.add_argument("--library", default="", help="libcudnn.so.N; torch's own by default")
    parser.add_argument(
        "--tiny", action="store_true", help="small problems on the CPU, for a libcudnn that computes there"
    )
    parser.add_argument("--quick", action="store_true", help="small problems on the GPU: are they right")
    parser.add_argument("--seconds", type=float, default=450.0, help="after which no other problem is begun")
    told = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        say(f"not run: {error}")
        return 4
    if not told.tiny and not torch.cuda.is_available():
        say("not run: no GPU")
        return 4
    device = Device(torch, on_gpu=not told.tiny)
    cudnn = Cudnn(told.library or library_of_torch(torch))
    cudnn.create_handle(device.stream)
    is_small = told.tiny or told.quick
    asked = Asked(TINY if is_small else LAYERS, KINDS[:1] if is_small else KINDS, told.seconds)
    machine = torch.cuda.get_device_name() if device.on_gpu else "CPU"
    head = {"machine": machine, "torch": torch.__version__, "cudnn": cudnn.version, "least": LEAST, "rounds": ROUNDS}
    with torch.no_grad():
        write(told.output, head, rows(device, cudnn, asked, say))
    return 0


def write(path: str, head: dict[str, Any], found: Iterator[Row]) -> None:
    """The file, anew after each row: what was measured must outlive a comparison that is cut off."""
    content: dict[str, Any] = {**head, "rows": []}
    for one in found:
        content["rows"].append(one._asdict())
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=1)


if __name__ == "__main__":
    status = main()
    os._exit(status)  # exit handlers of CUDA's libraries can hang after all is said
