"""Give a container the GPUs of its host.

Source: NVIDIA Container Toolkit documentation, "Installing the NVIDIA Container Toolkit" and "Support for Container
Device Interface"; Kubernetes documentation, "Schedule GPUs"; Apptainer documentation, "GPU Support": --nv binds the
host's own driver in, without the toolkit.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import GiveGpus
from installers.effect import GpusGiven
from installers.method import Method
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command

_HOST = "the container's host"


def plan(need: GiveGpus, target: Target, matrix: Matrix) -> Plan:
    """By kind of container; `where` says which, else what the machine was seen to be."""
    kind = need.container or target.container or "docker"
    toolkit = ByHand(f"{_HOST} needs the NVIDIA Container Toolkit: {matrix.page('container-toolkit').url}")
    steps = _STEPS.get(kind, _other)()
    steps = steps if kind in _WITHOUT_TOOLKIT else (toolkit, *steps)
    return Plan("start the container with its host's GPUs", steps, (GpusGiven(kind),))


def _command(*argv: str, why: str, needs_root: bool = True) -> Command:
    return Command(argv, why, needs_root=needs_root, place=_HOST)


def _docker() -> tuple[Step, ...]:
    return (
        _command(
            "nvidia-ctk", "runtime", "configure", "--runtime=docker", why="register the NVIDIA runtime with Docker"
        ),
        _command("systemctl", "restart", "docker", why="Docker reads its configuration when it starts"),
        ByHand("start the container again with: docker run --gpus all ..."),
    )


def _podman() -> tuple[Step, ...]:
    return (
        _command(
            "nvidia-ctk", "cdi", "generate", "--output=/etc/cdi/nvidia.yaml", why="write the GPU list (CDI) for Podman"
        ),
        ByHand("start the container again with: podman run --device nvidia.com/gpu=all ..."),
    )


def _containerd() -> tuple[Step, ...]:
    return (
        _command(
            "nvidia-ctk",
            "runtime",
            "configure",
            "--runtime=containerd",
            why="register the NVIDIA runtime with containerd",
        ),
        _command("systemctl", "restart", "containerd", why="containerd reads its configuration when it starts"),
        ByHand("start the container again with: nerdctl run --gpus all ..."),
    )


def _kubernetes() -> tuple[Step, ...]:
    return (
        ByHand("request a GPU in the container's specification: resources: {limits: {nvidia.com/gpu: 1}}"),
        ByHand("the node must offer a GPU: `kubectl describe node NODE` shows nvidia.com/gpu under Capacity"),
    )


def _lxc() -> tuple[Step, ...]:
    return (
        ByHand(
            "LXD: lxc config device add CONTAINER gpu gpu; lxc config set CONTAINER nvidia.runtime=true; restart it"
        ),
        ByHand(
            "without LXD or Incus (Proxmox): pass /dev/nvidia* in, and install the host's driver version "
            "in the container (.run installer with --no-kernel-modules)"
        ),
    )


def _apptainer() -> tuple[Step, ...]:
    return (
        ByHand("start the container again with: apptainer exec --nv IMAGE ... (SingularityCE: singularity exec --nv)"),
    )


def _other() -> tuple[Step, ...]:
    return (
        ByHand("start the container again with its GPUs: --gpus all (Docker), --nv (Apptainer), a GPU limit (pod)"),
    )


_STEPS = {
    "docker": _docker,
    "podman": _podman,
    "containerd": _containerd,
    "kubernetes": _kubernetes,
    "lxc": _lxc,
    "apptainer": _apptainer,
}
_WITHOUT_TOOLKIT = ("kubernetes", "apptainer")

METHOD = Method(GiveGpus, "a container's GPUs", plan)
