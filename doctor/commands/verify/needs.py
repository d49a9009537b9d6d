"""What must become true when a trial failed: one or more needs for each cause, the best first."""

from __future__ import annotations

import json
from collections.abc import Callable

from compat.base.paths import text_beside
from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered
from compat.need import (
    Advice,
    ChangePackages,
    InstallDriver,
    InstallSystemPackage,
    InstallToolkit,
    Need,
    ReloadKernelModule,
    RestartMachine,
    StartService,
)
from compat.row import CudnnBuildRow
from compat.version import ComputeCapability, CudaVersion
from doctor.commands.verify.cudnn_trial.outcome import Outcome
from doctor.commands.verify.subject import TrialSubject
from doctor.messages import cause as codes
from doctor.messages.cause import Cause
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.rules.shared.conditions import on_host
from doctor.rules.shared.cudnn_use import reinstall_need

_FABRIC_UNIT = "nvidia-fabricmanager"


class TrialContext(NamedTuple):
    """What was tried, and what is known around it."""

    subject: TrialSubject
    facts: Facts
    matrix: Matrix
    outcome: Outcome
    cause: Cause

    @property
    def cuda(self) -> CudaVersion | None:
        """The CUDA that the copy was built with, by its own word, else its package's major; None where neither says."""
        told = self.fact("version", "cudart_version")
        if isinstance(told, int) and told > 0:
            return CudaVersion.from_encoded(told)
        major = value_or(self.subject.copy.cuda_major, 0) if self.subject.copy else 0
        return CudaVersion(major, 0) if major else None

    @property
    def capability(self) -> ComputeCapability | None:
        """The compute capability of the GPU that was tried or planned for, None where nothing tells."""
        told = self.fact("device", "compute_capability")
        if self.outcome.stage("device") is None and self.cause.code == codes.ARCH:
            told = self.fact("plans", "planned_for")
        if isinstance(told, str):
            return ComputeCapability.parse(told)
        known = [gpu.capability.value for gpu in value_or(self.facts.gpus, ()) if isinstance(gpu.capability, Seen)]
        return known[0] if len(set(known)) == 1 else None

    def fact(self, stage: str, name: str) -> object:
        """What a stage found under this name, None where it found no such thing."""
        found = self.outcome.stage(stage)
        return found.facts.get(name) if found else None


def needs_of(about: TrialContext) -> tuple[Need, ...]:
    """What brings the cause to an end; never a new installation where the stack is not to blame."""
    code = about.cause.code
    if about.cause.advice:
        return (Advice(about.cause.advice),)
    return (Advice(_BY_HAND[code]),) if code in _BY_HAND else _NEEDS[code](about)


def _whole(about: TrialContext) -> tuple[Need, ...]:
    return (_copy_anew(about),)


def _copy_anew(about: TrialContext) -> Need:
    copy = about.subject.copy
    return reinstall_need(copy, about.facts) if copy else Advice(_LOOK_AT_THE_REST)


def _library(about: TrialContext) -> tuple[Need, ...]:
    """The wheel that brings a library of CUDA into the copy's environment; else the toolkit that has it."""
    environments = value_or(about.facts.environments, ())
    prefix = about.subject.copy.environment if about.subject.copy else ""
    interpreter = next((one.interpreter for one in environments if one.prefix == prefix), "")
    try:
        wheel = about.matrix.library_named(about.cause.library).wheel
    except Uncovered:
        wheel = ""
    wheels = (ChangePackages((wheel,), interpreter),) if wheel and interpreter else ()
    toolkit = (InstallToolkit(f"=={about.cuda.major}.*"),) if about.cuda else ()
    what = f"Install the CUDA release that has {about.cause.library or 'the CUDA runtime'}."
    return (*wheels, *toolkit) or (Advice(what),)


def _glibc(about: TrialContext) -> tuple[Need, ...]:
    return (Advice(f"use a newer distribution, or a container image, whose C library has {about.cause.library}"),)


