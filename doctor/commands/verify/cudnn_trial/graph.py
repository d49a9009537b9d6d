"""The same convolutions by cuDNN's graph API (8 and later): the engines that the classic functions do not offer.

A convolution is described once; cuDNN's heuristics then name engines for it, best first, and each that can be made
into an execution plan is one more way to compute it. PyTorch picks its algorithms so, which is why a comparison with
it needs them too. Numbers and their types: cudnn_backend.h of 8.9.7, cudnn_graph.h of 9.10.2 and 9.13.0 (a test reads
them there again); the order of the calls: NVIDIA's cuDNN graph API reference.
"""

from __future__ import annotations

import ctypes
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import Any

from compat.base.paths import text_beside
from compat.base.record import NamedTuple
from doctor.commands.verify.cudnn_trial.convolution import DATA_TYPES, Problem, at_least_4d, strides_of
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError
from doctor.commands.verify.cudnn_trial.cudnn_prototypes import CROSS_CORRELATION

# cudnnBackendAttributeName_t, without CUDNN_ATTR_
ATTRIBUTES: dict[str, int] = json.loads(text_beside(__file__, "cudnn_h.json"))["attributes"]
# cudnnBackendDescriptorType_t
CONVOLUTION, ENGINE, ENGINE_CONFIG, HEURISTIC, PLAN = 1, 2, 3, 4, 5
FORWARD, BACKWARD_FILTER, BACKWARD_DATA = 10, 11, 12
GRAPH, VARIANT_PACK, TENSOR, DEVICE = 15, 16, 17, 38
# cudnnBackendAttributeType_t
HANDLE, DATA_TYPE, INT64, FLOAT, DOUBLE, POINTER, MODE = 0, 1, 3, 4, 5, 6, 7
HEURISTIC_MODE, NUMERICAL_NOTE, DESCRIPTOR, CHAR = 8, 11, 15, 24
# cudnnBackendNumericalNote_t
NOTES = {0: "tensor core", 1: "down-converts its inputs", 2: "reduced precision", 3: "FFT", 5: "Winograd"}
TENSOR_CORE, DOWN_CONVERTS = "tensor core", "down-converts its inputs"
# cudnnBackendHeurMode_t: the usual one, and the engines of last resort; both since 8.3.
# Source: ROCm/HIPIFY:docs/tables/CUDNN_API_supported_by_HIP.md
MODES = {"a": 3, "fallback": 2}
MODES_SINCE = 8300  # as cudnnGetVersion answers
# As many as PyTorch tries (torch.backends.cudnn.benchmark_limit): some are compiled when their plan is made.
PLANS = 10
_NOTES_AT_MOST = 16
_ENGINES_AT_MOST = 64  # of one heuristic
_ALIGNMENT_BYTES = 16  # CuPy's allocations are aligned to 512
_X, _W, _Y = 1, 2, 3  # our names for the tensors
_TYPES: dict[int, Any] = {
    HANDLE: ctypes.c_void_p,
    DATA_TYPE: ctypes.c_int,
    INT64: ctypes.c_int64,
    FLOAT: ctypes.c_float,
    DOUBLE: ctypes.c_double,
    POINTER: ctypes.c_void_p,
    MODE: ctypes.c_int,
    HEURISTIC_MODE: ctypes.c_int,
    NUMERICAL_NOTE: ctypes.c_int,
    DESCRIPTOR: ctypes.c_void_p,
    CHAR: ctypes.c_char,
}


_Attribute = tuple[str, int, list[Any]]  # its name, its type, the values


class _Operation(NamedTuple):
    """What differs between the three directions."""

    kind: int
    stem: str  # of its attributes' names
    tensors: tuple[str, str, str]  # what they call x, w and y
    given: tuple[int, int]  # which of our tensors are read, in the order of `run`'s addresses
    made: int


_OPERATIONS = {
    "forward": _Operation(
        kind=FORWARD, stem="OPERATION_CONVOLUTION_FORWARD", tensors=("X", "W", "Y"), given=(_X, _W), made=_Y
    ),
    "backward-data": _Operation(
        kind=BACKWARD_DATA, stem="OPERATION_CONVOLUTION_BWD_DATA", tensors=("DX", "W", "DY"), given=(_W, _Y), made=_X
    ),
    "backward-filter": _Operation(
        kind=BACKWARD_FILTER,
        stem="OPERATION_CONVOLUTION_BWD_FILTER",
        tensors=("X", "DW", "DY"),
        given=(_X, _Y),
        made=_W,
    ),
}


class Plan(NamedTuple):
    """One engine that can compute it, with one choice of its settings."""

    engine: int  # cuDNN's number of it
    variant: int  # of its settings, 1 is the one that comes first
    notes: tuple[str, ...]  # of NOTES
    workspace_bytes: int
    descriptor: int

    @property
    def label(self) -> str:
        """How tables name it: "engine 38 (tensor core)", "engine 38.2" for other settings of the same."""
        number = f"{self.engine}.{self.variant}" if self.variant > 1 else str(self.engine)
        return f"engine {number}" + (f" ({', '.join(self.notes)})" if self.notes else "")


