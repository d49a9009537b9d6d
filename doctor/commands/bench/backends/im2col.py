"""Convolution as products of matrices: every window of the images becomes a column, the filters are the other factor.

This is what Caffe and Theano did before cuDNN. One code for NumPy (the products are BLAS') and CuPy (cuBLAS').
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doctor.commands.bench.shapes import Geometry


class Im2col:
    """One convolution on arrays of one module."""

    def __init__(self, xp: Any, geometry: Geometry, columns_bytes: int) -> None:
        """`xp`: NumPy or CuPy; `columns_bytes`: what the columns may take, so that a batch is done in parts."""
        self._xp = xp
        self._geometry = geometry
        self._limit = columns_bytes
        self._mirror: Im2col | None = None

    def forward(self, x: Any, weights: Any) -> Any:
        """What goes out."""
        shape = self._geometry
        filters = weights.reshape(shape.groups, shape.filters // shape.groups, -1)
        y = self._xp.empty((len(x), *shape.output), x.dtype)
        for part in self._parts(x):
            product = self._product(filters, self._columns(x[part]))
            by_filter = product.reshape(shape.filters, -1, *shape.output[1:])
            y[part] = by_filter.transpose(1, 0, 2, 3)
        return y

    def backward_filter(self, x: Any, dy: Any) -> Any:
        """The gradient of the weights."""
        shape = self._geometry
        total: Any = None
        for part in self._parts(x):
            by_filter = dy[part].transpose(1, 0, 2, 3).reshape(shape.groups, shape.filters // shape.groups, -1)
            product = self._product(by_filter, self._columns(x[part]).transpose(0, 2, 1))
            total = product if total is None else total + product
        return total.reshape(shape.weights)

    def backward_data(self, weights: Any, dy: Any) -> Any:
        """The gradient of what went in: with a stride of 1, itself a convolution, by the mirrored filters."""
        shape = self._geometry
        if shape.stride == 1 and shape.padding < shape.kernel:
            return self._mirrored().forward(dy, self._mirror_filters(weights))
        return self._folded(weights, dy)

    def _mirrored(self) -> Im2col:
        shape = self._geometry
        if self._mirror is None:
            _, height, width = shape.output
            back = Geometry(
                channels=shape.filters,
                height=height,
                width=width,
                filters=shape.channels,
                kernel=shape.kernel,
                stride=1,
                padding=shape.kernel - 1 - shape.padding,
                groups=shape.groups,
            )
            self._mirror = self._like(back)
        return self._mirror

    def _like(self, geometry: Geometry) -> Im2col:
        """Another convolution, computed in the same way."""
        return Im2col(self._xp, geometry, self._limit)

    def _mirror_filters(self, weights: Any) -> Any:
        shape = self._geometry
        by_group = weights.reshape(shape.groups, shape.filters // shape.groups, *shape.weights[1:])
        turned = by_group.transpose(0, 2, 1, 3, 4)[..., ::-1, ::-1]
        return turned.reshape(shape.channels, shape.filters // shape.groups, shape.kernel, shape.kernel)

    def _folded(self, weights: Any, dy: Any) -> Any:
        """The columns' gradient, every one added where its window lay."""
        shape = self._geometry
        _, height, width = shape.output
        filters = weights.reshape(shape.groups, shape.filters // shape.groups, -1).transpose(0, 2, 1)
        edge, step = shape.padding, shape.stride
        dx = self._xp.zeros((len(dy), shape.channels, shape.height + 2 * edge, shape.width + 2 * edge), dy.dtype)
        for part in self._parts(dy):
            by_filter = dy[part].transpose(1, 0, 2, 3).reshape(shape.groups, shape.filters // shape.groups, -1)
            columns = self._product(filters, by_filter)
            taps = columns.reshape(shape.channels, shape.kernel, shape.kernel, -1, height, width)
            for row in range(shape.kernel):
                for column in range(shape.kernel):
                    rows = slice(row, row + step * height, step)
                    dx[part, :, rows, column : column + step * width : step] += taps[:, row, column].transpose(
                        1, 0, 2, 3
                    )
        return dx[:, :, edge : edge + shape.height, edge : edge + shape.width]

    def _product(self, one: Any, other: Any) -> Any:
        """Of each group's matrices; CuPy copies a transposed factor of a stack, and not one that is a plain matrix."""
        return self._xp.matmul(one[0], other[0])[None] if len(one) == 1 else self._xp.matmul(one, other)

    def _parts(self, images: Any) -> Iterator[slice]:
        """The batch in parts whose columns keep to the limit."""
        shape = self._geometry
        _, height, width = shape.output
        one_bytes = shape.channels * shape.kernel**2 * height * width * images.dtype.itemsize
        step = max(1, self._limit // one_bytes)
        return (slice(start, start + step) for start in range(0, len(images), step))

    def _columns(self, x: Any) -> Any:
        """Groups, values of a window, windows: a view on the images, made contiguous."""
        shape = self._geometry
        _, height, width = shape.output
        padded = self._padded(x)
        image, channel, row, column = padded.strides
        view = self._xp.lib.stride_tricks.as_strided(
            padded,
            (shape.channels, shape.kernel, shape.kernel, len(x), height, width),
            (channel, row, column, image, row * shape.stride, column * shape.stride),
        )
        return self._xp.ascontiguousarray(view).reshape(
            shape.groups, shape.weights[1] * shape.kernel**2, len(x) * height * width
        )

    def _padded(self, x: Any) -> Any:
        edge = self._geometry.padding
        if not edge:
            return x
        count, channels, height, width = x.shape
        found = self._xp.zeros((count, channels, height + 2 * edge, width + 2 * edge), x.dtype)
        found[:, :, edge:-edge, edge:-edge] = x
        return found
