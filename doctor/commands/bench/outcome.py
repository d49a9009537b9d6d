"""What a benchmark is asked for and what it comes to: values only."""

from collections.abc import Mapping
from typing import Any

from compat.base.record import NamedTuple
from doctor.model.facts.gpu import GpuNow

# What is compared. Between the last two nothing differs but who computes the convolutions.
PATHS = (
    "cpu",  # NumPy: im2col, and BLAS for the products of matrices
    "gpu",  # the same code on CuPy: im2col, and cuBLAS; no cuDNN
    "gpu+cudnn",  # the same again, convolutions by cuDNN, the fastest algorithms that it finds
)
# Beside them where the user's environment has torch: the same network by torch's own operators, on its CPU.
TORCH = "cpu+torch"
# The three preferences of cuDNN v2, as its successors' choice among what Find measured.
STRATEGIES = ("no-workspace", "limited-workspace", "fastest")


class Layer(NamedTuple):
    """One layer, as its network's row says."""

    name: str
    kind: str  # of doctor.commands.bench.layers.KINDS
    inputs: tuple[str, ...]  # names of layers; "data" is the batch of images
    settings: Mapping[str, Any]  # numbers of this kind of layer: {"filters": 96, "kernel": [11, 11], "stride": 4, ...}


class Optimiser(NamedTuple):
    """How weights are updated after every batch."""

    kind: str  # of doctor.commands.bench.optimisers.KINDS
    settings: Mapping[str, float]  # {"rate": 0.01, "momentum": 0.9, "weight_decay": 0.0005}


class Network(NamedTuple):
    """A network trained whole: a row with its source."""

    name: str  # "alexnet": what the command line takes
    title: str  # "AlexNet (Caffe's bvlc_alexnet)"
    source: str  # repository, path and revision that the layers were read from
    read_on: str  # "2026-11-21"
    confidence: str  # "official", "secondary" or "derived"
    note: str  # what the source does not say, and what was taken instead; "" for nothing
    shape: tuple[int, int, int]  # of one image: channels, height, width
    classes: int
    batch: int  # images a step
    images_per_epoch: int
    optimiser: Optimiser
    parameters: int  # weights and biases in all: what the layers must come to
    parameters_source: str  # where that number was published, or how it was got
    layers: tuple[Layer, ...]  # in an order in which they can be computed


class Order(NamedTuple):
    """What a benchmark is asked for."""

    networks: tuple[Network, ...]
    paths: tuple[str, ...] = ("cpu",)  # of PATHS
    library: str = ""  # path of libcudnn.so.N; "" where there is none to measure with
    library_dirs: tuple[str, ...] = ()  # searched besides cuDNN's own directory (cuBLAS, NVRTC)
    gpu: int = 0
    batch: int = 0  # images a step; 0: the network's own
    steps: int = 0  # timed steps; 0: as many as fit into `seconds`, at least 3, at most 50
    seconds: float = 20.0  # how long one network may be timed on one path
    threads: int = 0  # of BLAS; 0: as many as this process may use
    dtype: str = "fp32"  # on the GPU "tf32" too: fp32 that may be rounded to 10 bits in products
    pools: tuple[bool, ...] = (True, False)  # "gpu" with CuPy's memory pool and without it; cuDNN always with it
    has_choices: bool = True  # whether the algorithm x workspace table is measured, where there is cuDNN
    workspace_limit_bytes: int = 512 << 20  # of "fastest"
    limited_workspace_bytes: int = 8 << 20  # of "limited-workspace"
    data: Mapping[str, str] = {}  # network: a directory with x.npy (uint8 N,C,H,W) and y.npy (int64 N); else synthetic
    memory: str = "cupy"  # "host": for a libcudnn that computes in host memory
    timeout_s: float = 600.0  # of one measurement; its child is killed then
    torch: tuple[str, ...] = ()  # interpreter and directory of the torch that is measured where the CPU is; () for none


