"""The Python of Microsoft's Store: its real directory, the alias that starts it, and where its pip puts packages.

Sources: CPython's PC/python_uwp.cpp (the user site is in the package's LocalCache; a virtual environment's `home` is
the directory of the alias); Microsoft, "Packaged desktop apps" and "App execution alias".
"""

from __future__ import annotations

import re

from doctor.host import Host
from doctor.host.optional_reads import names_of

FOLDER = "C:/Program Files/WindowsApps"  # what Microsoft's Store installs
_REPOSITORY = (
    r"HKCU\Software\Classes\Local Settings\Software\Microsoft\Windows\CurrentVersion\AppModel\Repository\Packages"
)
_PACKAGES_AT_MOST = 2_000
_ALIASES = "AppData/Local/Microsoft/WindowsApps"
# PythonSoftwareFoundation.Python.3.12_3.12.2800.0_x64__qbz5n2kfra8p0, of which name and publisher make the family.
_FULL = re.compile(r"(?i).*/WindowsApps/(PythonSoftwareFoundation\.Python\.[\d.]+)_[^/]*__(\w+)$")
_FAMILY = re.compile(r"(?i).*/Microsoft/WindowsApps/(PythonSoftwareFoundation\.Python\.[\d.]+)_(\w+)$")


def family_of(prefix: str) -> str:
    """The name of the package's own directories, "" for any other Python."""
    match = _FULL.match(prefix)
    return f"{match[1]}_{match[2]}" if match else ""


def behind(host: Host, alias: str) -> tuple[str, ...]:
    """Return the newest package of each family behind the directory of aliases, or of one family's aliases.

    A family that is installed has a directory of its own among the aliases.
    """
    names = (alias,) if _FAMILY.match(alias) else tuple(f"{alias}/{name}" for name in names_of(host, alias))
    families = [f"{match[1]}_{match[2]}" for match in map(_FAMILY.match, names) if match]
    packages = [one for one in _packages(host) if family_of(one) in families]
    newest = {family_of(one): one for one in sorted(packages, key=_version)}
    return tuple(newest.values())


def _version(package: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d{1,6}", package)]


def _packages(host: Host) -> tuple[str, ...]:
    """The directories of all packages: Windows lets its users list them by its registry only."""
    listed = tuple(f"{FOLDER}/{name}" for name in names_of(host, FOLDER))
    if listed or not host.is_live:
        return listed
    from doctor.host import registry  # late: only a running Windows has one

    try:
        names = [name for name in registry.keys(_REPOSITORY)[:_PACKAGES_AT_MOST] if "Python" in name]
        found = ["".join(registry.texts(f"{_REPOSITORY}\\{name}", "PackageRootFolder")) for name in names]
    except (OSError, ImportError):
        return ()
    return tuple(one.replace("\\", "/") for one in found)


def alias_of(host: Host, prefix: str, home: str) -> str:
    """The python.exe by which a user starts a package, "" where the user has none."""
    path = f"{home}/{_ALIASES}/{family_of(prefix)}"
    return f"{path}/python.exe" if family_of(prefix) and "python.exe" in names_of(host, path) else ""


def site_of(prefix: str, local: str, digits: str) -> str:
    """Where its pip installs, below the user's LOCALAPPDATA; `digits` are "312"."""
    return f"{local}/Packages/{family_of(prefix)}/LocalCache/local-packages/Python{digits}/site-packages"
