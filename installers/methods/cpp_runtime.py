"""Install the Visual C++ redistributable, which libraries for Windows are linked with.

Source: Microsoft's package Microsoft.VCRedist.2015+.x64 of winget-pkgs; winget has been part of Windows 10 since 1809.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallCppRuntime
from installers.effect import CppRuntimeInstalled
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse

_PACKAGE = ("--exact", "--id", "Microsoft.VCRedist.2015+.x64")


def plan(need: InstallCppRuntime, target: Target, matrix: Matrix) -> Plan:
    """It replaces an older one."""
    install = Command(
        ("winget", "install", *_PACKAGE),
        "the DLLs of every Visual C++ since 2015",
        inverse=Inverse((("winget", "uninstall", *_PACKAGE),)),
    )
    return Plan("install the Visual C++ redistributable for x64", (install,), (CppRuntimeInstalled(),))


METHOD = Method(InstallCppRuntime, "the Visual C++ runtime", plan)