class Timing(NamedTuple):
    """One network trained on one path: medians of single steps (forward, backward, update)."""

    network: str
    path: str  # of PATHS, or TORCH
    pool: bool | None  # whether CuPy's memory pool was on; None on the CPU
    dtype: str
    batch: int
    warmup_steps: int  # made before, and not timed
    steps: int  # timed
    step_s_median: float
    step_s_low: float  # lower quartile
    step_s_high: float  # upper quartile
    step_s_fastest: float
    step_s_slowest: float
    images_per_epoch: int
    epoch_s: float  # the median a step, times images_per_epoch / batch
    is_extrapolated: bool  # whether fewer steps were made than the epoch has: nearly always
    clock: str  # "CUDA events" or "perf_counter"
    data: str  # "synthetic", or the directory
    losses: tuple[float, float]  # of the first and the last step: a network that did not compute shows here
    peak_bytes: int  # the most memory held at once: of the GPU's pool, or the process's resident size; 0 not known
    algorithms: Mapping[str, str]  # what cuDNN chose: {"conv1 forward": "IMPLICIT_PRECOMP_GEMM"}
    notes: tuple[str, ...]  # what a reader must know: a smaller batch than the network's own, ...
    # The share of time in which the GPU worked at all, as NVML counts it amid the steps; None where it was not told.
    gpu_busy_percent: int | None = None


class Choice(NamedTuple):
    """One algorithm for one direction of one convolution layer, and which strategies would take it."""

    network: str
    layer: str
    direction: str  # "forward", "backward-data", "backward-filter"
    problem: str  # "256x3x227x227 * 96x3x11x11 stride 4"
    algorithm: str  # "IMPLICIT_GEMM", ...
    status: (
        str  # "ran", "declined" (cuDNN does not offer it here), "too-big" (its workspace is over the limit), "failed"
    )
    ms: float  # median; 0.0 unless it ran
    workspace_bytes: int
    strategies: tuple[str, ...]  # of STRATEGIES
    detail: str  # cuDNN's words for "declined" and "failed"


class Lack(NamedTuple):
    """What was asked for and not measured."""

    network: str  # "" for all
    path: str  # of PATHS, or TORCH; "" for all; "choices" for the table of algorithms
    needs: str  # "numpy", "torch", "cupy", "driver", "gpu", "cudnn", "memory", "time"; "" where it failed on its own
    why: str  # a sentence a user can act on


class Machine(NamedTuple):
    """Where it was measured; "" for what is not there or was not told."""

    cpu: str
    cores: int  # that this process may use
    threads: int  # of BLAS
    system: str  # "Linux 6.1.0"
    python: str
    numpy: str
    blas: str  # "OpenBLAS 0.3.31 (Haswell kernels)"
    cupy: str
    gpu: str
    capability: str
    driver: str
    cuda_runtime: str  # that CuPy uses
    cudnn: str
    cudnn_path: str
    gpu_before: GpuNow | None  # temperature, clock, reasons for throttling; None where no GPU was measured
    gpu_after: GpuNow | None
    torch: str = ""  # of the user's environment


class Bench(NamedTuple):
    """Everything that was measured, and everything that was not."""

    measured_on: str  # "2026-11-21"
    machine: Machine
    timings: tuple[Timing, ...]
    choices: tuple[Choice, ...]
    lacks: tuple[Lack, ...]
    notes: tuple[str, ...]  # of the whole run: throttling that was seen, ...

    def timing(self, network: str, path: str, pool: bool | None) -> Timing | None:
        """The one measurement of that kind, None where it was not made."""
        wanted = (network, path, pool)
        return next((one for one in self.timings if (one.network, one.path, one.pool) == wanted), None)


class Progress(NamedTuple):
    """How far it is: for a progress bar."""

    done: int  # measurements behind us
    total: int
    network: str
    path: str
    pool: bool | None
    doing: str  # "warming up", "step 3 of 10", "conv1 forward IMPLICIT_GEMM"
