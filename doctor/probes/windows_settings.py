"""What Windows' registry says of long paths, and of the distributions of the Windows Subsystem for Linux.

Sources: Microsoft, "Maximum Path Length Limitation" (LongPathsEnabled); microsoft/WSL, src/windows/service: a key below
Lxss for each distribution, with its name and Version (WSL 1 or 2).
"""

from __future__ import annotations

from doctor.host import Host
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.model.facts.system import WslDistribution

_FILE_SYSTEM, LONG_PATHS = r"SYSTEM\CurrentControlSet\Control\FileSystem", "LongPathsEnabled"
_LXSS = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Lxss"
_DISTRIBUTIONS_AT_MOST = 50


def long_paths(host: Host) -> Fact[bool]:
    """Whether programs that ask for it may use paths of 260 characters; off where nobody switched it on."""
    from doctor.host import registry  # late: only Windows has one
    from doctor.host.hive import PATH, Hive, HiveError

    try:
        number = (registry.number if host.is_live else Hive(host).number)(_FILE_SYSTEM, LONG_PATHS)
    except (OSError, HiveError) as error:
        return Unseen(f"{LONG_PATHS} could not be read: {error}")
    return Seen(bool(number), f"{LONG_PATHS} in HKLM\\{_FILE_SYSTEM}" if host.is_live else f"{LONG_PATHS} in {PATH}")


def wsl_distributions(host: Host) -> Fact[tuple[WslDistribution, ...]]:
    """Those of the user who asks; a disk keeps them in each user's own hive, which is not read."""
    if not host.is_live:
        return Unseen("the users' own registries are not read on a disk")
    from doctor.host import registry  # late: only Windows has one

    try:
        default = "".join(registry.texts(_LXSS, "DefaultDistribution"))
        found = [
            WslDistribution(name, registry.number(f"{_LXSS}\\{key}", "Version") or 1, key == default)
            for key in registry.keys(_LXSS)[:_DISTRIBUTIONS_AT_MOST]
            for name in registry.texts(f"{_LXSS}\\{key}", "DistributionName")
        ]
    except OSError as error:
        return Unseen(f"{_LXSS} could not be read: {error.strerror or error}")
    return Seen(tuple(found), _LXSS)
