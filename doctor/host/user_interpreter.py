"""Programs of ours for the interpreter of the user's environment: nothing of theirs is imported into our process."""

from __future__ import annotations

import os

from doctor.host import Host
from doctor.host.child_search_path import safe_environ
from doctor.host.supervised_child import Program

# Before anything is imported: a json.py in the working directory is not the environment's, and may be anybody's.
NOT_FROM_HERE = "import sys\nif sys.path[:1] == ['']: del sys.path[0]\n"


def foreign(host: Host, source: str, package: str, program: Program) -> Program:
    """The program with its `main` as text, so that no directory of ours is searched for modules.

    `source` is our file, plain Python of 3.6 and later; `package` is the directory that it will import; `program.argv`
    is the interpreter and what `main` is told. Raises HostError where root would run what others can change.
    """
    interpreter, *arguments = program.argv
    for path in (package, interpreter):
        host.refuse_unsafe(path)
    with open(source, encoding="utf-8") as stream:
        text = stream.read()
    # -B: looking must not write bytecode into the user's environment
    return program._replace(
        argv=(interpreter, "-B", "-c", f"{NOT_FROM_HERE}{text}\nmain()\n", *arguments),
        environ=safe_environ(host),
        file=os.path.realpath(interpreter),
    )
