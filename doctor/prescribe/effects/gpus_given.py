"""A container has the GPUs of its host, and the driver's libraries with them."""

from __future__ import annotations

from doctor.model.facts.driver import DriverLibrary, Nvml
from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.driver import nodes
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import GpusGiven

_HOW = "a remedy"
_VARIABLES = (("NVIDIA_VISIBLE_DEVICES", "all"), ("NVIDIA_DRIVER_CAPABILITIES", "all"))


def apply(effect: GpusGiven, world: SimulatedMachine) -> SimulatedMachine:
    """The host's driver stays what it is; where its release is not known, it stays unknown."""
    facts = world.facts
    driver, release = facts.driver, facts.driver.release
    libraries = value_or(driver.libraries, ())
    if isinstance(release, Seen) and not any(one.stem == "libcuda" and one.loads for one in libraries):
        path = f"/usr/lib/x86_64-linux-gnu/libcuda.so.{release.value}"
        libraries = (
            *libraries,
            DriverLibrary(path=path, stem="libcuda", release=release.value, origin="system", loads=True),
        )
    others = tuple(one for one in value_or(facts.system.gpu_runtime_env, ()) if one[0] not in dict(_VARIABLES))
    loaded = value_or(driver.modules_loaded, ())
    driver = driver._replace(
        libraries=Seen(libraries, _HOW),
        nodes=Seen(nodes(len(value_or(facts.pci, ())) or 1), _HOW),
        nvml=Seen(Nvml("libnvidia-ml.so.1", "ok", "", 0), _HOW),
        modules_loaded=Seen(tuple(dict.fromkeys((*loaded, "nvidia", "nvidia_uvm"))), _HOW),
    )
    system = facts.system._replace(gpu_runtime_env=Seen((*others, *_VARIABLES), _HOW))
    return world._replace(facts=facts._replace(driver=driver, system=system), has_new_driver=True)