def _newer_driver(about: TrialContext) -> tuple[Need, ...]:
    """The driver that this build of cuDNN needs; else the one that its CUDA needs."""
    floor = None
    try:
        row = _build(about)
        family = about.facts.system.family.get()
        floor = row.driver_windows if family == "windows" else row.driver_linux
        if floor is None and about.cuda:
            floor = about.matrix.driver_floor(about.cuda, family)
    except (Uncovered, UnseenError):
        pass  # no row: the newest driver is what remains
    what = f"install driver {floor} or newer" if floor else "install a newer driver"
    return (on_host(about.facts, InstallDriver(f">={floor}" if floor else ""), what),)


def _build(about: TrialContext) -> CudnnBuildRow:
    if about.cuda is None or about.subject.copy is None:
        raise Uncovered(f"the CUDA of {about.subject.label}")
    return about.matrix.cudnn_build(about.subject.copy.version.get(), about.cuda.major)


def _restart(about: TrialContext) -> tuple[Need, ...]:
    return (on_host(about.facts, RestartMachine(), "reboot it, then create this container again"),)


def _fabric(about: TrialContext) -> tuple[Need, ...]:
    what = f"start {_FABRIC_UNIT}, in exactly the driver's release"
    return (on_host(about.facts, StartService(_FABRIC_UNIT), what),)


def _other_release(about: TrialContext) -> tuple[Need, ...]:
    """The newest cuDNN with code for this GPU and the copy's CUDA major."""
    capability = about.capability
    rows: tuple[CudnnBuildRow, ...] = about.matrix.rows("cudnn", "builds")
    fitting = [row for row in rows if capability and _has_code(row, capability) and _same_cuda(row, about)]
    if capability and _ends_below(about, capability):
        version = about.subject.copy and value_or(about.subject.copy.version, None)
        fitting = [row for row in fitting if version and row.version.release > version.release]
    if not fitting or not about.subject.copy:
        gpu = f"compute capability {capability}" if capability else "this GPU"
        return (Advice(f"Use a cuDNN that has code for {gpu}; its support matrix says which releases do."),)
    newest = max(fitting, key=lambda row: row.version)
    need, wanted = reinstall_need(about.subject.copy, about.facts), f"=={newest.version}"
    if isinstance(need, InstallSystemPackage):
        return (need._replace(versions=wanted, reinstall=False),)
    return (need._replace(versions=wanted),)


def _ends_below(about: TrialContext, capability: ComputeCapability) -> bool:
    """Whether the copy itself says that its newest GPU is older: then older releases know it no better."""
    told = about.fact("version", "max_device_version")
    return isinstance(told, int) and told < capability.major * 100 + capability.minor * 10


def _has_code(row: CudnnBuildRow, capability: ComputeCapability) -> bool:
    above = row.capability_min is not None and row.capability_min <= capability
    return above and (row.capability_max is None or capability <= row.capability_max)


def _same_cuda(row: CudnnBuildRow, about: TrialContext) -> bool:
    return about.cuda is None or row.cuda_major == about.cuda.major


def _wrong(about: TrialContext) -> tuple[Need, ...]:
    again = (
        "Run this again, and on another GPU with --gpu. If the wrong results change from run to run, the "
        "card is the cause (nvidia-smi -q -d ECC,TEMPERATURE); otherwise the library is."
    )
    return (Advice(again), _copy_anew(about))


def _crash(about: TrialContext) -> tuple[Need, ...]:
    return (_copy_anew(about), Advice(_LOOK_AT_THE_REST))


_LOOK_AT_THE_REST = "Run gpudoctor check, which looks at the driver and the rest of the stack."
_BY_HAND: dict[str, str] = json.loads(text_beside(__file__, "by_hand.json"))
_NEEDS: dict[str, Callable[[TrialContext], tuple[Need, ...]]] = {
    codes.SUSPENDED: lambda _: (ReloadKernelModule("nvidia_uvm"),),
    codes.INCOMPLETE: _whole,
    codes.PART_MISSING: _whole,
    codes.CUDNN_MISSING: _whole,
    codes.MIXED: _whole,
    codes.NOT_LOADABLE: _whole,
    codes.CUDA_MISSING: _library,
    codes.NVRTC_MISSING: _library,
    codes.CUBLAS: _library,
    codes.GLIBC: _glibc,
    codes.ARCH: _other_release,
    codes.OLD_DRIVER: _newer_driver,
    codes.DRIVER_MIXED: _restart,
    codes.FABRIC: _fabric,
    codes.WRONG: _wrong,
    codes.CRASH: _crash,
}
