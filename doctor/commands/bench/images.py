"""What is trained on: images that can be learned, made up or a user's own, on the device before the clock runs."""

from __future__ import annotations

import os
from typing import Any

from doctor.commands.bench.backends import Backend
from doctor.commands.bench.outcome import Network

_BATCHES = 4  # made-up images: enough that no step sees what the one before it saw
_CELLS = 4  # a made-up class shows as this many squares a side
_AT_MOST_BYTES = 1 << 30  # of a user's images that are taken along


class Images:
    """Images and labels on a backend's device, as bytes: a step turns its batch into numbers around zero."""

    def __init__(self, images: Any, labels: Any, backend: Backend, batch: int, dtype: str = "float32") -> None:
        """`images`: uint8 N,C,H,W of NumPy; `labels`: classes. Raises ValueError for less than one batch."""
        if len(images) < batch:
            raise ValueError(f"there are {len(images)} images, and a step takes {batch}")
        self._images = backend.xp.asarray(images)
        self._labels = backend.xp.asarray(labels)
        self._batch = batch
        self._dtype = dtype
        self._next = 0

    def take(self) -> tuple[Any, Any]:
        """The next batch, the first again after the last whole one."""
        if self._next + self._batch > len(self._images):
            self._next = 0
        part = slice(self._next, self._next + self._batch)
        self._next += self._batch
        images = self._images[part].astype(self._dtype)
        images *= 1 / 255
        images -= 0.5
        return images, self._labels[part]


def made_up(network: Network, batch: int, seed: int = 2) -> tuple[Any, Any]:
    """Noise with a pattern of squares for every class: something to learn, of the right shape."""
    import numpy as np  # late: only the child that measures has any use for it

    random = np.random.default_rng(seed)
    channels, height, width = network.shape
    patterns = random.integers(-40, 41, (network.classes, channels, _CELLS, _CELLS), dtype="int16")
    labels = random.integers(network.classes, size=_BATCHES * batch)
    rows, columns = (np.arange(size) * _CELLS // size for size in (height, width))
    noise = random.integers(64, 192, (len(labels), channels, height, width), dtype="uint8")
    return (noise + patterns[labels][:, :, rows[:, None], columns]).astype("uint8"), labels


def of_folder(folder: str, network: Network, seed: int = 2) -> tuple[Any, Any]:
    """The images of x.npy and y.npy, shuffled; at most 1 GiB of them. Raises OSError, ValueError for other contents."""
    import numpy as np  # late: only the child that measures has any use for it

    images = np.load(os.path.join(folder, "x.npy"), mmap_mode="r")
    labels = np.load(os.path.join(folder, "y.npy"))
    if images.dtype != np.uint8 or images.shape[1:] != tuple(network.shape) or len(images) != len(labels):
        raise ValueError(f"{folder}: x.npy holds {images.dtype} {images.shape}, expected uint8 N{network.shape}")
    if len(labels) and not 0 <= labels.min() <= labels.max() < network.classes:
        raise ValueError(f"{folder}: y.npy holds labels outside 0 to {network.classes - 1}")
    order = np.random.default_rng(seed).permutation(len(images))[: _AT_MOST_BYTES // images[0].size]
    return images[order], labels[order].astype("int64")
