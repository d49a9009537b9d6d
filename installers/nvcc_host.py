"""The C++ compiler that an installed nvcc calls: which one it accepts, and how it comes onto the machine.

Sources: the rows of compiler.json, read from each release's host_config.h; Microsoft, "Predefined macros" (`_MSC_VER`);
CUDA Installation Guides for Linux ("Verify the System Has gcc Installed") and for Microsoft Windows ("System
Requirements").
"""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered
from compat.row import PackagedCompilerRow
from installers.packages import install, manager_of
from installers.plan import Target
from installers.render.bash import joined
from installers.steps.note import Note

_VISUAL_STUDIO = {  # the first _MSC_VER of each
    "2010": 1600,
    "2012": 1700,
    "2013": 1800,
    "2015": 1900,
    "2017": 1910,
    "2019": 1920,
    "2022": 1930,
    "2026": 1950,
}
_WORKLOADS_SINCE = 2017


def accepted_compiler(cuda: str, target: Target, matrix: Matrix) -> tuple[Note, ...]:
    """What to see to, where the usual compiler of the system may be too new; () where it is surely accepted."""
    try:
        hosts = matrix.compilers(f"{cuda}.999")
    except Uncovered:
        return ()
    if target.os_family == "windows":
        return (_visual_studio(cuda, hosts.msc_min, hosts.msc_max),)
    if hosts.gcc_max is None:
        return ()
    there = packaged_compilers(target, matrix)
    if there and max(there) <= hosts.gcc_max:
        return ()
    accepted = f"nvcc of CUDA {cuda} accepts g++ up to {hosts.gcc_max}: `g++ --version` tells yours"
    able = [one for one in there if (hosts.gcc_min or 0) <= one <= hosts.gcc_max]
    if not able or manager_of(target) != "apt":
        return (Note(accepted, "a newer one is refused"),)
    name = f"g++-{max(able)}"
    line = joined(("sudo", *install(target, name, why="").argv))
    return (Note(accepted, f"if it is newer: `{line}`, then `nvcc -ccbin {name}`"),)


def packaged_compilers(target: Target, matrix: Matrix) -> tuple[int, ...]:
    """Return the major versions of g++ that the distribution has as packages; () where no row knows."""
    rows: tuple[PackagedCompilerRow, ...] = matrix.rows("compiler", "packaged")
    name = f"{target.distribution}-{target.distribution_version}"
    return next((tuple(one.gcc) for one in rows if one.id == name), ())


def newest_visual_studio(cuda: str, matrix: Matrix) -> str:
    """Return the year of the newest that a CUDA accepts; raises Uncovered."""
    hosts = matrix.compilers(f"{cuda}.999")
    return _fitting(hosts.msc_min, hosts.msc_max)[-1]


def _fitting(least: int | None, most: int | None) -> list[str]:
    newest = most or max(_VISUAL_STUDIO.values())
    return [year for year, first in _VISUAL_STUDIO.items() if (least or 0) <= first <= newest]


def _visual_studio(cuda: str, least: int | None, most: int | None) -> Note:
    fitting = _fitting(least, most)
    text = f"to compile, nvcc of CUDA {cuda} calls cl.exe of Visual Studio {', '.join(fitting[:-1])} or {fitting[-1]}"
    workload = "Desktop development with C++" if int(fitting[-1]) >= _WORKLOADS_SINCE else "Visual C++"
    return Note(text, f"it needs the part that is called {workload}; to run programs, none is needed")
