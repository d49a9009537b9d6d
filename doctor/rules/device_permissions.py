"""This user may not open the driver's device nodes."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, GiveGpus, Need, OpenDeviceNodes
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import DeviceNode
from doctor.model.facts.seen import Unseen, UnseenError, how, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.conditions import ask_for_gpus, container, nvml_code, nvml_evidence, without_gpus
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_gpu, need_linux

_NO_PERMISSION = 4  # NVML_ERROR_NO_PERMISSION, nvml.h
_GROUP_MAY = 0o060
_EVERYBODY_MAY = 0o006
_BY_SERVICE = (
    "The file mode allows everybody, so something else denies access: the control group of a service or job, or "
    "SELinux. In a systemd unit, delete PrivateDevices=yes or add DeviceAllow=/dev/nvidia* rw, then restart it. "
    "'ausearch -m avc -ts recent' (as root) shows what SELinux refused."
)


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """The nodes that CUDA opens: nvidiactl, nvidia-uvm, and one card's.

    Other closed cards are a scheduler's doing, and nvidia-caps is root's by design.
    """
    need_gpu(facts)
    need_linux(facts)
    closed = _closed(facts)
    if not closed and nvml_code(facts) != _NO_PERMISSION:
        return ok("this user can open the nodes that CUDA needs")
    user, what = value_or(facts.system.user, "this user"), closed[0].path if closed else "the device nodes"
    given = f": {without_gpus(facts)} gave this job no GPU" if _is_open_by_mode(closed) and without_gpus(facts) else ""
    return bad(
        f"{user} has no permission to open {what}{given}",
        *_needs(facts, closed),
        evidence=(*(Evidence(_mode(node), file=node.path) for node in closed), *_user(facts), *nvml_evidence(facts)),
        explains=(Symptom("container-without-gpu-runtime"),),
    )


def _closed(facts: Facts) -> tuple[DeviceNode, ...]:
    """Needed nodes that are there and closed; raises NotApplicable without nodes, UnseenError when none was tried."""
    nodes = facts.driver.nodes.get()
    cards = [node for node in nodes if node.path.removeprefix("/dev/nvidia").isdigit()]
    shared = [node for node in nodes if node.path in {"/dev/nvidiactl", "/dev/nvidia-uvm"}]
    if not cards and not shared:
        raise NotApplicable("the driver has no device node")
    untried = [node for node in (*shared, *cards) if isinstance(node.openable, Unseen)]
    if len(untried) == len(cards) + len(shared):
        raise UnseenError(f"unknown: may this user open {untried[0].path}? {getattr(untried[0].openable, 'why', '')}")
    shut = [node for node in shared if not value_or(node.openable, True)]
    if cards and not any(value_or(node.openable, True) for node in cards):
        shut += cards
    return tuple(shut)


def _is_open_by_mode(closed: tuple[DeviceNode, ...]) -> bool:
    """Whether no mode keeps them closed, so that changing it helps nobody."""
    return all(node.mode & _EVERYBODY_MAY == _EVERYBODY_MAY for node in closed)


def _needs(facts: Facts, closed: tuple[DeviceNode, ...]) -> tuple[Need, ...]:
    inside, paths = container(facts), tuple(node.path for node in closed) or ("/dev/nvidiactl",)
    if _is_open_by_mode(closed) and (closed or inside):
        if without_gpus(facts):
            return (ask_for_gpus(),)
        return (OpenDeviceNodes(paths, selinux=True) if inside else Advice(_BY_SERVICE),)
    everybody = OpenDeviceNodes(paths, "root")
    if value_or(facts.system.is_root, False):
        return (GiveGpus(inside),) if inside else (everybody,)
    grouped = [node for node in closed if node.group not in {"", "root"} and node.mode & _GROUP_MAY == _GROUP_MAY]
    if closed and len(grouped) == len(closed):
        return (OpenDeviceNodes((grouped[0].path,), grouped[0].group), everybody)
    return (everybody,)


def _mode(node: DeviceNode) -> str:
    return f"mode {node.mode:04o}, owner {node.uid}, group {node.group or node.gid}"


def _user(facts: Facts) -> tuple[Evidence, ...]:
    groups = facts.system.groups
    parameters = value_or(facts.driver.open_rm_parameters, ())
    return (
        *((Evidence.of(groups, f"groups {', '.join(value_or(groups, ()))}"),) if how(groups) else ()),
        *(Evidence(one, label="modprobe.d") for one in parameters if "DeviceFile" in one),
    )


RULE = Rule(MACHINE, check)
