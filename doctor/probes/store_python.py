"""The Python of Microsoft's Store: its real directory, the alias that starts it, and where its pip puts packages.

Sources: CPython's PC/python_uwp.cpp (the user site lies in the package's LocalCache; a virtual environment's `home` is
the directory of the alias); Microsoft, "Packaged desktop apps" and "App execution alias".
"""

from __future__ import annotations

import re

from doctor.host import Host
from doctor.host.lenient import names_of

FOLDER = "C:/Program Files/WindowsApps"  # what Microsoft's Store installs
_ALIASES = "AppData/Local/Microsoft/WindowsApps"
# PythonSoftwareFoundation.Python.3.12_3.12.2800.0_x64__qbz5n2kfra8p0, of which name and publisher make the family.
_FULL = re.compile(r"(?i).*/WindowsApps/(PythonSoftwareFoundation\.Python\.[\d.]+)_[^/]*__(\w+)$")
_FAMILY = re.compile(r"(?i).*/Microsoft/WindowsApps/(PythonSoftwareFoundation\.Python\.[\d.]+)_(\w+)$")


def family_of(prefix: str) -> str:
    """The name of the package's own directories, "" for any other Python."""
    match = _FULL.match(prefix)
    return f"{match[1]}_{match[2]}" if match else ""


def real_prefix(host: Host, alias: str) -> str:
    """The newest package behind the directory of an alias, "" where it is none or Windows lets nobody list them."""
    match = _FAMILY.match(alias)
    if match is None:
        return ""
    packages = [one for one in names_of(host, FOLDER) if family_of(f"{FOLDER}/{one}") == f"{match[1]}_{match[2]}"]
    newest = max(packages, key=lambda one: [int(part) for part in re.findall(r"\d{1,6}", one)], default="")
    return f"{FOLDER}/{newest}" if newest else ""


def alias_of(host: Host, prefix: str, home: str) -> str:
    """The python.exe by which a user starts a package, "" where the user has none."""
    path = f"{home}/{_ALIASES}/{family_of(prefix)}"
    return f"{path}/python.exe" if family_of(prefix) and "python.exe" in names_of(host, path) else ""


def site_of(prefix: str, local: str, digits: str) -> str:
    """Where its pip installs, below the user's LOCALAPPDATA; `digits` are "312"."""
    return f"{local}/Packages/{family_of(prefix)}/LocalCache/local-packages/Python{digits}/site-packages"
