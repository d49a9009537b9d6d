"""A CUDA toolkit inside a container, with the host's GPUs: the image, the run flags, the toolkit that passes them on.

Sources: NVIDIA Container Toolkit documentation, "Installing the NVIDIA Container Toolkit" and "Support for Container
Device Interface" (Podman); NVIDIA's list of supported tags of its cuda images, which are rows of the matrix; the
packages docker.io of Debian and Ubuntu, moby-engine of Fedora, docker of openSUSE, Arch and Amazon Linux.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallToolkit
from compat.row import ImageRow
from installers import cuda_order
from installers.cuda_order import CudaOrder, NoSuchToolkit, newest
from installers.effect import SystemPackageInstalled
from installers.method import Method, Name
from installers.packages import install, manager_of, refresh
from installers.plan import Plan, Target
from installers.repository import REBUILDS_OF_RHEL
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import NOTHING_TO_TAKE_BACK, Command, Inverse

_KEY = "/usr/share/keyrings/nvidia-container-toolkit.asc"
_LIST = "/etc/apt/sources.list.d/nvidia-container-toolkit.list"
_REPO = "/etc/yum.repos.d/nvidia-container-toolkit.repo"
_PACKAGE = "nvidia-container-toolkit"
_FLAGS = {"docker": ("--gpus", "all"), "podman": ("--device", "nvidia.com/gpu=all", "--security-opt=label=disable")}
# Each distribution's own package of the engine; RHEL and its rebuilds have Podman in place of Docker.
_ENGINES = {"apt": "docker.io", "zypper": "docker", "pacman": "docker", "fedora": "moby-engine", "amzn": "docker"}
_CDI = "/etc/cdi/nvidia.yaml"
_PATIENCE_S = 3600


def serves(need: InstallToolkit, target: Target) -> bool:
    """Only where it is asked for."""
    return False


def plan(need: InstallToolkit, target: Target, matrix: Matrix) -> Plan:
    """The newest release that the need names."""
    return container_plan(cuda_order.order_of(need), target, matrix)


def container_plan(order: CudaOrder, target: Target, matrix: Matrix) -> Plan:
    """From a host with a driver and Docker to nvidia-smi in a container; raises NoSuchToolkit."""
    if target.container:
        raise NoSuchToolkit("this is a container; start another one on its host")
    rows: tuple[ImageRow, ...] = matrix.rows("index", "images")
    row: ImageRow = newest(rows, order.version, "a container image")[0]
    engine = "podman" if target.distribution in REBUILDS_OF_RHEL else "docker"
    flags, image = _FLAGS[engine], f"docker.io/{row.image}" if engine == "podman" else row.image
    inspect = (engine, "image", "inspect")
    remove = Inverse(((engine, "image", "rm", image),), names=(image,), present=inspect)
    root = engine == "docker" and target.os_family == "linux"  # its socket is root's; Podman needs no root
    proof = (engine, "run", "--rm", *flags, image, "nvidia-smi")
    own = " ".join((*(("sudo",) if root else ()), engine, "run", "-it", *flags, "--ipc=host", image))
    by_manager = manager_of(target) in _REPOSITORIES and target.os_family == "linux"
    effects = (SystemPackageInstalled(_PACKAGE),) if by_manager else ()
    steps = (
        *_host(target, matrix, engine),
        Command((engine, "pull", image), "CUDA and cuDNN", root, timeout_s=_PATIENCE_S, inverse=remove),
        Command(proof, "the container sees the GPUs", root, timeout_s=600, inverse=NOTHING_TO_TAKE_BACK),
        ByHand(f"start your own container\n{own}", _SHARED),
    )
    return Plan(f"use CUDA {row.release} in a container", steps, effects)


_SHARED = "--ipc=host: data loaders need more shared memory than the default 64 MiB"


def _host(target: Target, matrix: Matrix, engine: str) -> tuple[Step, ...]:
    """What passes the GPUs on. Docker Desktop on Windows does so by itself."""
    if target.os_family == "windows":
        text = "install WSL 2 and Docker Desktop, and let it use its WSL 2 engine"
        words = "wsl --install --no-distribution\nwinget install --exact --id Docker.DockerDesktop"
        return (ByHand(f"{text}\n{words}", "it then passes the GPUs to containers"),)
    if engine == "podman":
        generate = Command(
            ("nvidia-ctk", "cdi", "generate", f"--output={_CDI}"),
            "list the GPUs for Podman (CDI)",
            needs_root=True,
            inverse=Inverse((("rm", "-f", _CDI),), names=(_CDI,), present=("test", "-e")),
        )
        return (install(target, "podman", why="install Podman"), *_toolkit(target, matrix), generate)
    return (
        *_toolkit(target, matrix),
        *_docker(target),
        _root("nvidia-ctk", "runtime", "configure", "--runtime=docker", why="register the NVIDIA runtime with Docker"),
        _root("systemctl", "restart", "docker", why="Docker reads its configuration when it starts"),
    )


def _docker(target: Target) -> tuple[Step, ...]:
    package = _ENGINES.get(target.distribution) or _ENGINES.get(manager_of(target))
    if not package:
        return (ByHand("install Docker, if `docker --version` fails"),)
    return (install(target, package, why="install Docker")._replace(unless=("sh", "-c", "command -v docker")),)


def _root(*argv: str, why: str) -> Command:
    left = "" if argv[0] == "systemctl" else "the entry nvidia stays in /etc/docker/daemon.json"
    return Command(argv, why, needs_root=True, inverse=Inverse(left=left))


def _toolkit(target: Target, matrix: Matrix) -> tuple[Step, ...]:
    manager = manager_of(target)
    if manager == "pacman":
        return (install(target, _PACKAGE, why="it passes GPUs to containers"),)
    if manager not in _REPOSITORIES:
        return (ByHand(f"install the NVIDIA Container Toolkit: {matrix.page('container-toolkit').url}"),)
    package = install(target, _PACKAGE, why="it passes GPUs to containers")
    return (*_tools(target, manager), *_REPOSITORIES[manager](matrix), *refresh(target), package)


def _tools(target: Target, manager: str) -> tuple[Step, ...]:
    """What fetches the key: a new Debian or Ubuntu has no curl."""
    if manager != "apt":
        return ()
    curl = install(target, "ca-certificates", "curl", why="install curl")
    return (*refresh(target), curl._replace(inverse=Inverse(left="curl stays: other programs need it")))


def _apt(matrix: Matrix) -> tuple[Step, ...]:
    why = "apt accepts packages with this signature"
    fetch = ("curl", "-fsSL", "-o", _KEY, matrix.page("container-toolkit-key").url)
    gone = Inverse((("rm", "-f", _KEY),), names=(_KEY,), present=("test", "-e"))
    line = f"deb [signed-by={_KEY}] {matrix.page('container-toolkit-deb').url}/$(ARCH) /"
    return (
        Command(fetch, why, needs_root=True, inverse=gone),
        Command(
            ("sh", "-c", f"echo '{line}' > {_LIST}"),
            "add NVIDIA's repository for the toolkit",
            needs_root=True,
            inverse=Inverse((("rm", "-f", _LIST),), names=(_LIST,), present=("test", "-e")),
        ),
    )


def _dnf(matrix: Matrix) -> tuple[Step, ...]:
    fetch = ("curl", "-fsSL", "-o", _REPO, matrix.page("container-toolkit-rpm").url)
    gone = Inverse((("rm", "-f", _REPO),), names=(_REPO,), present=("test", "-e"))
    return (Command(fetch, "add NVIDIA's repository for the toolkit", needs_root=True, inverse=gone),)


def _zypper(matrix: Matrix) -> tuple[Step, ...]:
    add = ("zypper", "addrepo", matrix.page("container-toolkit-rpm").url)
    gone = Inverse((("zypper", "removerepo", _PACKAGE),), names=(_PACKAGE,), present=("zypper", "lr"))
    return (Command(add, "add NVIDIA's repository for the toolkit", needs_root=True, inverse=gone),)


_REPOSITORIES = {"apt": _apt, "yum": _dnf, "dnf": _dnf, "zypper": _zypper}

METHOD = Method(
    InstallToolkit,
    "the CUDA toolkit in a container",
    plan,
    serves,
    rank=99,
    names=(Name("cuda", "container"),),
    ordered=container_plan,
)
