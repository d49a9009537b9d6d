"""Which of CUDA's own libraries (cuBLAS, the runtime, NVRTC ...) a process of each framework would load.

What is asked for, and by whom, comes from the simulated process; here it becomes predictions beside those of cuDNN.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.record import NamedTuple
from doctor.facts.environment import Environment, Framework
from doctor.facts.loader import LoaderFacts, Prediction
from doctor.facts.seen import Fact, Seen, Unseen, UnseenError, value_or
from doctor.facts.toolkit import ToolkitFacts
from doctor.host import Host, HostError
from doctor.host.lenient import names_of
from doctor.probes.loader import whole_cache
from doctor.probes.loading import loading_of
from doctor.probes.simulate import Simulated, simulate
from doctor.resolve.process import Asked
from doctor.resolve.search import Nowhere

_STEMS = (
    "libcublas", "libcudart.so", "libcufft.so", "libcurand.so", "libcusolver.so", "libcusparse.so", "libcupti.so",
    "libnvrtc.so", "libnvJitLink.so", "libnccl.so",
)  # fmt: skip
_EXTRAS = ("libcupti.so", "libnccl.so")
_FOLDERS_AT_MOST = 100  # of one site-packages/nvidia


class _Case(NamedTuple):
    """One framework, and the wheels' libraries of its environment, by SONAME."""

    host: Host
    environment: Environment
    framework: Framework
    wheels: dict[str, str]
    toolkits: tuple[str, ...]  # directories of libraries, which an image's own variables may name
    uses_wheels: bool  # whether the framework requires NVIDIA's wheels, or looks for their libraries


def look(
    host: Host, search: LoaderFacts, environments: Fact[tuple[Environment, ...]], toolkit: ToolkitFacts
) -> Fact[tuple[Prediction, ...]]:
    """Predictions for every framework whose way of loading is known; nothing where the process cannot be followed."""
    if host.os_family != "linux":
        return Unseen(f"what is loaded on {host.os_family} is not predicted yet")
    if isinstance(environments, Unseen):
        return environments
    folders = tuple(value_or(one.library_dir, "") for one in value_or(toolkit.toolkits, ()))
    found: list[Prediction] = []
    whole = search
    for environment in environments.value:
        wheels: dict[str, str] | None = None
        for framework in value_or(environment.frameworks, ()):
            if framework.is_cpu_build or loading_of(framework.package) is None:
                continue
            wheels = dict(_of_wheels(host, environment)) if wheels is None else wheels
            if whole is search:  # what is not CUDA's must be found as well, or the import would seem to fail
                whole = search._replace(cache=whole_cache(host))
            found += _of_framework(
                _Case(host, environment, framework, wheels, folders, _requires_wheels(framework)), whole
            )
    return Seen(tuple(found), "the rules of ld.so(8), and the libraries' own search paths")


def _requires_wheels(framework: Framework) -> bool:
    return any(one.startswith(("nvidia-", "cuda-toolkit")) for one in value_or(framework.requires, ()))


def _of_framework(case: _Case, search: LoaderFacts) -> Iterator[Prediction]:
    try:
        simulated = simulate(case.host, search, case.environment, case.framework)
    except UnseenError:
        return
    case = case._replace(uses_wheels=case.uses_wheels or _looks_in_wheels(case, simulated))
    there = set()
    for one in simulated.process.mapped:
        name = one.library.soname or one.library.name
        if name.startswith(_STEMS):
            there.add(name)
            yield _prediction(case, name, _real(case.host, one.library.path), one.found.because)
    for asked in _unanswered(simulated):
        for name in _never_asked(asked, there):
            there.add(name)
            yield _next(case, simulated, asked, name)
        if asked.name.startswith(_STEMS) and asked.name not in there:
            there.add(asked.name)
            missing = case.host.is_live or not _is_anywhere(case, asked.name)
            yield _prediction(case, asked.name, Unseen(_why(asked)), "")._replace(missing=missing)


