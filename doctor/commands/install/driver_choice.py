"""Which driver for this machine's GPUs: the branch, the flavour of its module, and what Secure Boot asks for."""

from __future__ import annotations

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.driver_name import driver_named
from compat.matrix import Matrix
from compat.need import InstallDriver, SignKernelModule
from compat.row import BranchRow, GenerationRow
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.rules.shared.cards import generations, last_branch
from installers.choose import plan_for
from installers.methods.driver import OPEN, OPEN_ONLY_FROM, PROPRIETARY, branch_for
from installers.packages import manager_of
from installers.plan import Plan, Target
from installers.render import commands
from installers.repository import NoSuchBranch, require_branch, require_driver_as_new
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.command import Command
from installers.steps.note import Note
from installers.steps.reboot import Reboot

MODULES = (OPEN, PROPRIETARY)
_OPEN_SINCE = 515  # the first with an open module: NVIDIA/open-gpu-kernel-modules, tag 515.43.04
_FAULTS = ("driver-does-not-support-gpu", "driver-library-mismatch", "no-kernel-module", "open-kernel-module-required")


class WrongDriver(GpudoctorError):
    """A driver that this machine's GPU does not run with."""

    hint = "Omit the version and --module: then the GPU decides."


class DriverOrder(NamedTuple):
    """What the user asked for."""

    version: str = ""
    module: str = ""  # "open", "proprietary"; "" for the one that the GPU needs
    gpus: tuple[str, ...] = ()  # as people name them; () for those of this machine


def driver_plan(order: DriverOrder, target: Target, facts: Facts | None, matrix: Matrix) -> Plan:
    """The driver of a branch or release, else the one that the GPUs need.

    Raises VersionError, NoGpuName, WrongDriver, and Uncovered for a
    branch that no row knows: none is invented.
    """
    version, module = order.version, order.module
    rows = of_gpus(order.gpus, matrix) or (generations(facts, matrix) if facts else ())
    last = last_branch(rows)
    if last and not version and _ended_before(last, target, matrix):
        last = None  # all that is there drives the card: nothing is to be pinned
    release = driver_named(version, matrix) if version else None
    spec = f"=={release or last}.*" if release or last else ""
    if release:
        matrix.branch(release, target.os_family)
        if module == "open" and release.branch < _OPEN_SINCE:
            raise WrongDriver(f"driver {version} has no open kernel module: branch {_OPEN_SINCE} was the first")
        if module == PROPRIETARY and release.branch >= OPEN_ONLY_FROM:
            raise WrongDriver(f"driver {version} has no proprietary kernel module: {OPEN_ONLY_FROM} removed it")
    if version:
        _require_driven(version, rows, target, matrix)
    elif first := max((_first_branch(row, target, matrix) for row in rows), default=0):
        require_driver_as_new(first, target, matrix)
    if module == PROPRIETARY and not spec:
        spec = f"=={branch_for(f'<{OPEN_ONLY_FROM}', matrix)}.*"
    return driver_for(InstallDriver(spec, flavour_for(module, rows)), target, facts, matrix)


def of_gpus(names: tuple[str, ...], matrix: Matrix) -> tuple[GenerationRow, ...]:
    """The generations of cards that were named; raises Uncovered, NoGpuName."""
    if not names:
        return ()
    from compat.cards import gpu_cards_of  # late: mostly the machine shows its cards

    chips = (chip for card in gpu_cards_of(names, matrix) for chip in card.capabilities)
    return tuple(dict.fromkeys(matrix.generation(chip) for chip in chips))


def driver_for(need: InstallDriver, target: Target, facts: Facts | None, matrix: Matrix) -> Plan:
    """The plan for a driver, the key that Secure Boot asks for with it, and the look after the restart.

    Raises NoSuchBranch.
    """
    if need.versions:
        require_branch(branch_for(need.versions, matrix), target, matrix)
    plan = plan_for(need, target, matrix)
    if not any(isinstance(step, Command) and not step.place for step in plan.steps):
        return plan
    steps = _with_a_key(plan.steps, target, facts, matrix)
    why = "verify: the driver runs after the reboot"
    return plan._replace(steps=(*steps, Check(why, _FAULTS, need._replace(flavour=""))))