class GraphConvolution:
    """One problem by the graph API; a context manager, for the descriptors live outside of Python.

    Plans are made for the GPU of the handle; without a handle, from cuDNN 9.8 on, for one that is described: `device`
    is the JSON text that CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION takes. Raises CudnnError, also where this copy has
    no such API (before cuDNN 8).
    """

    def __init__(self, cudnn: Cudnn, problem: Problem, device: bytes = b"") -> None:
        self._cudnn = cudnn
        self.problem = problem
        self._made: list[int] = []
        self._packs: dict[int, tuple[tuple[int, ...], int]] = {}  # by plan: the last addresses, and their descriptor
        self._device = self._finalized(DEVICE, ("DEVICEPROP_JSON_REPRESENTATION", CHAR, list(device))) if device else 0

    def __enter__(self) -> GraphConvolution:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Destroy every descriptor; raises CudnnError."""
        while self._made:
            self._cudnn.call("cudnnBackendDestroyDescriptor", self._made.pop())

    def operation(self, direction: str) -> int:
        """The descriptor of the convolution of one direction; needs no handle. Raises CudnnError."""
        one, problem = _OPERATIONS[direction], self.problem
        scalar = DOUBLE if problem.dtype == "fp64" else FLOAT
        shapes = ((_X, problem.x), (_W, problem.w), (_Y, problem.y))
        return self._finalized(
            one.kind,
            (f"{one.stem}_ALPHA", scalar, [1.0]),
            (f"{one.stem}_BETA", scalar, [0.0]),
            (f"{one.stem}_CONV_DESC", DESCRIPTOR, [self._convolution()]),
            *(
                (f"{one.stem}_{name}", DESCRIPTOR, [self._tensor(uid, shape)])
                for name, (uid, shape) in zip(one.tensors, shapes, strict=True)
            ),
        )

    def plans(self, direction: str, at_most: int = PLANS) -> list[Plan]:
        """The first of `offered`. Raises CudnnError where there is no heuristic."""
        return list(islice(self.offered(direction), at_most))

    def offered(self, direction: str) -> Iterator[Plan]:
        """The engines that can be made into a plan on this GPU, best first by cuDNN's own guess, each as it is needed.

        Those of last resort come at the end; one of them may be an engine from before with better settings (on an
        H100, cuDNN 9.19, the filter's gradient of a 1x1 convolution in fp32: 0.58 ms instead of 1.06). For "fp32" none
        that rounds its inputs: that would be TF32. Raises CudnnError where there is no heuristic.
        """
        graph = self._finalized(
            GRAPH,
            *self._for("OPERATIONGRAPH_HANDLE", ""),
            ("OPERATIONGRAPH_OPS", DESCRIPTOR, [self.operation(direction)]),
        )
        variants: Counter[int] = Counter()
        for mode in MODES.values():
            for plan in self._of_heuristic(graph, mode):
                if self._suits(plan):
                    variants[plan.engine] += 1
                    yield plan._replace(variant=variants[plan.engine])

    def _suits(self, plan: Plan) -> bool:
        return not (self.problem.dtype == "fp32" and {TENSOR_CORE, DOWN_CONVERTS} & set(plan.notes))

    def run(self, direction: str, plan: Plan, addresses: Sequence[int], workspace: int) -> None:
        """Compute on the handle's stream: addresses of the two inputs and the output, as `Convolution.run` has them.

        Raises CudnnError.
        """
        pack = self._pack(direction, plan, (*addresses, workspace))
        self._cudnn.call("cudnnBackendExecute", self._cudnn.handle, plan.descriptor, pack)

    def _pack(self, direction: str, plan: Plan, where: tuple[int, ...]) -> int:
        """What tells a plan where its data lie. The last is kept: to make it takes longer than a small convolution."""
        known, pack = self._packs.get(plan.descriptor, ((), 0))
        if known == where:
            return pack
        if self._packs.pop(plan.descriptor, None):
            self._made.remove(pack)
            self._cudnn.call("cudnnBackendDestroyDescriptor", pack)
        kind = _OPERATIONS[direction]
        pack = self._finalized(
            VARIANT_PACK,
            ("VARIANT_PACK_UNIQUE_IDS", INT64, [*kind.given, kind.made]),
            ("VARIANT_PACK_DATA_POINTERS", POINTER, list(where[:-1])),
            ("VARIANT_PACK_WORKSPACE", POINTER, [where[-1]]),
        )
        self._packs[plan.descriptor] = where, pack
        return pack

    def _of_heuristic(self, graph: int, mode: int) -> Iterator[Plan]:
        heuristic = self._finalized(
            HEURISTIC,
            ("ENGINEHEUR_OPERATION_GRAPH", DESCRIPTOR, [graph]),
            ("ENGINEHEUR_MODE", HEURISTIC_MODE, [mode]),
            *self._for("", "ENGINEHEUR_DEVICEPROP"),
        )
        configs = [self._new(ENGINE_CONFIG) for _ in range(_ENGINES_AT_MOST)]
        for config in self._get(heuristic, "ENGINEHEUR_RESULTS", DESCRIPTOR, configs):
            plan = self._plan(config)
            if plan:
                yield plan

    def _plan(self, config: int) -> Plan | None:
        """None for an engine that cannot do it here after all, which one may find out by an error of its own."""
        try:
            (engine,) = self._get(config, "ENGINECFG_ENGINE", DESCRIPTOR, [self._new(ENGINE)])
            (number,) = self._get(engine, "ENGINE_GLOBAL_INDEX", INT64, [0])
            notes = self._get(engine, "ENGINE_NUMERICAL_NOTE", NUMERICAL_NOTE, [0] * _NOTES_AT_MOST)
            plan = self._finalized(
                PLAN,
                *self._for("EXECUTION_PLAN_HANDLE", "EXECUTION_PLAN_DEVICEPROP"),
                ("EXECUTION_PLAN_ENGINE_CONFIG", DESCRIPTOR, [config]),
            )
            (workspace_bytes,) = self._get(plan, "EXECUTION_PLAN_WORKSPACE_SIZE", INT64, [0])
        except CudnnError as error:
            if not error.is_declined and "INTERNAL_ERROR" not in error.name:
                raise
            return None
        return Plan(
            engine=number,
            variant=1,
            notes=tuple(NOTES[one] for one in notes if one in NOTES),
            workspace_bytes=workspace_bytes,
            descriptor=plan,
        )

    def _for(self, handle: str, device: str) -> list[_Attribute]:
        """Whose something is: the handle's GPU, or the one described, by the attribute that takes it; "" for none."""
        if self._device:
            return [(device, DESCRIPTOR, [self._device])] if device else []
        return [(handle, HANDLE, [self._cudnn.handle])] if handle else []

    def _tensor(self, uid: int, shape: tuple[int, ...]) -> int:
        sizes = at_least_4d(shape)
        return self._finalized(
            TENSOR,
            ("TENSOR_DATA_TYPE", DATA_TYPE, [DATA_TYPES[self.problem.dtype][0]]),
            ("TENSOR_DIMENSIONS", INT64, list(sizes)),
            ("TENSOR_STRIDES", INT64, list(strides_of(sizes, self.problem.layout))),
            ("TENSOR_UNIQUE_ID", INT64, [uid]),
            ("TENSOR_BYTE_ALIGNMENT", INT64, [_ALIGNMENT_BYTES]),
        )

    def _convolution(self) -> int:
        problem = self.problem
        flat = problem.dims == 1  # 1D is given as 2D of height 1
        padding = [0, *problem.padding] if flat else list(problem.padding)
        stride = [1, *problem.stride] if flat else list(problem.stride)
        return self._finalized(
            CONVOLUTION,
            ("CONVOLUTION_COMP_TYPE", DATA_TYPE, [DATA_TYPES[problem.dtype][1]]),
            ("CONVOLUTION_CONV_MODE", MODE, [CROSS_CORRELATION]),
            ("CONVOLUTION_SPATIAL_DIMS", INT64, [len(padding)]),
            ("CONVOLUTION_DILATIONS", INT64, [1, *problem.dilation] if flat else list(problem.dilation)),
            ("CONVOLUTION_FILTER_STRIDES", INT64, stride),
            ("CONVOLUTION_POST_PADDINGS", INT64, padding),
            ("CONVOLUTION_PRE_PADDINGS", INT64, padding),
        )

    def _new(self, kind: int) -> int:
        made = ctypes.c_void_p()
        self._cudnn.call("cudnnBackendCreateDescriptor", kind, ctypes.byref(made))
        self._made.append(made.value or 0)
        return self._made[-1]

    def _finalized(self, kind: int, *attributes: _Attribute) -> int:
        descriptor = self._new(kind)
        for name, its_type, values in attributes:
            array = (_TYPES[its_type] * len(values))(*values)
            self._cudnn.call("cudnnBackendSetAttribute", descriptor, ATTRIBUTES[name], its_type, len(values), array)
        self._cudnn.call("cudnnBackendFinalize", descriptor)
        return descriptor

    def _get(self, descriptor: int, name: str, its_type: int, room: list[Any]) -> list[Any]:
        """An attribute; `room` holds as many values as may come, and for descriptors those that are to be filled."""
        array = (_TYPES[its_type] * len(room))(*room)
        came = ctypes.c_int64()
        self._cudnn.call(
            "cudnnBackendGetAttribute", descriptor, ATTRIBUTES[name], its_type, len(room), ctypes.byref(came), array
        )
        return list(array)[: min(came.value, len(room))]
