"""The CUDA toolkit for the whole system, from NVIDIA's repository.

Source: CUDA Installation Guide for Linux, "Meta Packages": cuda-toolkit-X-Y and cuda-toolkit-X bring the toolkit and
leave the driver as it is, which the `cuda` meta package does not; CUDA on WSL User Guide says the same of WSL.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallToolkit
from compat.specifier import accepts
from installers.cuda_order import NoSuchToolkit
from installers.effect import ToolkitInstalled
from installers.method import Method, Name
from installers.packages import install, manager_of
from installers.plan import Plan, Target
from installers.repository import add_repository, own_package, repository_row, require_toolkit, system, toolkits
from installers.requirement import spoken, wanted_version
from installers.step import Step
from installers.steps.by_hand import ByHand

_ANY = "the distribution is unknown; these methods do not need it: runfile, archive, wheel, conda, container"


def plan(need: InstallToolkit, target: Target, matrix: Matrix) -> Plan:
    """Packages where NVIDIA has them, else its download page."""
    wanted = f"CUDA toolkit{spoken(need.versions)}"
    if manager_of(target) in {"apt", "yum", "dnf", "zypper"}:
        name = _name(need, target, matrix)
        steps: tuple[Step, ...] = (*add_repository(target, matrix), install(target, name, why=wanted))
    elif manager_of(target) == "pacman":
        if need.versions.startswith("=="):
            what = f"Arch has packages only for the newest CUDA, not {wanted_version(need.versions)}"
            raise NoSuchToolkit(what, "packages")
        login = ByHand("log out and in again", "its /etc/profile.d/cuda.sh then puts /opt/cuda/bin on PATH")
        name, steps = "", (install(target, "cuda", why=wanted), login)
    else:
        text = f"download and install the {wanted} from {matrix.page('cuda-archive').url}"
        steps = (ByHand(text, _ANY if target.os_family == "linux" and not target.distribution else ""),)
        return Plan(f"install the {wanted}", steps, ())
    named = name.removeprefix("cuda-toolkit").strip("-").replace("-", ".")
    whole = manager_of(target) != "pacman"
    found = ToolkitInstalled(f"=={named}.*" if named and whole else "", "" if whole else "/opt/cuda", whole, True)
    return Plan(f"install the {wanted}", steps, (found,))


def _name(need: InstallToolkit, target: Target, matrix: Matrix) -> str:
    """The meta package of the version that is named, of the oldest beside it that will do, else of the newest.

    Of a major, the newest: cuda-toolkit-12 moves on with the repository, so that one that stands still names its last.
    Raises NoSuchToolkit.
    """
    named = wanted_version(need.versions)
    cuda = ".".join(named.split(".")[:2])
    if need.versions.startswith("==") and "." in cuda:
        require_toolkit(cuda, target, matrix)
        return f"cuda-toolkit-{cuda.replace('.', '-')}"
    newest = int(named) if named.isdigit() else target.cuda_major
    fitting = [
        one
        for one in toolkits(target, matrix)
        if accepts(need.versions, one)
        and (one.major == newest if named.isdigit() else not newest or one.major <= newest)
    ]
    if not fitting:
        what = f"CUDA{spoken(need.versions)}" if need.versions else f"a CUDA that the driver supports (up to {newest})"
        raise NoSuchToolkit(
            f"NVIDIA's packages for {system(target)} have no {what}{own_package('cuda', target, matrix)}"
        )
    if "." in cuda:
        return f"cuda-toolkit-{fitting[0]}".replace(".", "-")
    moves = accepts(repository_row(target, matrix).cuda or "", f"{fitting[-1].major}.999")
    return "-".join(
        ("cuda-toolkit", *([str(newest)] if newest and moves else [] if moves else str(fitting[-1]).split(".")))
    )


METHOD = Method(InstallToolkit, "the CUDA toolkit from packages", plan, rank=40, names=(Name("cuda", "packages"),))
