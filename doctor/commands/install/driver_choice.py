"""Which driver for this machine's GPUs: the branch, the flavour of its module, and what Secure Boot asks for."""

from __future__ import annotations

from compat.base.errors import GpudoctorError
from compat.matrix import Matrix
from compat.need import InstallDriver, SignKernelModule
from compat.row import GenerationRow
from compat.version import DriverRelease
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.rules.shared.cards import generations, last_branch
from installers.choose import plan_for
from installers.methods.driver import branch_for
from installers.plan import Plan, Target
from installers.repository import require_branch
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.command import Command

MODULES = ("open", "proprietary")
_OPEN_SINCE = 515  # the first with an open module: NVIDIA/open-gpu-kernel-modules, tag 515.43.04
_FAULTS = ("driver-does-not-support-gpu", "driver-library-mismatch", "no-kernel-module", "open-kernel-module-required")


class WrongDriver(GpudoctorError):
    """A driver that this machine's GPU does not run with."""

    hint = "Leave the version and --module out: the GPU decides then."


def driver_plan(version: str, module: str, target: Target, facts: Facts | None, matrix: Matrix) -> Plan:
    """The driver of a branch or release, else the one that the GPUs need.

    Raises VersionError, WrongDriver, and Uncovered for a branch that no row knows: none is invented.
    """
    rows = generations(facts, matrix) if facts else ()
    last = last_branch(rows)
    spec = f"=={DriverRelease.parse(version)}.*" if version else f"=={last}.*" if last else ""
    if version:
        release = DriverRelease.parse(version)
        matrix.branch(release, target.os_family)
        if module == "open" and release.branch < _OPEN_SINCE:
            raise WrongDriver(f"driver {version} has no open kernel module: branch {_OPEN_SINCE} was the first")
    _require_driven(version, rows)
    return driver_for(InstallDriver(spec, flavour_for(module, rows)), target, facts, matrix)


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
    why = "after the restart the driver must run"
    return plan._replace(steps=(*steps, Check(why, _FAULTS, need._replace(flavour=""))))


def _require_driven(version: str, rows: tuple[GenerationRow, ...]) -> None:
    for row in rows:
        if version and row.driver_dropped and row.driver_last and int(version.partition(".")[0]) > row.driver_last:
            raise WrongDriver(f"driver {version} does not drive {row.name}: {row.driver_last} is the last branch")


def flavour_for(module: str, rows: tuple[GenerationRow, ...]) -> str:
    """ "open" or "", the proprietary module; raises WrongDriver."""
    only = next((row.name for row in rows if row.open_module == "only"), "")
    never = next((row.name for row in rows if row.open_module == "no"), "")
    if module == "proprietary" and only:
        raise WrongDriver(f"{only} runs with the open kernel module only")
    if module == "open" and never:
        raise WrongDriver(f"{never} does not run with the open kernel module")
    return "open" if module == "open" or (only and not module) else ""


def _with_a_key(steps: tuple[Step, ...], target: Target, facts: Facts | None, matrix: Matrix) -> tuple[Step, ...]:
    """Where the firmware refuses unsigned modules, the key that DKMS signs with is enrolled before the restart."""
    if facts is None or not value_or(facts.system.secure_boot, False):
        return steps
    note = ByHand("Secure Boot is on: a module that DKMS built is loaded only once its key is enrolled")
    enrol = plan_for(SignKernelModule(), target, matrix).steps
    return (*steps[:-1], note, *enrol)
