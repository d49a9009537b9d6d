"""Load, rebuild or sign the kernel module.

Sources: dkms(8), "autoinstall"; Ubuntu Wiki, "UEFI/SecureBoot/Signing" (`update-secureboot-policy --enroll-key`);
Debian Wiki, "SecureBoot" (`/var/lib/dkms/mok.pub`; its shim-signed-common 1.51 has an update-secureboot-policy without
that option); RPM Fusion, "Howto/Secure Boot" (`kmodgenca`, akmods' `public_key.der`); openSUSE's SDB:NVIDIA_drivers
(`/usr/share/nvidia-pubkeys`).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import BuildKernelModule, LoadKernelModule, ReloadKernelModule, SignKernelModule
from installers.effect import ModuleBuilt, ModuleLoaded, ModuleReloaded, ModuleSigned, Restarted
from installers.method import Method, on_linux
from installers.packages import install, kernel_headers, manager_of, refresh
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse

_ENROL = ByHand('reboot; in the blue "MOK management" screen choose "Enroll MOK" and give that password again')
_REVOKED = Inverse(
    (("mokutil", "--revoke-import"),),
    "only the request is undone; `mokutil --delete` removes an enrolled key",
)
_KEY_STAYS = Inverse(left="the key stays in /etc/pki/akmods for the next modules")
_AS_BUILT = Inverse(left="the module stays, with its signature")
_OF_DEBIAN = frozenset({"debian", "kali", "devuan", "raspbian", "parrot"})
_KMP_KEYS = "mokutil --import /usr/share/nvidia-pubkeys/*.der"
_FIRMWARE = ByHand("or turn Secure Boot off in the firmware's set-up")


def plan(
    need: LoadKernelModule | ReloadKernelModule | BuildKernelModule | SignKernelModule, target: Target, matrix: Matrix
) -> Plan:
    """By what must become true of the module."""
    name = need.module if isinstance(need, (LoadKernelModule, ReloadKernelModule)) else "nvidia"
    if target.container or target.wsl:
        where = "Windows: restart WSL with `wsl --shutdown`" if target.wsl else "the container's host: load it there"
        return Plan(f"check the {name} module", (ByHand(f"the kernel module belongs to {where}"),), ())
    if isinstance(need, ReloadKernelModule):
        return _reloaded(name)
    if isinstance(need, BuildKernelModule):
        return _rebuilt(need, target)
    if isinstance(need, SignKernelModule):
        steps = (*_enrol(target, need.made_by, need.kernel or target.kernel), _ENROL, _FIRMWARE)
        return Plan("enrol the key that signs the NVIDIA module", steps, (Restarted(), ModuleSigned()))
    return Plan(f"load the {name} kernel module", (modprobe(name),), (ModuleLoaded(name),))


def modprobe(name: str) -> Command:
    """Load a module."""
    out = Inverse((("modprobe", "-r", name),), "it cannot be unloaded while a program uses it")
    return Command(("modprobe", name), "load it with its dependencies", needs_root=True, timeout_s=60, inverse=out)


def _reloaded(name: str) -> Plan:
    out = Command(
        ("rmmod", name),
        "first end every program that uses CUDA: a module in use cannot be unloaded",
        needs_root=True,
        timeout_s=60,
        inverse=Inverse((("modprobe", name),)),
    )
    return Plan(f"reload the {name} kernel module", (out, modprobe(name)), (ModuleReloaded(name),))


def _rebuilt(need: BuildKernelModule, target: Target) -> Plan:
    kernel, loads = need.kernel or target.kernel, target.live and need.load
    which = ("-k", kernel) if kernel else ()
    headers: tuple[Step, ...] = ()
    if manager_of(target):
        headers = (
            *refresh(target),
            install(target, *kernel_headers(target, kernel), *need.packages, why="DKMS needs them"),
        )
    steps = (
        *headers,
        Command(
            ("dkms", "autoinstall", *which),
            "build the module for that kernel",
            needs_root=True,
            timeout_s=1800,
            inverse=Inverse(left="the built module stays: `dkms status` lists it, `dkms remove` deletes it"),
        ),
        *((modprobe("nvidia"),) if loads else ()),
    )
    effects = (ModuleBuilt(kernel), *((ModuleLoaded("nvidia"),) if loads or not target.live else ()))
    return Plan(f"rebuild the NVIDIA module{f' for kernel {kernel}' if kernel else ''}", steps, effects)


def _enrol(target: Target, source: str, kernel: str) -> tuple[Step, ...]:
    """The key of whoever makes the modules; Debian's own update-secureboot-policy knows no key."""
    manager = manager_of(target)
    if source == "akmods" or (source == "" and target.distribution == "fedora"):
        return _akmods_key(kernel)
    if source == "kmp":
        return (
            Command(("sh", "-c", _KMP_KEYS), "set a one-time password", needs_root=True)._replace(inverse=_REVOKED),
        )
    if manager == "apt" and target.distribution not in _OF_DEBIAN:
        argv: tuple[str, ...] = ("update-secureboot-policy", "--enroll-key")
        return (Command(argv, "request that the firmware trusts DKMS's key", needs_root=True, inverse=_REVOKED),)
    if source == "dkms" or (source == "" and manager in {"apt", "yum", "dnf"}):
        return (_import("/var/lib/dkms/mok.pub"),)
    return (ByHand("enrol the certificate of your distribution's module: mokutil --import FILE.der"),)


def _akmods_key(kernel: str) -> tuple[Step, ...]:
    """A module that was built before there was a key is not signed: it is built again."""
    again = ("akmods", "--force", "--rebuild", *(("--kernels", kernel) if kernel else ()))
    return (
        Command(("kmodgenca", "-a"), "create akmods' key, if none exists", needs_root=True, inverse=_KEY_STAYS),
        Command(again, "sign the module with that key", needs_root=True, timeout_s=1800, inverse=_AS_BUILT),
        _import("/etc/pki/akmods/certs/public_key.der"),
    )


def _import(certificate: str) -> Command:
    argv = ("mokutil", "--import", certificate)
    return Command(argv, "set a one-time password", needs_root=True, inverse=_REVOKED)


_NEEDS = (LoadKernelModule, ReloadKernelModule, BuildKernelModule, SignKernelModule)
METHOD = Method(_NEEDS, "the kernel module", plan, on_linux)
