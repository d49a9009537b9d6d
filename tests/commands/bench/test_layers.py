"""Every layer against loops that do what its definition says, and its gradient against small differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from doctor.commands.bench import shapes
from doctor.commands.bench.backends.host import HostBackend
from doctor.commands.bench.layers import KINDS, Computed
from doctor.commands.bench.outcome import Layer
from doctor.commands.bench.start import Start, limit
from tests.commands.bench.small import layer

RANDOM = np.random.default_rng(3)
BATCH = 3


def made(row: Layer, *input_shapes: tuple[int, ...]) -> Computed:
    return KINDS[row.kind](row, input_shapes, HostBackend(), BATCH, Start(5, "float64"))


def numbers(*shape: int) -> Any:
    return RANDOM.standard_normal((BATCH, *shape))


def pooled_slowly(row: Layer, x: Any) -> Any:
    """Window by window."""
    size = shapes.window(row, x.shape[1:])
    padding, (height, width) = size.padding, x.shape[2:]
    y = np.zeros((*x.shape[:2], size.height, size.width))
    for i in range(size.height):
        for j in range(size.width):
            top, left = i * size.stride - padding, j * size.stride - padding
            bottom, right = min(top + size.kernel, height + padding), min(left + size.kernel, width + padding)
            window = x[:, :, max(top, 0) : min(bottom, height), max(left, 0) : min(right, width)]
            if row.settings["method"] == "max":
                y[:, :, i, j] = window.max((2, 3))
            else:
                y[:, :, i, j] = window.sum((2, 3)) / ((bottom - top) * (right - left))
    return y


POOLS = [
    layer("pool", "pool", "data", method=method, kernel=kernel, stride=stride, padding=padding, rounding=rounding)
    for method in ("max", "average")
    for kernel, stride, padding, rounding in [
        (2, 2, 0, "floor"),
        (3, 2, 0, "ceil"),
        (3, 2, 0, "floor"),
        (3, 1, 1, "ceil"),
        (3, 2, 1, "ceil"),
        (5, 3, 0, "ceil"),
        (7, 1, 0, "ceil"),
    ]
]


@pytest.mark.parametrize("row", POOLS, ids=lambda row: "-".join(map(str, row.settings.values())))
@pytest.mark.parametrize("size", [(7, 8), (9, 7), (8, 8)])
def test_pooling_is_what_its_windows_say(row: Layer, size: tuple[int, int]) -> None:
    x = numbers(2, *size)
    np.testing.assert_allclose(made(row, (2, *size)).forward(x), pooled_slowly(row, x), atol=1e-12)


@pytest.mark.parametrize("beta", [0.75, 0.6])
def test_normalisation_is_what_its_formula_says(beta: float) -> None:
    row = layer("norm", "lrn", "data", size=5, alpha=0.3, beta=beta, k=2.0)
    x = numbers(7, 3, 2)
    squares = np.pad(x**2, ((0, 0), (2, 2), (0, 0), (0, 0)))
    around = sum(squares[:, first : first + 7] for first in range(5))
    expected = x / (2.0 + 0.3 / 5 * around) ** beta
    np.testing.assert_allclose(made(row, (7, 3, 2)).forward(x), expected, atol=1e-12)


def test_equal_values_give_their_gradient_to_the_first() -> None:
    row = layer("pool", "pool", "data", method="max", kernel=2, stride=2)
    pool = made(row, (1, 2, 2))
    pool.forward(np.ones((1, 1, 2, 2)))
    (dx,) = pool.backward(np.full((1, 1, 1, 1), 5.0))
    assert dx.tolist() == [[[[5.0, 0.0], [0.0, 0.0]]]]


CASES: list[tuple[Layer, tuple[tuple[int, ...], ...]]] = [
    (layer("conv", "conv", "a", filters=4, kernel=3, padding=1), ((2, 5, 4),)),
    (layer("conv", "conv", "a", filters=4, kernel=3, stride=2, padding=1, groups=2), ((2, 5, 6),)),
    (layer("dense", "dense", "a", units=4), ((5,),)),
    (layer("relu", "relu", "a"), ((3, 2, 2),)),
    (layer("dropout", "dropout", "a", rate=0.4), ((3, 2, 2),)),
    (layer("flatten", "flatten", "a"), ((3, 2, 2),)),
    (layer("concat", "concat", "a", "b"), ((2, 3, 2), (1, 3, 2))),
    (layer("norm", "lrn", "a", size=3, alpha=0.7, beta=0.75), ((5, 2, 2),)),
    (layer("norm", "lrn", "a", size=3, alpha=0.7, beta=0.5, k=2.0), ((5, 2, 2),)),
    *((row, ((2, 7, 8),)) for row in POOLS),
]


@pytest.mark.parametrize(("row", "sizes"), CASES, ids=lambda value: getattr(value, "kind", None))
def test_gradients_are_those_of_small_differences(row: Layer, sizes: tuple[tuple[int, ...], ...]) -> None:
    """Of sum(y * weight), by every input and every weight."""
    computed = made(row, *sizes)
    inputs = [numbers(*size) for size in sizes]
    first = computed.forward(*(one.copy() for one in inputs))
    weight = RANDOM.standard_normal(first.shape)
    if row.kind == "dropout":
        fix_mask(computed)
        computed.forward(*inputs)
    found = [*computed.backward(weight.copy()), *computed.gradients]

    def value() -> float:
        return float((computed.forward(*(one.copy() for one in inputs)) * weight).sum())

    for array, gradient in zip([*inputs, *computed.weights], found, strict=True):
        np.testing.assert_allclose(gradient, differences(array, value), atol=2e-6)


def fix_mask(dropout: Computed) -> None:
    start = dropout._start  # type: ignore[attr-defined]
    start.place = lambda _: 4


def differences(array: Any, value: Any, step: float = 1e-6) -> Any:
    """The gradient by this array, one number after the other."""
    gradient = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        kept = array[place]
        array[place] = kept + step
        above = value()
        array[place] = kept - step
        gradient[place] = (above - value()) / (2 * step)
        array[place] = kept
    return gradient


@pytest.mark.parametrize(("kind", "units"), [("softmax-loss", 4), ("sigmoid-loss", 1)])
def test_losses_and_their_gradients(kind: str, units: int) -> None:
    row = layer("loss", kind, "a", weight=0.3)
    loss: Any = made(row, (units,))
    loss.labels = np.array([0, 1, 1])
    scores = numbers(units) * 3

    def value() -> float:
        loss.forward(scores)
        return float(loss.value)

    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True) if units > 1 else two_classes(scores)
    assert value() == pytest.approx(0.3 * -np.log(shares[np.arange(BATCH), loss.labels]).mean())
    (gradient,) = loss.backward(None)
    np.testing.assert_allclose(gradient, differences(scores, value), atol=1e-8)


def two_classes(scores: Any) -> Any:
    second = 1 / (1 + np.exp(-scores))
    return np.concatenate([1 - second, second], axis=1)


@pytest.mark.parametrize("scores", [[[800.0, -800.0]], [[-800.0, 800.0]]])
def test_sure_scores_make_no_infinite_loss(scores: list[list[float]]) -> None:
    loss: Any = made(layer("loss", "softmax-loss", "a"), (2,))
    loss.labels = np.array([1])
    loss.forward(np.array(scores))
    assert np.isfinite(loss.value)


def test_dropout_keeps_the_mean_and_takes_a_new_mask_every_step() -> None:
    dropout = made(layer("drop", "dropout", "a", rate=0.25), (20, 20, 20))
    ones = np.ones((BATCH, 20, 20, 20))
    first, second = dropout.forward(ones), dropout.forward(ones)
    assert (first == 0).mean() == pytest.approx(0.25, abs=0.02)
    assert first.mean() == pytest.approx(1.0, abs=0.03)
    assert (first != second).any()


def test_a_first_layer_gives_no_gradient_of_the_images() -> None:
    conv = made(layer("conv", "conv", "data", filters=2, kernel=3), (2, 5, 5))
    conv.is_first = True
    y = conv.forward(numbers(2, 5, 5))
    assert conv.backward(y) == ()
    assert len(conv.gradients) == 2


@pytest.mark.parametrize(
    ("init", "shape", "expected"),
    [
        ("glorot", (8, 4, 3, 3), (6 / (36 + 72)) ** 0.5),
        ("glorot", (10, 20), (6 / 30) ** 0.5),
        ("xavier", (8, 4, 3, 3), (3 / 36) ** 0.5),
        ("torch", (10, 25), 0.2),
    ],
)
def test_first_weights(init: str, shape: tuple[int, ...], expected: float) -> None:
    assert limit(init, shape) == pytest.approx(expected)
    row = layer("fc", "dense", "a", units=shape[0], init=init, bias=0.5)
    weights, biases = Start(1).weights(row, (shape, (shape[0],)))
    assert np.abs(weights).max() <= expected
    assert set(biases.tolist()) == {0.5}


def test_gaussian_first_weights() -> None:
    row = layer("fc", "dense", "a", units=100, init="gaussian", std=0.01)
    weights, _ = Start(1).weights(row, ((100, 100), (100,)))
    assert weights.std() == pytest.approx(0.01, rel=0.05)
    assert weights.dtype == "float32"


def test_an_unknown_way_to_fill_weights_is_refused() -> None:
    with pytest.raises(ValueError, match="zeros"):
        limit("zeros", (1, 1))
