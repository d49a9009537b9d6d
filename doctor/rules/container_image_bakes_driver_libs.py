"""A container image carries the driver's libraries itself."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, Need
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileFacts, DockerfileLine
from doctor.model.facts.driver import DriverLibrary
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok, unknown
from doctor.rules.shared.conditions import container, loading_library
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_STEMS = {"libcuda", "libnvidia-ml"}


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """In a container: beside the injected release another one. In an image without a kernel: any at all."""
    if isinstance(facts.dockerfile, Seen):
        return _in_dockerfile(facts.dockerfile.value)
    baked = _beside_injected(facts) if facts.machine.kind == "live" else _in_image(facts)
    if not baked:
        return ok("the image has no driver library")
    loads = facts.machine.kind == "live" and any(loading_library(facts, one.stem) == one for one in baked)
    return bad(
        f"the image contains {baked[0].stem} {baked[0].release}, but the GPU runtime adds the host's",
        _remove(baked),
        severity=Severity.ERROR if loads else Severity.WARNING,
        evidence=tuple(
            Evidence(f"release {one.release}" + (", the loaded one" if loads and one.loads else ""), file=one.path)
            for one in baked
        ),
        explains=(Symptom("driver-library-mismatch"),),
    )


def _in_dockerfile(told: DockerfileFacts) -> Answer:
    """Its lines; what a base image or a script brings, only the image that is built shows."""
    if told.drivers:
        return bad(
            (
                f"{told.drivers[0].source} installs {told.drivers[0].what} with driver "
                "libraries, but the GPU runtime adds the host's"
            ),
            Advice("; ".join(f"{one.source}: {_without(one)}" for one in told.drivers)),
            severity=Severity.WARNING,
            evidence=tuple(Evidence.at(one.source, one.what) for one in told.drivers),
        )
    names = [one for one in told.unread if one.installs]
    if names:
        return unknown(f"{names[0].source} {names[0].what}, known only at build time")
    return ok("no line installs a driver library")


def _without(one: DockerfileLine) -> str:
    return f"write {one.instead} instead of {one.what}" if one.instead else f"delete {one.what}"


def _beside_injected(facts: Facts) -> tuple[DriverLibrary, ...]:
    if not container(facts):
        facts.system.container.get()
        raise NotApplicable("not in a container")
    found = _system_libraries(facts)
    # The injected release: the loaded module's. None where nothing of that release was injected.
    release = value_or(facts.driver.module_release, None)
    loaded = release if any(one.release == release for one in found) else None
    if loaded is None:
        return ()
    return tuple(one for one in found if one.release != loaded)


def _in_image(facts: Facts) -> tuple[DriverLibrary, ...]:
    modules = value_or(facts.driver.module_files, ())
    if modules or isinstance(facts.system.kernel, Seen):
        raise NotApplicable("an image with a kernel has its own driver")
    return _system_libraries(facts)


def _system_libraries(facts: Facts) -> tuple[DriverLibrary, ...]:
    libraries = facts.driver.libraries.get()
    return tuple(one for one in libraries if one.stem in _STEMS and one.origin == "system")


def _remove(baked: tuple[DriverLibrary, ...]) -> Need:
    paths = ", ".join(sorted(one.path for one in baked))
    return Advice(f"Build the image without driver packages (libnvidia-compute-*, nvidia-utils-*): {paths}.")


RULE = Rule(MACHINE, check)
