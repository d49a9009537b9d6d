"""A process of an environment that imports a framework and uses a GPU, as its loader would fill it. Nothing is run."""

from __future__ import annotations

import re

from compat.base.record import NamedTuple
from doctor.binaries import NotRead
from doctor.binaries.elf import Elf, ElfError
from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of
from doctor.host.snapshot import remembered
from doctor.loader.cards import loading_of
from doctor.loader.implicit_dlopens import Habit, habits
from doctor.loader.library import Library, plain_name, read_library, read_program
from doctor.loader.process import CannotOpen, Mapped, Process
from doctor.loader.search import Search
from doctor.loader.steps import Package, run
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import LoaderFacts
from doctor.model.facts.seen import UnseenError, value_or

_HABITS_AT_MOST = 500  # libraries whose habits are followed
_CUDNN = re.compile(r"lib(cudnn(?:_\w+)?)\.so\.([89])")
_WITH_CUDA_MAJOR = ("libcudart.so.", "libcublas.so.", "libcublasLt.so.")


class Simulated(NamedTuple):
    """One process, and how far it came."""

    process: Process
    failure: str  # why the import, or what asks for CUDA, fails; "" where it does not
    unknown: str  # what is unknown, after which nothing more is known
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
        names = [name for name in names_of(process.host, folder) if name.startswith("_ctypes.")]
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
        outcomes = run(process, loading.steps(Package(host, framework, environment)))
        failure = outcomes[-1].failure if outcomes and outcomes[-1].step.needed else ""
        failure = follow_habits(process) or failure
    except UnseenError as error:
        unknown = str(error)
    return Simulated(process, failure, unknown, loading.note)


def follow_habits(process: Process) -> str:
    """What the libraries that are there open by name; why the process aborts, "" mostly; raises UnseenError."""
    process.phase = "when it is used"
    done = 0
    while done < min(len(process.mapped), _HABITS_AT_MOST):
        one = process.mapped[done]
        done += 1
        for habit in habits(plain_name(one.file_name), _release(process, one.library), _cuda_major(process)):
            failure = _follow(process, one, habit)
            if failure and habit.fatal:
                return f"the process aborts: {failure}"
    return ""


def _follow(process: Process, one: Mapped, habit: Habit) -> str:
    """Try the names in turn; why none opens, "" where one does."""
    failure, before = "", len(process.asked)
    for name in habit.names:
        try:
            process.open(name, one)
            failure = ""
            break
        except CannotOpen as failed:
            failure = str(failed)
    for question in process.asked[before:]:
        question.optional = habit.optional or (question.name != habit.names[-1] and "/" not in question.name)
    return failure


def _cuda_major(process: Process) -> str:
    for start in _WITH_CUDA_MAJOR:
        found = process.of_name(start)
        if found:
            return found.file_name[len(start) :].partition(".")[0]
    return ""


def _release(process: Process, library: Library) -> str:
    """The release of a library of cuDNN, "" for others; raises UnseenError."""
    name, symbol = _tells_release_of(library.name)
    if not name:
        return ""
    try:
        path = f"{process.host.real_path(library.path).rpartition('/')[0]}/{name}"
        host = process.host
        number = remembered(host, path, f"number {symbol}", lambda: _number(host, path, symbol), _is_number)
    except NotRead as error:
        raise UnseenError(f"{library.path} was not read, so what it opens is not known: {error}") from error
    except (HostError, ElfError):
        return ""
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}" if number else ""


def _tells_release_of(name: str) -> tuple[str, str]:
    """The library and the symbol that tell the release of one of cuDNN's: 8's its own, 9's that of the graph beside.

    9's main library opens its parts by that, and has no number of its own. Two empty texts for other libraries.
    """
    major = _CUDNN.match(name)
    if not major:
        return "", ""
    return (name, f"{major[1]}_version") if major[2] == "8" else ("libcudnn_graph.so.9", "cudnn_graph_version")


def release_foretold(name: str, number: int) -> dict[str, int]:
    """What is remembered for `_release` of a library that is not there yet and exports this number, 0 for none."""
    teller, symbol = _tells_release_of(name)
    return {f"number {symbol}": number} if teller == name else {}


def _number(host: Host, path: str, symbol: str) -> int:
    with host.open(path) as stream:
        return Elf(stream).value(symbol) or 0


def _is_number(said: object) -> bool:
    return type(said) is int and said >= 0
