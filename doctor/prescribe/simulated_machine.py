"""The machine as it would be after a remedy: its facts, and what differs in its files and variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.traits import traits_of
from compat.version import DriverRelease
from doctor.host import Host
from doctor.host.overlay import Changes, Overlay
from doctor.model.facts import Facts
from doctor.model.facts.driver import DriverLibrary
from doctor.model.facts.environment import ConfigurationFacts, Environment, Framework
from doctor.model.facts.loader import LoaderFacts
from doctor.model.facts.seen import Fact, Seen, Unseen, value_or
from doctor.model.facts.toolkit import ToolkitFacts

T = TypeVar("T")


class SimulatedMachine(NamedTuple):
    """What effects change, one after the other."""

    facts: Facts
    matrix: Matrix
    host: Host | None  # the machine that the facts are of; None where they came without it
    changes: Changes = Changes()
    replaced: frozenset[tuple[str, str]] = frozenset()  # frameworks whose files are others: prefix, package
    asked: tuple[tuple[str, str, str], ...] = ()  # what their libraries open by name: prefix, package, name
    removed: tuple[Framework, ...] = ()  # that were there: the same release brings the same code again
    is_stale: bool = False  # whether files, variables or environments differ from what the facts say
    has_new_driver: bool = False  # whether the driver's libraries are those of an effect
    kept_away: frozenset[str] = frozenset()  # kernel modules that the next start does not load by itself
    trusts_module: bool = False  # whether the firmware has come to trust the module's key

    def with_changes(self, changes: Changes) -> SimulatedMachine:
        """With other files or variables, which must be looked at again."""
        return self._replace(changes=changes, is_stale=True)

    def with_environment(self, new: Environment) -> SimulatedMachine:
        """With another state of the environment of that prefix, or with one more."""
        known = value_or(self.facts.environments, ())
        kept = tuple(new if one.prefix == new.prefix else one for one in known)
        kept = kept if any(one.prefix == new.prefix for one in known) else (*kept, new)
        facts = self.facts._replace(environments=Seen(kept, "a remedy"))
        return self._replace(facts=facts, is_stale=True)

    @property
    def environ(self) -> dict[str, str]:
        """The variables as they are by now."""
        said = self.host.environ if self.host and self.changes.environ is None else self.changes.environ or {}
        return {name: said[name] for name in said if name in said}


def reprobe(world: SimulatedMachine) -> Facts:
    """The facts of the changed machine: what depends on files and variables is looked at again, through an overlay.

    NVML, PCI and the kernel are not asked a second time; what a remedy makes of them is an effect of its own.
    """
    if not world.is_stale:
        return world.facts
    if world.host is None and world.changes == Changes():
        return world.facts
    if world.host is None:  # with other files or variables
        told = Unseen("only a look at that machine tells what is loaded then")
        driver = world.facts.driver if world.has_new_driver else world.facts.driver._replace(libraries=told)
        return world.facts._replace(loader=world.facts.loader._replace(predictions=told), driver=driver)
    from doctor.loader import code_tools, dlls
    from doctor.probes import Guard, compiler, configuration, cudnn, independent_probes, loader, predictions_of
    from doctor.probes import toolkit as toolkit_probe

    facts, host, guard = world.facts, Overlay(world.host, world.changes), Guard()

    def fact(name: str, look: Callable[..., T], *given: Any) -> T | Unseen:
        return guard.one(name, lambda: look(host, *given))

    search = guard.group("loader", LoaderFacts, lambda: loader.look(host))
    toolkit = guard.group("toolkit", ToolkitFacts, lambda: toolkit_probe.look(host, facts.environments))
    copies = fact("cuDNN", cudnn.look, search, toolkit, facts.environments)
    asking = _without_replaced(facts.environments, world.replaced)
    predictions = predictions_of(host, guard, search, asking, (toolkit, copies))
    if world.asked and isinstance(predictions, Seen):
        from doctor.prescribe.predicted_dlopens import missing  # late: few builds ask for a name that may lack

        predictions = Seen((*predictions.value, *missing(world, host, search)), predictions.how)
    return facts._replace(
        environments=_with_modules(host, facts, search),
        toolkit=toolkit,
        cudnn=copies,
        loader=search._replace(predictions=predictions),
        code_tools=fact("ptxas", code_tools.look, asking),
        dlls=fact("DLL", dlls.look, search, facts.environments, (toolkit, copies), _to_come(facts, world.replaced)),
        compilers=fact("compiler", compiler.look, toolkit.toolkits),
        configuration=guard.group("configuration", ConfigurationFacts, lambda: configuration.look(host)),
        driver=facts.driver
        if world.has_new_driver
        else facts.driver._replace(libraries=fact("driver", _driver_libraries, search, facts.driver.release)),
        imports=Seen((), "not imported yet") if world.replaced else facts.imports,
        independent={
            **facts.independent,
            **{name: fact(one.title, one.look) for name, one in independent_probes().items() if one.reads_files},
        },
        failures=(*facts.failures, *guard.failures),
    )


def _with_modules(host: Host, facts: Facts, search: LoaderFacts) -> Fact[tuple[Environment, ...]]:
    """The environments, with what of their modules still cannot be loaded; a remedy brings no new fault of theirs."""
    if not any(value_or(one.native_faults, ()) for one in value_or(facts.environments, ()) if one.native_faults):
        return facts.environments
    from doctor.probes import native_modules  # late: few machines have such a fault

    looked = value_or(native_modules.look(host, facts.environments, search, facts.system.glibc), ())
    pairs = zip(value_or(facts.environments, ()), looked, strict=True)
    return Seen(tuple(_with_faults_of(before, now) for before, now in pairs), "files of the environments")


def _with_faults_of(before: Environment, now: Environment) -> Environment:
    if before.native_faults is None or now.native_faults is None:
        return before
    names = {one.distribution for one in value_or(before.native_faults, ())}
    left = tuple(one for one in value_or(now.native_faults, ()) if one.distribution in names)
    return before._replace(native_faults=Seen(left, "the modules' own headers"))


def _without_replaced(
    environments: Fact[tuple[Environment, ...]], replaced: frozenset[tuple[str, str]]
) -> Fact[tuple[Environment, ...]]:
    """What a framework will open that is not installed yet, its files cannot say, nor those of what runs on it."""
    if isinstance(environments, Unseen) or not replaced:
        return environments
    return Seen(
        tuple(
            one
            if isinstance(one.frameworks, Unseen)
            else one._replace(
                frameworks=Seen(
                    tuple(
                        each for each in one.frameworks.value if not _is_replaced(each.package, one.prefix, replaced)
                    ),
                    one.frameworks.how,
                )
            )
            for one in environments.value
        ),
        environments.how,
    )


def _to_come(facts: Facts, replaced: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (one.prefix, each.package)
        for one in value_or(facts.environments, ())
        for each in value_or(one.frameworks, ())
        if _is_replaced(each.package, one.prefix, replaced)
    )


def _is_replaced(package: str, prefix: str, replaced: frozenset[tuple[str, str]]) -> bool:
    return not replaced.isdisjoint({(prefix, package), (prefix, traits_of(package).runs_on)})


def _driver_libraries(host: Host, search: LoaderFacts, release: Fact[DriverRelease]) -> Fact[tuple[DriverLibrary, ...]]:
    """Which of the driver's libraries the loader takes now; the module is what it was."""
    from doctor.probes import driver

    return Seen(driver.libraries(host, search, release), "file names")
