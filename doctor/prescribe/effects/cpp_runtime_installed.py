"""The Visual C++ runtime is there."""

from __future__ import annotations

from doctor.model.facts.loader import DllNeeds
from doctor.model.facts.seen import Seen, Unseen
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import CppRuntimeInstalled

_FOLDER = "C:/Windows/System32"
_NUMBER = "140"  # in the name of every DLL of the runtimes since Visual Studio 2015


def apply(effect: CppRuntimeInstalled, world: SimulatedMachine) -> SimulatedMachine:
    """Its DLLs are found by whoever names them."""
    known = world.facts.dlls
    if isinstance(known, Unseen):
        return world
    return world._replace(facts=world.facts._replace(dlls=Seen(tuple(map(_found, known.value)), known.how)))


def _found(needs: DllNeeds) -> DllNeeds:
    if isinstance(needs.dlls, Unseen):
        return needs
    dlls = (
        one._replace(found=one.found or f"{_FOLDER}/{one.name}") if _NUMBER in one.name else one
        for one in needs.dlls.value
    )
    return needs._replace(dlls=Seen(tuple(dlls), needs.dlls.how))
