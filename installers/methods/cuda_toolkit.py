"""The CUDA toolkit for the whole system, from NVIDIA's repository.

Source: CUDA Installation Guide for Linux, "Meta Packages": cuda-toolkit-X-Y and cuda-toolkit-X bring the toolkit and
leave the driver as it is, which the `cuda` meta package does not; CUDA on WSL User Guide says the same of WSL.
"""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered
from compat.need import Need
from compat.version import CudaVersion
from installers.cuda_order import NoSuchToolkit
from installers.effect import ToolkitInstalled
from installers.method import Method, Name
from installers.packages import install, manager_of
from installers.plan import Plan, Target
from installers.repository import add_repository, repository_row
from installers.requirement import spoken, wanted_version
from installers.step import Step
from installers.steps.by_hand import ByHand

_ANY = (
    "which distribution it is for is not known; --method runfile, archive, wheel, conda and container need not know it"
)


def serves(need: Need, target: Target) -> bool:
    """Every toolkit that conda does not serve."""
    return need.product == "cuda"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """Packages where NVIDIA has them, else its download page."""
    wanted = f"CUDA toolkit{spoken(need.spec)}"
    _require_release(need, target, matrix)
    if manager_of(target) in {"apt", "dnf", "zypper"}:
        steps: tuple[Step, ...] = (*add_repository(target, matrix), install(target, _name(need, target), why=wanted))
    elif manager_of(target) == "pacman" and need.spec.startswith("=="):
        named = wanted_version(need.spec)
        text = f"install CUDA {named} with NVIDIA's own installer\ngpudoctor install cuda {named} --method runfile"
        return Plan(f"install the {wanted}", (ByHand(text, "Arch's packages are the newest CUDA alone"),), ())
    elif manager_of(target) == "pacman":
        steps = (install(target, "cuda", why=wanted),)
    else:
        text = f"download and install the {wanted} from {matrix.page('cuda-archive').url}"
        steps = (ByHand(text, _ANY if target.os_family == "linux" and not target.distribution else ""),)
        return Plan(f"install the {wanted}", steps, ())
    named = _name(need, target).removeprefix("cuda-toolkit").strip("-").replace("-", ".")
    whole = manager_of(target) != "pacman"
    found = ToolkitInstalled(f"=={named}.*" if named and whole else "", "" if whole else "/opt/cuda", whole, True)
    return Plan(f"install the {wanted}", steps, (found,))


def _require_release(need: Need, target: Target, matrix: Matrix) -> None:
    """Raise NoSuchToolkit for a release that this system's packages never were."""
    named = wanted_version(need.spec)
    if "." not in named or manager_of(target) not in {"apt", "dnf", "zypper"}:
        return
    try:
        row = repository_row(target, matrix)
    except Uncovered:
        return
    cuda = CudaVersion.parse(".".join(named.split(".")[:2]))
    known = f"from {row.cuda_min} on" if row.cuda_max is None else f"up to {row.cuda_max}"
    too_old = need.spec.startswith("==") and row.cuda_min is not None and cuda < row.cuda_min
    if too_old or (row.cuda_max is not None and cuda > row.cuda_max):
        where = f"{target.distribution} {target.distribution_version}".strip()
        raise NoSuchToolkit(f"NVIDIA's packages for {where} have CUDA {known}, not {named}: {_OTHERWISE}")


_OTHERWISE = "--method runfile, archive, wheel or conda may have it"


def _name(need: Need, target: Target) -> str:
    """The meta package of the version, else of the newest major that the driver runs, else of the newest."""
    named = [part for part in wanted_version(need.spec).split(".") if part][:2]
    if not named and target.cuda_major:
        named = [str(target.cuda_major)]
    return "-".join(("cuda-toolkit", *named))


METHOD = Method("the CUDA toolkit from packages", serves, plan, rank=40, names=(Name("cuda", "packages"),))
