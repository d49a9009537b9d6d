"""A GPU is partitioned (MIG), and programs cannot use its instances."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import AssignVariable, TurnMigOff
from doctor.model.facts import Facts
from doctor.model.facts.environment import Variable
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.conditions import CUDA_DOES_NOT_START, variable
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import GPUS, need_live

_NAME = "CUDA_VISIBLE_DEVICES"


def check(gpu: Gpu, facts: Facts, matrix: Matrix) -> Answer:
    """A process gets one instance, the one that CUDA_VISIBLE_DEVICES names (NVIDIA, MIG User Guide)."""
    need_live(facts)
    if not value_or(gpu.mig_enabled, False):
        raise NotApplicable("not partitioned")
    instances = gpu.mig_instances.get()
    if not instances:
        return _empty(gpu)
    setting = variable(facts, _NAME) if isinstance(facts.configuration.variables, Seen) else None
    named = [entry.strip() for entry in setting.value.split(",")] if setting else []
    wrong = [entry for entry in named if entry.startswith("MIG-") and not _is_there(entry, facts)]
    if setting and wrong:
        return _unknown_instance(gpu, setting, wrong[0])
    if len(instances) > 1 and not any(entry.startswith("MIG-") for entry in named):
        return _unnamed(gpu, setting)
    return ok(f"{len(instances)} instances")


def _is_there(entry: str, facts: Facts) -> bool:
    """Whether a GPU has this instance; the older spelling MIG-GPU-<uuid>/<gi>/<ci> is taken by its GPU."""
    gpus = value_or(facts.gpus, ())
    if entry.startswith("MIG-GPU-"):
        return any(entry.removeprefix("MIG-").split("/")[0] == value_or(gpu.uuid, "") for gpu in gpus)
    return any(one.startswith(entry) for gpu in gpus for one in value_or(gpu.mig_instances, ()))


def _empty(gpu: Gpu) -> Answer:
    return bad(
        f"{gpu.label} has MIG on, but no instance: no CUDA program can use it",
        TurnMigOff(gpu.number),
        evidence=(Evidence.of(gpu.mig_enabled, "MIG is on"), Evidence.of(gpu.mig_instances, "no instance")),
        explains=CUDA_DOES_NOT_START,
    )


def _unknown_instance(gpu: Gpu, setting: Variable, entry: str) -> Answer:
    first = value_or(gpu.mig_instances, ("",))[0]
    return bad(
        f"{_NAME} names the MIG instance {entry}, which does not exist",
        AssignVariable(_NAME, first, setting.set_in),
        evidence=(
            Evidence.at(setting.set_at, f"{_NAME}={setting.value}", setting.set_in or "environment"),
            Evidence.of(gpu.mig_instances, f"{gpu.label} has {', '.join(value_or(gpu.mig_instances, ()))}"),
        ),
    )


def _unnamed(gpu: Gpu, setting: Variable | None) -> Answer:
    instances = value_or(gpu.mig_instances, ())
    return bad(
        f"{_NAME} names none of the {len(instances)} MIG instances of {gpu.label}: programs get the first one or none",
        AssignVariable(_NAME, instances[0], setting.set_in if setting else ""),
        severity=Severity.INFO,
        evidence=(
            Evidence(f"{_NAME}={setting.value}" if setting else f"{_NAME} is not set", label="environment"),
            Evidence.of(gpu.mig_instances, ", ".join(instances)),
        ),
    )


RULE = Rule(GPUS, check, blocks_verdict=False)
