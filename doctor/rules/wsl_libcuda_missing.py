"""In WSL 2, programs do not find the libcuda that Windows provides."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import AddLoaderDirectory, Advice, AssignVariable
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import DriverLibrary
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.conditions import container, loading_library, variable, wsl
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_gpu, need_linux, need_live

_FOLDER = "/usr/lib/wsl/lib"
_PATH = "LD_LIBRARY_PATH"
_WINDOWS = (
    "Install a current NVIDIA driver in Windows, run 'wsl --shutdown' there, "
    "then start WSL again. Do not install a driver in WSL."
)
_LINUX = "Remove the Linux NVIDIA driver packages (nvidia-driver-*, libnvidia-compute-*): WSL uses the Windows driver."


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """libcuda is in /usr/lib/wsl/lib (NVIDIA, "CUDA on WSL User Guide"); the loader must look there first."""
    need_live(facts)
    need_linux(facts)
    if wsl(facts) != 2:
        raise NotApplicable("not in WSL 2")
    need_gpu(facts)
    if container(facts):
        raise NotApplicable("in a container the GPU runtime adds libcuda")
    loads = loading_library(facts, "libcuda")
    provided = next((one for one in facts.driver.libraries.get() if _is_windows(one)), None)
    if loads and (_is_windows(loads) or loads.origin in {"compat", "stub"}):
        return ok(f"{loads.path} was found")
    if provided and loads:
        return bad(
            f"{loads.path} of a Linux driver comes before the libcuda of Windows",
            Advice(_LINUX),
            evidence=(Evidence(f"version {loads.release}, the loaded one", file=loads.path),),
        )
    return _not_searched(facts, provided) if provided else _not_provided(facts)


def _is_windows(library: DriverLibrary) -> bool:
    return library.stem == "libcuda" and library.origin == "wsl"


def _not_searched(facts: Facts, provided: DriverLibrary) -> Answer:
    before = variable(facts, _PATH) if isinstance(facts.configuration.variables, Seen) else None
    value = _FOLDER + (f":{before.value}" if before and before.value else "")
    return bad(
        f"{provided.path} exists, but the loader does not search {_FOLDER}",
        AddLoaderDirectory(_FOLDER, "ld.wsl"),
        AssignVariable(_PATH, value, before.set_in if before else ""),
        evidence=(Evidence.of(facts.loader.search, f"{_FOLDER} is not on its path", "loader"),),
        places=(provided.path,),
    )


def _not_provided(facts: Facts) -> Answer:
    return bad(
        f"Windows provides no libcuda in {_FOLDER}: no NVIDIA driver, an old one, or a GPU of another maker",
        Advice(_WINDOWS),
        evidence=(
            Evidence.of(
                facts.driver.libraries,
                f"no libcuda; {len(value_or(facts.driver.libraries, ()))} other driver libraries",
            ),
        ),
    )


RULE = Rule(MACHINE, check)
