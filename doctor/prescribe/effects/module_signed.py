"""The firmware trusts the key that modules are signed with."""

from __future__ import annotations

from doctor.prescribe.driver import started
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import ModuleSigned


def apply(effect: ModuleSigned, world: SimulatedMachine) -> SimulatedMachine:
    """The key is taken in while the machine starts, so that the module runs then."""
    return started(world._replace(trusts_module=True))
