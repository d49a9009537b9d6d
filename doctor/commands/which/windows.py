"""The DLL that a framework gets on Windows, as far as the files tell: what lies beside its own libraries.

Sources: Microsoft, "Dynamic-link library search order" (standard search order for unpackaged apps, in safe mode: the
program's directory, System32, Windows, the current directory, PATH; with LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, which ctypes
of Python 3.8 and later gives: the program's, those that were added, System32; the directory of the DLL that asks comes
first with the flags that these packages use; a DLL of a name that is loaded already is the one); torch/__init__.py
(_load_dll_libraries: every DLL of its lib folder is opened by its path); ONNX Runtime's `core/platform/windows/env.cc`
(LOAD_WITH_ALTERED_SEARCH_PATH: the system's directories and PATH come next, the interpreter's do not).
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.commands.which.answer import Item, Subject, WhichAnswer, of_cpu_build
from doctor.commands.which.copies import Copy
from doctor.commands.which.product import Product
from doctor.host import Host
from doctor.host.optional_reads import names_of, real_path_of
from doctor.loader.cards import Dlls, card_of
from doctor.loader.dlls import (
    PATH_UNKNOWN,
    SESSION_MANAGER,
    SYSTEM_FOLDERS,
    Asking,
    Folder,
    answer,
    askers,
    imports_of,
    in_order,
    known_dlls,
    of_a_program,
    of_wheels,
    opened_at_once,
)
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import FoundBy, LoaderFacts, Outcome, Way
from doctor.model.facts.seen import value_or
from doctor.model.resolution import describe_resolution

_WHEN = "when it is imported"
_WHEN_ASKED = "if a program needs it"
_PRODUCTS = "C:/Program Files"
_TOOLKITS = ("NVIDIA GPU Computing Toolkit/CUDA", "NVIDIA/CUDNN")
_ENTRIES_AT_MOST = 100
_NOTE = (
    "what a program loads before it imports the framework comes first, and what cuDNN itself opens when it is used "
    "is not followed on Windows"
)


def about_dlls(host: Host, search: LoaderFacts, subject: Subject, product: Product) -> WhichAnswer:
    """What a framework's own libraries get of a product, and that it is unknown where the files do not tell."""
    environment, framework = subject
    if framework is None:
        return _about_a_program(host, search, environment, product)
    if framework.is_cpu_build:
        return of_cpu_build(subject, framework, product)
    card = card_of(framework.package)
    if not card or not card.dlls or not card.dlls.uses_path:
        return WhichAnswer(subject, unknown=f"how {framework.package} opens CUDA's libraries on Windows is not known")
    path = tuple(one.path for one in value_or(search.search, ()) if one.exists)
    found = {item.name.lower(): item for item in _opened_at_once(host, environment, framework, card.dlls, product)}
    unknown, known = "", known_dlls(host)
    for asking in askers(host, environment, framework, path):
        for name in imports_of(host, asking.path):
            if not product.is_dll(name) or name.lower() in found:
                continue
            folders = in_order(host, name, asking.folders, known)
            item = _item(host, environment, asking, folders, name)
            if not item.path and not path:
                unknown = f"{name}: {PATH_UNKNOWN}"
            else:
                found[name.lower()] = item
    return WhichAnswer(subject, tuple(found.values()), unknown=unknown, note=_NOTE)


def _about_a_program(host: Host, search: LoaderFacts, environment: Environment, product: Product) -> WhichAnswer:
    """What LoadLibrary gives a program of this interpreter's directory, for each name of which there is a copy."""
    subject = Subject(environment, None)
    here = (real_path_of(host, _current(host)),) if host.is_live else ()
    path = tuple(one.path for one in value_or(search.search, ()) if one.exists)
    folders = of_a_program(environment, path, here, is_safe=_is_safe(host))
    places = (*(one.path for one in folders), *of_wheels(host, environment), *_toolkits(host))
    names = {name.lower(): name for place in places for name in names_of(host, place) if product.is_dll(name)}
    asking = Asking("", uses_path=True, folders=folders)
    known_to_windows = known_dlls(host)
    items = [
        _item(host, environment, asking, in_order(host, name, folders, known_to_windows), name)._replace(
            when=_WHEN_ASKED
        )
        for name in names.values()
    ]
    unsure = not host.is_live and not path
    known = tuple(one for one in items if one.path or not unsure)
    unknown = f"{items[0].name}: {PATH_UNKNOWN}" if len(known) < len(items) else ""
    nothing = "" if items else f"{product.name} not found in any directory that the loader searches"
    return WhichAnswer(
        subject, known, failure=nothing, unknown=unknown, note=_note_on_ctypes(host, known, folders[0].path)
    )


