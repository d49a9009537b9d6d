"""Put a file aside, or set a symbolic link."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import LinkTo, RemoveFile
from installers.effect import FileRemoved, LinkMade
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse

_OF_THE_SYSTEM = ("/usr/", "/etc/", "/opt/", "/lib", "/var/", "/bin/", "/sbin/", "/dev/")


def plan(need: LinkTo | RemoveFile, target: Target, matrix: Matrix) -> Plan:
    """Renamed rather than removed: nothing of the user's is lost."""
    as_root = target.os_family == "linux" and need.path.startswith(_OF_THE_SYSTEM)
    if isinstance(need, LinkTo):
        lost = Inverse(left="the old target of the symlink is not saved")
        link_argv = (
            ("New-Item", "-Force", "-ItemType", "SymbolicLink", "-Path", need.path, "-Target", need.target)
            if target.os_family == "windows"
            else ("ln", "-sfn", "--", need.target, need.path)
        )
        link = Command(link_argv, "the symlink points to the right file", needs_root=as_root, inverse=lost)
        return Plan(f"point {need.path} to {need.target}", (link,), (LinkMade(need.path, need.target),))
    argv, back = _renaming(need.path, f"{need.path}.bak", target), _renaming(f"{need.path}.bak", need.path, target)
    aside = Command(argv, "renamed, so that you can restore it", needs_root=as_root, inverse=Inverse((back,)))
    return Plan(f"move {need.path} away", (aside,), (FileRemoved(need.path),))


def _renaming(path: str, to: str, target: Target) -> tuple[str, ...]:
    if target.os_family == "windows":
        return ("Move-Item", "-LiteralPath", path, "-Destination", to)
    return ("mv", "--", path, to)


METHOD = Method((LinkTo, RemoveFile), "a file or a link", plan)
