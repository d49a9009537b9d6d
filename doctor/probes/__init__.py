"""Look at a machine: every probe once, in the order in which they need each other.

Probes only look; they never judge. A probe that fails leaves its facts unseen and a `Failure`, which becomes the
finding check-error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from compat.base.discover import load_one, names_in
from compat.base.record import NamedTuple
from doctor.host import BadRequest, Host
from doctor.host.progress import DRIVER_TIMEOUT_S
from doctor.host.snapshot import Snapshot
from doctor.model.facts import Facts, IndependentProbe, Machine
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.driver import DriverFacts
from doctor.model.facts.environment import ConfigurationFacts, Environment
from doctor.model.facts.failure import Failure
from doctor.model.facts.loader import LoaderFacts, Prediction
from doctor.model.facts.seen import Fact, Seen, Unseen, all_unseen, value_or
from doctor.model.facts.system import SystemFacts
from doctor.model.facts.toolkit import ToolkitFacts

if TYPE_CHECKING:
    from doctor.probes.nvml import Told

T = TypeVar("T")


class ProbeRequest(NamedTuple):
    """What the user asked to be looked at."""

    pythons: tuple[str, ...] = ()  # --python, interpreters or environment directories; () is the default one
    deep: bool = False  # import frameworks in children of their own interpreter
    driver_timeout_s: float = DRIVER_TIMEOUT_S
    every: bool = False  # --all-environments


class Guard:
    """Calls probes; what fails becomes a `Failure` and unseen facts."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []

    def group(self, name: str, kind: type[T], look: Callable[[], T]) -> T:
        """A group of facts (a NamedTuple of them)."""
        try:
            return look()
        except BadRequest:
            raise
        except Exception as error:  # noqa: BLE001 - a probe that fails is a finding, never our crash
            unseen: T = all_unseen(kind, self._note(name, error))
            return unseen

    def one(self, name: str, look: Callable[[], T]) -> T | Unseen:
        """A single fact."""
        try:
            return look()
        except BadRequest:
            raise
        except Exception as error:  # noqa: BLE001
            return Unseen(self._note(name, error))

    def _note(self, name: str, error: Exception) -> str:
        failure = Failure.of(name, error)
        self.failures.append(failure)
        return f"{failure.label} failed: {failure.error}"


def independent_probes() -> Mapping[str, IndependentProbe[Any]]:
    """Return every independent probe by the name of its facts."""
    from doctor.probes import independent

    return {name: load_one(independent, name, "PROBE", IndependentProbe) for name in names_in(independent)}


def independent_unseen(why: Unseen) -> Mapping[str, Unseen]:
    """Return the facts of every independent probe where none of them could look."""
    return dict.fromkeys(independent_probes(), why)


def look(host: Host, request: ProbeRequest) -> Facts:
    """Everything that can be seen of this machine; what was costly to read is remembered for the next look."""
    snapshot = host if isinstance(host, Snapshot) else Snapshot(host)
    facts = _look(snapshot, request)
    snapshot.memory.save()
    return facts


def _look(host: Host, request: ProbeRequest) -> Facts:
    from doctor.loader import code_tools, dlls
    from doctor.probes import compiler, configuration, cudnn, environment, loader, nvml, pci, system
    from doctor.probes import toolkit as toolkit_probe

    guard = Guard()
    search = guard.group("loader", LoaderFacts, lambda: loader.look(host))
    asked = guard.one("NVML", lambda: nvml.start(host, search, request.driver_timeout_s))  # a child, while we look on
    around = guard.group("system", SystemFacts, lambda: system.look(host))
    environments = _environments(host, request, guard, search, around)
    toolkit = guard.group("toolkit", ToolkitFacts, lambda: toolkit_probe.look(host, environments))
    copies = guard.one("cuDNN", lambda: cudnn.look(host, search, toolkit, environments))
    predictions = predictions_of(host, guard, search, environments, (toolkit, copies))
    tools = guard.one("ptxas", lambda: code_tools.look(host, environments))
    needed = guard.one("DLL", lambda: dlls.look(host, search, environments, (toolkit, copies)))
    imports = guard.one("import", lambda: environment.try_imports(host, environments, deep=request.deep))
    compilers = guard.one("compiler", lambda: compiler.look(host, toolkit.toolkits))
    settings = guard.group("configuration", ConfigurationFacts, lambda: configuration.look(host))
    cards = guard.one("PCI", lambda: pci.look(host))
    told = nvml.nothing(asked.why) if isinstance(asked, Unseen) else guard.group("NVML", nvml.Told, asked.finish)
    return Facts(
        machine=Machine(host.kind, host.name),
        system=around,
        driver=_drivers(host, search, told, request, guard),
        pci=cards,
        gpus=told.gpus,
        toolkit=toolkit,
        compilers=compilers,
        cudnn=copies,
        environments=environments,
        configuration=settings,
        loader=search._replace(predictions=predictions),
        imports=imports,
        independent={name: guard.one(one.title, partial(one.look, host)) for name, one in independent_probes().items()},
        failures=tuple(guard.failures),
        code_tools=tools,
        dlls=needed,
        image=host.image_facts if isinstance(host, Snapshot) else Unseen("no image was looked at"),
        unread=host.unread if isinstance(host, Snapshot) else (),
    )


def _drivers(host: Host, search: LoaderFacts, told: Told, request: ProbeRequest, guard: Guard) -> DriverFacts:
    """The driver, and what CUDA answers on top of it."""
    from doctor.probes import cuda_start, driver

    found = guard.group("driver", DriverFacts, lambda: driver.look(host, search, told))
    timeout_s, deep = request.driver_timeout_s, request.deep
    started = guard.one("cuInit", lambda: cuda_start.look(host, found, timeout_s, deep=deep))
    return found._replace(cuda_start=started)


def _environments(
    host: Host, request: ProbeRequest, guard: Guard, search: LoaderFacts, around: SystemFacts
) -> Fact[tuple[Environment, ...]]:
    """The environments, with what their binaries say; without it where that probe fails."""
    from doctor.probes import environment, gpu_code

    found = guard.one("environment", lambda: environment.look(host, request.pythons, every=request.every))
    coded = guard.one("GPU code", lambda: gpu_code.look(host, found))
    found = found if isinstance(coded, Unseen) else coded
    if not any(value_or(one.frameworks, ()) for one in value_or(found, ())):
        return found
    from doctor.probes import native_modules  # late: it needs the loader's rules

    judged = guard.one("compiled modules", lambda: native_modules.look(host, found, search, around.glibc))
    return found if isinstance(judged, Unseen) else judged


def predictions_of(
    host: Host,
    guard: Guard,
    search: LoaderFacts,
    environments: Fact[tuple[Environment, ...]],
    installed: tuple[ToolkitFacts, Fact[tuple[CudnnCopy, ...]]],
) -> Fact[tuple[Prediction, ...]]:
    """What the frameworks would load of cuDNN, and of CUDA's other libraries."""
    if isinstance(environments, Seen) and not any(value_or(one.frameworks, ()) for one in environments.value):
        return Seen((), "no framework was found")  # and none of the loader's rules need be loaded
    from doctor.loader.predictions import predictions

    toolkit, copies = installed
    return guard.one("prediction", partial(predictions, host, search, environments, toolkit, copies))
