"""CUDA_VISIBLE_DEVICES hides every GPU, or names one that is not there."""

from __future__ import annotations

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import ClearVariable, GiveGpus, Need
from doctor.model.facts import Facts, Machine
from doctor.model.facts.environment import Variable
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.conditions import ask_for_gpus, container, variable, without_gpus
from doctor.rules.shared.image import need_cuda_inside
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_gpu

_NAME = "CUDA_VISIBLE_DEVICES"
_UUID = "GPU-"
_RUNTIME = "NVIDIA_VISIBLE_DEVICES"
_HIDING = ("", "none", "void")  # values of the container runtime's variable that give no GPU


class Chosen(NamedTuple):
    """What CUDA makes of the variable."""

    visible: tuple[int, ...]  # NVML indices
    wrong: str  # the entry that ends the list, with the reason; "" where all are right


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Read the list as CUDA does.

    The first entry that names no device ends it, and one that repeats a device empties it. Sources: CUDA Programming
    Guide, "CUDA Environment Variables"; pytorch/pytorch, torch/cuda/__init__.py, which repeats the driver's parser.
    """
    setting = variable(facts, _NAME) if isinstance(facts.image, Seen) else None
    if setting and not facts.machine.is_running and not _may_name(setting.value.split(",")[0].strip()):
        need_cuda_inside(facts)
        return _hidden(setting, f"its containers start with {_NAME}={setting.value}")
    need_gpu(facts)
    setting = variable(facts, _NAME)
    if setting is None:
        return _runtime(facts)
    first = setting.value.split(",")[0].strip()
    if first.startswith("MIG-"):
        raise NotApplicable("it names MIG instances: see mig-misconfigured")
    if not _may_name(first) and without_gpus(facts):
        return bad(
            f"{without_gpus(facts)} gave this job no GPU: {_NAME}={setting.value}",
            ask_for_gpus(),
            evidence=_evidence(setting),
            explains=(Symptom("device-permissions"),),
        )
    if not _may_name(first):
        return _hidden(setting, f"{first!r} is not a GPU" if first else "it is empty")
    if setting.value.strip() == "0" and not isinstance(facts.gpus, Seen):
        return ok("it names the first GPU")  # there is one, though NVML did not count
    chosen = _chosen(setting.value, facts.gpus.get())
    if not chosen.visible:
        return _hidden(setting, chosen.wrong)
    return _partly(setting, chosen) if chosen.wrong else ok(f"{_NAME}={setting.value} names existing GPUs")


def _may_name(entry: str) -> bool:
    return entry.startswith(_UUID) or _number(entry) >= 0


def _number(entry: str) -> int:
    """The leading digits, as strtoul reads them; -1 for none, or a negative number."""
    digits = entry.removeprefix("+")
    end = next((place for place, char in enumerate(digits) if char not in "0123456789"), len(digits))
    return int(digits[: min(end, 9)]) if end else -1


def _chosen(value: str, gpus: tuple[Gpu, ...]) -> Chosen:
    """A list is of UUIDs or of numbers, as its first entry is; a comma at its end loses nothing."""
    entries = [part.strip() for part in value.split(",")]
    if len(entries) > 1 and not entries[-1]:
        entries.pop()
    by_uuid = entries[0].startswith(_UUID)
    visible: list[int] = []
    for entry in entries:
        numbers = _named(entry, gpus, by_uuid=by_uuid)
        if len(numbers) != 1:
            why = "several GPUs have this prefix" if numbers else _none_of(len(gpus))
            return Chosen(tuple(visible), f"{entry!r}: {why}")
        if numbers[0] in visible:
            return Chosen((), f"{entry!r}: the same GPU twice empties the list")
        visible.append(numbers[0])
    return Chosen(tuple(visible), "")


def _none_of(gpus: int) -> str:
    return "this machine has only one GPU" if gpus == 1 else f"this machine has only {gpus} GPUs"


def _named(entry: str, gpus: tuple[Gpu, ...], *, by_uuid: bool) -> tuple[int, ...]:
    if by_uuid:
        return tuple(gpu.number for gpu in gpus if entry.startswith(_UUID) and gpu.uuid.get().startswith(entry))
    number = _number(entry)
    return (number,) if 0 <= number < len(gpus) else ()


def _hidden(setting: Variable, why: str) -> Answer:
    return bad(f"{_NAME} hides every GPU: {why}", _unset(setting), evidence=_evidence(setting))


def _partly(setting: Variable, chosen: Chosen) -> Answer:
    return bad(
        f"{_NAME} shows {len(chosen.visible)} of its GPUs and stops at {chosen.wrong}",
        _unset(setting),
        severity=Severity.WARNING,
        evidence=_evidence(setting),
    )


def _unset(setting: Variable) -> Need:
    return ClearVariable(setting.name, setting.set_in)


def _evidence(setting: Variable) -> tuple[Evidence, ...]:
    return (Evidence.at(setting.set_at, f"{setting.name}={setting.value}", setting.set_in or "environment"),)


def _runtime(facts: Facts) -> Answer:
    """In a container, the runtime's own variable decides which GPUs come in."""
    if not container(facts):
        return ok(f"{_NAME} is not set: every GPU is visible")
    value = dict(value_or(facts.system.gpu_runtime_env, ())).get(_RUNTIME)
    if value is None or value.strip() not in _HIDING or value_or(facts.gpus, ()):
        return ok(f"{_NAME} is not set")
    return bad(
        f"{_RUNTIME}={value!r} hides every GPU from this container",
        GiveGpus(container(facts)),
        evidence=(Evidence(f"{_RUNTIME}={value}", label="environment"),),
    )


RULE = Rule(MACHINE, check)
