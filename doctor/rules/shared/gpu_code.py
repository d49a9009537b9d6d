"""Which of the visible GPUs a framework's build has code for, and why it has none for the others.

One cause holds for a framework and the GPUs of a machine: each of the three codes below is a rule, and the rule whose
code is the cause says BAD.
"""

from __future__ import annotations

from collections.abc import Callable

from compat.base.record import NamedTuple
from compat.build import accepted_cudas, compilers_for, covers, name_of, serves
from compat.matrix import Matrix, Uncovered
from compat.need import Advice, Need
from compat.row import FrameworkRow, PtxRow
from compat.traits import traits_of
from compat.version import CodeTarget, ComputeCapability, CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok, unknown
from doctor.rules.shared.builds import (
    build_row,
    cuda_of,
    driver_floor_of,
    nearest_and_newest,
    need_of,
    need_own_cuda,
    other_builds,
    targets_of,
)
from doctor.rules.shared.rule import NotApplicable
from doctor.rules.shared.subjects import need_where

TOO_NEW = "gpu-too-new-for-cuda"
TOO_OLD = "gpu-too-old-dropped"
NOT_IN_BUILD = "gpu-arch-not-in-build"


class Code(NamedTuple):
    """A build's GPU code, and the GPUs that it meets."""

    framework: Framework
    targets: Seen[tuple[CodeTarget, ...]]
    cuda: CudaVersion | None  # None where nobody says what it was built with
    gpus: tuple[Gpu, ...]  # the visible ones
    unserved: tuple[Gpu, ...]
    reported: tuple[PtxRow, ...] = ()  # what is shown of the PTX that would serve them


