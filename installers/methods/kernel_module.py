"""Load, rebuild or sign the kernel module.

Sources: dkms(8), "autoinstall"; Ubuntu Wiki, "UEFI/SecureBoot/Signing" (`update-secureboot-policy --enroll-key`);
Debian Wiki, "SecureBoot" (`/var/lib/dkms/mok.pub`); RPM Fusion, "Howto/Secure Boot" (`kmodgenca`, akmods'
`public_key.der`).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.effect import ModuleBuilt, ModuleLoaded, ModuleReloaded, ModuleSigned, Restarted
from installers.method import Method
from installers.packages import install, kernel_headers, manager_of, refresh
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse

_ENROL = ByHand('restart; in the blue "MOK management" screen choose "Enroll MOK" and give that password again')
_REVOKED = Inverse(
    (("mokutil", "--revoke-import"),),
    "only the request is taken back; a key that the firmware trusts already leaves with mokutil --delete",
)
_KEY_STAYS = Inverse(left="the key stays in /etc/pki/akmods, where the next module is signed with it")
_FIRMWARE = ByHand("or turn Secure Boot off in the firmware's set-up")


def serves(need: Need, target: Target) -> bool:
    """A module of a Linux kernel that is this machine's own."""
    return need.product == "kernel-module" and target.os_family == "linux"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """By what must become true of the module."""
    name = need.build or "nvidia"
    if target.container or target.wsl:
        where = "Windows: restart WSL with `wsl --shutdown`" if target.wsl else "the container's host: load it there"
        return Plan(f"see to the {name} module", (ByHand(f"the kernel module belongs to {where}"),), ())
    if need.spec == "reloaded":
        return _reloaded(name)
    if need.spec == "rebuilt":
        return _rebuilt(need.where or target.kernel, name, target)
    if need.spec == "signed":
        steps = (*_enrol(target), _ENROL, _FIRMWARE)
        return Plan("enrol the key that signs the NVIDIA module", steps, (Restarted(), ModuleSigned()))
    return Plan(f"load the {name} kernel module", (_modprobe(name),), (ModuleLoaded(name),))


def _modprobe(name: str) -> Command:
    out = Inverse((("modprobe", "-r", name),), "it stays while a program uses it")
    return Command(("modprobe", name), "load it with what it depends on", needs_root=True, timeout_s=60, inverse=out)


def _reloaded(name: str) -> Plan:
    out = Command(
        ("rmmod", name),
        "end every program that uses CUDA first: a module that is in use stays",
        needs_root=True,
        timeout_s=60,
        inverse=Inverse((("modprobe", name),)),
    )
    return Plan(f"load the {name} kernel module anew", (out, _modprobe(name)), (ModuleReloaded(name),))


def _rebuilt(kernel: str, name: str, target: Target) -> Plan:
    which = ("-k", kernel) if kernel else ()
    headers: tuple[Step, ...] = ()
    if manager_of(target):
        headers = (
            *refresh(target),
            install(target, *kernel_headers(target, kernel), why="what DKMS builds against"),
        )
    steps = (
        *headers,
        Command(
            ("dkms", "autoinstall", *which),
            "build the module for that kernel",
            needs_root=True,
            timeout_s=1800,
            inverse=Inverse(left="what it built stays: `dkms status` lists it, `dkms remove` takes one away"),
        ),
        *((_modprobe(name),) if target.live else ()),
    )
    effects = (ModuleBuilt(kernel), ModuleLoaded(name))
    return Plan(f"rebuild the NVIDIA module{f' for kernel {kernel}' if kernel else ''}", steps, effects)


def _enrol(target: Target) -> tuple[Step, ...]:
    manager = manager_of(target)
    if manager == "apt" and target.distribution != "debian":
        argv: tuple[str, ...] = ("update-secureboot-policy", "--enroll-key")
        return (Command(argv, "ask the firmware to trust the key DKMS signs with", needs_root=True, inverse=_REVOKED),)
    if target.distribution == "fedora":
        return (
            Command(("kmodgenca", "-a"), "make akmods' key, if there is none", needs_root=True, inverse=_KEY_STAYS),
            _import("/etc/pki/akmods/certs/public_key.der"),
        )
    if manager in {"apt", "yum", "dnf"}:
        return (_import("/var/lib/dkms/mok.pub"),)
    return (ByHand("enrol the certificate that your distribution signs the module with: mokutil --import FILE.der"),)


def _import(certificate: str) -> Command:
    argv = ("mokutil", "--import", certificate)
    return Command(argv, "asks for a password to be given once", needs_root=True, inverse=_REVOKED)


METHOD = Method("the kernel module", serves, plan)
