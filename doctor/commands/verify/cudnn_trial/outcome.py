"""What one trial of one copy of cuDNN came to: values that the child's events are turned into."""

from collections.abc import Mapping
from typing import Any

from compat.base.record import NamedTuple

# In the order in which they are gone through. The first five need neither a GPU nor CuPy.
STAGES = (
    "load",  # the parts and the main library are opened, by absolute path
    "version",  # cudnnGetVersion, and what it was built with
    "parts",  # each sub-library's own version check
    "plans",  # a convolution is planned for a GPU that is only described: engines and heuristics are opened
    "mapped",  # the files that are mapped are this copy's
    "device",  # CuPy, the driver, the GPU; a copy to it and back
    "handle",  # cudnnCreate
    "convolution",  # fp32, 2D, GEMM algorithms, three passes
    "graph",  # fp32, the graph API as frameworks use it, three passes in both layouts
    "matrix",  # every dtype, rank and algorithm
    "strategies",  # no workspace, a limited one, the fastest
    "peers",  # copies between GPUs, where there are several
    # of a GPU, whatever cuDNN is there: what else training needs
    "cublas",  # a product of matrices for each number format
    "nvrtc",  # a kernel compiled and launched
    "copies",  # host to GPU and back, with the time that it takes
    "nccl",  # an all-reduce over the GPUs, one process each
)
LEVELS = {
    "load": STAGES[:5],
    "conv": STAGES[:9],
    "full": STAGES[:12],
    "node": ("device", "cublas", "nvrtc", "copies", "peers", "nccl"),
}
PLANNING_FOR = "a plan for compute capability"  # how what is done for a GPU that was asked for begins


class Row(NamedTuple):
    """One algorithm of one pass on one problem."""

    direction: str  # "forward", "backward-data", "backward-filter"
    algorithm: str  # "IMPLICIT_GEMM", ...; those of cudnn.h without their prefix
    dtype: str  # "fp64", "fp32", "tf32", "fp16", "bf16"
    dims: int  # 1, 2 or 3
    problem: str  # "3x3", "3x3 stride 2", "3x3 dilation 2", "3x3 groups 2"
    status: str  # "right", "wrong", "declined" (not offered), "too-big" (workspace above the limit), "failed"
    difference: float  # greatest absolute one over the reference's greatest value; -1.0 where nothing was computed
    tolerance: float  # 0.0 where the answer must be exact
    workspace_bytes: int
    detail: str = ""  # cuDNN's words for "declined" and "failed"
    error: str = ""  # the name of its status, "CUDNN_STATUS_NOT_SUPPORTED"; "" for none


class Fault(NamedTuple):
    """Why a stage failed."""

    # "cudnn" (a status), "cuda" (a CUDA error), "library" (an error of cuBLAS, NVRTC, NCCL), "loader" (dlopen),
    # "python", "wrong" (numbers), "other-copy", "no-engine", "unused" (the GPU), "unproven" (that the library computed)
    kind: str
    function: str  # that answered so: "cudnnCreate"; "" for none
    status: int  # the number as the library gave it; 0 for none
    name: str  # "CUDNN_STATUS_ARCH_MISMATCH", "cudaErrorInsufficientDriver", "OSError"; "" for none
    text: str  # the library's own words


class Stage(NamedTuple):
    """One stage that was begun."""

    name: str  # of STAGES
    status: str  # "passed", "failed", "missing" (what it needs is not here: CuPy, a driver, a GPU), "cut-off"
    seconds: float
    fault: Fault | None  # of "failed"
    # of "missing": "cupy", "numpy", "driver", "gpu", "cublas", "nvrtc", "nccl"; "classic" (functions) or "engines" of
    # the copy; "partner", another GPU's trial; "" otherwise
    lacks: str
    facts: Mapping[str, Any]  # what it found: {"version": "9.10.2", ...}; see docs/verify.md


class Ending(NamedTuple):
    """How the child ended."""

    kind: str  # "exited", "signal", "timed-out" (and was killed), "not-started"
    code: int  # exit status, or number of the signal
    stage: str  # the stage that was under way, "" for none
    doing: str  # what it was about to do: "libcudnn_ops.so.9", "forward IMPLICIT_GEMM fp32 2D 3x3"; "" for nothing
    stderr: str  # its last words, at most 4 KiB


class Outcome(NamedTuple):
    """Everything that one child found out about one copy on one GPU."""

    library: str  # path of the main library
    gpu: int  # which one was meant
    level: str
    stages: tuple[Stage, ...]
    rows: tuple[Row, ...]
    ending: Ending

    def stage(self, name: str) -> Stage | None:
        """The stage of that name, None where it was not reached."""
        return next((one for one in self.stages if one.name == name), None)

    @property
    def has_passed(self) -> bool:
        """Whether every stage of the level was gone through, none failed, and the child came to its end."""
        passed = {one.name for one in self.stages if one.status == "passed"}
        return (self.ending.kind, self.ending.code) == ("exited", 0) and passed >= set(LEVELS[self.level])


class Order(NamedTuple):
    """What a trial is asked for."""

    library: str  # path of libcudnn.so.N or cudnn64_N.dll
    level: str = "conv"
    gpu: int = 0
    memory: str = "cupy"  # "host": for a library that computes in host memory
    plan_for: str = ""  # compute capability of the GPU that plans are made for; "" for one that every release knows
    library_dirs: tuple[str, ...] = ()  # searched besides the copy's own directory (cuBLAS, NVRTC)
    workspace_limit_bytes: int = 128 << 20  # with the data of the largest layer, below memory.MOST_BYTES
    stage_timeout_s: float = 60.0
    timeout_s: float = 300.0
    # of level node, where a trial is one of several that run at the same time
    together: int = 1  # how many
    rank: int = 0  # which of them
    meeting: str = ""  # a directory in which they find each other