def _current(host: Host) -> str:
    """The directory of the process that is looked at (`which --live`), else of this one; a shell's /c/x is neither."""
    said = host.environ.get("PWD", "")
    return said if said[1:2] == ":" else "."


def _is_safe(host: Host) -> bool:
    """Whether safe search mode is on, as it is unless the registry says 0."""
    if not host.is_live:
        return True
    from doctor.host import registry  # late: only a running Windows has one

    try:
        return registry.number(SESSION_MANAGER, "SafeDllSearchMode") != 0
    except OSError:
        return True


def _note_on_ctypes(host: Host, items: tuple[Item, ...], program: str) -> str:
    """Where ctypes, which searches less, finds another file or none."""
    searched = (program, SYSTEM_FOLDERS[0])
    less = [
        one.name for one in items if one.path and not any(host.is_file(f"{place}/{one.name}") for place in searched)
    ]
    if not less:
        return ""
    return (
        f"ctypes.CDLL({less[0]!r}) of Python 3.8 and later does not find "
        "it: it searches neither PATH nor the current "
        "directory, only the interpreter's, those of os.add_dll_directory, and System32"
    )


def _opened_at_once(
    host: Host, environment: Environment, framework: Framework, known: Dlls, product: Product
) -> Iterator[Item]:
    for name in opened_at_once(host, framework, known):
        if product.is_dll(name):
            way = Way(FoundBy.ABSOLUTE, of=f"{framework.path}/__init__.py", entry=name)
            path = f"{framework.path}/lib/{name}"
            copies = tuple(_others(host, environment, (), name, path))
            yield Item(
                name=name,
                path=real_path_of(host, path),
                opened=path,
                way=way,
                failure="",
                chain=(),
                when=_WHEN,
                copies=copies,
            )


def _item(host: Host, environment: Environment, asking: Asking, folders: tuple[Folder, ...], name: str) -> Item:
    answered = answer(host, environment, name, folders)
    if not answered.folder:
        copies = tuple(_others(host, environment, (), name, ""))
        failure = "no directory of the DLL search has it"
        if answered.foreign:
            failure = f"{answered.foreign} is for another type of machine"
        return Item(
            name=name,
            path="",
            opened="",
            way=None,
            failure=failure,
            chain=(asking.path,) if asking.path else (),
            when=_WHEN,
            copies=copies,
            outcome=Outcome.MISSING,
        )
    first = answered.folder
    lying = [folder for folder in folders if host.is_file(f"{folder.path}/{name}")]
    later = lying[lying.index(first) + 1 :]
    path = f"{first.path}/{name}"
    copies = tuple(_others(host, environment, tuple(later), name, path))
    return Item(
        name=name,
        path=real_path_of(host, path),
        opened=path,
        way=first.way,
        failure="",
        chain=(asking.path,) if asking.path else (),
        when=_WHEN,
        copies=copies,
    )


def _others(host: Host, environment: Environment, later: tuple[Folder, ...], name: str, winner: str) -> Iterator[Copy]:
    """The copies that lose, each once."""
    known = {real_path_of(host, winner)} if winner else set()
    places = [(folder.path, f"comes later: {describe_resolution(folder.way)}") for folder in later]
    places += [(path, "no directory that is searched") for path in (*of_wheels(host, environment), *_toolkits(host))]
    for folder, why in places:
        if host.is_file(f"{folder}/{name}"):
            real = real_path_of(host, f"{folder}/{name}")
            if real not in known:
                known.add(real)
                yield Copy(real, why)


def _toolkits(host: Host) -> Iterator[str]:
    """The directories of DLLs of toolkits and of cuDNN 9, whose bin has one more folder for each CUDA."""
    for root in (f"{_PRODUCTS}/{name}" for name in _TOOLKITS):
        for version in names_of(host, root)[:_ENTRIES_AT_MOST]:
            yield f"{root}/{version}/bin"
            for below in names_of(host, f"{root}/{version}/bin")[:_ENTRIES_AT_MOST]:
                if host.is_dir(f"{root}/{version}/bin/{below}"):
                    yield f"{root}/{version}/bin/{below}"
