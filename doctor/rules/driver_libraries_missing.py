"""The kernel module is loaded, but programs do not find libcuda."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import AssignVariable, InstallDriver
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import DriverLibrary
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.conditions import NIX, loading_library, module_is_loaded, need_kernel_driver, variable
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_PATH = "LD_LIBRARY_PATH"
_USABLE = ("system", "compat")


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """CUDA programs open libcuda.so.1 by its bare name: the file must be there, and the loader must find it."""
    need_kernel_driver(facts)
    if not module_is_loaded(facts):
        raise NotApplicable("no nvidia kernel module is loaded")
    loads = loading_library(facts, "libcuda")
    if loads:
        return ok(f"{loads.path} was found")
    there = [one for one in facts.driver.libraries.get() if one.stem == "libcuda" and one.origin in _USABLE]
    if there and there[0].path.startswith(NIX):
        raise NotApplicable("NixOS programs contain the path of libcuda")
    return _not_searched(facts, there[0]) if there else _absent(facts)


def _not_searched(facts: Facts, library: DriverLibrary) -> Answer:
    folder = library.path.rpartition("/")[0]
    before = variable(facts, _PATH) if isinstance(facts.configuration.variables, Seen) else None
    value = folder + (f":{before.value}" if before and before.value else "")
    return bad(
        f"{library.path} exists, but the loader does not search {folder}",
        AssignVariable(_PATH, value, before.set_in if before else ""),
        severity=Severity.WARNING,  # a program may bring the path along, in a RUNPATH of its own
        evidence=(Evidence.of(facts.driver.libraries, f"libcuda.so.1 does not point to {library.path}"),),
        places=(library.path,),
    )


def _absent(facts: Facts) -> Answer:
    release = value_or(facts.driver.module_release, None)
    return bad(
        "the nvidia kernel module is loaded, but libcuda is not installed",
        InstallDriver(f"=={release}" if release else ""),
        evidence=(
            Evidence.of(facts.driver.module_release, f"module {release or 'loaded'}", "modules"),
            Evidence.of(facts.driver.libraries, "no libcuda.so"),
        ),
    )


RULE = Rule(MACHINE, check)
