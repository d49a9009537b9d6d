"""Which of CUDA's and cuDNN's libraries a process of each framework gets, and by what: the one answer of all commands.

A process is simulated (`simulate`), and what it asked for becomes predictions. What happens before in the same process
is not known here: another framework, or a program's own ctypes call, may have loaded a copy already.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of
from doctor.loader import library_cuda_major
from doctor.loader.cache import whole_cache
from doctor.loader.cards import card_of, loading_of
from doctor.loader.library import Library, plain_name
from doctor.loader.link_release import releases_of
from doctor.loader.process import LoadRequest, Process
from doctor.loader.search import Nowhere
from doctor.loader.simulate import Simulated, simulate
from doctor.loader.symbol_versions import LackedVersion, lacked_versions
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import LoaderFacts, Outcome, Prediction, Way
from doctor.model.facts.seen import Fact, Seen, Unseen, UnseenError, value_or
from doctor.model.facts.toolkit import ToolkitFacts

_STEMS = (
    "libcudnn", "libcublas", "libcudart.so", "libcufft.so", "libcurand.so", "libcusolver.so", "libcusparse.so",
    "libcupti.so", "libnvrtc.so", "libnvJitLink.so", "libnvToolsExt.so",
    library_cuda_major.NCCL, library_cuda_major.TENSORRT,
)  # fmt: skip
_DRIVER_WITHOUT_VERSION = "libcuda.so"  # the name for linkers, which cuDNN 8.5 and 8.6 open all the same
_EXTRAS = ("libcupti.so", library_cuda_major.NCCL, library_cuda_major.TENSORRT)
_NOT_YET = Unseen("it was not asked yet")
_FOLDERS_AT_MOST = 100  # of one site-packages/nvidia: NVIDIA has some 20 wheels


class _Case(NamedTuple):
    """One framework, and where libraries lie that it may get."""

    host: Host
    environment: Environment
    framework: Framework
    wheels: dict[str, str]  # the wheels' libraries of its environment, by SONAME
    elsewhere: tuple[str, ...]  # directories of toolkits and copies, which an image's own variables may name
    uses_wheels: bool  # whether the framework requires NVIDIA's wheels, or looks for their libraries


def predictions(
    host: Host,
    facts: LoaderFacts,
    environments: Fact[tuple[Environment, ...]],
    toolkit: ToolkitFacts,
    copies: Fact[tuple[CudnnCopy, ...]],
) -> Fact[tuple[Prediction, ...]]:
    """What every framework whose way of loading is known gets, in the order in which it asks.

    Nothing is run, and nothing is kept between calls but what a `Snapshot` remembers of files.
    """
    if host.os_family == "windows":
        from doctor.loader import windows  # late: it has rules of its own

        return windows.predictions(host, facts, environments)
    if host.os_family != "linux":
        return Unseen(f"what is loaded on {host.os_family} is not predicted yet")
    if isinstance(environments, Unseen):
        return environments
    elsewhere = () if host.is_live else _elsewhere(toolkit, copies)
    found: list[Prediction] = []
    whole: LoaderFacts | None = None
    for environment in environments.value:
        wheels: dict[str, str] | None = None
        for framework in value_or(environment.frameworks, ()):
            if framework.is_cpu_build or framework.is_planned:
                continue
            if loading_of(framework.package) is None:
                found += _of_unknown(environment, framework)
                continue
            wheels = dict(_of_wheels(host, environment)) if wheels is None else wheels
            # what is not CUDA's must be found as well, or the import would seem to fail
            whole = facts._replace(cache=whole_cache(host)) if whole is None else whole
            case = _Case(
                host=host,
                environment=environment,
                framework=framework,
                wheels={} if host.is_live else wheels,
                elsewhere=elsewhere,
                uses_wheels=_requires_wheels(framework),
            )
            told, uses_wheels = _of_framework(case, whole)
            case = case._replace(wheels=wheels, uses_wheels=uses_wheels)
            found += (_with_intended(case, one) if one.soname else one for one in told)
    return Seen(tuple(found), "the rules of ld.so(8), and the libraries' own search paths")


def _elsewhere(toolkit: ToolkitFacts, copies: Fact[tuple[CudnnCopy, ...]]) -> tuple[str, ...]:
    folders = [value_or(one.library_dir, "") for one in value_or(toolkit.toolkits, ())]
    return tuple(filter(None, (*folders, *(one.path for one in value_or(copies, ())))))


def _of_unknown(environment: Environment, framework: Framework) -> Iterator[Prediction]:
    """A framework that says which cuDNN it uses, while how it comes to it is unknown."""
    card = card_of(framework.package)
    if card and card.loading is None and isinstance(framework.cudnn, Seen):
        why = f"how {framework.package} opens CUDA's libraries is not known to gpudoctor"
        yield _untold(environment, framework, why)


def _untold(environment: Environment, framework: Framework, why: str) -> Prediction:
    """That what a process asks for (from here on) is not known."""
    return Prediction(
        environment=environment.prefix,
        asker=framework.package,
        soname="",
        path=Unseen(why),
        intended=Unseen(why),
        outcome=Outcome.UNREAD,
    )


def _requires_wheels(framework: Framework) -> bool:
    return any(one.startswith(("nvidia-", "cuda-toolkit")) for one in value_or(framework.requires, ()))


def _of_framework(case: _Case, facts: LoaderFacts) -> tuple[list[Prediction], bool]:
    try:
        simulated = simulate(case.host, facts, case.environment, case.framework)
    except UnseenError as unknown:
        return [_untold(case.environment, case.framework, str(unknown))], False
    return [*_of_process(case, simulated)], case.uses_wheels or _looks_in_wheels(case, simulated)


def _of_process(case: _Case, simulated: Simulated) -> Iterator[Prediction]:
    there = set()
    unanswered = []
    for one in simulated.process.requests():
        if one.mapped and not one.undone:
            if is_of_interest(one.mapped.name):
                there.add(one.mapped.name)
                yield _of_request(case, one)
        elif not one.mapped and not one.optional and not _is_extra(one):
            unanswered.append(one)
    for one in unanswered:
        for name in _never_asked(one, there):
            there.add(name)
            yield _next(case, simulated.process, one, name)
        if one.name not in there and (is_of_interest(one.name) or _ends_it(one)):
            there.add(one.name)
            told, foreign = _of_request(case, one), _foreign(case.host, simulated.process, one)
            yield told._replace(is_cuda=is_of_interest(one.name), foreign=foreign)
    for lacked in lacked_versions(case.host, simulated.process):
        yield _without_version(case, lacked)
    if simulated.unknown:
        yield _untold(case.environment, case.framework, simulated.unknown)


def _without_version(case: _Case, lacked: LackedVersion) -> Prediction:
    path, who = lacked.library.library.path, lacked.asker.library
    why = f"{path} has no {lacked.version}, which {who.path} needs"
    told = _unanswered(case, lacked.library.name, who, why, Outcome.DAMAGED)
    told = _spoilt(case, told, path, lacked.library.found.way)
    return told._replace(is_cuda=False, lacks_version=lacked.version)


def is_of_interest(name: str) -> bool:
    """Whether a name that is asked for is one that predictions are about."""
    plain = plain_name(name)
    return plain.startswith(_STEMS) or plain == _DRIVER_WITHOUT_VERSION


def _foreign(host: Host, process: Process, asked: LoadRequest) -> str:
    """The first file of a name that is not found; the loader passes over those for another type of machine."""
    if asked.outcome is not Outcome.MISSING:
        return ""
    library, chain = (asked.by.library, asked.by.loaded_by) if asked.by else (None, ())
    hits = process.search.candidates(asked.name, library, chain, process.machine)
    path = next((one.path for one in hits if one.is_foreign), "")
    return value_or(_real(host, path), path) if path else ""


def _ends_it(asked: LoadRequest) -> bool:
    """Whether a library says that it needs this one, whoever made it, and is refused without it."""
    needed = asked.by.library.needed if asked.by else ()
    return asked.name in needed and asked.outcome in {Outcome.MISSING, Outcome.DAMAGED}


def _looks_in_wheels(case: _Case, simulated: Simulated) -> bool:
    """Whether the search path of one of the framework's own libraries names the wheels' directories."""
    site = case.framework.path.rpartition("/")[0]
    own = (one.library for one in simulated.process.mapped if one.library.path.startswith(site))
    return any("/nvidia/" in f"{one.rpath}{one.runpath}" and "/nvidia/" not in one.path for one in own)


def _never_asked(asked: LoadRequest, there: set[str]) -> list[str]:
    """What the same library needs besides: the loader stops at the first name that it does not find."""
    needed = asked.by.library.needed if asked.by else ()
    if asked.name not in needed:
        return []
    return [name for name in needed if is_of_interest(name) and name not in there and name != asked.name]


def _is_extra(asked: LoadRequest) -> bool:
    """Opened by name, profiling and talk between GPUs are left out where their library is not there."""
    named = asked.by.library.needed if asked.by else ()
    return asked.name.startswith(_EXTRAS) and asked.name not in named


def _of_request(case: _Case, asked: LoadRequest) -> Prediction:
    """What came of a name."""
    library = asked.by.library if asked.by else None
    if asked.mapped:
        path = _real(case.host, asked.mapped.library.path)
        major = library_cuda_major.cuda_major_of(case.host, case.environment, asked.mapped.name, path)
        told = _prediction(case, asked.mapped.name, path, library)
        return told._replace(way=asked.way, optional=asked.optional, cuda_major=major)
    who = library.name if library else "the program"
    why = f"{asked.name} (needed by {who} {asked.phase}) was not found: {asked.failure}"
    told = _unanswered(case, asked.name, library, why, asked.outcome)
    return _spoilt(case, told, asked.damaged, asked.way) if asked.damaged else told


def _next(case: _Case, process: Process, asked: LoadRequest, name: str) -> Prediction:
    """What the loader would find for a name that it does not come to."""
    library, chain = (asked.by.library, asked.by.loaded_by) if asked.by else (None, ())
    found = process.search.find(name, library, chain, process.machine)
    if isinstance(found, Seen) and not found.value.is_damaged:
        path = _real(case.host, found.value.path)
        return _prediction(case, name, path, library)._replace(way=found.value.way)
    if isinstance(found, Seen):
        told = _unanswered(case, name, library, f"{found.value.path} is damaged", Outcome.DAMAGED)
        return _spoilt(case, told, found.value.path, found.value.way)
    outcome = Outcome.MISSING if isinstance(found, Nowhere) else Outcome.UNREAD
    return _unanswered(case, name, library, found.why, outcome)


def _spoilt(case: _Case, told: Prediction, path: str, way: Way | None) -> Prediction:
    """With the file that answers and is damaged, and how the loader comes to it."""
    folder, _, name = path.rpartition("/")  # a loop of links has no real path, its directory has
    inside = f"{value_or(_real(case.host, folder), folder)}/{name}"
    return told._replace(damaged=value_or(_real(case.host, path), inside), way=way)


def _unanswered(case: _Case, name: str, library: Library | None, why: str, outcome: Outcome) -> Prediction:
    """On an image, missing is only what lies nowhere: the variables with which it is run are not known."""
    if outcome is Outcome.MISSING and not case.host.is_live and _is_anywhere(case, name):
        outcome = Outcome.UNREAD
    return _prediction(case, name, Unseen(why), library)._replace(outcome=outcome)


def _is_anywhere(case: _Case, name: str) -> bool:
    folders = (*case.elsewhere, f"{case.environment.prefix}/lib")
    return name in case.wheels or any(case.host.is_file(f"{folder}/{name}") for folder in folders)


def _prediction(case: _Case, name: str, path: Fact[str], library: Library | None) -> Prediction:
    return Prediction(
        environment=case.environment.prefix,
        asker=case.framework.package,
        soname=name,
        path=path,
        intended=_NOT_YET,
        library=library.path if library else "",
    )


def _with_intended(case: _Case, told: Prediction) -> Prediction:
    told = told._replace(intended=_intended(case, told))
    return told._replace(releases=releases_of(case.host, told))


def _intended(case: _Case, told: Prediction) -> Fact[str]:
    """The file in its package, else that of a wheel which it requires; for a name that is not found, any wheel's."""
    name = told.soname
    bundled = f"{case.framework.path}/lib/{name}"
    if case.host.is_file(bundled):
        return _real(case.host, bundled)
    wheel = case.wheels.get(name)
    if wheel and (case.uses_wheels or isinstance(told.path, Unseen)):
        return _real(case.host, wheel)
    conda = f"{case.environment.prefix}/lib/{name}"
    if case.environment.kind == "conda" and not case.uses_wheels and case.host.is_file(conda):
        return _real(case.host, conda)
    return Unseen(f"{case.framework.label} neither brings {name} along nor requires a wheel that does")


def _of_wheels(host: Host, environment: Environment) -> Iterator[tuple[str, str]]:
    """SONAME and path of the libraries in site-packages/nvidia/*/lib, of the first site directory that has each."""
    for site in reversed(value_or(environment.sites, ())):
        for folder in names_of(host, f"{site}/nvidia")[:_FOLDERS_AT_MOST]:
            for name in names_of(host, f"{site}/nvidia/{folder}/lib"):
                if is_of_interest(name):
                    yield name, f"{site}/nvidia/{folder}/lib/{name}"


def _real(host: Host, path: str) -> Fact[str]:
    try:
        return Seen(host.real_path(path), path)
    except HostError as error:
        return Unseen(str(error))
