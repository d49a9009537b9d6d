"""The driver's module is there for a kernel."""

from __future__ import annotations

from doctor.model.facts.driver import ModuleFile
from doctor.model.facts.seen import Place, Seen, Unseen, value_or
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import ModuleBuilt

_HOW = "a remedy"


def apply(effect: ModuleBuilt, world: SimulatedMachine) -> SimulatedMachine:
    """Of the release that is installed for other kernels, else of the libraries' release."""
    driver = world.facts.driver
    kernel = effect.kernel or value_or(world.facts.system.kernel, "")
    files = value_or(driver.module_files, ())
    releases = [one.release for one in files if isinstance(one.release, Seen)]
    releases += [Seen(one.release, Place(one.path)) for one in value_or(driver.libraries, ()) if one.origin == "system"]
    if not releases:
        return world
    flavour = next((one.flavour for one in files), Unseen("its source says it"))
    signed = next((one.signed for one in files), Unseen("its signature is known only after the build"))
    made = ModuleFile(
        path=f"/lib/modules/{kernel}/updates/dkms/nvidia.ko",
        kernel=kernel,
        release=releases[0],
        flavour=flavour,
        signed=signed,
    )
    kept = tuple(one for one in files if one.kernel != kernel)
    driver = driver._replace(module_files=Seen((*kept, made), _HOW))
    return world._replace(facts=world.facts._replace(driver=driver))
