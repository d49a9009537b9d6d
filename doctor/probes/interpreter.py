"""What starting the interpreter of an environment depends on, from the program's own file. Nothing is run.

Sources: execve(2) (the loader in PT_INTERP, "No such file or directory" where it is not there); ld.so(8); CPython,
Modules/getpath.py (the program's own version decides which `lib/pythonX.Y` it searches, not pyvenv.cfg).
"""

from __future__ import annotations

import re
from typing import Any

from doctor.binaries.elf import Elf, ElfError
from doctor.host import Host, HostError, Missing
from doctor.host.snapshot import remembered
from doctor.model.facts.environment import CannotStart, InterpreterStart
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, UnseenError
from doctor.pyenv.prefixes import Located

_MEMORY = "program"
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
    said = remembered(host, path, _MEMORY, lambda: _said(host, path), _is_said)
    machine, loader, glibc, *needed = said
    found = InterpreterStart(path, machine, glibc if loader.startswith(_OF_THE_SYSTEM) else "")
    if loader and not host.exists(loader):
        return Seen(found._replace(fault=CannotStart.LOADER, what=loader), Place(path))
    own = next((one for one in needed if one.startswith(_OWN_LIBRARY)), "")
    try:
        if own and _lacks(host, path, own):
            return Seen(found._replace(fault=CannotStart.LIBRARY, what=own), Place(path))
    except UnseenError as error:
        return Unseen(str(error))
    minor = _other_minor(host, located, path) if machine else ""
    if minor:
        return Seen(found._replace(fault=CannotStart.MINOR, what=minor), Place(path))
    return Seen(found, Place(path))


def _other_minor(host: Host, located: Located, path: str) -> str:
    """Return the version of the program where it has no packages in the environment, and another one has."""
    name = _NAME.fullmatch(path.rpartition("/")[2])
    if not name or located.kind != "venv" or located.tag in {"", name[0]}:
        return ""
    return "" if host.is_dir(f"{located.prefix}/lib/{name[0]}/site-packages") else name[1]


def _lacks(host: Host, path: str, library: str) -> bool:
    """Whether the loader's search for a library of the program ends without a file; raises UnseenError."""
    from doctor.loader.library import read_library, read_program  # late: most are linked with nothing of their own

    program = read_program(host, path)
    if program is None:
        raise UnseenError(f"{path} could not be read")
    for folder in (program.runpath or program.rpath or "").split(":"):
        beside = f"{folder.replace('$ORIGIN', program.origin)}/{library}"
        own = read_library(host, beside) if beside.startswith("/") and host.exists(beside) else None
        if own and own.machine == program.machine:
            return False  # the search ends there, or finds one before: its rules need not be loaded
    from doctor.loader.cache import named_in_cache
    from doctor.loader.search import Nowhere, Search
    from doctor.probes.loader import look as look_at_loader

    facts = look_at_loader(host)._replace(cache=named_in_cache(host, library))
    found = Search(host, facts, program).find(library, program, (), program.machine)
    if isinstance(found, Nowhere):
        return True
    found.get()
    return False


def _said(host: Host, path: str) -> list[Any]:
    """Machine, loader, glibc, and what it needs; empty texts for a script."""
    with host.open(path) as stream:
        if stream.read(2) == b"#!":
            return ["", "", ""]
        elf = Elf(stream)
        asked = (one.removeprefix("GLIBC_") for _, one in elf.needed_versions if re.fullmatch(r"GLIBC_[\d.]+", one))
        glibc = max(asked, key=lambda one: [int(part) for part in one.split(".") if part], default="")
        return [elf.machine, elf.interpreter, glibc, *elf.needed]


def _is_said(said: Any) -> bool:
    return isinstance(said, list) and len(said) > 2 and all(isinstance(one, str) for one in said)
