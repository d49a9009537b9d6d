"""Which driver the cards of a machine need: NVML tells their compute capability, else their ids on PCI do."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix, Uncovered
from compat.need import Advice, InstallDriver, Need
from compat.row import BranchRow, GenerationRow
from compat.version import DriverRelease
from doctor.model.facts import Facts
from doctor.model.facts.gpu import PciDevice
from doctor.model.facts.seen import Seen, value_or
from doctor.rules.shared.conditions import on_host

_TAKES_TURNS = "remove one of them, or pass it to a virtual machine"


def generations(facts: Facts, matrix: Matrix) -> tuple[GenerationRow, ...]:
    """Of every card that the matrix knows; a card that NVML shows too counts once more, which changes nothing."""
    found: list[GenerationRow] = []
    for gpu in value_or(facts.gpus, ()):
        if isinstance(gpu.capability, Seen):
            try:
                found.append(matrix.generation(gpu.capability.value))
            except Uncovered:
                continue
    on_bus = (generation_of(card, matrix) for card in value_or(facts.pci, ()) if card.driver != "vfio-pci")
    return tuple(dict.fromkeys((*found, *(row for row in on_bus if row))))


def generation_of(card: PciDevice, matrix: Matrix) -> GenerationRow | None:
    """The generation of a card by its id on PCI; None where no row has it."""
    try:
        return matrix.generation(matrix.chip(card.device_id).capability)
    except Uncovered:
        return None


def last_branch(rows: tuple[GenerationRow, ...]) -> int | None:
    """The last driver branch that drives them all; None where every newer one does."""
    return min((row.driver_last for row in rows if row.driver_dropped and row.driver_last), default=None)


def driver_needed(facts: Facts, matrix: Matrix) -> Need:
    """The driver that every card here runs with: a branch where newer ones dropped a card, the flavour where one must.

    Where no row says otherwise any driver will do, and the distribution's own choice is the best.
    """
    rows = generations(facts, matrix)
    last = last_branch(rows)
    only = [row for row in rows if row.open_module == "only"]
    never = [row for row in rows if row.open_module == "no"]
    if only and never:
        return Advice(
            f"{only[0].name} needs the open kernel module, and {never[0].name} does "
            f"not work with it: no driver runs both. {_TAKES_TURNS}."
        )
    return InstallDriver(f"=={last}.*" if last else "", "open" if only else "")


def newer_driver(facts: Facts, floor: DriverRelease, matrix: Matrix) -> tuple[Need, ...]:
    """A driver of a release or newer; nothing where such a one no longer drives a card here.

    In a container that is only asked for by a sentence, which is judged on no facts.
    """
    last = last_branch(generations(facts, matrix))
    if last is not None and last < floor.branch:
        return ()
    return (on_host(facts, InstallDriver(f">={floor}"), f"install driver {floor} or newer"),)


def refused(row: GenerationRow, release: DriverRelease | None, flavour: str, matrix: Matrix) -> str:
    """Why a driver does not start a card, "" where nothing is known against it; release None, flavour "": not known."""
    if release and row.driver_last is not None and release.branch > row.driver_last:
        return f"branch {row.driver_last} is the last one for {row.name}"
    first = first_branch(row, matrix)
    if release and first is not None and release.branch < first:
        return f"branch {first} is the first one for {row.name}"
    if row.open_module == "only" and flavour == "proprietary":
        return f"{row.name} needs the open kernel module"
    if row.open_module == "no" and flavour == "open":
        return f"{row.name} needs the proprietary kernel module"
    return ""


def first_branch(row: GenerationRow, matrix: Matrix) -> int | None:
    """The first driver branch that runs a CUDA which builds for a generation; None where no row tells."""
    branches: tuple[BranchRow, ...] = matrix.rows("driver", "branches")
    cuda = row.cuda_first
    fit = (one.branch for one in branches if cuda and one.cuda_max and one.cuda_max >= cuda)
    oldest = min((one.cuda_max for one in branches if one.cuda_max), default=None)
    return min(fit, default=None) if cuda and oldest and cuda > oldest else None


def driver_here(facts: Facts) -> tuple[DriverRelease | None, str]:
    """Release and flavour of the module that runs, else of the one that is installed for this kernel."""
    driver, kernel = facts.driver, value_or(facts.system.kernel, "")
    if isinstance(driver.module_release, Seen):
        return driver.module_release.value, value_or(driver.flavour, "")
    for one in value_or(driver.module_files, ()):
        if one.kernel == kernel:
            return value_or(one.release, None), value_or(one.flavour, "")
    return None, ""


def refused_on_bus(
    facts: Facts, addresses: tuple[str, ...], release: DriverRelease | None, flavour: str, matrix: Matrix
) -> Iterator[tuple[PciDevice, GenerationRow, str]]:
    """The cards at those PCI addresses that a driver does not start, and why."""
    for card in value_or(facts.pci, ()):
        row = generation_of(card, matrix) if card.address in addresses else None
        why = refused(row, release, flavour, matrix) if row else ""
        if row and why:
            yield card, row, why
