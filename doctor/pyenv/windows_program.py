"""The program that runs when a Python of Windows is started: the directory that it is in, and what it is built for.

Windows' search for DLLs begins in the directory of the program. The python.exe of a virtual environment only starts
that of its base (CPython's PC/launcher.c with VENV_REDIRECT, from 3.7.2 on; uv and virtualenv do the same); the older
one is a copy of the interpreter, as which python3X.dll beside it shows it.
"""

from __future__ import annotations

import re

from doctor.host import Host
from doctor.host.optional_reads import names_of
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.pyenv.prefixes import Located

_DLL = re.compile(r"python\d{2,3}t?\.dll", re.IGNORECASE)


def folder_of(host: Host, located: Located) -> str:
    """The directory of the program, "" where there is none."""
    own = located.interpreter.rpartition("/")[0]
    is_starter = located.kind == "venv" and located.base != located.prefix
    if is_starter and host.is_dir(located.base) and not any(map(_DLL.fullmatch, names_of(host, own))):
        return located.base
    return own


def machine_of(host: Host, located: Located) -> Fact[str]:
    """As `SystemFacts.machine`: "i386" is a Python of 32 bits."""
    from doctor.binaries import machine_of_file  # late: only Windows needs it

    folder = folder_of(host, located)
    for path in (located.interpreter, f"{folder}/python.exe", *(f"{folder}/{one}" for one in names_of(host, folder))):
        named = path.rpartition("/")[2]
        if named.lower() == "python.exe" or _DLL.fullmatch(named):
            machine = machine_of_file(host, path)
            if machine:
                return Seen(machine, Place(path))
    return Unseen(f"no program in {folder} could be read, to see what it was built for")
