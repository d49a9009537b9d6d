"""The child that reads pictures: files of unknown origin, so that the worst of them costs this process alone.

Run as a file by `doctor.commands.bench.pictures`; it knows nothing of gpudoctor. An order comes in as JSON, an answer
goes out.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import warnings
from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

SUFFIXES = (".jpg", ".jpeg", ".png")
PIXELS_AT_MOST = 64 << 20  # of one picture; a few hundred bytes can stand for many more
FILE_BYTES_AT_MOST = 64 << 20
NAMED_AT_MOST = 20


def main() -> None:
    """Read an order, write x.npy and y.npy, print what was read and what was not."""
    order = json.load(sys.stdin)
    try:
        import numpy as np
        from PIL import Image
    except ImportError as error:
        print(json.dumps({"missing": error.name or str(error)}))
        return
    Image.MAX_IMAGE_PIXELS = PIXELS_AT_MOST
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    print(json.dumps(read(order, np, Image)))


def read(order: dict[str, Any], np: Any, pillow: Any) -> dict[str, Any]:
    """The pictures of all classes in turn, so that a part of them is a fair one."""
    channels, height, width = order["shape"]
    directory = order["directory"]
    # The directories, sorted: their order is that of the labels.
    classes = sorted(name for name in os.listdir(directory) if os.path.isdir(os.path.join(directory, name)))
    every = [pictures_of(os.path.join(order["directory"], name)) for name in classes]
    images = np.empty((order["at_most"], channels, height, width), np.uint8)
    labels: list[int] = []
    skipped: list[tuple[str, str]] = []
    bad = 0
    for path, label in in_turn(every):
        if len(labels) == order["at_most"]:
            break
        try:
            images[len(labels)] = picture(path, order["shape"], np, pillow)
            labels.append(label)
        except Exception as error:  # noqa: BLE001 - a picture can be broken in more ways than Pillow has errors
            bad += 1
            if len(skipped) < NAMED_AT_MOST:
                name = os.path.relpath(path, order["directory"])
                skipped.append((name, f"{type(error).__name__}: {error}"[:200]))
    np.save(os.path.join(order["into"], "x.npy"), images[: len(labels)])
    np.save(os.path.join(order["into"], "y.npy"), np.array(labels, np.int64))
    return {"classes": classes, "found": sum(map(len, every)), "read": len(labels), "bad": bad, "skipped": skipped}


def pictures_of(directory: str) -> list[str]:
    """The files that are called pictures."""
    return sorted(os.path.join(directory, name) for name in os.listdir(directory) if name.lower().endswith(SUFFIXES))


def in_turn(every: list[list[str]]) -> Iterator[tuple[str, int]]:
    """One of each class, again and again, until all are empty."""
    numbered = [[(path, label) for path in paths] for label, paths in enumerate(every)]
    return (one for one in chain.from_iterable(zip_longest(*numbered)) if one is not None)


def picture(path: str, shape: list[int], np: Any, pillow: Any) -> Any:
    """One picture in the network's size: uint8, channels first; raises what Pillow raises, ValueError."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("not a regular file")
    if status.st_size > FILE_BYTES_AT_MOST:
        raise ValueError(f"{status.st_size} bytes are more than {FILE_BYTES_AT_MOST}")
    channels, height, width = shape
    mode = "L" if channels == 1 else "RGB"
    with pillow.open(path, formats=("JPEG", "PNG")) as image:
        image.draft(mode, (width, height))  # a JPEG is read in about that size, not whole
        sized = image.convert(mode).resize((width, height), pillow.Resampling.BILINEAR)
    return np.asarray(sized).reshape(height, width, channels).transpose(2, 0, 1)


if __name__ == "__main__":
    main()
