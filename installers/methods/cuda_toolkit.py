"""The CUDA toolkit for the whole system, from NVIDIA's repository.

Source: CUDA Installation Guide for Linux, "Meta Packages": cuda-toolkit-X-Y and cuda-toolkit-X bring the toolkit and
leave the driver as it is, which the `cuda` meta package does not; CUDA on WSL User Guide says the same of WSL.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.method import Method
from installers.packages import install, manager_of
from installers.plan import ByHand, Plan, Step, Target
from installers.repository import add_repository
from installers.requirement import spoken, wanted_version

_ANY = (
    "which distribution it is for is not known; --method runfile, archive, wheel, conda and container need not know it"
)


def serves(need: Need, target: Target) -> bool:
    """Every toolkit that conda does not serve."""
    return need.product == "cuda"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """Packages where NVIDIA has them, else its download page."""
    wanted = f"CUDA toolkit{spoken(need.spec)}"
    if manager_of(target) in {"apt", "dnf", "zypper"}:
        steps: tuple[Step, ...] = (*add_repository(target, matrix), install(target, _name(need, target), why=wanted))
    elif manager_of(target) == "pacman":
        steps = (install(target, "cuda", why=wanted),)
    else:
        text = f"download and install the {wanted} from {matrix.page('cuda-archive').url}"
        steps = (ByHand(text, _ANY if target.os_family == "linux" and not target.distribution else ""),)
    return Plan(f"install the {wanted}", steps)


def _name(need: Need, target: Target) -> str:
    """The meta package of the version, else of the newest major that the driver runs, else of the newest."""
    named = [part for part in wanted_version(need.spec).split(".") if part][:2]
    if not named and target.cuda_major:
        named = [str(target.cuda_major)]
    return "-".join(("cuda-toolkit", *named))


METHOD = Method("the CUDA toolkit from packages", serves, plan, rank=40)