def answer(code: str, framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """The answer of the rule with this code: BAD when a GPU has no code and this is why."""
    need_where(facts, "gpus")
    need_own_cuda(framework)
    try:
        targets = targets_of(framework, facts, matrix)
    except Uncovered as error:
        if code != NOT_IN_BUILD:
            raise NotApplicable(f"its targets are unknown: see {NOT_IN_BUILD}") from error
        usual = _is_usual(framework, facts, matrix)
        if usual and traits_of(framework.package).compiles:
            return ok(f"{framework.label} compiles its kernels for the GPU that is present")
        return unknown(str(error))._replace(blocks_verdict=not usual)
    seen = _look(framework, targets, facts, matrix)
    if not seen.unserved:
        return ok(_served(seen))
    cause = _cause(seen, matrix)
    if cause != code:
        raise NotApplicable(f"it lacks code for {_names(seen.unserved)}: see {cause}")
    return _bad(cause, seen, facts, matrix)


def visible_gpus(facts: Facts) -> tuple[Gpu, ...]:
    """The GPUs that CUDA programs of this user see: all, or those that CUDA_VISIBLE_DEVICES surely names.

    Plain numbers count in CUDA's own order, fastest first, which NVML does not tell: they select only where
    CUDA_DEVICE_ORDER says PCI_BUS_ID. Raises UnseenError where no GPU could be asked.
    """
    gpus = facts.gpus.get()
    if not gpus:
        raise UnseenError("the driver lists no GPU")
    variables = {one.name: one.value for one in value_or(facts.configuration.variables, ())}
    names = [name.strip() for name in variables.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    by_bus = variables.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    chosen = tuple(gpu for gpu in gpus if any(_is_named(gpu, name, by_bus=by_bus) for name in names))
    return chosen if names and len(chosen) == len(names) else gpus


def _is_named(gpu: Gpu, name: str, *, by_bus: bool) -> bool:
    if name.startswith("GPU-") and len(name) > len("GPU-"):
        return value_or(gpu.uuid, "").startswith(name)
    return by_bus and name == str(gpu.number)


def _is_usual(framework: Framework, facts: Facts, matrix: Matrix) -> bool:
    """Whether the CUDA of a build whose code it is unknown can compile for every GPU here: no sign of trouble.

    JAX, CuPy and ONNX Runtime do not publish what each wheel was built for.
    """
    try:
        if isinstance(framework.cuda, Seen):
            cudas: tuple[CudaVersion, ...] = (framework.cuda.value,)
        else:
            cudas = accepted_cudas(build_row(framework, facts, matrix), matrix)
        return all(compilers_for(gpu.capability.get(), cudas, matrix)[0] for gpu in visible_gpus(facts))
    except (Uncovered, UnseenError):
        return bool(value_or(facts.system.jetson, ""))  # whose builds NVIDIA makes: jetson-wrong-wheel looks at them


def _look(framework: Framework, targets: Seen[tuple[CodeTarget, ...]], facts: Facts, matrix: Matrix) -> Code:
    if not targets.value:
        raise NotApplicable(f"{framework.label} contains no GPU code: it is compiled on the machine")
    gpus = visible_gpus(facts)
    jetson = bool(value_or(facts.system.jetson, ""))
    cuda = _cuda(framework, facts, matrix)
    unserved = tuple(gpu for gpu in gpus if not serves(targets.value, gpu.capability.get(), jetson=jetson))
    if unserved:
        return Code(framework=framework, targets=targets, cuda=cuda, gpus=gpus, unserved=unserved)
    machine_code = tuple(target for target in targets.value if target.kind == "sm")
    late = tuple(gpu for gpu in gpus if not serves(machine_code, gpu.capability.get(), jetson=jetson))
    found = {gpu: matrix.ptx_reported(framework.package, framework.version, gpu.capability.get()) for gpu in late}
    reported = {gpu: row for gpu, row in found.items() if row}
    rows = tuple(dict.fromkeys(reported.values()))
    return Code(framework=framework, targets=targets, cuda=cuda, gpus=gpus, unserved=tuple(reported), reported=rows)


def _cuda(framework: Framework, facts: Facts, matrix: Matrix) -> CudaVersion | None:
    try:
        return cuda_of(framework, facts, matrix).value
    except (UnseenError, Uncovered, NotApplicable):
        return None


def code_for(
    gpus: tuple[Gpu, ...], framework: Framework, facts: Facts, *, ptx: bool = True
) -> Callable[[FrameworkRow], bool]:
    """Whether a build is known to hold machine code for all of these GPUs: what a remedy may offer.

    In the installed release PTX will do as well, as it does for whoever installs that release.
    """
    jetson = bool(value_or(facts.system.jetson, ""))
    capabilities = [gpu.capability.value for gpu in gpus if isinstance(gpu.capability, Seen)]

    def has_code(row: FrameworkRow) -> bool:
        same = ptx and covers(row, framework.version)
        targets = tuple(target for target in row.targets or () if same or target.kind == "sm")
        return bool(targets) and all(serves(targets, gpu, jetson=jetson) for gpu in capabilities)

    return has_code


def _cause(seen: Code, matrix: Matrix) -> str:
    """Why the build has no code; where GPUs differ, a GPU that is too new counts more than one that is too old."""
    if seen.reported:
        return NOT_IN_BUILD
    capabilities = [gpu.capability.get() for gpu in seen.unserved]
    if any(_outruns(capability, seen.cuda, matrix) for capability in capabilities):
        return TOO_NEW
    oldest = min(target.capability for target in seen.targets.value)
    return TOO_OLD if any(capability < oldest for capability in capabilities) else NOT_IN_BUILD


def _outruns(gpu: ComputeCapability, cuda: CudaVersion | None, matrix: Matrix) -> bool:
    """Whether the compiler of this CUDA cannot build for the GPU because it is older than the GPU."""
    if cuda is None:
        return False
    try:
        if matrix.targets(cuda).capability_max < gpu:
            return True
        return matrix.first_cuda_for(gpu) > cuda
    except Uncovered:
        return False


def _served(seen: Code) -> str:
    machine_code = tuple(target for target in seen.targets.value if target.kind == "sm")
    late = [gpu for gpu in seen.gpus if not serves(machine_code, gpu.capability.get())]
    if late:
        return f"{seen.framework.label} has PTX for {_names(tuple(late))}, which the driver compiles at first use"
    return f"{seen.framework.label} has code for {_names(seen.gpus)}"


def _names(gpus: tuple[Gpu, ...]) -> str:
    return ", ".join(f"{gpu.label}, {gpu.capability.get().sm}" for gpu in gpus)


def _bad(cause: str, seen: Code, facts: Facts, matrix: Matrix) -> Answer:
    needs, advice = _remedy(seen, facts, matrix)
    return bad(
        f"{seen.framework.label} has no code for {_names(seen.unserved)}: {_reason(cause, seen, matrix)}; {advice}",
        *needs,
        severity=Severity.WARNING if seen.reported else severity_of(seen.unserved, seen.gpus),
        evidence=(*_evidence(seen), *_row_evidence(seen, facts, matrix), *_matrix_evidence(cause, seen, matrix)),
        explains=_explains(seen.framework),
    )


def severity_of(unserved: tuple[Gpu, ...], gpus: tuple[Gpu, ...]) -> Severity:
    """Return how bad it is that some GPUs cannot be used: information if only older ones lie idle beside one that can.

    CUDA numbers the fastest GPU 0, which programs use if they name none.
    """
    served = [one.capability.get() for one in gpus if one not in unserved]
    if not served:
        return Severity.ERROR
    return Severity.INFO if all(one.capability.get() < max(served) for one in unserved) else Severity.WARNING


def _explains(framework: Framework) -> tuple[Symptom, ...]:
    """Another build is needed whatever the driver; extensions are replaced together with what they extend."""
    own = tuple(Symptom(code, framework.label) for code in ("cudnn-arch-mismatch", "driver-too-old-for-runtime"))
    return (*own, Symptom("extension-built-for-other-arch")) if traits_of(framework.package).extended else own


def _reason(cause: str, seen: Code, matrix: Matrix) -> str:
    built = sorted({target.capability for target in seen.targets.value})
    if seen.reported:
        return f"its PTX for them did not load: {seen.reported[0].error}"
    if cause == TOO_NEW and seen.cuda is not None:
        return f"CUDA {seen.cuda}, which it was built with, supports GPUs up to {_newest(seen.cuda, matrix)}"
    if cause == TOO_OLD:
        return f"its oldest code is for {built[0].sm}"
    return "it was built for " + ", ".join(map(str, seen.targets.value))


def _newest(cuda: CudaVersion, matrix: Matrix) -> str:
    return matrix.targets(cuda).capability_max.sm


def _evidence(seen: Code) -> tuple[Evidence, ...]:
    gpus = tuple(
        Evidence.of(gpu.capability, f"{gpu.label} has compute capability {gpu.capability.get()}")
        for gpu in seen.unserved
    )
    reports = tuple(Evidence(row.source, label=f"matrix, {row.id}") for row in seen.reported)
    return (*gpus, Evidence.at(seen.targets.how, "built for " + ", ".join(map(str, seen.targets.value))), *reports)


def _row_evidence(seen: Code, facts: Facts, matrix: Matrix) -> tuple[Evidence, ...]:
    """What the matrix says of a build whose own files say something else."""
    try:
        row = build_row(seen.framework, facts, matrix)
    except (Uncovered, UnseenError):
        return ()
    if not row.targets or set(row.targets) == set(seen.targets.value):
        return ()
    listed = ", ".join(map(str, row.targets))
    return (Evidence(f"lists {listed}; the file is used at run time, so it counts", label=f"matrix, {row.id}"),)


def _matrix_evidence(cause: str, seen: Code, matrix: Matrix) -> tuple[Evidence, ...]:
    if cause != TOO_NEW or seen.cuda is None:
        return ()
    newest = f"CUDA {seen.cuda} compiles for GPUs up to {_newest(seen.cuda, matrix)}"
    return (Evidence(newest, label="matrix, cuda.targets"), *_first_cuda(seen, matrix))


def _first_cuda(seen: Code, matrix: Matrix) -> tuple[Evidence, ...]:
    """Since when the GPUs can be built for, where the matrix knows their generation."""
    try:
        firsts = {gpu.capability.get().sm: matrix.first_cuda_for(gpu.capability.get()) for gpu in seen.unserved}
    except Uncovered:
        return ()
    return tuple(
        Evidence(f"{sm} starts with CUDA {cuda}", label="matrix, gpu.generations") for sm, cuda in firsts.items()
    )


def _remedy(seen: Code, facts: Facts, matrix: Matrix) -> tuple[tuple[Need, ...], str]:
    """Builds that have code for every visible GPU and start on this driver; else a way around, said by hand."""
    has_code = code_for(seen.gpus, seen.framework, facts, ptx=not seen.reported)
    fitting = other_builds(seen.framework, facts, matrix, has_code)
    if fitting:
        offered = nearest_and_newest(fitting)
        return tuple(need_of(row, seen.framework, facts) for row in offered), f"{name_of(offered[0])} has it"
    waiting = other_builds(seen.framework, facts, matrix, has_code, driver=False)
    if waiting:
        return _after_driver(waiting[0], facts, matrix)
    lacking = ", ".join(sorted({gpu.capability.get().sm for gpu in seen.unserved}))
    by_hand = f"build {seen.framework.package} from source for {lacking}, or run it on another GPU"
    return (Advice(by_hand),), "no published build with it is known"


def _after_driver(row: FrameworkRow, facts: Facts, matrix: Matrix) -> tuple[tuple[Need, ...], str]:
    floor = driver_floor_of(row, facts, matrix)
    text = f"install driver {floor} or newer, then {name_of(row)}"
    return (Advice(text),), f"{name_of(row)} has it, but needs driver {floor}"
