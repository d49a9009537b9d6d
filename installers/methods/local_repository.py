"""A CUDA toolkit from a package that holds NVIDIA's whole repository of one release, for machines without a network.

Source: CUDA Installation Guide for Linux, "Local Repo Installation" of each distribution; the addresses are rows of
the matrix, made of the release and of the driver that came with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.matrix import Matrix, Uncovered, accepts
from compat.need import InstallToolkit
from installers import cuda_order
from installers.cuda_order import CudaOrder, NoSuchToolkit, cuda_of, fetched, newest
from installers.effect import ToolkitInstalled
from installers.method import ARCHIVE, Method, Name
from installers.packages import RPM_BY_YUM, install, manager_of, refresh, removal
from installers.plan import Plan, Target
from installers.repository import local_row, require_toolkit
from installers.step import Step
from installers.steps.command import NOTHING_TO_TAKE_BACK, Command, Inverse
from installers.steps.download import Download
from installers.steps.write_file import WriteFile

if TYPE_CHECKING:
    from compat.artefact import CudaInstallerRow

_ARCHES = {"apt": {"x86_64": "amd64", "sbsa": "arm64"}, "rpm": {"x86_64": "x86_64", "sbsa": "aarch64"}}
_WHY_PIN = "apt prefers NVIDIA's packages to Ubuntu's of the same name"
_PIN_FILE = "/etc/apt/preferences.d/cuda-repository-pin-600"  # NVIDIA's cuda-ubuntu2004.pin, 190 bytes
_PIN = (
    *("Package: nsight-compute", "Pin: origin *ubuntu.com*", "Pin-Priority: -1", ""),
    *("Package: nsight-systems", "Pin: origin *ubuntu.com*", "Pin-Priority: -1", ""),
    *("Package: *", "Pin: release l=NVIDIA CUDA", "Pin-Priority: 600"),
)
_WHY = "the repository is then in /var, and no network is needed"


def serves(need: InstallToolkit, target: Target) -> bool:
    """Only where it is asked for: the repository on the network is the usual way."""
    return False


def plan(need: InstallToolkit, target: Target, matrix: Matrix) -> Plan:
    """The newest release that the need names."""
    return local_plan(cuda_order.order_of(need), target, matrix)


def local_plan(order: CudaOrder, target: Target, matrix: Matrix) -> Plan:
    """Fetch the package, install it, then the toolkit from it; raises NoSuchToolkit."""
    rows = matrix.rows("cuda-installer", "installers")
    fitting = (row for row in rows if (row.os, row.arch, row.kind) == ("linux", target.arch, "runfile"))
    row: CudaInstallerRow = newest(fitting, order.version, f"a local repository for {target.arch}")[0]
    if row.driver_bundled is None:
        raise NoSuchToolkit(f"the driver in the name of CUDA {row.release}'s local repository is unknown", "local")
    url = _url(row, target, matrix)
    name = url.rpartition("/")[2]
    cuda = cuda_of(row.release)
    writer = _deb if manager_of(target) == "apt" else _rpm
    pin = (WriteFile(_PIN_FILE, _PIN, _WHY_PIN, needs_root=True),) if target.distribution == "ubuntu" else ()
    found = ToolkitInstalled(f"=={cuda}.*", "", linked=True, searched=True)
    title = f"the repository of CUDA {row.release}"
    steps = (
        fetched(order, Download(url=url, to=name, sha256=(), size_bytes=None, digest_from="", why=title)),
        *pin,
        *writer(name, target),
        install(target, f"cuda-toolkit-{cuda.replace('.', '-')}", why=f"CUDA toolkit {cuda}"),
        cuda_order.check(cuda, f"/usr/local/cuda-{cuda}", f"=={cuda}.*"),
    )
    return Plan(f"install the CUDA toolkit {row.release} from a local repository", steps, (found,))


def _url(row: CudaInstallerRow, target: Target, matrix: Matrix) -> str:
    try:
        local = local_row(target, matrix)
        if not accepts(local.cuda or "", cuda_of(row.release)):
            raise NoSuchToolkit(f"the name of CUDA {row.release}'s local repository is unknown", "local")
        require_toolkit(cuda_of(row.release), target, matrix)
    except Uncovered as error:
        system = f"{target.distribution} {target.distribution_version}".strip() or target.os_family
        raise NoSuchToolkit(f"no local repository is known for {system}", "local") from error
    kind = "apt" if local.manager == "apt" else "rpm"
    return local.url.format(
        release=row.release,
        cuda=cuda_of(row.release).replace(".", "-"),
        driver=row.driver_bundled,
        arch=_ARCHES[kind][target.arch],
        version=target.distribution_version.partition(".")[0],
    )


def _deb(name: str, target: Target) -> tuple[Step, ...]:
    package = name.partition("_")[0]
    directory = f"/var/{package}"
    # Its own key in the older ones, from before NVIDIA changed how packages are signed, is no keyring yet.
    keys = f"cp {directory}/*-keyring.gpg /usr/share/keyrings/ || apt-key add {directory}/*.pub"
    purged = removal("apt", (package,))._replace(commands=(("dpkg", "--purge", package),))
    return (
        Command(("dpkg", "-i", name), _WHY, needs_root=True, inverse=purged, staged=(name,)),
        Command(("sh", "-c", keys), "apt accepts packages with this signature", needs_root=True, inverse=_KEY),
        *refresh(target),
    )


_KEY = Inverse(left="the key stays in /usr/share/keyrings; without the repository it is not used")


def _rpm(name: str, target: Target) -> tuple[Step, ...]:
    package = f"{name.partition('-local-')[0]}-local"
    manager = manager_of(target)
    out = removal(manager, (package,))
    again = (manager, "clean", "all") if manager in RPM_BY_YUM else ("zypper", "--gpg-auto-import-keys", "refresh")
    return (
        Command(("rpm", "-i", name), _WHY, needs_root=True, inverse=out, staged=(name,)),
        Command(again, "refresh the package lists", needs_root=True, inverse=NOTHING_TO_TAKE_BACK),
    )


METHOD = Method(
    InstallToolkit,
    "the CUDA toolkit from a local repository",
    plan,
    serves,
    rank=99,
    names=(Name("cuda", "local"),),
    options=frozenset({ARCHIVE}),
    ordered=local_plan,
)
