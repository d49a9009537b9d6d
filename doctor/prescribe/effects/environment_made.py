"""There is one more environment, with nothing in it."""

from __future__ import annotations

from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import EnvironmentMade

_NOTE = "as a remedy would make it"


def apply(effect: EnvironmentMade, world: SimulatedMachine) -> SimulatedMachine:
    """Its Python is the named one, else that of the first environment that was looked at."""
    first = next(iter(value_or(world.facts.environments, ())), None)
    python = effect.base or (value_or(first.python, "") if first else "")
    minor = ".".join(python.split(".")[:2]) or "3"
    made = Environment(
        prefix=effect.prefix,
        asked_by=_NOTE,
        interpreter=effect.python,
        kind=effect.kind,
        python=Seen(python, _NOTE),
        sites=Seen((f"{effect.prefix}/lib/python{minor}/site-packages",), _NOTE),
        distributions=Seen((), _NOTE),
        frameworks=Seen((), _NOTE),
        overlaps=Seen((), _NOTE),
        externally_managed=False,
    )
    return world.with_environment(made)
