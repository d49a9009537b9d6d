"""CUDA's libraries and compiler as wheels of a Python environment, all of one release.

Sources: CUDA Installation Guide for Linux, "Pip Wheels"; the wheels' names are rows of the matrix (libraries), their
versions those of the components in NVIDIA's manifest of the release.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from compat.matrix import Matrix, accepts
from compat.need import InstallPackage, InstallToolkit
from installers import cuda_order
from installers.cuda_order import CudaOrder, NoSuchToolkit, age, cuda_of, newest
from installers.method import Method, Name
from installers.methods import wheel
from installers.plan import Plan, Target
from installers.steps.check import Check
from installers.steps.note import Note

if TYPE_CHECKING:
    from compat.artefact import ComponentRow

# component of the manifest: the library by which the matrix knows its wheel
_STEMS = {
    "cuda_cudart": "libcudart",
    "cuda_nvrtc": "libnvrtc",
    "libcublas": "libcublas",
    "libcufft": "libcufft",
    "libcurand": "libcurand",
    "libcusolver": "libcusolver",
    "libcusparse": "libcusparse",
    "libnvjitlink": "libnvJitLink",
}
_FIRST = "11.7.1"  # the package index: nvidia-cuda-runtime-cu11 and the others begin with 11.7.99 and its like
_NVCC_SINCE = "13.0"
_NO_NVCC = Note("these wheels have ptxas, and no nvcc", "to compile CUDA code, add --method packages, conda or archive")
_COMPILER = "cuda_nvcc"  # its wheel is named as that of the runtime is


def serves(need: InstallToolkit, target: Target) -> bool:
    """A directory inside site-packages, of an environment whose interpreter is known."""
    inside = "/site-packages/" in f"{need.directory}/" or "/dist-packages/" in f"{need.directory}/"
    return inside and target.python != "" and target.environment_kind != "conda"


def plan(need: InstallToolkit, target: Target, matrix: Matrix) -> Plan:
    """Those of the newest release that the need names; where its lower end has none, the newest of the range."""
    order = cuda_order.order_of(need)
    have = {row.release for row in _components(target, matrix) if age(row.release) >= age(_FIRST)}
    if not any(f"{one}.".startswith(f"{order.version}.") for one in have):
        order = order._replace(
            version=max(filter(partial(accepts, need.versions), have), key=age, default=order.version)
        )
    return wheel_plan(order, target, matrix)


def _components(target: Target, matrix: Matrix) -> tuple[ComponentRow, ...]:
    platform = f"{target.os_family}-{target.arch}"
    return tuple(row for row in matrix.rows("redist-component", "components") if platform in row.sha256)


def wheel_plan(order: CudaOrder, target: Target, matrix: Matrix) -> Plan:
    """One installer command for all, so that one resolver sees them together; raises NoSuchToolkit."""
    rows = newest(_components(target, matrix), order.version, "a set of components")
    release = rows[0].release
    if age(release) < age(_FIRST):
        raise NoSuchToolkit(f"CUDA {release} has no wheels; the first is {_FIRST}", "wheel")
    versions = {row.component: row.version for row in rows}
    names = {component: _wheel(stem, release, matrix) for component, stem in _STEMS.items() if component in versions}
    if not names.get("cuda_cudart"):
        raise NoSuchToolkit(f"the wheels of CUDA {release} are unknown", "wheel")
    names[_COMPILER] = names["cuda_cudart"].replace("runtime", "nvcc")
    wanted = tuple(f"{name}=={versions[component]}" for component, name in sorted(names.items()) if name)
    found = wheel.together(wanted, target, matrix)
    finds = InstallPackage(names["cuda_cudart"], f"=={versions['cuda_cudart']}", wheel.interpreter(target))
    check = Check(f"expected: CUDA {release} in the environment", (), finds)
    lacks = (_NO_NVCC,) if age(release) < age(_NVCC_SINCE) else ()
    return Plan(f"install CUDA {release} as wheels", (*found.steps, *lacks, check), found.effects)


def _wheel(stem: str, release: str, matrix: Matrix) -> str:
    rows = matrix.rows("libraries", "sonames")
    return next((row.wheel for row in rows if row.stem == stem and accepts(row.cuda, cuda_of(release))), "")


METHOD = Method(
    InstallToolkit, "CUDA as wheels", plan, serves, rank=20, names=(Name("cuda", "wheel"),), ordered=wheel_plan
)
