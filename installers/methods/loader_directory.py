"""Let the loader search one more directory for every process: a file in /etc/ld.so.conf.d, and `ldconfig`.

Source: ldconfig(8), ld.so(8).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import AddLoaderDirectory
from installers.effect import DirectorySearched
from installers.method import Method, on_linux
from installers.plan import Plan, Target
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.write_file import WriteFile


def plan(need: AddLoaderDirectory, target: Target, matrix: Matrix) -> Plan:
    """A file of its own, so that nothing else is touched."""
    file = f"/etc/ld.so.conf.d/{need.file}.conf"
    steps = (
        WriteFile(file, (need.directory,), f"the loader searches {need.directory} for every process", needs_root=True),
        RefreshLoader("the loader reads only its cache"),
    )
    return Plan(f"add {need.directory} to the loader's directories", steps, (DirectorySearched(need.directory),))


METHOD = Method(AddLoaderDirectory, "a loader directory", plan, on_linux)
