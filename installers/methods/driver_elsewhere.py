"""The driver where it is not a package of this system: Windows, WSL, the host of a container, other systems.

Source: NVIDIA's CUDA on WSL User Guide (install no Linux display driver in WSL; the Windows driver is the only one);
NVIDIA Container Toolkit documentation (the driver belongs to the host); RPM Fusion, "Howto/NVIDIA", "OSTree
(Silverblue/Kinoite/etc)" and "Legacy GeForce"; NixOS Wiki, "NVIDIA" (unfree software, branches by `legacy_BRANCH`);
transactional-update(8) and the portal of MicroOS (its root is read-only: changes go into a new snapshot); Manjaro Wiki,
"Configure Graphics Cards"; System76's support pages for Pop!_OS (`system76-driver-nvidia`); Gentoo Wiki,
"NVIDIA/nvidia-drivers"; Void Handbook, "NVIDIA".
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallDriver
from installers.effect import DriverInstalled, Restarted
from installers.method import Method
from installers.plan import Plan, Target
from installers.requirement import spoken, wanted_version
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.reboot import Reboot

_LEGACY = ("340", "390", "470", "580")  # akmod-nvidia-470xx
_MUSL = frozenset({"alpine", "postmarketos", "chimera"})
_UNIVERSAL_BLUE = frozenset({"bazzite-ostree", "bluefin-ostree", "aurora-ostree"})
_TRANSACTIONAL = frozenset({"opensuse-microos", "opensuse-aeon", "opensuse-kalpa", "opensuse-leap-micro"})
# Distributions that have a way of their own: the newest driver, and where an older branch comes from.
_OWN_WAYS = {
    "manjaro": ("sudo mhwd -a pci nonfree 0300", "mhwd -l lists the branches, and sudo mhwd -i pci NAME installs one"),
    "pop": ("sudo apt install system76-driver-nvidia", "apt list 'nvidia-driver-*' lists the branches"),
    "gentoo": (
        "sudo emerge --ask x11-drivers/nvidia-drivers (accept its licence in /etc/portage/package.license)",
        "/etc/portage/package.mask keeps newer releases away",
    ),
    "void": (
        "sudo xbps-install -S void-repo-nonfree && sudo xbps-install -S nvidia (only with glibc, not with musl)",
        "xbps-query -Rs nvidia lists the branches",
    ),
}


def has_own_way(target: Target) -> bool:
    """Return whether the distribution installs drivers by a tool or package of its own."""
    return (target.derivative or target.distribution) in _OWN_WAYS


def plan(need: InstallDriver, target: Target, matrix: Matrix) -> Plan:
    """Where the driver belongs, and what to install there."""
    wanted = f"NVIDIA driver{spoken(need.versions)}"
    url = matrix.page("driver").url
    if target.wsl:
        wanted = f"NVIDIA driver{_branch(need.versions)}"
        steps = (
            ByHand(f"on Windows, install the {wanted} from {url}; do not install a driver inside WSL"),
            Command(("wsl", "--shutdown"), "WSL uses the new driver after its restart", place="Windows"),
        )
        return Plan(f"install the {wanted} on Windows", steps, (DriverInstalled(need.versions), Restarted("wsl")))
    if target.container:
        text = f"on the container's host, install the {wanted}; a container uses its host's driver"
        return Plan(
            f"install the {wanted} on the container's host",
            (ByHand(text),),
            (DriverInstalled(need.versions), Restarted()),
        )
    if target.os_family == "windows":
        text = f"download and install the {wanted} from {url}, then restart Windows"
        return Plan(
            f"install the {wanted}", (ByHand(text),), (DriverInstalled(need.versions, need.flavour), Restarted())
        )
    if has_own_way(target):
        newest, older = _OWN_WAYS[target.derivative or target.distribution]
        text = f"install the {wanted}: {older if need.versions.startswith('==') else newest}; then restart"
        effects = (DriverInstalled(need.versions, need.flavour), Restarted())
        return Plan(f"install the {wanted}", (ByHand(text, "the way of this distribution"),), effects)
    if target.distribution in _UNIVERSAL_BLUE:
        return _rebased(need, target, wanted)
    if target.distribution.endswith("-ostree"):
        return _ostree(need, wanted)
    if target.distribution in _MUSL:
        text = f"use a distribution with glibc: NVIDIA publishes no driver for {target.distribution.capitalize()}"
        return Plan(f"install the {wanted}", (ByHand(text, "its libraries need glibc, not musl"),), ())
    if target.distribution == "nixos":
        return _nixos(need, wanted)
    if target.distribution in _TRANSACTIONAL:
        text = (
            f"install the {wanted}: no command is known, for zypper changes "
            "nothing in a running system of this kind, "
            "and its snapshots build no module. A package with the module for this kernel comes by "
            "'transactional-update pkg install', from the repository that "
            "SDB:NVIDIA_drivers on en.opensuse.org names; "
            "then reboot"
        )
        return Plan(f"install the {wanted}", (ByHand(text),), ())
    text = f"install the {wanted} with your system's packages, or from {url}; then reboot"
    return Plan(f"install the {wanted}", (ByHand(text),), (DriverInstalled(need.versions, need.flavour), Restarted()))


def _rebased(need: InstallDriver, target: Target, wanted: str) -> Plan:
    """Universal Blue's images with the driver have names of their own."""
    name = target.distribution.removesuffix("-ostree")
    image = f"{name}-nvidia{'' if need.versions.startswith('==') else '-open'}"
    text = (
        f"change to the image {image}, which has the driver. 'rpm-ostree status' shows the current image; replace "
        f"{name} in its name by {image}. Then run 'sudo rpm-ostree rebase NEW' and reboot"
    )
    return Plan(f"install the {wanted}", (ByHand(text, "its images exist with and without the driver"),), ())


