"""The card runs slower: it lacks power or cooling."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import how, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import GPUS, need_live

# Reasons of nvmlClocksEventReasons in nvml.h that are faults; the software power cap under load is none.
_FAULTS = ("hw-slowdown", "hw-thermal", "hw-power-brake", "sw-thermal")
_HEAT = "Improve the cooling: clean the card, free its air intake, check the fans and the room."
_POWER = "Check the power supply and its cables: use one cable for each plug of the card, no adapters, no riser."


def check(gpu: Gpu, facts: Facts, matrix: Matrix) -> Answer:
    """Which reasons for lower clocks are active at this moment."""
    need_live(facts)
    active = [reason for reason in gpu.now.throttle_reasons.get() if _is_fault(reason)]
    if not active:
        return ok("neither heat nor power slows the GPU")
    hot = any("thermal" in reason for reason in active)
    return bad(
        f"{gpu.label} runs slower: it lacks {'cooling' if hot else 'power or cooling'} ({', '.join(active)})",
        Advice(_HEAT if hot else _POWER),
        severity=Severity.WARNING,
        evidence=(Evidence.of(gpu.now.throttle_reasons, ", ".join(active)), *_readings(gpu)),
    )


def _is_fault(reason: str) -> bool:
    return reason.casefold().replace("_", "-").replace(" ", "-").startswith(_FAULTS)


def _readings(gpu: Gpu) -> tuple[Evidence, ...]:
    temperature, power = gpu.now.temperature_c, gpu.now.power_w
    return (
        *((Evidence.of(temperature, f"{value_or(temperature, 0)} °C"),) if how(temperature) else ()),
        *((Evidence.of(power, f"{value_or(power, 0.0):.0f} W"),) if how(power) else ()),
    )


RULE = Rule(GPUS, check, blocks_verdict=False)
