"""What starting the interpreter of an environment depends on, from the program's own file. Nothing is run.

Sources: execve(2) (the loader in PT_INTERP, "No such file or directory" where it is not there); ld.so(8); CPython,
Modules/getpath.py (the program's own version decides which `lib/pythonX.Y` it searches, not pyvenv.cfg).
"""

from __future__ import annotations

import re

from doctor.binaries.elf import Elf, ElfError
from doctor.host import Host, HostError, Missing
from doctor.model.facts.environment import CannotStart, InterpreterStart
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, UnseenError
from doctor.pyenv.prefixes import Located

_LINKS_AT_MOST = 16
_OF_THE_SYSTEM = ("/lib/", "/lib64/", "/usr/lib")  # a loader elsewhere (Nix, Guix, Homebrew) has a C library beside it
_OWN_LIBRARY = "libpython"  # of all that a Python is linked with, what is left behind when its directory is moved
_NAME = re.compile(r"python(\d+\.\d+)t?")


def look(host: Host, located: Located) -> Fact[InterpreterStart] | None:
    """Return what the file says; None on other systems than Linux, and where only packages lie (`pip --user`)."""
    if host.os_family != "linux":
        return None
    if not located.interpreter:
        is_lost = located.kind == "venv"
        path = f"{located.prefix}/bin/python"
        return Seen(InterpreterStart(path, fault=CannotStart.ABSENT), Place(path)) if is_lost else None
    try:
        return _of_file(host, located, host.real_path(located.interpreter))
    except Missing:
        return _of_link(host, located.interpreter)
    except (HostError, ElfError, OSError) as error:
        return Unseen(f"{located.interpreter} could not be read: {error}")


def _of_link(host: Host, path: str) -> Fact[InterpreterStart]:
    """A root may lack the disk that holds the target; a running machine and an image do not."""
    try:
        target = host.link_target(path)
        for _ in range(_LINKS_AT_MOST):  # python leads to python3, and that to another directory
            if "/" in target or host.link_status(f"{path.rpartition('/')[0]}/{target}").kind != "link":
                break
            target = host.link_target(f"{path.rpartition('/')[0]}/{target}")
    except Missing:
        pass  # the last one leads to nothing
    except HostError as error:
        return Unseen(f"{path} could not be read: {error}")
    if not host.is_live and host.kind == "root":
        return Unseen(f"{path} is a symlink to {target}, which this root does not have")
    return Seen(InterpreterStart(path, fault=CannotStart.LINK, what=target), Place(path))


def _of_file(host: Host, located: Located, path: str) -> Fact[InterpreterStart]:
    """Raises HostError, ElfError."""
    machine, loader, glibc, own, folders = _said(host, path)  # not remembered: to load that memory costs more
    found = InterpreterStart(path, machine, glibc if loader.startswith(_OF_THE_SYSTEM) else "")
    if loader and not host.exists(loader):
        return Seen(found._replace(fault=CannotStart.LOADER, what=loader), Place(path))
    try:
        if own and not _is_beside(host, machine, own, folders) and _lacks(host, path, own):
            return Seen(found._replace(fault=CannotStart.LIBRARY, what=own), Place(path))
    except UnseenError as error:
        return Unseen(str(error))
    minor = _other_minor(host, located, path) if machine else ""
    if minor:
        return Seen(found._replace(fault=CannotStart.MINOR, what=minor), Place(path))
    folder, _, name = path.rpartition("/")
    header = f"{folder.removesuffix('/bin')}/include/{name}/Python.h"  # sysconfig's "include" of CPython
    is_lacking = folder.endswith("/bin") and _NAME.fullmatch(name) and not host.exists(header)
    return Seen(found._replace(header=header if is_lacking else ""), Place(path))


def _other_minor(host: Host, located: Located, path: str) -> str:
    """Return the version of the program where it has no packages in the environment, and another one has."""
    name = _NAME.fullmatch(path.rpartition("/")[2])
    if not name or located.kind != "venv" or located.tag in {"", name[0]}:
        return ""
    return "" if host.is_dir(f"{located.prefix}/lib/{name[0]}/site-packages") else name[1]


def _is_beside(host: Host, machine: str, library: str, folders: list[str]) -> bool:
    """Whether the program's own search path has it: the search ends there or before, and need not be walked."""
    for folder in folders:
        try:
            with host.open(f"{folder}/{library}") as stream:
                if folder.startswith("/") and Elf(stream).machine == machine:
                    return True
        except (HostError, ElfError, OSError):
            continue
    return False


def _lacks(host: Host, path: str, library: str) -> bool:
    """Whether the loader's search for a library of the program ends without a file; raises UnseenError."""
    from doctor.loader.cache import named_in_cache  # late: most are linked with nothing of their own, or find it
    from doctor.loader.library import read_program
    from doctor.loader.search import Nowhere, Search
    from doctor.probes.loader import look as look_at_loader

    program = read_program(host, path)
    if program is None:
        raise UnseenError(f"{path} could not be read")
    facts = look_at_loader(host)._replace(cache=named_in_cache(host, library))
    found = Search(host, facts, program).find(library, program, (), program.machine)
    if isinstance(found, Nowhere):
        return True
    found.get()
    return False


def _said(host: Host, path: str) -> tuple[str, str, str, str, list[str]]:
    """Machine, loader, glibc, its own library and where it looks for that itself; empty for a script."""
    with host.open(path) as stream:
        if stream.read(2) == b"#!":
            return "", "", "", "", []
        elf = Elf(stream)
        asked = (one.removeprefix("GLIBC_") for _, one in elf.needed_versions if re.fullmatch(r"GLIBC_[\d.]+", one))
        glibc = max(asked, key=lambda one: [int(part) for part in one.split(".") if part], default="")
        own = next((one for one in elf.needed if one.startswith(_OWN_LIBRARY)), "")
        text = elf.rpath_text if elf.runpath_text is None else elf.runpath_text
        folders = (text or "").replace("$ORIGIN", path.rpartition("/")[0])
        return elf.machine, elf.interpreter, glibc, own, folders.split(":")
