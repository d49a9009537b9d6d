"""Variables of the changed machine."""

from __future__ import annotations

from doctor.host.overlay import Overlay
from doctor.model.facts.environment import Environment, Variable
from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.simulated_machine import SimulatedMachine

_OF_PACKAGES = frozenset(("PYTHONNOUSERSITE", "PYTHONPATH"))  # they decide which packages an environment sees


def with_variable(world: SimulatedMachine, name: str, value: str | None) -> SimulatedMachine:
    """With a variable set, or unset where the value is None; what follows from it is looked at again."""
    environ = world.environ
    old = environ.pop(name, "")
    if value is not None:
        environ[name] = value
    told = tuple(one for one in value_or(world.facts.configuration.variables, ()) if one.name != name)
    if value is not None:
        told = tuple(sorted((*told, Variable(name, value, ""))))
    configuration = world.facts.configuration._replace(variables=Seen(told, "a remedy"))
    world = world._replace(facts=world.facts._replace(configuration=configuration))
    if world.host is None:
        world = _searched_by(world, name, value or "")
    if value == old:
        return world
    world = world.with_changes(world.changes._replace(environ=environ))
    return _with_other_packages(world) if name in _OF_PACKAGES else world


def _with_other_packages(world: SimulatedMachine) -> SimulatedMachine:
    """The environments as they are without the packages from elsewhere, which hid others."""
    known: tuple[Environment, ...] = value_or(world.facts.environments, ())
    if world.host is None:
        return world
    from doctor.probes import environment  # late: few remedies change where packages are found

    host = Overlay(world.host, world.changes)
    for one in known:
        found = value_or(environment.look(host, (one.interpreter,)), ())
        if len(found) == 1 and isinstance(found[0].distributions, Seen):
            world = world.with_environment(found[0]._replace(asked_by=one.asked_by, prefix=one.prefix))
    return world


def _searched_by(world: SimulatedMachine, name: str, value: str) -> SimulatedMachine:
    """The loader's search where there is no machine to look at again: what the variable named goes with it."""
    loader = world.facts.loader
    kept = [one for one in value_or(loader.search, ()) if one.why.variable != name or one.written in value.split(":")]
    if not isinstance(loader.search, Seen):
        return world
    return world._replace(facts=world.facts._replace(loader=loader._replace(search=Seen(tuple(kept), "a remedy"))))


def without_entry(value: str, entry: str, os_family: str) -> str:
    """A path-like variable without a directory, however it is spelled there."""
    separator = ";" if os_family == "windows" or (";" in value and ":" not in value) else ":"
    kept = [one for one in value.split(separator) if _plain(one, os_family) != _plain(entry, os_family)]
    return separator.join(kept)


def _plain(path: str, os_family: str) -> str:
    path = path.strip()
    if os_family == "windows":
        path = path.strip('"').replace("\\", "/").lower()
    return path.rstrip("/") or path[:1]
