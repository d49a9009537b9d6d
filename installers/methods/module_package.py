"""The kernel module by whoever brings it on this system: akmods, ready packages, NVIDIA's runfile.

Sources: RPM Fusion, "Howto/NVIDIA" (akmods --force --kernels); Ubuntu Server documentation, "NVIDIA drivers
installation" (linux-modules-nvidia-BRANCH-KERNEL); NVIDIA's yum-packaging-precompiled-kmod (the packages are called
kmod-nvidia-RELEASE-KERNEL); rpm(8), zypper(8), and openSUSE's SDB:NVIDIA_drivers (a KMP is built, or linked, for the
kernels that are there when it is installed); Arch Wiki, "NVIDIA" (nvidia-open is for linux alone, nvidia-open-dkms for
every kernel); nvidia-installer's help (--kernel-module-only, --kernel-name); rpm-ostree(1).
"""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import InstallModulePackage
from installers.effect import DriverInstalled, Effect, ModuleBuilt, ModuleLoaded, Restarted
from installers.method import Method, on_linux
from installers.methods.kernel_module import modprobe
from installers.methods.restart import again
from installers.packages import install, kernel_headers, manager_of, refresh
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.reboot import Reboot

_READY, _DKMS = "linux-modules-nvidia-", "nvidia-dkms-"  # of Ubuntu
_AGAINST = "install kernel headers"
_STAYS = Inverse(left="the built module stays as a package: remove it with `dnf remove`")
_KMP = (
    "zypper --non-interactive install --force "
    "\"$(rpm -qf --qf '%{NAME}\\n' /lib/modules/*/updates/nvidia.ko | sort -u | grep -m 1 nvidia)\""
)


def plan(need: InstallModulePackage, target: Target, matrix: Matrix) -> Plan:
    """By its source; where the kernel is another machine's, there."""
    kernel, source = need.kernel or target.kernel, need.source
    summary = f"install the NVIDIA module{f' for kernel {kernel}' if kernel else ''}"
    if target.container or target.wsl:
        return Plan(summary, (ByHand("the kernel module belongs to the container's host, or to Windows"),), ())
    if target.distribution.endswith("-ostree"):
        return Plan("rebuild the system's image", _ostree(), ())
    writer = _ready if source.startswith((_READY, _DKMS)) else _WRITERS.get(source)
    if writer is None or not manager_of(target):
        text = f"install the package with the NVIDIA module for kernel {kernel}"
        return Plan(summary, (ByHand(text, f"its package is unknown here: {source}"),), ())
    if source.startswith(_DKMS):
        headers = kernel_headers(target, kernel)
        build = install(target, *headers, source, why="DKMS builds the module that matches the libraries")
        steps = (*refresh(target), build, again(target))
        return Plan(summary, steps, (DriverInstalled(f"=={need.release}"), Restarted()))
    loads = target.live and need.load
    steps = (*refresh(target), *writer(kernel, source, target))
    effects: tuple[Effect, ...] = (ModuleBuilt(kernel), *((ModuleLoaded("nvidia"),) if loads else ()))
    says_so = any(isinstance(step, (ByHand, Reboot)) for step in steps)
    return Plan(summary, (*steps, *((modprobe("nvidia"),) if loads and not says_so else ())), effects)


def _akmods(kernel: str, source: str, target: Target) -> tuple[Step, ...]:
    argv = ("akmods", "--force", "--kernels", kernel)
    return (
        install(target, f"kernel-devel-{kernel}", why=_AGAINST),
        Command(argv, "build the module and install it", needs_root=True, timeout_s=1800, inverse=_STAYS),
    )


def _ready(kernel: str, source: str, target: Target) -> tuple[Step, ...]:
    """Of the same branch and flavour as for the other kernels."""
    return (install(target, f"{source}-{kernel}", why="Ubuntu's prebuilt module for that kernel"),)


def _kmod(kernel: str, source: str, target: Target) -> tuple[Step, ...]:
    without_dist = re.sub(r"\.el\d\w*(\.\w+)?$", "", kernel)
    name = f"kmod-nvidia-*-{without_dist}*"
    return (
        install(
            target, name, why="NVIDIA's prebuilt module for that kernel; for a new kernel it appears some days later"
        ),
    )


def _kmp(kernel: str, source: str, target: Target) -> tuple[Step, ...]:
    left = Inverse(left="the same package")
    again = Command(("sh", "-c", _KMP), "its package installs it for the installed kernels", needs_root=True)
    return (install(target, *kernel_headers(target, kernel), why=_AGAINST), again._replace(inverse=left))


def _pacman(kernel: str, source: str, target: Target) -> tuple[Step, ...]:
    """pacman asks whether the ready module may go, which the one by DKMS replaces."""
    names = (*kernel_headers(target, kernel), "nvidia-open-dkms")
    argv = ("pacman", "-S", "--needed", *names)
    left = Inverse((("pacman", "-R", "nvidia-open-dkms"),), "`pacman -S nvidia-open` restores the prebuilt module")
    return (
        Command(
            argv, "the module for every kernel; confirm that it replaces nvidia-open", needs_root=True, inverse=left
        ),
    )


def _runfile(kernel: str, source: str, target: Target) -> tuple[Step, ...]:
    headers = install(target, *kernel_headers(target, kernel), why=_AGAINST)
    text = (
        "build the module with the .run installer of the installed driver version, then load it:\n"
        f"sudo sh ./NVIDIA-Linux-*.run --kernel-module-only --kernel-name={kernel}\n"
        "sudo modprobe nvidia"
    )
    return (headers, ByHand(text, "NVIDIA's installer installed it without DKMS"))


def _ostree() -> tuple[Step, ...]:
    argv = ("rpm-ostree", "upgrade")
    undo = Inverse((("rpm-ostree", "rollback"),), "reboot")
    return (
        Command(argv, "the image build compiles the module", needs_root=True, timeout_s=3600, inverse=undo),
        Reboot("reboot; if no newer image exists: sudo rpm-ostree rollback, then reboot"),
    )


_WRITERS = {"akmods": _akmods, "kmod": _kmod, "kmp": _kmp, "pacman": _pacman, "runfile": _runfile}

METHOD = Method(InstallModulePackage, "the kernel module by its source", plan, on_linux)