def _is_anywhere(case: _Case, name: str) -> bool:
    folders = (*case.toolkits, f"{case.environment.prefix}/lib")
    return name in case.wheels or any(case.host.is_file(f"{folder}/{name}") for folder in folders if folder)


def _looks_in_wheels(case: _Case, simulated: Simulated) -> bool:
    """Whether the search path of one of the framework's own libraries names the wheels' directories."""
    own = (one.library for one in simulated.process.mapped if one.library.path.startswith(_site(case)))
    return any("/nvidia/" in f"{one.rpath}{one.runpath}" and "/nvidia/" not in one.path for one in own)


def _site(case: _Case) -> str:
    return case.framework.path.rpartition("/")[0]


def _unanswered(simulated: Simulated) -> Iterator[Asked]:
    """What was asked for and not found, by someone who does not go on without it."""
    for one in simulated.process.asked:
        if one.failure and not one.optional and not _is_extra(one):
            yield one


def _never_asked(asked: Asked, there: set[str]) -> list[str]:
    """What the same library needs besides: the loader stops at the first name that it does not find."""
    needed = asked.by.library.needed if asked.by else ()
    return [name for name in needed if name.startswith(_STEMS) and name not in there and name != asked.name]


def _next(case: _Case, simulated: Simulated, asked: Asked, name: str) -> Prediction:
    """What the loader would find for a name that it does not come to."""
    by, process = asked.by, simulated.process
    library, loaded_by = (by.library, by.loaded_by) if by else (None, ())
    found = process.search.find(name, library, loaded_by, process.machine)
    if isinstance(found, Seen):
        return _prediction(case, name, _real(case.host, found.value.path), found.value.because)
    missing = isinstance(found, Nowhere) and (case.host.is_live or not _is_anywhere(case, name))
    return _prediction(case, name, found, "")._replace(missing=missing)


def _is_extra(asked: Asked) -> bool:
    """Opened by name, profiling and talk between GPUs are left out where their library is not there."""
    named = asked.by.library.needed if asked.by else ()
    return asked.name.startswith(_EXTRAS) and asked.name not in named


def _why(asked: Asked) -> str:
    who = asked.by.library.name if asked.by else "the program"
    return f"{asked.name}, which {who} asks for {asked.phase}, is not found: {asked.failure}"


def _prediction(case: _Case, name: str, path: Fact[str], because: str) -> Prediction:
    return Prediction(case.environment.prefix, case.framework.package, name, path, because, _intended(case, name, path))


def _intended(case: _Case, name: str, path: Fact[str]) -> Fact[str]:
    """The file in its package, else that of a wheel which it requires; for a name that is not found, any wheel's."""
    bundled = f"{case.framework.path}/lib/{name}"
    if case.host.is_file(bundled):
        return _real(case.host, bundled)
    if name in case.wheels and (case.uses_wheels or isinstance(path, Unseen)):
        return _real(case.host, case.wheels[name])
    conda = f"{case.environment.prefix}/lib/{name}"
    if case.environment.kind == "conda" and not case.uses_wheels and case.host.is_file(conda):
        return _real(case.host, conda)
    return Unseen(f"{case.framework.label} neither brings {name} along nor requires a wheel that does")


def _of_wheels(host: Host, environment: Environment) -> Iterator[tuple[str, str]]:
    """SONAME and path of the libraries in site-packages/nvidia/*/lib, of the first site directory that has each."""
    for site in reversed(value_or(environment.sites, ())):
        for folder in names_of(host, f"{site}/nvidia")[:_FOLDERS_AT_MOST]:
            for name in names_of(host, f"{site}/nvidia/{folder}/lib"):
                if name.startswith(_STEMS):
                    yield name, f"{site}/nvidia/{folder}/lib/{name}"


def _real(host: Host, path: str) -> Fact[str]:
    try:
        return Seen(host.real_path(path), path)
    except HostError as error:
        return Unseen(str(error))
