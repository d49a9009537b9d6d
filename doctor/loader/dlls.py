"""The DLLs that frameworks need on Windows: which their libraries name, and whether the search finds them.

Sources: Microsoft, "Dynamic-link library search order" (a name in KnownDLLs comes from System32 before any search);
Python 3.8's notes on Windows (what an extension module needs is looked for beside it, beside python.exe, in directories
that os.add_dll_directory added, in System32, not on PATH).
A DLL of 32 bits is passed over in a process of 64, and the reverse: the search goes on behind it, and ends with error
193 where nothing else answers (a published decompilation of Windows' ntdll.dll, LdrpMapDllSearchPath; Wine's
dlls/ntdll/loader.c, "continuing search"). One for ARM64 ends the search in Wine 8 with the same error.
ONNX Runtime opens its providers itself, with PATH; what torch/__init__.py adds is read there
(doctor.loader.cards.torch).
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of, text_of
from doctor.loader.cards import Dlls, card_of
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import Dll, DllNeeds, FoundBy, LoaderFacts, Way
from doctor.model.facts.seen import Fact, Seen, Unseen, value_or
from doctor.model.facts.toolkit import ToolkitFacts

SYSTEM_FOLDERS = ("C:/Windows/System32", "C:/Windows")
_OF_CUDA = ("cudart64_", "cublas64_", "cublaslt64_", "cufft64_", "curand64_", "cusolver64_", "cusparse64_", "cudnn64_",
            "nvrtc64_", "nvjitlink_")  # fmt: skip
_OF_CPP = ("msvcp140", "vcruntime140")
_FOLDERS_AT_MOST = 100
_SIDE_BY_SIDE = ("i386", "x86_64")  # of which a Windows runs both, and passes over the DLLs of the other
SESSION_MANAGER = r"SYSTEM\CurrentControlSet\Control\Session Manager"
PATH_UNKNOWN = "PATH is not known, on which a DLL may be"


class Folder(NamedTuple):
    """A directory in which Windows looks for a DLL, and by which rule."""

    path: str
    way: Way


class Asking(NamedTuple):
    """A library that names DLLs, and where they are looked for."""

    path: str
    uses_path: bool
    folders: tuple[Folder, ...]


class Answered(NamedTuple):
    """What a search for a DLL comes to."""

    folder: Folder | None  # the first with one that the process can load, None for none
    foreign: str = ""  # where none is: the first file of that name, for another type of machine
    unsure: bool = False  # one behind it would do, and whether the search comes so far is not known


class _Places(NamedTuple):
    """Directories in which DLLs lie, searched or not."""

    path: tuple[str, ...]
    others: tuple[str, ...]


def look(
    host: Host,
    search: LoaderFacts,
    environments: Fact[tuple[Environment, ...]],
    installed: tuple[ToolkitFacts, Fact[tuple[CudnnCopy, ...]]],
    to_come: frozenset[tuple[str, str]] = frozenset(),
) -> Fact[tuple[DllNeeds, ...]]:
    """For every framework whose libraries name them; nothing on other systems.

    Of those that are `to_come` (prefix, package) there are no files that could say it, only what their code opens.
    """
    if host.os_family != "windows":
        return Seen((), "only Windows has DLLs")
    if isinstance(environments, Unseen):
        return environments
    toolkit, copies = installed
    path = tuple(one.path for one in value_or(search.search, ()) if one.exists)
    others = [value_or(one.library_dir, "") for one in value_or(toolkit.toolkits, ())]
    found = []
    for environment in environments.value:
        near = [one.path for one in value_or(copies, ()) if one.environment in {"", environment.prefix}]
        own = (*near, *of_wheels(host, environment), f"{environment.prefix}/Library/bin")
        places = _Places(path, tuple(filter(None, (*others, *own))))
        for framework in value_or(environment.frameworks, ()):
            card = card_of(framework.package)
            has_files = (environment.prefix, framework.package) not in to_come
            if card and card.dlls and (has_files or card.dlls.opens):
                dlls = _of_framework(host, environment, framework, places, has_files=has_files)
                found.append(DllNeeds(environment.prefix, framework.package, dlls))
    return Seen(tuple(found), "the imports of the frameworks' libraries")


def of_wheels(host: Host, environment: Environment) -> list[str]:
    """site-packages/nvidia/*/bin, from CUDA 13 on with one more folder below."""
    return [
        path
        for site in value_or(environment.sites, ())
        for folder in names_of(host, f"{site}/nvidia")[:_FOLDERS_AT_MOST]
        for path in (f"{site}/nvidia/{folder}/bin", f"{site}/nvidia/{folder}/bin/x86_64")
        if host.is_dir(path)
    ]


def _of_framework(
    host: Host, environment: Environment, framework: Framework, places: _Places, *, has_files: bool
) -> Fact[tuple[Dll, ...]]:
    found: list[Dll | Unseen] = []
    for asking in askers(host, environment, framework, places.path) if has_files else ():
        for name in (one for one in imports_of(host, asking.path) if one.lower().startswith((*_OF_CUDA, *_OF_CPP))):
            # the C++ runtime also from what the interpreter, or a module that it imports, has loaded before
            more = (_of_program(environment),) if name.lower().startswith(_OF_CPP) else ()
            asked = asking._replace(folders=(*asking.folders, *more))
            found.append(_found(host, environment, name, asked, places))
        if _other(host, environment, asking.path):
            found.append(Dll(asking.path.rpartition("/")[2], asking.path, "", (), foreign=asking.path))
    found += (_found(host, environment, *one, places) for one in _opened(environment, framework, places.path))
    told = [one for one in found if not isinstance(one, Unseen)]
    unsure = next((one for one in found if isinstance(one, Unseen)), None)
    return unsure or Seen(tuple(told), "imports")


def _found(host: Host, environment: Environment, name: str, asking: Asking, places: _Places) -> Dll | Unseen:
    """Where one of them is; Unseen where that depends on what is not known."""
    answered = answer(host, environment, name, asking.folders)
    where = f"{answered.folder.path}/{name}" if answered.folder else ""
    if answered.unsure:
        return Unseen(f"{answered.foreign} is for another type of machine: whether {name} is found behind it")
    if not where and asking.uses_path and not places.path:
        return Unseen(PATH_UNKNOWN)
    elsewhere = (f"{one}/{name}" for one in dict.fromkeys(places.others) if host.is_file(f"{one}/{name}"))
    fitting = () if where else tuple(one for one in elsewhere if not _other(host, environment, one))
    return Dll(name, asking.path, where, fitting, foreign=answered.foreign)


def _opened(environment: Environment, framework: Framework, path: tuple[str, ...]) -> Iterator[tuple[str, Asking]]:
    """The names that a framework's code opens when it uses a GPU: a CPU build none."""
    card = card_of(framework.package)
    if not card or not card.dlls or not card.dlls.opens or framework.is_cpu_build:
        return
    asker = f"{framework.path}/{card.dlls.libraries[0]}"
    for name in card.dlls.opens(framework):
        yield name, Asking(asker, uses_path=True, folders=of_a_program(environment, path))


def answer(host: Host, environment: Environment, name: str, folders: tuple[Folder, ...]) -> Answered:
    """The first directory whose DLL of that name the environment's process can load."""
    foreign, ended = "", False
    for folder in folders:
        path = f"{folder.path}/{name}"
        if not host.is_file(path):
            continue
        other = _other(host, environment, path)
        if not other:
            return Answered(None, foreign, unsure=True) if ended else Answered(folder)
        foreign, ended = foreign or path, ended or other not in _SIDE_BY_SIDE
    return Answered(None, foreign)


def _other(host: Host, environment: Environment, path: str) -> str:
    """The type of machine that a DLL is for, where it is another than the process's; "" where that is not known."""
    own = value_or(environment.machine, "")
    if not own:
        return ""
    from doctor.binaries.pe import Pe, PeError  # late: only Windows has DLLs

    try:
        with host.open(path) as stream:
            machine = Pe(stream).machine
    except (HostError, PeError):
        return ""
    return machine if machine != own else ""


def askers(host: Host, environment: Environment, framework: Framework, path: tuple[str, ...]) -> Iterator[Asking]:
    """The libraries of a framework that are known to name DLLs; `path` is PATH."""
    card = card_of(framework.package)
    if not card or not card.dlls:
        return
    own = _of_environment(host, environment, framework, card.dlls) if card.dlls.uses_environment else ()
    for below in card.dlls.libraries:
        there = f"{framework.path}/{below}"
        yield Asking(there, card.dlls.uses_path, _searched(there, own, path if card.dlls.uses_path else ()))


def _of_environment(host: Host, environment: Environment, framework: Framework, known: Dlls) -> tuple[Folder, ...]:
    """That of the interpreter, and those that are added to the search."""
    prefix = environment.prefix
    added = known.adds(host, environment, framework) if known.adds else (prefix, f"{prefix}/Library/bin")
    return (_of_program(environment), *(Folder(one, Way(FoundBy.ADDED, folder=one)) for one in added))


def _of_program(environment: Environment) -> Folder:
    folder = environment.program or environment.interpreter.rpartition("/")[0] or environment.prefix
    return Folder(folder, Way(FoundBy.APPLICATION, folder=folder))


def _searched(asker: str, own: tuple[Folder, ...], path: tuple[str, ...]) -> tuple[Folder, ...]:
    beside = asker.rpartition("/")[0]
    return (
        Folder(beside, Way(FoundBy.BESIDE, of=asker, folder=beside)),
        *own,
        *(Folder(one, Way(FoundBy.SYSTEM, folder=one)) for one in SYSTEM_FOLDERS),
        *(Folder(one, Way(FoundBy.PATH, entry=one, folder=one)) for one in path),
    )


def of_a_program(
    environment: Environment, path: tuple[str, ...], here: tuple[str, ...] = (), *, is_safe: bool = True
) -> tuple[Folder, ...]:
    """What LoadLibrary searches for a program of this interpreter's directory.

    `here` is the current directory, which comes before the system's where safe search mode is switched off.
    """
    system = tuple(Folder(one, Way(FoundBy.SYSTEM, folder=one)) for one in SYSTEM_FOLDERS)
    current = tuple(Folder(one, Way(FoundBy.CURRENT, folder=one)) for one in here)
    return (
        _of_program(environment),
        *((*system, *current) if is_safe else (*current, *system)),
        *(Folder(one, Way(FoundBy.PATH, entry=one, folder=one)) for one in path),
    )


def known_dlls(host: Host) -> frozenset[str]:
    """The names of Windows' KnownDLLs in small letters; none where neither a registry nor a hive is read."""
    from doctor.host import registry  # late: only Windows has one
    from doctor.host.hive import Hive, HiveError

    try:
        asked = registry.all_texts if host.is_live else Hive(host).all_texts
        return frozenset(one.lower() for one in asked(f"{SESSION_MANAGER}\\KnownDLLs"))
    except (OSError, HiveError):
        return frozenset()


def in_order(host: Host, name: str, folders: tuple[Folder, ...], known: frozenset[str]) -> tuple[Folder, ...]:
    """The folders in the order in which they are searched for a name: System32 first for one of the KnownDLLs."""
    system = SYSTEM_FOLDERS[0]
    if name.lower() not in known or not host.is_file(f"{system}/{name}"):
        return folders
    return (Folder(system, Way(FoundBy.KNOWN, folder=system)), *(one for one in folders if one.path != system))


def opened_at_once(host: Host, framework: Framework, known: Dlls) -> tuple[str, ...]:
    """The names in the package's lib folder, where its code opens every DLL there by its path; () where it does not."""
    if not known.opens_all or known.opens_all not in text_of(host, f"{framework.path}/__init__.py").replace("'", '"'):
        return ()
    return names_of(host, f"{framework.path}/lib")


def imports_of(host: Host, path: str) -> Iterator[str]:
    """The DLLs that a library imports, at once or later; none for one that cannot be read."""
    from doctor.binaries.pe import Pe, PeError  # late, as above

    try:
        with host.open(path) as stream:
            library = Pe(stream)
            names = dict.fromkeys((*library.imports, *library.delayed_imports))
    except (HostError, PeError):
        return
    yield from names
