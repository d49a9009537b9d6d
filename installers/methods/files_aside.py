"""Put files of a library aside that lie before those of the right release, or in their place.

Sources: gcc(1), "Directory Options": the first directory that has a header is taken; ld.so(8): of a name the first
file; Microsoft, "Move-Item": a pattern in -Path is resolved.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import MoveFilesAside
from installers.effect import FileRemoved
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse


def serves(need: MoveFilesAside, target: Target) -> bool:
    """All that a pattern names in a directory; on Linux and Windows."""
    return target.os_family in {"linux", "windows"}


def plan(need: MoveFilesAside, target: Target, matrix: Matrix) -> Plan:
    """Into a directory beside, from which they can be brought back; its name keeps compiler and loader out."""
    folder, _, first = need.first.rpartition("/")
    aside = f"{folder}/{first}.aside"
    if target.os_family == "windows":
        return _on_windows(need, folder.replace("/", "\\"), f"{first}.aside")
    as_root = not folder.startswith("/home/")
    make = Command(
        ("mkdir", "-p", "--", aside),
        "you can restore the moved files",
        needs_root=as_root,
        inverse=Inverse((("rmdir", "--", aside),), afterwards=True),
    )
    move = Command(
        _moving(folder, need.pattern, aside),
        f"{need.pattern} is no longer found there",
        needs_root=as_root,
        inverse=Inverse((_moving(aside, need.pattern, folder),)),
    )
    return Plan(f"move {need.pattern} in {folder} away", (make, move), (FileRemoved(need.first, need.pattern),))


def _on_windows(need: MoveFilesAside, folder: str, name: str) -> Plan:
    """The same by PowerShell, with an administrator's rights."""
    aside = f"{folder}\\{name}"
    make = Command(
        ("New-Item", "-ItemType", "Directory", "-Force", "-Path", aside),
        "you can restore the moved files",
        needs_root=True,
        inverse=Inverse((("Remove-Item", "-LiteralPath", aside),), afterwards=True),
    )
    move = Command(
        ("Move-Item", "-Path", f"{folder}\\{need.pattern}", "-Destination", aside),
        f"{need.pattern} is no longer found there",
        needs_root=True,
        inverse=Inverse((("Move-Item", "-Path", f"{aside}\\{need.pattern}", "-Destination", folder),)),
    )
    return Plan(f"move {need.pattern} in {folder} away", (make, move), (FileRemoved(need.first, need.pattern),))


def _moving(folder: str, pattern: str, to: str) -> tuple[str, ...]:
    found = ("find", folder, "-maxdepth", "1", "!", "-type", "d", "-name", pattern)
    return (*found, "-exec", "mv", "-t", to, "--", "{}", "+")


METHOD = Method(MoveFilesAside, "files moved away", plan, serves)
