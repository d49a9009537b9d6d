"""Where the files of a user's programs are: the rule of platformdirs, for any machine that is looked at.

platformdirs itself speaks only of the machine that it runs on, and its import costs more than a whole cache saves.
Sources: the XDG Base Directory Specification 0.8; platformdirs 4.14 (unix.py, macos.py, windows.py), appauthor=False.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Literal

from compat.base.mounts import reachable

Kind = Literal["cache", "config", "data", "state"]
_FAMILIES = {"win32": "windows", "darwin": "macos"}
_XDG = {"cache": ".cache", "config": ".config", "data": ".local/share", "state": ".local/state"}


def user_dir(environ: Mapping[str, str], os_family: str, kind: Kind, name: str, *, roaming: bool = False) -> str:
    """Return the directory of a program's files, with "/" as separator; "" where the variables name none."""
    if os_family == "windows":
        base = environ.get("APPDATA" if roaming else "LOCALAPPDATA", "").replace("\\", "/")
        return f"{base}/{name}{'/Cache' if kind == 'cache' else ''}" if base else ""
    home = environ.get("HOME", "")
    base = environ.get(f"XDG_{kind.upper()}_HOME", "").strip()
    if not base and home:
        mac = "Library/Caches" if kind == "cache" else "Library/Application Support"
        base = f"{home}/{mac if os_family == 'macos' else _XDG[kind]}"
    return f"{base}/{name}" if os.path.isabs(base) else ""


def own_dir(kind: Kind) -> str:
    """Return gpudoctor's directory on this machine, of the user who runs it; NOWHERE if its mount does not answer."""
    environ = {"HOME": os.path.expanduser("~"), **os.environ}
    return reachable(os.path.normpath(user_dir(environ, this_family(), kind, "gpudoctor")))


def this_family() -> str:
    """Return the operating system that gpudoctor runs on: "linux", "windows" or "macos"."""
    return _FAMILIES.get(sys.platform, "linux")
