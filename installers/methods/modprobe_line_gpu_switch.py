"""Let modprobe load the driver's module again: a laptop's switch, or a line of modprobe.d, keeps it away.

Sources: modprobe.d(5), "blacklist" and "install"; grubby(8), rpm-ostree(1), grub-mkconfig(8); the helps of
prime-select, envycontrol and supergfxctl; NVIDIA Driver Installation Guide, "Disable Nouveau" (the initial disk carries
a copy of modprobe's settings).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import RemoveModprobeLine, SwitchGpuOn
from installers.effect import Restarted
from installers.method import Method
from installers.methods.restart import again
from installers.packages import initial_disk, manager_of
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.edit_line import EditLine

_COMMAND_LINE = "/proc/cmdline"
_ON = {"prime-select": ("on-demand",), "envycontrol": ("-s", "hybrid"), "supergfxctl": ("-m", "Hybrid")}
_OFF = {"prime-select": ("intel",), "envycontrol": ("-s", "integrated"), "supergfxctl": ("-m", "Integrated")}


def serves(need: RemoveModprobeLine | SwitchGpuOn, target: Target) -> bool:
    """A switch that is known, or a line of a file; on Linux."""
    return (isinstance(need, RemoveModprobeLine) or need.tool in _ON) and target.os_family == "linux"


def plan(need: RemoveModprobeLine | SwitchGpuOn, target: Target, matrix: Matrix) -> Plan:
    """The line is put out of force where it stands; a switch wrote it itself, and takes it back itself."""
    restart, effects = again(target), (Restarted("machine"),)
    if isinstance(need, SwitchGpuOn):
        tool = need.tool
        back = Inverse(((tool, *_OFF[tool]),), "reboot")
        on = Command((tool, *_ON[tool]), f"the card was switched off with {tool}", needs_root=True, inverse=back)
        return Plan(f"switch the card on with {tool}, then reboot", (on, restart), effects)
    if need.file == _COMMAND_LINE:
        return _from_start(need.line, target)
    why = "it blocks the driver's module"
    line = EditLine(path=need.file, line=0, before=need.line, after=None, why=why, by_root=not target.is_root)
    steps = (line, initial_disk(target), restart)
    return Plan(f"delete '{need.line}' from {need.file}, then reboot", steps, effects)


def _from_start(word: str, target: Target) -> Plan:
    """The boot loader's argument; as text where it names more than NVIDIA's modules, or the loader is not known."""
    summary, effects = f"remove '{word}' from the kernel command line, then reboot", (Restarted("machine"),)
    is_ours = all(name.startswith("nvidia") for name in word.partition("=")[2].split(","))
    manager = "ostree" if target.distribution.endswith("-ostree") else manager_of(target)
    if is_ours and manager in _ARGUMENTS:
        start, remove, add = _ARGUMENTS[manager]
        back = Inverse(((*start, f"{add}{word}"),), "reboot")
        step: Step = Command((*start, f"{remove}{word}"), "from the next boot", needs_root=True, inverse=back)
        return Plan(summary, (step, again(target)), effects)
    made = _MADE_ANEW.get(manager, "sudo grub-mkconfig -o /boot/grub/grub.cfg")
    text = f"remove nvidia's names from '{word}' in GRUB_CMDLINE_LINUX* of /etc/default/grub, then: {made}"
    why = "the kernel refuses the modules on this list"
    return Plan(summary, (ByHand(text, why), again(target)), effects)


_GRUBBY = (("grubby", "--update-kernel=ALL"), "--remove-args=", "--args=")
_ARGUMENTS = {"ostree": (("rpm-ostree", "kargs"), "--delete=", "--append="), "dnf": _GRUBBY, "yum": _GRUBBY}
_MADE_ANEW = {"apt": "sudo update-grub", "zypper": "sudo grub2-mkconfig -o /boot/grub2/grub.cfg"}


METHOD = Method((RemoveModprobeLine, SwitchGpuOn), "a kernel module that is kept away", plan, serves)
