"""Whether a copy has engines, and code, for a GPU that need not be there."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Uncovered
from compat.row import CudnnBuildRow
from compat.version import ComputeCapability
from doctor.commands.verify.needs import TrialContext, needs_of
from doctor.commands.verify.subject import Known, TrialSubject
from doctor.commands.verify.verification import Tried
from doctor.messages import cause as codes
from doctor.messages.cause import Cause
from doctor.model.facts.seen import UnseenError
from doctor.model.finding import Answer, Evidence, Status, bad, unknown


def of_target(one: Tried, target: ComputeCapability, known: Known) -> Iterator[Answer]:
    """Beside what the trial says: cuDNN also plans for GPUs that it has no code for, as its maker's table tells.

    Open where it could not be asked.
    """
    if any(answer.kind is Status.BAD for answer in one.answers):
        return
    subject, outcome = one.subject, one.outcome
    patient = TrialSubject(subject.label, subject.copy, subject.why)
    cause = Cause(codes.ARCH, f"it has no code for compute capability {target}")
    about = TrialContext(subject=patient, facts=known.facts, matrix=known.matrix, outcome=outcome, cause=cause)
    newest = about.fact("version", "max_device_version")
    evidence: tuple[Evidence, ...] = ()
    if isinstance(newest, int) and newest < target.major * 100 + target.minor * 10:
        evidence = (Evidence(str(newest), label="cudnnGetMaxDeviceVersion"),)
    row = _row(about)
    if row and row.capability_min and target < row.capability_min:
        evidence = (
            *evidence,
            Evidence(f"its builds for CUDA {row.cuda_major} begin at {row.capability_min}", label=row.source),
        )
    stage = outcome.stage("plans")
    why_not = str(stage.facts.get("not_asked", "")) if stage else "the trial did not come so far"
    if evidence:
        found = bad(f"{patient.name}: {cause.why}", *needs_of(about), evidence=evidence)
        yield found._replace(code=codes.ARCH, subject=subject.label)
    elif why_not:
        why = f"{subject.label}: whether it has engines for compute capability {target} was not asked: {why_not}"
        yield unknown(why)._replace(code=codes.ARCH, subject=subject.label)


def _row(about: TrialContext) -> CudnnBuildRow | None:
    try:
        version = about.subject.copy.version.get() if about.subject.copy else None
        return about.matrix.cudnn_build(version, about.cuda.major) if version and about.cuda else None
    except (Uncovered, UnseenError):
        return None
