"""The package manager of a distribution, and how it is told to install."""

from __future__ import annotations

from installers.plan import Target
from installers.render.bash import RUNNING_KERNEL
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import NOTHING_TO_TAKE_BACK, Command, Inverse

_MANAGERS = {
    "apt": {"debian", "ubuntu", "linuxmint", "pop", "elementary", "zorin", "neon", "kali", "raspbian", "devuan"},
    "dnf": {"rhel", "centos", "rocky", "almalinux", "ol", "fedora", "amzn", "nobara", "azurelinux"},
    "zypper": {"sles", "sled", "suse", "opensuse", "opensuse-leap", "opensuse-tumbleweed"},
    "pacman": {"arch", "manjaro", "endeavouros", "cachyos"},
}
PACKAGE_MANAGERS = frozenset(_MANAGERS) | {"yum"}
DISTRIBUTIONS = frozenset().union(*_MANAGERS.values())
INSTALL = {
    "apt": ("apt-get", "install", "-y"),
    "yum": ("yum", "install", "-y"),
    "dnf": ("dnf", "install", "-y"),
    "zypper": ("zypper", "--non-interactive", "install"),
    "pacman": ("pacman", "-S", "--needed", "--noconfirm"),
}
_REMOVE = {
    "apt": ("apt-get", "remove", "-y"),
    "yum": ("yum", "remove", "-y"),
    "dnf": ("dnf", "remove", "-y"),
    "zypper": ("zypper", "--non-interactive", "remove"),
    "pacman": ("pacman", "-R", "--noconfirm"),
}
_PRESENT = {
    "apt": ("dpkg", "-s"),
    "yum": ("rpm", "-q"),
    "dnf": ("rpm", "-q"),
    "zypper": ("rpm", "-q"),
    "pacman": ("pacman", "-Q"),
}
_BEFORE_DNF = {"rhel": "7", "centos": "7", "ol": "7", "amzn": "2"}  # the last release with yum alone
RPM_BY_YUM = frozenset({"yum", "dnf"})


def manager_by_id(distribution: str) -> str:
    """The manager of a distribution by its ID in os-release, whatever its release; "" for one that is not known."""
    return next((name for name, ids in _MANAGERS.items() if distribution in ids), "")


def manager_of(target: Target) -> str:
    """ "apt", "yum", "dnf", "zypper", "pacman", or "" for a system whose package manager is not known here."""
    if target.os_family != "linux":
        return ""
    if target.distribution_version.partition(".")[0] == _BEFORE_DNF.get(target.distribution):
        return "yum"
    return manager_by_id(target.distribution)


_REINSTALL = {
    "apt": ("apt-get", "install", "--reinstall", "-y"),
    "yum": ("yum", "reinstall", "-y"),
    "dnf": ("dnf", "reinstall", "-y"),
    "zypper": ("zypper", "--non-interactive", "install", "--force"),
    "pacman": ("pacman", "-S", "--noconfirm"),
}


def install(target: Target, *names: str, why: str) -> Command:
    """Install packages of the distribution; only where `manager_of` knows it."""
    argv = (*INSTALL[manager_of(target)], *names)
    return Command(argv, why, needs_root=True, timeout_s=3600, inverse=removal(manager_of(target), names))


def removal(manager: str, names: tuple[str, ...]) -> Inverse:
    """Remove packages again, but for those that were there before."""
    # "libcudnn9=9.10", "cuda-drivers<581": a release, which removing does not take
    bare = tuple(name.partition("=")[0].partition("<")[0] for name in names)
    left = "packages that came with them stay; the old version is not restored"
    return Inverse(((*_REMOVE[manager], *bare),), left, names=bare, present=_PRESENT[manager])


def install_again(target: Target, name: str) -> Command:
    """Put back every file of a package that is installed; only where `manager_of` knows how."""
    left = Inverse(left="its old files, changed or missing, are not kept")
    argv = (*_REINSTALL[manager_of(target)], name)
    return Command(argv, f"reinstall all files of {name}", needs_root=True, timeout_s=3600, inverse=left)


_INITIAL_DISK = {
    "apt": ("update-initramfs", "-u"),
    "yum": ("dracut", "--force"),
    "dnf": ("dracut", "--force"),
    "zypper": ("dracut", "--force"),
    "pacman": ("mkinitcpio", "-P"),
}


def initial_disk(target: Target) -> Step:
    """Make the disk again from which the kernel loads its first modules."""
    argv = _INITIAL_DISK.get(manager_of(target))
    if not argv:
        return ByHand("rebuild the initramfs with your system's tool")
    again = Inverse((argv,), "reboot", afterwards=True)
    return Command(argv, "the initramfs contains a copy of both", needs_root=True, inverse=again)


def refresh(target: Target) -> tuple[Command, ...]:
    """Read the package lists again, where the package manager does not do so by itself."""
    if manager_of(target) != "apt":
        return ()
    argv, why = ("apt-get", "update"), "read the package lists"
    return (Command(argv, why, needs_root=True, inverse=NOTHING_TO_TAKE_BACK, prepares=True),)


def kernel_headers(target: Target, kernel: str) -> tuple[str, ...]:
    """The packages against which modules for this kernel release are built.

    On another machine the kernel that runs is named by its shell; here a kernel of "" is the newest one.

    Source: NVIDIA Driver Installation Guide, "Verify the System has the Correct Kernel Packages Installed".
    """
    manager = manager_of(target)
    kernel = kernel or ("" if target.live else RUNNING_KERNEL)
    if manager == "apt":
        newest = "linux-headers-generic" if target.distribution != "debian" else "linux-headers-amd64"
        return (f"linux-headers-{kernel}" if kernel else newest,)
    if manager in RPM_BY_YUM:
        return (f"kernel-devel-{kernel}" if kernel else "kernel-devel", "kernel-headers")
    if manager == "zypper":
        return ("kernel-default-devel",)
    return (f"{_arch_kernel(kernel) if kernel != RUNNING_KERNEL else 'linux'}-headers",)


def _arch_kernel(release: str) -> str:
    """The package of a kernel by its release: 6.12.57-1-lts is of linux-lts, 6.17.5-arch1-1 of linux.

    Sources: Arch Wiki, "Kernel"; Manjaro's kernels are called linux612.
    """
    numbers, last = release.split("."), release.rpartition("-")[2]
    if last == "MANJARO" and len(numbers) > 1:
        return f"linux{numbers[0]}{numbers[1]}"
    return f"linux-{last}" if last.isalpha() else "linux"
