"""Machines for plans, by name."""

from __future__ import annotations

from installers.plan import Target

UBUNTU = Target(
    os_family="linux",
    distribution="ubuntu",
    distribution_version="24.04",
    arch="x86_64",
    wsl=False,
    live=True,
    python="/home/user/project/.venv/bin/python",
    environment_kind="venv",
    cuda_major=13,
    prefix="/home/user/project/.venv",
    installed=frozenset({"pip", "torch", "torchvision"}),
    user="user",
    kernel="6.8.0-87-generic",
)
DEBIAN = UBUNTU._replace(distribution="debian", distribution_version="12", kernel="6.1.0-18-amd64")
ROCKY = UBUNTU._replace(distribution="rocky", distribution_version="9.4", kernel="5.14.0-427.el9.x86_64")
FEDORA = UBUNTU._replace(distribution="fedora", distribution_version="41", kernel="6.14.0-63.fc41.x86_64")
SLES = UBUNTU._replace(distribution="sles", distribution_version="15.6", kernel="6.4.0-150600.23-default")
ARCH = UBUNTU._replace(distribution="arch", distribution_version="", kernel="6.17.1-arch1-1")
NIXOS = UBUNTU._replace(distribution="nixos", distribution_version="25.05")
WSL = UBUNTU._replace(wsl=True, kernel="5.15.153.1-microsoft-standard-WSL2")
DOCKER = UBUNTU._replace(container="docker", is_root=True, user="root")
PODMAN = UBUNTU._replace(container="podman")
KUBERNETES = UBUNTU._replace(container="kubernetes")
JETSON = UBUNTU._replace(distribution_version="22.04", arch="jetson", environment_kind="", kernel="5.15.136-tegra")
ROOT = UBUNTU._replace(is_root=True, user="root")
UNKNOWN = Target("linux", "", "", "", wsl=False, live=False, python="", environment_kind="", cuda_major=0)
CONDA = UBUNTU._replace(environment_kind="conda", prefix="/opt/conda/envs/ml", python="/opt/conda/envs/ml/bin/python")
UV = UBUNTU._replace(installed=frozenset({"torch"}))
MANAGED = UBUNTU._replace(environment_kind="system", python="/usr/bin/python3", prefix="/usr", externally_managed=True)
WINDOWS = Target(
    os_family="windows",
    distribution="",
    distribution_version="11",
    arch="x86_64",
    wsl=False,
    live=True,
    python=r"C:\Users\A User\venv\Scripts\python.exe",
    environment_kind="windows",
    cuda_major=12,
)

LINUX = {
    "ubuntu": UBUNTU,
    "debian": DEBIAN,
    "rocky": ROCKY,
    "fedora": FEDORA,
    "sles": SLES,
    "arch": ARCH,
    "nixos": NIXOS,
    "microos": UBUNTU._replace(distribution="opensuse-microos", distribution_version="20251101"),
    "kali": DEBIAN._replace(distribution="kali", distribution_version="2025.3"),
    "sid": DEBIAN._replace(distribution_version=""),
    "fedora-next": FEDORA._replace(distribution_version="99"),
    "tumbleweed": SLES._replace(distribution="opensuse-tumbleweed", distribution_version="20251110"),
    "silverblue": FEDORA._replace(distribution="fedora-ostree"),
    "rpmfusion": FEDORA._replace(driver_by="rpmfusion"),
    "runfile": UBUNTU._replace(driver_by="runfile"),
    "alpine": UBUNTU._replace(distribution="alpine", distribution_version="3.22.1"),
    "bazzite": FEDORA._replace(distribution="bazzite-ostree"),
    "wsl": WSL,
    "docker": DOCKER,
    "podman": PODMAN,
    "kubernetes": KUBERNETES,
    "jetson": JETSON,
    "root": ROOT,
    "unknown": UNKNOWN,
    "conda": CONDA,
    "uv": UV,
    "managed": MANAGED,
}