def _ostree(need: InstallDriver, wanted: str) -> Plan:
    """RPM Fusion's packages as a layer; it has branches that dropped cards of their own as packages apart."""
    branch = wanted_version(need.versions).partition(".")[0]
    suffix = f"-{branch}xx" if branch in _LEGACY and need.versions.startswith("==") else ""
    packages = (f"akmod-nvidia{suffix}", f"xorg-x11-drv-nvidia{suffix}-cuda")
    kept = [f"--append={name}.blacklist=nouveau,nova_core" for name in ("rd.driver", "modprobe")]
    steps = (
        ByHand("enable RPM Fusion's nonfree repository, which has the driver, if it is not enabled yet"),
        Command(
            ("rpm-ostree", "install", *packages),
            "the system is an image: packages become a layer and are used after a reboot",
            needs_root=True,
            timeout_s=3600,
            inverse=Inverse((("rpm-ostree", "uninstall", *packages),)),
        ),
        Command(
            ("rpm-ostree", "kargs", *kept),
            "keep nouveau from using the card",
            needs_root=True,
            inverse=Inverse((("rpm-ostree", "kargs", *(one.replace("append", "delete") for one in kept)),)),
        ),
        Reboot("reboot: the layer is used after that"),
    )
    return Plan(f"install the {wanted}", steps, (DriverInstalled(need.versions, need.flavour), Restarted()))


def _nixos(need: InstallDriver, wanted: str) -> Plan:
    """The system is what its configuration says; an old branch is an attribute of its own, where nixpkgs has it."""
    branch = wanted_version(need.versions).partition(".")[0] if need.versions.startswith("==") else ""
    if branch and branch not in _LEGACY:
        text = f"install the {wanted}: no command is known, for nixpkgs names no branch {branch}"
        return Plan(f"configure the {wanted}", (ByHand(text),), ())
    package = f"config.boot.kernelPackages.nvidiaPackages.legacy_{branch}"
    lines = (
        "add these lines to /etc/nixos/configuration.nix, then run the next commands:",
        "nixpkgs.config.allowUnfree = true;",
        'services.xserver.videoDrivers = [ "nvidia" ];',
        f"hardware.nvidia.open = {'true' if need.flavour == 'open' else 'false'};",
        *((f"hardware.nvidia.package = {package};",) if branch else ()),
    )
    steps = (
        ByHand("\n".join(lines), "NixOS is built from its configuration"),
        Command(
            ("nixos-rebuild", "boot"),
            "build the configured system, used after a reboot",
            needs_root=True,
            timeout_s=3600,
            inverse=Inverse((("nixos-rebuild", "boot", "--rollback"),), "the configuration is not changed back"),
        ),
        Reboot("reboot: the new system is used after that"),
    )
    return Plan(f"configure the {wanted}", steps, (DriverInstalled(need.versions, need.flavour), Restarted()))


def _branch(specifier: str) -> str:
    """The branch alone: releases are numbered otherwise on Windows than on Linux."""
    branch = wanted_version(specifier).partition(".")[0]
    return f" {branch} or newer" if branch else ""


METHOD = Method(InstallDriver, "the driver by hand", plan, rank=60)
