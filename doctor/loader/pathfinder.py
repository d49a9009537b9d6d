"""What `cuda.pathfinder.load_nvidia_dynamic_lib` opens: NVIDIA's own search, in front of the loader's.

A wheel's library, then conda's, then one that is there already or that the loader finds, then the directories that
variables name. Source: cuda/pathfinder/_dynamic_libs of cuda-pathfinder 1.9.0 (load_nvidia_dynamic_lib.py,
search_steps.py, descriptor_catalog.py, search_platform.py). The last resort, which asks a child process
where libcudart lies, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.loader.steps import CTYPES, Package, Step

_CUDA_VARIABLES = ("CUDA_PATH", "CUDA_HOME")
_BELOW_CUDA = ("lib64", "lib")
_OF_CUDA_13 = "nvidia/cu13/lib"


class _Known(NamedTuple):
    """One library of the catalogue."""

    names: tuple[str, ...]  # SONAMEs, best first
    wheels: tuple[str, ...]  # directories below a site directory
    needs: tuple[str, ...] = ()  # opened before it
    variable: str = ""  # names a directory of its own
    below: tuple[str, ...] = _BELOW_CUDA


def _of_toolkit(stem: str, majors: tuple[int, ...], wheel: str, *needs: str) -> _Known:
    names = tuple(f"lib{stem}.so.{major}" for major in majors)
    return _Known(names, (_OF_CUDA_13, f"nvidia/{wheel}"), needs)


_CATALOGUE = {
    "cudart": _of_toolkit("cudart", (13, 12), "cuda_runtime/lib"),
    "nvJitLink": _of_toolkit("nvJitLink", (13, 12), "nvjitlink/lib"),
    "nvrtc": _of_toolkit("nvrtc", (13, 12), "cuda_nvrtc/lib"),
    "nvvm": _Known(("libnvvm.so.4", "libnvvm.so"), (_OF_CUDA_13, "nvidia/cuda_nvcc/nvvm/lib64"), below=("nvvm/lib64",)),
    "cublas": _of_toolkit("cublas", (13, 12), "cublas/lib", "cublasLt"),
    "cublasLt": _of_toolkit("cublasLt", (13, 12), "cublas/lib"),
    "cufft": _of_toolkit("cufft", (12, 11), "cufft/lib"),
    "cufile": _of_toolkit("cufile", (0,), "cufile/lib"),
    "curand": _of_toolkit("curand", (11, 10), "curand/lib"),
    "cusolver": _of_toolkit("cusolver", (12, 11), "cusolver/lib", "nvJitLink", "cusparse", "cublasLt", "cublas"),
    "cusparse": _of_toolkit("cusparse", (12,), "cusparse/lib", "nvJitLink"),
    "nccl": _Known(("libnccl.so.2",), ("nvidia/nccl/lib",), variable="NCCL_HOME"),
    "cutensor": _Known(("libcutensor.so.2",), ("cutensor/lib",), ("cublasLt",)),
}


def steps(package: Package, library: str, why: str, *, optional: bool = False, use: bool = True) -> Iterator[Step]:
    """The dlopens of one `load_nvidia_dynamic_lib(library)`, `use` when a GPU is used; what it needs comes first."""
    known = _CATALOGUE[library]
    for needed in known.needs:
        yield from steps(package, needed, why, optional=optional, use=use)
    found = _before_the_loader(package, known)
    opens = found or (*known.names, *_after_the_loader(package, known))
    yield Step(opens, why, CTYPES, use=use, optional=optional, unless_mapped=known.names)


def _before_the_loader(package: Package, known: _Known) -> tuple[str, ...]:
    for folder in known.wheels:
        path = package.anywhere(*(f"{folder}/{name}" for name in known.names))
        if path:
            return path
    prefix = package.host.environ.get("CONDA_PREFIX", "")
    return tuple(_below(package, prefix, known.below, known.names))[:1]


def _after_the_loader(package: Package, known: _Known) -> tuple[str, ...]:
    environ = package.host.environ
    own = _below(package, environ.get(known.variable, ""), ("lib", "lib64"), known.names)
    root = next(filter(None, (environ.get(name) for name in _CUDA_VARIABLES)), "")
    return (*own, *_below(package, root, known.below, known.names))


def _below(package: Package, root: str, folders: tuple[str, ...], names: tuple[str, ...]) -> Iterator[str]:
    """The files of these names in the directories below a root, "" for none."""
    paths = (f"{root.rstrip('/')}/{folder}/{name}" for folder in folders for name in names) if root else ()
    return (path for path in paths if package.host.is_file(path))
