"""Keep nouveau (or nova_core) from taking the card.

Source: NVIDIA Driver Installation Guide, "Disable Nouveau"; the initramfs must be made again because it carries a
copy of the module and of modprobe's settings.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import KeepModuleAway
from installers.effect import ModuleKeptAway, Restarted
from installers.method import Method, on_linux
from installers.methods.restart import again
from installers.packages import initial_disk
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.reboot import Reboot
from installers.steps.write_file import WriteFile


def plan(need: KeepModuleAway, target: Target, matrix: Matrix) -> Plan:
    """Write a blacklist file, rebuild the initramfs, and reboot."""
    module = need.module
    if target.container:
        text = f"on the container's host, keep {module} from using the card: install the NVIDIA driver there"
        return Plan(f"keep {module} from using the card", (ByHand(text),), ())
    if target.distribution.endswith("-ostree"):
        return _by_arguments(module, target)
    if target.distribution == "nixos":
        text = f"add this line to /etc/nixos/configuration.nix; then run sudo nixos-rebuild boot, and reboot\n{_NIX}"
        return Plan(
            f"keep {module} from using the card",
            (ByHand(text.format(module=module)),),
            (ModuleKeptAway(module), Restarted()),
        )
    blacklist = WriteFile(
        f"/etc/modprobe.d/blacklist-{module}.conf",
        (f"blacklist {module}", *((f"options {module} modeset=0",) if module == "nouveau" else ())),
        f"modprobe no longer loads {module} automatically",
        needs_root=True,
    )
    steps = (blacklist, initial_disk(target), Reboot())
    return Plan(f"keep {module} from using the card", steps, (ModuleKeptAway(module), Restarted()))


_NIX = 'boot.blacklistedKernelModules = [ "{module}" ];'


def _by_arguments(module: str, target: Target) -> Plan:
    """The initial disk of an image is not made on the machine: the kernel's command line keeps the module away."""
    kept = [f"--append-if-missing={name}.blacklist={module}" for name in ("rd.driver", "modprobe")]
    back = Inverse((("rpm-ostree", "kargs", *(one.replace("append-if-missing", "delete") for one in kept)),))
    argv = ("rpm-ostree", "kargs", *kept)
    steps = (Command(argv, "from the next boot", needs_root=True, inverse=back), again(target))
    return Plan(f"keep {module} from using the card", steps, (ModuleKeptAway(module), Restarted()))


METHOD = Method(KeepModuleAway, "nouveau blocked", plan, on_linux)
