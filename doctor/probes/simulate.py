"""A process of an environment that imports a framework and uses a GPU, as its loader would fill it. Nothing is run."""

from __future__ import annotations

from compat.record import NamedTuple
from doctor.elf import Elf, ElfError
from doctor.facts.environment import Environment, Framework
from doctor.facts.loader import LoaderFacts
from doctor.facts.seen import UnseenError, value_or
from doctor.host import Host, HostError
from doctor.host.snapshot import remembered
from doctor.probes.loading import Package, loading_of, run
from doctor.resolve.habits import habits
from doctor.resolve.library import read_library, read_program
from doctor.resolve.process import CannotOpen, Process
from doctor.resolve.search import Search

_HABITS_AT_MOST = 500  # libraries whose habits are followed
_WITH_CUDA_MAJOR = ("libcudart.so.", "libcublas.so.", "libcublasLt.so.")


class Simulated(NamedTuple):
    """One process, and how far it came."""

    process: Process
    failure: str  # why the import, or what asks for CUDA, fails; "" where it does not
    unknown: str  # what could not be told, after which nothing more is known
    note: str  # what a program may do that changes the answer


def start(host: Host, search: LoaderFacts, environment: Environment) -> Process:
    """The environment's interpreter, with what ctypes needs; raises UnseenError."""
    program = read_program(host, environment.interpreter) if environment.interpreter else None
    machine = program.machine if program else _machine_of(host, environment)
    process = Process(host, Search(host, search, program), machine)
    process.phase = "when the interpreter starts"
    try:
        process.start(value_or(search.preload, ()))
    except CannotOpen as failed:
        raise UnseenError(f"{environment.interpreter} cannot be started: {failed}") from failed
    _open_ctypes(process, environment)
    return process


def _machine_of(host: Host, environment: Environment) -> str:
    """Without an interpreter to ask, the machine of a framework's first library."""
    for framework in value_or(environment.frameworks, ()):
        package = Package(host, framework, environment)
        loading = loading_of(framework.package)
        for step in loading.steps(package) if loading else ():
            library = read_library(host, step.opens[0]) if step.opens and "/" in step.opens[0] else None
            if library:
                return library.machine
    return "x86_64"


def _open_ctypes(process: Process, environment: Environment) -> None:
    """ctypes' extension module asks for the names that programs pass to it; in some Pythons it is built in."""
    program = process.search.program
    tag = ".".join(value_or(environment.python, "").split(".")[:2])
    if not program or not tag:
        return
    root = program.origin.rpartition("/")[0]
    for folder in (f"{root}/lib/python{tag}/lib-dynload", f"{root}/lib64/python{tag}/lib-dynload"):
        try:
            names = [name for name in process.host.names(folder) if name.startswith("_ctypes.")]
        except HostError:
            continue
        for name in names[:1]:
            try:
                process.open(f"{folder}/{name}", None)
            except CannotOpen:
                return  # this Python has no ctypes


def simulate(
    host: Host, search: LoaderFacts, environment: Environment, framework: Framework | None = None
) -> Simulated:
    """Import the framework, use it, and let the libraries follow their habits; without one, the bare interpreter.

    Raises UnseenError where not even the interpreter is known to start.
    """
    process = start(host, search, environment)
    loading = loading_of(framework.package) if framework else None
    if framework is None or loading is None:
        return Simulated(process, "", "", "")
    failure = unknown = ""
    try:
        outcomes = run(process, Package(host, framework, environment), loading)
        failure = outcomes[-1].failure if outcomes and outcomes[-1].step.needed else ""
        follow_habits(process)
    except UnseenError as error:
        unknown = str(error)
    return Simulated(process, failure, unknown, loading.note)


def follow_habits(process: Process) -> None:
    """What the libraries that are there open by name; raises UnseenError."""
    process.phase = "when it is used"
    done = 0
    while done < min(len(process.mapped), _HABITS_AT_MOST):
        one = process.mapped[done]
        done += 1
        for habit in habits(one.library.name, _release(process, one.library.path), _cuda_major(process)):
            before = len(process.asked)
            for name in habit.names:
                try:
                    process.open(name, one)
                    break
                except CannotOpen:
                    continue
            for question in process.asked[before:]:
                question.optional = habit.optional or (question.name != habit.names[-1] and "/" not in question.name)


def _cuda_major(process: Process) -> str:
    for start in _WITH_CUDA_MAJOR:
        found = process.of_name(start)
        if found:
            return found.library.name[len(start) :].partition(".")[0]
    return ""


def _release(process: Process, path: str) -> str:
    """The release of a cuDNN shell or graph library, by the symbol of the graph library beside it."""
    if "/libcudnn" not in path:
        return ""
    try:
        folder = process.host.real_path(path).rpartition("/")[0]
        graph = f"{folder}/libcudnn_graph.so.9"
        number = remembered(process.host, graph, "release of cudnn", lambda: _number(process.host, graph), _is_number)
    except (HostError, ElfError):
        return ""
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}" if number else ""


def _number(host: Host, path: str) -> int:
    with host.open(path) as stream:
        return Elf(stream).value("cudnn_graph_version") or 0


def _is_number(said: object) -> bool:
    return type(said) is int and said >= 0
