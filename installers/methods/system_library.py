"""Install the system's package that holds a library.

Debian's packages are known by name; a package manager for RPM packages takes the name of the library itself, which
every such package provides as "libz.so.1()(64bit)". Sources: the rows of platform.libraries; rpm's "Dependencies"
(generated dependencies) and the DNF command reference, "Specifying Provides"; zypper(8), "install", capabilities.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallSystemLibrary
from compat.platform import system_library
from installers.effect import SystemLibraryInstalled
from installers.method import Method
from installers.packages import install, install_again, manager_of, refresh
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand

_BY_PROVIDES = ("dnf", "zypper")


def plan(need: InstallSystemLibrary, target: Target, matrix: Matrix) -> Plan:
    """With the package manager of the system, where it is known how it names the library."""
    soname, manager = need.soname, manager_of(target)
    row = system_library(soname, matrix)
    package = row.apt if row and manager == "apt" else f"{soname}()(64bit)" if manager in _BY_PROVIDES else ""
    if not package:
        return Plan(f"install {soname}", (ByHand(f"Install your system's package with {soname}."),), ())
    if need.reinstall:
        again = (*refresh(target), install_again(target, package))
        return Plan(f"reinstall {soname}", again, (SystemLibraryInstalled(soname),))
    steps = (*refresh(target), install(target, package, why=soname))
    return Plan(f"install {soname}", steps, (SystemLibraryInstalled(soname),))


METHOD = Method(InstallSystemLibrary, "a system library", plan)
