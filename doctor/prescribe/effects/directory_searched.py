"""The loader's cache lists one more directory."""

from __future__ import annotations

from doctor.host.optional_reads import names_of
from doctor.host.overlay import Overlay
from doctor.loader.library import read_library
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import DirectorySearched


def apply(effect: DirectorySearched, world: SimulatedMachine) -> SimulatedMachine:
    """Each library there under its SONAME, which is how ldconfig(8) enters it; what cannot be read is left out."""
    if world.host is None:
        return world
    here, entries = Overlay(world.host, world.changes), []
    for name in names_of(here, effect.directory):
        path = f"{effect.directory}/{name}"
        library = read_library(here, path) if ".so" in name else None
        if library and library.soname:
            entries.append((library.soname, path))
    return world.with_changes(world.changes._replace(cached=(*world.changes.cached, *dict.fromkeys(entries))))
