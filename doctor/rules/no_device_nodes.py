"""Device nodes of the driver are missing."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import GiveGpus, InstallSystemPackage, MakeDeviceNodes, Need
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.conditions import (
    CUDA_DOES_NOT_START,
    container,
    module_is_loaded,
    need_kernel_driver,
    nvml_works,
)
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

_UVM = "/dev/nvidia-uvm"
_WITH_UTILS = ("arch", "manjaro", "endeavouros", "cachyos")


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """CUDA opens nvidiactl, the card's own node and nvidia-uvm.

    On a host the last appears when nvidia-modprobe runs at the first CUDA program, so that its absence alone is no
    fault where that can run; in a container nobody can make it. (NVIDIA's Linux driver README, "Device nodes";
    nvidia-modprobe.)
    """
    need_kernel_driver(facts)
    nodes = facts.driver.nodes.get()
    paths = tuple(node.path for node in nodes)
    cards = any(path.removeprefix("/dev/nvidia").isdigit() for path in paths)
    wanted = [path for path in ("/dev/nvidiactl", _UVM) if path not in paths]
    missing = tuple(wanted if cards else ["/dev/nvidia0", *wanted])
    if nvml_works(facts):
        missing = tuple(path for path in missing if path == _UVM)
    if not missing:
        return ok("nvidiactl, nvidia-uvm and the cards' nodes exist")
    if missing == (_UVM,) and not container(facts):
        return _by_modprobe(facts)
    return bad(
        f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
        GiveGpus(container(facts)) if container(facts) else MakeDeviceNodes(),
        evidence=_evidence(facts),
        places=missing,
        explains=(Symptom("device-permissions"), *CUDA_DOES_NOT_START),
    )


def _by_modprobe(facts: Facts) -> Answer:
    """A user's program starts nvidia-modprobe, which must be set-user-ID; root's makes the node itself."""
    state = value_or(facts.driver.modprobe, "set-user-ID")
    if state == "set-user-ID" or value_or(facts.system.is_root, True):
        return ok(f"{_UVM} is created when the first CUDA program starts")
    why = "is not installed" if state == "absent" else "is not set-user-ID"
    return bad(
        f"{_UVM} is missing, and nvidia-modprobe, which creates it, {why}",
        _modprobe(state, facts),
        evidence=(*_evidence(facts), Evidence.of(facts.driver.modprobe, f"nvidia-modprobe {why}")),
        places=(_UVM,),
    )


def _modprobe(state: str, facts: Facts) -> Need:
    """The package of that name; Arch has the program among the driver's own."""
    if value_or(facts.system.distribution_id, "") in _WITH_UTILS:
        return InstallSystemPackage("nvidia-utils", reinstall=True)
    return InstallSystemPackage("nvidia-modprobe", reinstall=state != "absent")


def _evidence(facts: Facts) -> tuple[Evidence, ...]:
    nodes = value_or(facts.driver.nodes, ())
    there = ", ".join(node.path for node in nodes) or "no driver node"
    loaded = "loaded" if module_is_loaded(facts) else "not loaded"
    return (
        Evidence.of(facts.driver.nodes, there),
        Evidence.of(facts.driver.modules_loaded, f"the nvidia kernel module is {loaded}", "modules"),
    )


RULE = Rule(MACHINE, check)