def _require_driven(version: str, rows: tuple[GenerationRow, ...], target: Target, matrix: Matrix) -> None:
    branch = matrix.branch(driver_named(version, matrix), target.os_family).branch  # on Windows 573 is of 570
    for row in rows:
        if row.driver_dropped and row.driver_last and branch > row.driver_last:
            raise WrongDriver(f"driver {version} does not support {row.name}: {row.driver_last} is the last branch")
        if branch < (first := _first_branch(row, target, matrix)):
            raise WrongDriver(f"driver {version} does not support {row.name}: {first} is the first branch")


def _ended_before(branch: int, target: Target, matrix: Matrix) -> bool:
    try:
        require_driver_as_new(branch, target, matrix)
    except NoSuchBranch:
        return True
    return False


def _first_branch(row: GenerationRow, target: Target, matrix: Matrix) -> int:
    """Return the first driver branch that drives a generation, by the CUDA that added it; 0 where no row says."""
    if target.arch == "jetson" or row.cuda_first is None:
        return 0
    branches: tuple[BranchRow, ...] = matrix.rows("driver", "branches")
    return min((one.branch for one in branches if one.cuda_max and one.cuda_max >= row.cuda_first), default=0)


def flavour_for(module: str, rows: tuple[GenerationRow, ...]) -> str:
    """ "open", "proprietary", or "" for NVIDIA's own choice; raises WrongDriver."""
    only = next((row.name for row in rows if row.open_module == "only"), "")
    never = next((row.name for row in rows if row.open_module == "no"), "")
    if module == "proprietary" and only:
        raise WrongDriver(f"{only} runs only with the open kernel module")
    if module == "open" and never:
        raise WrongDriver(f"{never} does not run with the open kernel module")
    return module or (OPEN if only else PROPRIETARY if never else "")


def _with_a_key(steps: tuple[Step, ...], target: Target, facts: Facts | None, matrix: Matrix) -> tuple[Step, ...]:
    """Where the firmware refuses unsigned modules, the key that DKMS signs with is enrolled before the restart."""
    if facts is None and target.os_family == "linux":
        return (*steps[:-1], *_if_secure_boot(steps, target, matrix), steps[-1])
    if facts is None or not value_or(facts.system.secure_boot, False):
        return steps
    note = Note("Secure Boot is on: the kernel loads a DKMS module only after its key is enrolled")
    enrol = plan_for(SignKernelModule(), target, matrix).steps
    return (*steps[:-1], note, *enrol)


def _if_secure_boot(steps: tuple[Step, ...], target: Target, matrix: Matrix) -> tuple[Step, ...]:
    """What to do on a machine whose firmware nobody looked at; Ubuntu's own tool takes modules that are signed.

    Source: kernel-ark, 5850c931 ("Upstream Status: RHEL only"): no other kernel locks itself down for Secure Boot.
    """
    driver = next(step for step in reversed(steps) if not isinstance(step, Reboot))
    if isinstance(driver, ByHand) or any(
        isinstance(step, Command) and step.argv[0] == "ubuntu-drivers" for step in steps
    ):
        return ()
    if manager_of(target) == "pacman":
        return (Note("Arch's own kernels load this module with Secure Boot, too: they require no signature"),)
    source = "kmp" if manager_of(target) == "zypper" else "dkms"
    enrol = plan_for(SignKernelModule("", source), target, matrix)
    typed = commands(enrol._replace(steps=tuple(step for step in enrol.steps if isinstance(step, Command))), target)
    text = 'Only with Secure Boot (`mokutil --sb-state` prints "enabled"): enrol the key that signs the module'
    why = 'choose a password; after the reboot choose "Enroll MOK" in the blue screen, and enter it again'
    return (ByHand("\n".join((text, *typed)), why),) if typed else ()
