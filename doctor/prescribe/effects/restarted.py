"""The machine, WSL or the container has started again."""

from __future__ import annotations

from doctor.model.facts import Facts
from doctor.model.facts.driver import follows, kernel_order
from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.driver import started
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import Restarted


def apply(effect: Restarted, world: SimulatedMachine) -> SimulatedMachine:
    """The module that is installed for the kernel is the one that runs; what is kept away is not loaded."""
    if effect.what == "wsl" and world.has_new_driver:
        return started(world)  # Windows' own driver is in use then
    if effect.what != "machine":
        return world
    facts = world.facts
    if world.kept_away:
        loaded = tuple(one for one in value_or(facts.driver.modules_loaded, ()) if one not in world.kept_away)
        cards = tuple(
            card._replace(driver="") if card.driver in world.kept_away else card for card in value_or(facts.pci, ())
        )
        facts = facts._replace(
            driver=facts.driver._replace(modules_loaded=Seen(loaded, "a restart")),
            pci=Seen(cards, "a restart") if isinstance(facts.pci, Seen) else facts.pci,
        )
    return started(world._replace(facts=_in_newest_kernel(facts)))


def _in_newest_kernel(facts: Facts) -> Facts:
    """A start takes the newest kernel: another one than the running one where that has no module, and a newer has."""
    kernel = value_or(facts.system.kernel, "")
    kernels = {one.kernel for one in value_or(facts.driver.module_files, ())}
    newest = max(kernels, key=lambda one: (follows(one, kernel), kernel_order(one)), default="")
    if not newest or kernel in kernels:
        return facts
    if value_or(facts.driver.module_source, "") != "gone" and not follows(newest, kernel):
        return facts
    return facts._replace(system=facts.system._replace(kernel=Seen(newest, "a restart")))
