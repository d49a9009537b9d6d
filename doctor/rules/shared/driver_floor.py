"""Whether the installed driver starts programs of a CUDA version (minor-version compatibility from 11 on)."""

from __future__ import annotations

from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered
from compat.version import CudaVersion, DriverRelease
from doctor.model.facts import Facts
from doctor.model.facts.driver import DriverLibrary
from doctor.model.facts.seen import Seen, value_or
from doctor.rules.shared.rule import NotApplicable


class Start(NamedTuple):
    """What becomes of a program built with some CUDA."""

    floor: DriverRelease | None  # what it needs and the driver is older than; None where it starts
    why: str


def start_of(cuda: CudaVersion, facts: Facts, matrix: Matrix) -> Start:
    """By the floor of that CUDA, the driver's own word, and a forward-compatible libcuda; raises Uncovered."""
    if value_or(facts.system.jetson, "") and not isinstance(facts.driver.release, Seen):
        raise NotApplicable("a Jetson's driver comes with its system image and does not show its version")
    driver = facts.driver.release.get()
    try:
        floor = matrix.driver_floor(cuda, facts.system.family.get())
    except Uncovered:
        if not (isinstance(facts.driver.cuda, Seen) and facts.driver.cuda.value >= cuda):
            raise
        return Start(None, f"driver {driver} reports CUDA {cuda}")
    if driver >= floor:
        return Start(None, f"driver {driver} supports CUDA {cuda}")
    compat = _compat(facts, floor)
    if compat:
        return Start(None, f"{compat.path} (forward-compatible libcuda) supports CUDA {cuda} on driver {driver}")
    return Start(floor, f"CUDA {cuda} needs driver {floor} or newer; this is {driver}")


def _compat(facts: Facts, floor: DriverRelease) -> DriverLibrary | None:
    """The libcuda of a cuda-compat package, where the loader takes it and it is new enough."""
    return next(
        (
            library
            for library in value_or(facts.driver.libraries, ())
            if library.origin == "compat" and library.loads and library.stem == "libcuda" and library.release >= floor
        ),
        None,
    )
