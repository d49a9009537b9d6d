"""How weights are changed after a step, in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doctor.commands.bench.outcome import Optimiser


class Updates:
    """An optimiser, with what it remembers of every array of weights."""

    memories = 0  # how many arrays it remembers for each

    def __init__(self, optimiser: Optimiser, xp: Any) -> None:
        """The numbers are the row's."""
        self.said = optimiser.settings
        self.xp = xp
        self.step = 0
        self._memory: dict[int, list[Any]] = {}

    def apply(self, parameters: list[tuple[int, Any, Any, bool]]) -> None:
        """One step: (number, weights, gradient, whether these are biases) of every array."""
        self.step += 1
        for number, weights, gradient, is_bias in parameters:
            if number not in self._memory:
                self._memory[number] = [self.xp.zeros_like(weights) for _ in range(self.memories)]
            self.change(weights, gradient, self._memory[number], is_bias)

    def change(self, weights: Any, gradient: Any, memory: list[Any], is_bias: bool) -> None:
        """One array's change."""
        raise NotImplementedError


class Sgd(Updates):
    """Stochastic gradient descent with momentum and weight decay, as in Caffe's sgd_solver.cpp."""

    memories = 1

    def change(self, weights: Any, gradient: Any, memory: list[Any], is_bias: bool) -> None:
        """The speed is what is remembered."""
        (speed,) = memory
        rate, decay = rate_and_decay(self.said, is_bias)
        speed *= self.said.get("momentum", 0.0)
        if decay:
            gradient += decay * weights
        gradient *= rate
        speed += gradient
        weights -= speed


class RmsProp(Updates):
    """By the running mean of squares; as in Keras 1.2.2's optimizers.py."""

    memories = 1

    def change(self, weights: Any, gradient: Any, memory: list[Any], is_bias: bool) -> None:
        """The mean square is what is remembered."""
        (square,) = memory
        _mix(square, gradient * gradient, self.said["decay"])
        gradient *= self.said["rate"]
        gradient /= self.xp.sqrt(square) + self.said["epsilon"]
        weights -= gradient


class Adadelta(Updates):
    """By running means of squares of gradients and of changes; as in Keras 1.2.2's optimizers.py."""

    memories = 2

    def change(self, weights: Any, gradient: Any, memory: list[Any], is_bias: bool) -> None:
        """Two mean squares are remembered."""
        square, change_square = memory
        _mix(square, gradient * gradient, self.said["decay"])
        gradient *= self.xp.sqrt((change_square + self.said["epsilon"]) / (square + self.said["epsilon"]))
        _mix(change_square, gradient * gradient, self.said["decay"])
        gradient *= self.said["rate"]
        weights -= gradient


class Adam(Updates):
    """By running means of gradients and of their squares, corrected for their start; as in Keras 1.2.2."""

    memories = 2

    def change(self, weights: Any, gradient: Any, memory: list[Any], is_bias: bool) -> None:
        """Mean and mean square are remembered."""
        mean, square = memory
        first, second = self.said["beta_1"], self.said["beta_2"]
        _mix(square, gradient * gradient, second)
        _mix(mean, gradient, first)
        rate = self.said["rate"] * (1 - second**self.step) ** 0.5 / (1 - first**self.step)
        weights -= rate * mean / (self.xp.sqrt(square) + self.said["epsilon"])


def rate_and_decay(said: Mapping[str, float], is_bias: bool) -> tuple[float, float]:
    """Of SGD: Caffe has factors for both of every array, and gives biases their own."""
    rate, decay = said["rate"], said.get("weight_decay", 0.0)
    if is_bias:
        return rate * said.get("bias_rate", 1.0), decay * said.get("bias_decay", 1.0)
    return rate, decay


def _mix(mean: Any, value: Any, old_share: float) -> None:
    """Move a running mean, in place; `value` is used up."""
    mean *= old_share
    value *= 1 - old_share
    mean += value


KINDS: dict[str, type[Updates]] = {"sgd": Sgd, "rmsprop": RmsProp, "adadelta": Adadelta, "adam": Adam}
