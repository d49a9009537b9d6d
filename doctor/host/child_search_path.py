"""What a child that loads foreign code searches besides the file it is told: as root, none of it is another user's.

Source: "site" and "Command line and environment" in Python's documentation; ld.so(8).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from doctor.host import Host, Missing, NotRunnable

_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "LD_PRELOAD", "LD_LIBRARY_PATH")


def safe_environ(host: Host) -> Mapping[str, str]:
    """The judged environment, for a child; raises NotRunnable where root would be led to what others can change.

    Another user's packages of his own (HOME is his, after sudo) are left out: Python would run their .pth files and his
    usercustomize, and root has no packages there.
    """
    environ = host.environ
    if os.name != "posix" or os.geteuid():
        return environ  # where a user's own variables lead, he decided himself
    for name in _VARIABLES:
        for path in re.split("[ :]" if name == "LD_PRELOAD" else ":", environ[name]) if environ.get(name) else ():
            if "/" in path or name != "LD_PRELOAD":  # a bare name is looked up where libraries lie
                _refuse(host, path or ".", name)
    try:
        _refuse(host, environ.get("PYTHONUSERBASE") or f"{environ.get('HOME', '')}/.local", "HOME")
    except NotRunnable:
        return {**environ, "PYTHONNOUSERSITE": "1"}
    return environ


def _refuse(host: Host, path: str, name: str) -> None:
    """Where it is not there, who may put it there."""
    place = os.path.abspath(path)
    while True:
        try:
            return host.refuse_unsafe(place)
        except Missing:
            place = os.path.dirname(place)
        except NotRunnable as refused:
            raise NotRunnable(f"{name}={path}", refused.why) from refused
