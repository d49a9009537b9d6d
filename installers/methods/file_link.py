"""Put a file aside, or set a symbolic link."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.effect import FileRemoved, LinkMade
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse

_OF_THE_SYSTEM = ("/usr/", "/etc/", "/opt/", "/lib", "/var/", "/bin/", "/sbin/", "/dev/")


def serves(need: Need, target: Target) -> bool:
    """A path that is named."""
    return need.product in {"file", "link"} and need.where != ""


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """Renamed rather than removed: nothing of the user's is lost."""
    as_root = target.os_family == "linux" and need.where.startswith(_OF_THE_SYSTEM)
    if need.product == "link":
        lost = Inverse(left="where the link led before is not kept")
        link = Command(_link_argv(need, target), "the link leads to the right file", needs_root=as_root, inverse=lost)
        return Plan(f"let {need.where} lead to {need.spec}", (link,), (LinkMade(need.where, need.spec),))
    argv, back = _renaming(need.where, f"{need.where}.bak", target), _renaming(f"{need.where}.bak", need.where, target)
    aside = Command(argv, "renamed, so that it can be brought back", needs_root=as_root, inverse=Inverse((back,)))
    return Plan(f"put {need.where} aside", (aside,), (FileRemoved(need.where),))


def _link_argv(need: Need, target: Target) -> tuple[str, ...]:
    if target.os_family == "windows":
        return ("New-Item", "-Force", "-ItemType", "SymbolicLink", "-Path", need.where, "-Target", need.spec)
    return ("ln", "-sfn", "--", need.spec, need.where)


def _renaming(path: str, to: str, target: Target) -> tuple[str, ...]:
    if target.os_family == "windows":
        return ("Move-Item", "-LiteralPath", path, "-Destination", to)
    return ("mv", "--", path, to)


METHOD = Method("a file or a link", serves, plan)
