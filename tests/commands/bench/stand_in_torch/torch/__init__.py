"""What the trainer asks of torch: shapes go through the layers, and every operator is written down with them.

It fails where FAKE_TORCH_FAULT says: "import", "exit", "operator".
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

__version__ = "1.0+stand.in"
FAULT, LOG = os.environ.get("FAKE_TORCH_FAULT"), os.environ["FAKE_TORCH_LOG"]
uint8 = "uint8"
if FAULT == "import":
    raise ImportError("libtorch_cpu.so: cannot open shared object file\nand more")
if FAULT == "exit":
    os._exit(3)


def note(*words: object) -> None:
    with open(LOG, "a") as log:
        log.write(" ".join(map(str, words)) + "\n")


class Tensor:
    dtype = "float32"

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, part: Any) -> Tensor:
        if isinstance(part, slice):
            return Tensor(len(range(*part.indices(len(self)))), *self.shape[1:])
        assert part == (slice(None), 0)
        return Tensor(len(self))

    def reshape(self, rows: int, rest: int) -> Tensor:
        size = 1
        for one in self.shape:
            size *= one
        assert rest == -1
        return Tensor(rows, size // rows)

    def same(self, *_: object) -> Tensor:
        return self

    float = mul_ = sub_ = to = requires_grad_ = __mul__ = __rmul__ = __sub__ = __rsub__ = __add__ = __radd__ = same

    def backward(self) -> None:
        note("backward")

    def item(self) -> Any:
        with open(LOG) as log:
            return 3.0 / log.read().count("backward")


def randint(high: int, shape: tuple[int, ...], dtype: str = "int64") -> Tensor:
    return Tensor(*shape)


def full(shape: tuple[int, ...], value: float) -> Tensor:
    return Tensor(*shape)


def cat(inputs: tuple[Tensor, ...], dimension: int) -> Tensor:
    first = inputs[0].shape
    assert dimension == 1
    return Tensor(first[0], sum(one.shape[1] for one in inputs), *first[2:])


rand = randn = Tensor
manual_seed = int


def conv2d(x: Tensor, w: Tensor, b: Tensor, *said: int) -> Tensor:
    stride, padding, dilation, groups = said
    if FAULT == "operator":
        raise RuntimeError("could not create a primitive")
    assert (w.shape[1] * groups, dilation, b.shape) == (x.shape[1], 1, w.shape[:1])
    sizes = [(size + 2 * padding - w.shape[2]) // stride + 1 for size in x.shape[2:]]
    return noted("conv2d", Tensor(len(x), len(w), *sizes))


def linear(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    assert (w.shape[1], b.shape) == (x.shape[1], w.shape[:1])
    return noted("linear", Tensor(len(x), len(w)))


def pool(x: Tensor, *, kernel_size: int, stride: int, padding: int, ceil_mode: bool) -> Tensor:
    reaches = [size + 2 * padding - kernel_size for size in x.shape[2:]]
    sizes = [(-(-reach // stride) if ceil_mode else reach // stride) + 1 for reach in reaches]
    return noted("pool", Tensor(*x.shape[:2], *sizes))


def noted(name: str, tensor: Tensor) -> Tensor:
    note(name, *tensor.shape)
    return tensor


def loss(scores: Tensor, labels: Tensor) -> Tensor:
    assert scores.shape[:1] == labels.shape
    return noted("loss", Tensor())


functional = SimpleNamespace(
    conv2d=conv2d,
    linear=linear,
    max_pool2d=pool,
    avg_pool2d=pool,
    local_response_norm=lambda x, *_: noted("lrn", x),
    dropout=lambda x, rate: noted("dropout", x),
    relu=lambda x: noted("relu", x),
    cross_entropy=loss,
    binary_cross_entropy_with_logits=loss,
)
nn = SimpleNamespace(functional=functional)


class SGD:
    def __init__(self, groups: list[dict[str, Any]], **said: float) -> None:
        weights, biases = groups
        assert len(weights["params"]) == len(biases["params"])
        rates = (said["lr"], said["momentum"], said["weight_decay"], biases["lr"], biases["weight_decay"])
        note("SGD", len(weights["params"]), *rates)

    def zero_grad(self) -> None:
        note("zero")

    def step(self) -> None:
        note("step")


optim = SimpleNamespace(SGD=SGD)
