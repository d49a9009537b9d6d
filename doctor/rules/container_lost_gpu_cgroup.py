"""A running container lost its right to the GPU."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.conditions import container, need_kernel_driver, nvml_code, nvml_evidence
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE, need_container

_UNKNOWN_ERROR = 999  # NVML_ERROR_UNKNOWN, nvml.h
_LASTING = (
    "Create the container again. To prevent this: pass the GPUs through CDI, or name their nodes with --device, "
    "or let Docker use cgroupfs ('exec-opts': ['native.cgroupdriver=cgroupfs'] in /etc/docker/daemon.json)."
)


_BY_KIND = {
    "lxc": (
        "The container's control group does not allow the GPU's nodes: the major number of nvidia-uvm can change at "
        "each boot. On the host 'ls -l /dev/nvidia*' shows the numbers. For each, add the line "
        "'lxc.cgroup2.devices.allow: c NUMBER:* rwm' to the container's configuration (Proxmox: /etc/pve/lxc/ID.conf), "
        "then restart it. LXD and Incus do this themselves: 'lxc config device add CONTAINER gpu gpu'."
    ),
    "kubernetes": (
        "Delete the pod: it is then created again. To prevent this: let the node's container "
        "runtime use CDI (GPU operator: cdi.enabled=true and cdi.default=true)."
    ),
    "podman": ("Create the container again. To prevent this, use CDI: 'podman run --device nvidia.com/gpu=all'."),
}


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Nodes and libraries are there, yet NVML says "Unknown Error": the control group no longer allows the nodes.

    Source: NVIDIA/nvidia-container-toolkit issue 48, containers losing access to GPUs after systemd's daemon-reload.
    """
    need_kernel_driver(facts)
    need_container(facts)
    nodes = facts.driver.nodes.get()
    if nvml_code(facts) != _UNKNOWN_ERROR or not nodes:
        return ok("NVML does not report it")
    return bad(
        "this container has the GPU's device nodes, but may no longer use them",
        Advice(_BY_KIND.get(container(facts), _LASTING)),
        evidence=(
            *nvml_evidence(facts),
            Evidence.of(facts.system.container, container(facts)),
            Evidence.of(facts.driver.nodes, f"{len(nodes)} driver nodes exist"),
        ),
        explains=(Symptom("device-permissions"), Symptom("no-device-nodes")),
    )


RULE = Rule(MACHINE, check)
