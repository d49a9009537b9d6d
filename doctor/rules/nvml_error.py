"""NVML works, or names a card, only with an error that no rule of its own is about."""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import Advice, Need, ResetGpu, RestartMachine
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.conditions import container, module_is_loaded, nvml_code, nvml_evidence, on_host
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_gpu

# Return codes with rules of their own, nvml.h: no permission, library not found, GPU lost, other release of the module
_OF_OTHERS = frozenset({4, 12, 15, 18})
_NOT_LOADED, _RESET_REQUIRED, _UNKNOWN = 9, 16, 999
_RESTART = "restart the machine"
_CURED_BY_RESTART = frozenset({10, 11, 20, 23, 29, _NOT_LOADED, _UNKNOWN})


class Refusal(NamedTuple):
    """A call that NVML refused."""

    whose: str  # "NVML", "GPU 1"
    code: int
    words: str


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Its initialisation, and the handle of every card: without one, CUDA does not use that card either."""
    need_gpu(facts)
    if facts.driver.nvml.get().state not in {"ok", "error"}:
        raise NotApplicable("NVML did not answer at all")
    found = tuple(_refusals(facts))
    if not found:
        return ok("NVML answers, or returns an error with its own rule")
    from compat.status import status_row  # late: only a finding needs its rows

    first = found[0]
    row = status_row("nvml", first.code, matrix)
    meaning = f": {row.meaning}" if row else ""
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return bad(
        f"{first.whose} returns error {first.code} ({row.name if row else first.words}){meaning}{more}",
        *_needs(first, row.advice if row else "", facts),
        evidence=tuple(Evidence(one.words, label=one.whose) for one in found) or nvml_evidence(facts),
    )


def _refusals(facts: Facts) -> Iterator[Refusal]:
    code = nvml_code(facts)
    if code and code not in _OF_OTHERS and not _is_told_elsewhere(code, facts):
        yield Refusal("NVML", code, facts.driver.nvml.get().error)
    for gpu in value_or(facts.gpus, ()):
        if gpu.refused_code and gpu.refused_code not in _OF_OTHERS:
            yield Refusal(f"GPU {gpu.number}", gpu.refused_code, gpu.refused)


def _is_told_elsewhere(code: int, facts: Facts) -> bool:
    """An unknown error in a container is its control group; a module that is not loaded, or has no nodes, is named."""
    if code == _UNKNOWN:
        return container(facts) != "" and bool(value_or(facts.driver.nodes, ()))
    if code == _NOT_LOADED:
        nodes = value_or(facts.driver.nodes, ())
        return not (isinstance(facts.driver.modules_loaded, Seen) and module_is_loaded(facts) and nodes)
    return False


def _needs(one: Refusal, advice: str, facts: Facts) -> tuple[Need, ...]:
    if one.code == _RESET_REQUIRED:
        number = one.whose.removeprefix("GPU ")
        return (ResetGpu(int(number) if number.isdigit() else None),)
    if one.code in _CURED_BY_RESTART:
        return (on_host(facts, RestartMachine(), _RESTART),)
    text = advice or "read the kernel log ('sudo dmesg | grep -i nvrm'), then reboot"
    return (Advice(f"{text[0].upper()}{text[1:]}."),)


RULE = Rule(MACHINE, check)
