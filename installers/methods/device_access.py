"""Let a user open the device nodes.

Source: NVIDIA driver README, "How to prevent NVIDIA kernel module from creating device nodes": the module's options
NVreg_DeviceFileUID, -GID and -Mode decide; by default everybody may open them (0666).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import OpenDeviceNodes
from installers.effect import NodeOpened
from installers.method import Method, on_linux
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse

_OPTIONS = "(NVreg_DeviceFileUID|NVreg_DeviceFileGID|NVreg_DeviceFileMode)=[0-9]+"
_HAS_OPTIONS = ("-exec", "grep", "-qE", _OPTIONS, "{}", ";")
_WITHOUT_OPTIONS = ("-exec", "sed", "-i.bak", "-E", f"s/{_OPTIONS}//g", "{}", "+")
_DOCKER = "start the container with its GPUs (docker run --gpus all) and --group-add {group}"
# Without root, Podman has only the groups of the user who starts it: podman-run(1), --group-add keep-groups.
_STARTED = {"podman": "start the container with: podman run --device nvidia.com/gpu=all --group-add keep-groups ..."}
# podman-run(1) and docker-run(1), --security-opt; container_selinux(8), the boolean; NVIDIA's own example for Podman.
_UNLABELLED = {
    "podman": "podman run --device nvidia.com/gpu=all --security-opt=label=disable ...",
    "docker": "docker run --gpus all --security-opt label=disable ...",
}
_LABEL = (
    "start the container again with: {command}\nor let all containers use devices, on the host: sudo setsebool -P "
    "container_use_devices on"
)
_LOG_IN = ByHand("log out and in again: a running session keeps its old groups")


def plan(need: OpenDeviceNodes, target: Target, matrix: Matrix) -> Plan:
    """Through the group that owns the node; without such a group, through its mode."""
    nodes, group = need.nodes, need.group
    effects = tuple(NodeOpened(one, group if group != "root" else "") for one in nodes)
    summary = f"let {target.user or 'this user'} open {', '.join(nodes)}"
    if target.container and need.selinux:
        command = _UNLABELLED.get(target.container, "--security-opt label=disable (Docker's and Podman's option)")
        why = "the file mode allows everybody; SELinux on the host, or the container's device rules, deny access"
        return Plan(summary, (ByHand(_LABEL.format(command=command), why),), effects)
    if target.container:
        text = _STARTED.get(target.container, _DOCKER).format(group=group or "GROUP")
        return Plan(summary, (ByHand(text),), effects)
    if group and group != "root":
        user = target.user or "USER"
        out = Inverse((("gpasswd", "-d", user, group),), "a running session keeps the group until it ends")
        join = Command(
            ("usermod", "-aG", group, user), f"{group} gets access to {' '.join(nodes)}", needs_root=True, inverse=out
        )
        return Plan(summary, (join, _LOG_IN), effects)
    steps = (
        Command(
            ("chmod", "0666", *nodes),
            "the driver's default, until the next boot",
            needs_root=True,
            inverse=Inverse(left="the next boot restores the mode of the module's options"),
        ),
        Command(
            ("find", "/etc/modprobe.d", "-name", "*.conf", *_HAS_OPTIONS, *_WITHOUT_OPTIONS),
            "permanent: the driver's default mode at every boot; changed files get a backup (.bak)",
            needs_root=True,
            inverse=Inverse(left="each changed file of /etc/modprobe.d has a backup (.bak)"),
        ),
        ByHand("reboot when convenient: without NVreg_DeviceFileMode, -UID and -GID the default mode stays"),
    )
    return Plan(summary, steps, effects)


METHOD = Method(OpenDeviceNodes, "access to device nodes", plan, on_linux)
