"""cuDNN for the whole system, from NVIDIA's repository.

Sources: NVIDIA cuDNN installation guide, "Package Manager Installation" (`cudnn9-cuda-12`); of cuDNN 8 the archived
guide (`libcudnn8=VERSION-1+CUDA`, `libcudnn8-dev`). One release of 9 is asked for as in the recipes of NVIDIA's CUDA
images (`libcudnn9-cuda-12=9.10.2.21-1`, `libcudnn9-dev-cuda-12`): the meta package is always the newest.
"""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered
from compat.need import Need
from compat.version import CudnnVersion
from installers.method import Method
from installers.packages import install, manager_of
from installers.plan import ByHand, Plan, Step, Target
from installers.repository import add_repository
from installers.requirement import exact_version, spoken, wanted_version

_LAST_WITH_SUFFIX = 8  # cuDNN major whose packages name their CUDA in the version
_HEADERS_APART = CudnnVersion.parse("9.10")  # from here on Debian's -dev package has the headers in one of their own


def serves(need: Need, target: Target) -> bool:
    """Every cuDNN that neither wheel nor conda serves."""
    return need.product == "cudnn"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """Packages where NVIDIA has them, else its download page."""
    wanted = f"cuDNN{spoken(need.spec)}{f' for CUDA {need.build}' if need.build else ''}"
    if manager_of(target) in {"apt", "dnf", "zypper"}:
        steps: tuple[Step, ...] = (
            *add_repository(target, matrix),
            install(target, *_names(need, target, matrix), why=wanted),
        )
    else:
        steps = (_download(wanted, need, matrix),)
    return Plan(f"install {wanted}", steps)


def _names(need: Need, target: Target, matrix: Matrix) -> tuple[str, ...]:
    """From cuDNN 9 on one name a CUDA major; before, one name, whose version says which CUDA."""
    manager = manager_of(target)
    major = wanted_version(need.spec).partition(".")[0] or "9"
    cuda = need.build or str(target.cuda_major or 12)
    developer = "dev" if manager == "apt" else "devel"
    release = _release(exact_version(need.spec), int(cuda), manager, matrix)
    if major == "8":
        names: tuple[str, ...] = ("libcudnn8", f"libcudnn8-{developer}")
    elif not release:
        names = (f"cudnn{major}-cuda-{cuda}",)
    else:
        names = (f"libcudnn{major}-cuda-{cuda}", f"libcudnn{major}-{developer}-cuda-{cuda}")
        names += _headers(need.spec, f"libcudnn{major}-headers-cuda-{cuda}") if manager == "apt" else ()
    return tuple(f"{name}{release}" for name in names)


def _headers(spec: str, name: str) -> tuple[str, ...]:
    """apt takes the newest of what a package needs, unless it is told; others look for what fits."""
    return (name,) if CudnnVersion.parse(exact_version(spec)) >= _HEADERS_APART else ()


def _release(version: str, cuda_major: int, manager: str, matrix: Matrix) -> str:
    """What follows a package's name to ask for one release: "=9.10.2.21-1"; "" where no row knows all of it."""
    if not version:
        return ""
    wanted = CudnnVersion.parse(version)
    try:
        full = max(one for one in matrix.cudnn(wanted).full_versions if one.agrees_with(wanted))
        newest = matrix.cudnn_build(wanted, cuda_major).cuda_max
    except (Uncovered, ValueError):
        return ""
    joint, plus = ("-", ".") if manager == "dnf" else ("=", "+" if manager == "apt" else ".")
    if full.major > _LAST_WITH_SUFFIX:
        return f"{joint}{full}-1"
    return f"{joint}{full}-1{plus}cuda{newest}" if newest else ""


def _download(wanted: str, need: Need, matrix: Matrix) -> ByHand:
    page = "cudnn-archive" if wanted_version(need.spec).startswith(("5", "6", "7", "8")) else "cudnn"
    where = f" into {need.where}" if need.where else ""
    return ByHand(f"download {wanted} from {matrix.page(page).url} and install it{where}")


METHOD = Method("cuDNN from packages", serves, plan, rank=40)
