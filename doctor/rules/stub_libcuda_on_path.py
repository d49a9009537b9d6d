"""The toolkit's link-time stub of libcuda is found at run time."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix
from compat.need import Advice, DropFromPath, Need
from doctor.model.facts import Facts, Machine
from doctor.model.facts.loader import FoundBy
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.conditions import CUDA_DOES_NOT_START, variable
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_PATH = "LD_LIBRARY_PATH"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """A stub that loads answers every call with error 34 (cudaErrorStubLibrary, driver_types.h).

    A stubs directory that is only searched bites programs that ask for the unversioned libcuda.so: a warning.
    """
    if value_or(facts.system.family, "") == "macos":
        raise NotApplicable("CUDA does not exist for macOS")
    loads = tuple(_loading(facts))
    searched = tuple(_searched(facts))
    place = next((one for one in value_or(facts.loader.search, ()) if one.path in searched), None)
    label = f"{_PATH}, set in {place.set_in}" if place and place.set_in else _PATH
    if not loads and not searched:
        facts.loader.search.get()
        return ok("no stubs directory is on the loader's path")
    return bad(
        f"{loads[0]}, a stub only for linking, is loaded as libcuda"
        if loads
        else f"{searched[0]}, with a libcuda only for linking, is on {_PATH}",
        *_needs(facts, searched, loads),
        severity=Severity.ERROR if loads else Severity.WARNING,
        evidence=(
            *(Evidence(f"libcuda points to {path}", label="loader") for path in loads),
            *(Evidence.at(place and place.set_at, folder, label) for folder in searched),
        ),
        explains=CUDA_DOES_NOT_START if loads else (),
        places=(*loads, *searched),
    )


def _loading(facts: Facts) -> Iterator[str]:
    """Stubs that a program gets which asks for libcuda.so.1."""
    libraries = value_or(facts.driver.libraries, ())
    yield from (one.path for one in libraries if one.stem == "libcuda" and one.origin == "stub" and one.loads)
    machine = value_or(facts.system.machine, "")
    cached = [
        one for one in value_or(facts.loader.cache, ()) if one.soname == "libcuda.so.1" and one.machine == machine
    ]
    if cached and "/stubs/" in cached[0].path:
        yield cached[0].path


def _searched(facts: Facts) -> Iterator[str]:
    for one in value_or(facts.loader.search, ()):
        if one.why is FoundBy.LIBRARY_PATH and one.exists and one.path.rstrip("/").endswith("/stubs"):
            yield one.path


def _needs(facts: Facts, searched: tuple[str, ...], loads: tuple[str, ...]) -> tuple[Need, ...]:
    if searched:
        setting = variable(facts, _PATH) if isinstance(facts.configuration.variables, Seen) else None
        return (DropFromPath(_PATH, searched[0], setting.set_in if setting else ""),)
    folder = loads[0].rpartition("/")[0]
    return (
        Advice(f"Remove {folder} from /etc/ld.so.conf.d, delete the symlink libcuda.so.1 in it, then run 'ldconfig'."),
    )


RULE = Rule(MACHINE, check)
