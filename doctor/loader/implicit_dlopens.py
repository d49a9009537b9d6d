"""What NVIDIA's libraries open by name when they are used: no NEEDED entry says it.

Read from the libraries themselves and seen in their LD_DEBUG traces: cuDNN 8.5.0, 8.6.0, 8.7.0, 8.8.0, 8.9.0, 8.9.4,
8.9.7, 9.1.0, 9.3.0, 9.10.2, 9.28.0, CUDA 11.8 to 12.9. Which library calls dlopen decides: its RPATH or RUNPATH
counts, and of those that loaded it.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple

_SHELL_PARTS = ("graph", "ops", "cnn", "adv", "ext")
_GRAPH_PARTS = ("heuristic", "engines_precompiled", "engines_runtime_compiled", "engines_tensor_ir")
_PARTS_OF_8 = ("ops_infer", "ops_train", "cnn_infer", "cnn_train", "adv_infer", "adv_train")
# By the minor release of cuDNN 8, names for linkers that libcudnn_cnn_infer.so.8 opens when it is loaded: without them
# it is refused, and the process aborts. 8.8.0 asks for libnvrtc.so too, and goes on; 8.9.0 does not ask.
_UNVERSIONED = {"8.5": ("libcuda.so",), "8.6": ("libcuda.so",), "8.7": ("libnvrtc.so",)}
# With CUDA's runtime inside, which opens the driver.
_WITH_RUNTIME = (
    "libcublasLt.so.", "libcudnn_ops", "libcufft.so.", "libcurand.so.", "libcusolver.so.", "libcusparse.so.",
    "libcusparseLt.so.",
)  # fmt: skip
_DRIVER = "libcuda.so.1"
_ALWAYS = ("graph", "ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_runtime_compiled")


class Habit(NamedTuple):
    """One dlopen: the names that are tried in turn, and whether a failure of all is none."""

    names: tuple[str, ...]
    optional: bool = False
    fatal: bool = False  # the process aborts with it


def habits(name: str, release: str, cuda_major: str) -> Iterator[Habit]:
    """What a library of this file name opens when it is used.

    `name` is without the hash of a repaired wheel, `release` its cuDNN's, "9.10.2" or "", `cuda_major` that of the
    process, "12" or "".
    """
    if name.startswith("libcudnn.so.9"):
        yield from (_of_shell(part, release) for part in _SHELL_PARTS)
    elif name.startswith("libcudnn_graph.so.9"):
        yield from (_of_shell(part, release) for part in _GRAPH_PARTS)
        yield from _of_cuda("libnvrtc", cuda_major)
    elif name.startswith("libcudnn.so.8"):
        yield from (Habit((f"libcudnn_{part}.so.8",)) for part in _PARTS_OF_8)
    elif name.startswith("libcudnn_ops_infer.so.8"):
        for stem in ("libcublas", "libcublasLt", "libnvrtc"):
            yield from _of_cuda(stem, cuda_major)
    elif name.startswith(("libcudnn_engines_precompiled.so.9", "libcudnn_adv.so.9")):
        yield from _of_cuda("libcublasLt", cuda_major)
    elif name.startswith(("libcublasLt.so.", "libcufft.so.", "libcusparseLt.so.")):
        yield from _of_cuda("libnvrtc", cuda_major)
    elif name.startswith("libcudnn_cnn_infer.so.8"):
        yield from (Habit((wanted,), fatal=True) for wanted in _UNVERSIONED.get(".".join(release.split(".")[:2]), ()))
    if name.startswith(("libcudart.so.", *_WITH_RUNTIME)):
        yield Habit((_DRIVER,))


def _of_shell(part: str, release: str) -> Habit:
    """A part of cuDNN 9: by the full release, then shorter; those that some releases lack need not be there."""
    numbers = release.split(".")[:3] if release else ["9"]
    names = [f"libcudnn_{part}.so.{'.'.join(numbers[:length])}" for length in range(len(numbers), 0, -1)]
    return Habit(tuple(names), part not in _ALWAYS)


def _of_cuda(stem: str, major: str) -> Iterator[Habit]:
    if major in {"12", "13"}:  # CUDA 11 named its libnvrtc by the minor release
        yield Habit((f"{stem}.so.{major}",), optional=True)
