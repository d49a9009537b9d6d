"""What a path differs in: the array module, who computes convolutions, what the clock is.

`host` is NumPy, `gpu` is CuPy with kernels of our own (`kernels`); both convolve by `im2col`. `cudnn` puts cuDNN in the
convolution's place on either, and leaves all else as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from doctor.commands.bench.operations import Operations
from doctor.commands.bench.shapes import Geometry


class Convolver(Protocol):
    """One convolution: always the same geometry, any batch. Arrays are N,C,H,W and contiguous."""

    def forward(self, x: Any, weights: Any) -> Any:
        """What goes out, without the bias."""

    def backward_data(self, weights: Any, dy: Any) -> Any:
        """The gradient of what went in."""

    def backward_filter(self, x: Any, dy: Any) -> Any:
        """The gradient of the weights."""


class Backend(Protocol):
    """One path's means."""

    @property
    def xp(self) -> Any:
        """The array module: NumPy, or CuPy, which has its interface."""

    @property
    def clock(self) -> str:
        """What `seconds` measures with."""

    @property
    def operations(self) -> Operations:
        """How everything but convolutions is computed."""

    def convolver(self, name: str, geometry: Geometry, batch: int) -> Convolver:
        """The convolution of the layer of that name."""

    def seconds(self, work: Callable[[], None], times: int = 1) -> list[float]:
        """How long each of so many in a row takes; when it returns, what a GPU was given to do is done."""

    def peak_bytes(self) -> int:
        """The most memory that was held at once; 0 where it is not known."""

    def address(self, array: Any) -> int:
        """Where its values lie."""

    @property
    def stream(self) -> int:
        """The CUDA stream that the work is put on; 0 for the default one, and where there is none."""

    @property
    def algorithms(self) -> Mapping[str, str]:
        """What was chosen for convolutions, where there is a choice: {"conv1 forward": "IMPLICIT_GEMM"}."""
