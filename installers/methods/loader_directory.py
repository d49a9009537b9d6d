"""Let the loader search one more directory for every process: a file in /etc/ld.so.conf.d, and `ldconfig`.

Source: ldconfig(8), ld.so(8).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.effect import DirectorySearched
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.write_file import WriteFile


def serves(need: Need, target: Target) -> bool:
    """On Linux; `build` is the name of the file."""
    return need.product == "loader-directory" and need.build != "" and target.os_family == "linux"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """A file of its own, so that nothing else is touched."""
    file = f"/etc/ld.so.conf.d/{need.build}.conf"
    steps = (
        WriteFile(file, (need.where,), f"the loader searches {need.where} for every process", needs_root=True),
        RefreshLoader("its cache must list what lies there"),
    )
    return Plan(f"let the loader search {need.where}", steps, (DirectorySearched(need.where),))


METHOD = Method("a directory of the loader", serves, plan)
