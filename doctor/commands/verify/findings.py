"""From what a trial came to, to answers: the code, the chain of what was seen, and what must become true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.commands.verify.cudnn_trial.described import USUAL
from doctor.commands.verify.cudnn_trial.outcome import LEVELS, PLANNING_FOR, STAGES, Ending, Fault, Outcome, Row, Stage
from doctor.commands.verify.needs import TrialContext, needs_of
from doctor.commands.verify.subject import TrialSubject
from doctor.messages import cause as codes
from doctor.messages.cause import Cause
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Status, Symptom, bad, unknown

_ON_GPU = STAGES[STAGES.index("device") :]
_OF_NODE = LEVELS["node"][1:]  # of a GPU, and not of a copy of cuDNN
_COMPUTING = ("convolution", "graph", "matrix", "strategies")
_ROWS_SHOWN = 8
_PASSED_OVER = ", in a way to compute that has others which are right: frameworks pass over it"
_STDERR_LINES = 4
_FROM_OUTSIDE = ("SIGKILL", "SIGTERM")
_ROOTS = (
    codes.INCOMPLETE,
    codes.MIXED,
    codes.SHADOWED,
    codes.GLIBC,
    codes.CUDA_MISSING,
    codes.NVRTC_MISSING,
    codes.ZLIB_MISSING,
    codes.NOT_LOADABLE,
)
# What a fault in the files makes happen later, in the order in which they explain each other.
_SYMPTOMS = (codes.PART_MISSING, codes.CRASH, codes.CALL, codes.HANG)


class Trouble(NamedTuple):
    """One failure: what it comes from, where, and what was seen of it."""

    cause: Cause
    stage: str
    evidence: tuple[Evidence, ...]
    is_passed_over: bool = False  # another way to compute the same was right


def answers_of(outcome: Outcome, subject: TrialSubject, facts: Facts, matrix: Matrix) -> tuple[Answer, ...]:
    """What one trial shows to be wrong (BAD), and what it leaves open (UNKNOWN).

    Nothing only for a trial that passed, or that says in a stage what it lacks.
    """
    found = [
        _answer(
            trouble, TrialContext(subject=subject, facts=facts, matrix=matrix, outcome=outcome, cause=trouble.cause)
        )
        for trouble in troubles(outcome, facts)
    ]
    if not found and not outcome.has_passed and not any(one.status == "missing" for one in outcome.stages):
        # A trial that ended before it was through, for a reason that is not the stack's: never a pass.
        text = f"{subject.label}: {_end(outcome.ending)}"
        found.append(unknown(text)._replace(code=codes.OURS, subject=subject.label))
    return (*found, *_open(outcome, subject))


def troubles(outcome: Outcome, facts: Facts) -> tuple[Trouble, ...]:
    """Every failure of a trial, in the order of the stages."""
    found = [*_of_preloading(outcome), *_of_stages(outcome), *_of_rows(outcome.rows), *_of_ending(outcome)]
    found += _of_lacking(outcome) if facts.has_gpu else ()
    return tuple(one for one in found if not (one.cause.code == codes.DRIVER_MISSING and not facts.has_gpu))


def _of_lacking(outcome: Outcome) -> Iterator[Trouble]:
    """A machine with a card lacks neither a driver nor a GPU: that CUDA does not find them is what is wrong."""
    for stage in outcome.stages:
        why = str(stage.facts.get("why", ""))
        if stage.lacks == "driver":
            yield Trouble(
                codes.of_cuda("CUDA_ERROR_SHARED_OBJECT_INIT_FAILED"), stage.name, (Evidence(why, label="dlopen"),)
            )
        elif stage.lacks == "gpu" and not stage.facts.get("gpus"):
            yield Trouble(
                codes.of_cuda("CUDA_ERROR_NO_DEVICE"), stage.name, (Evidence(why or "0", label="cuDeviceGetCount"),)
            )


def _of_preloading(outcome: Outcome) -> Iterator[Trouble]:
    stage = outcome.stage("load")
    errors = stage.facts.get("preload_errors", {}) if stage else {}
    for part, text in sorted(errors.items()):
        cause = codes.of_loader(text)
        yield Trouble(cause, "load", (Evidence(text, label=f"the loader's search for the part {part}"),))


def _of_stages(outcome: Outcome) -> Iterator[Trouble]:
    for stage in outcome.stages:
        if stage.status == "failed" and stage.fault and not _is_told_elsewhere(stage, outcome):
            yield _of_fault(stage.fault, stage, outcome.ending.stderr)
        if stage.name == "parts":
            # The parts whose own check did not answer success.
            for part, name in sorted(stage.facts.get("parts", {}).items()):
                if name and not (stage.fault and stage.fault.name == name):
                    cause = codes.of_status(name, "")
                    yield Trouble(cause, "parts", (Evidence(name, label=f"stage parts, the check of {part}"),))


def _of_fault(fault: Fault, stage: Stage, stderr: str) -> Trouble:
    """Which part could not be opened cuDNN says on standard error alone."""
    evidence = tuple(_said(fault, stage))
    said = codes.of_last_words(stderr) if fault.name.endswith("SUBLIBRARY_LOADING_FAILED") else None
    if said is None:
        return Trouble(cause_of(fault, stage), stage.name, evidence)
    return Trouble(said, stage.name, (*evidence, *_of_stderr(stderr)))


def _is_told_elsewhere(stage: Stage, outcome: Outcome) -> bool:
    """Rows say what was wrong with more words, and the parts that could not be opened all say why."""
    if stage.fault and stage.fault.text in stage.facts.get("preload_errors", {}).values():
        return True
    right = {_pass_of(row) for row in outcome.rows if row.status == "right"}
    faulty = any(
        row.status == "wrong" or (row.status == "failed" and _pass_of(row) not in right) for row in outcome.rows
    )
    return faulty and stage.name in _COMPUTING


def cause_of(fault: Fault, stage: Stage) -> Cause:
    """What a stage's fault comes from."""
    if fault.kind == "cudnn":
        return codes.of_status(fault.name, fault.text)
    if fault.kind == "cuda":
        cause = codes.of_cuda(fault.name, fault.status)
        in_cudnn = cause.code == codes.NOT_IN_BUILD and stage.name not in {"device", *_OF_NODE}
        return cause._replace(code=codes.ARCH) if in_cudnn else cause
    if fault.kind == "loader" and stage.name in _OF_NODE:
        return Cause(codes.CUDA_DAMAGED, f"the loader refuses a library for stage {stage.name}: {fault.text}")
    if fault.kind == "loader":
        return codes.of_loader(fault.text)
    if fault.kind == "library":
        code = codes.NCCL if stage.name == "nccl" else codes.CUDA_CALL
        return Cause(code, f"{stage.name} ends in {fault.name}: {fault.text}")
    if fault.kind == "unproven":
        return Cause(codes.NOT_PROVEN, fault.text)
    if fault.kind == "wrong" and stage.name in _OF_NODE:
        return Cause(codes.GPU_WRONG, fault.text)
    if fault.kind == "wrong":
        where = "a copy to the GPU and back" if stage.name == "device" else "what it computes"
        return Cause(codes.WRONG, f"{where} is wrong")
    if fault.kind == "other-copy":
        return Cause(codes.SHADOWED, "another copy's libraries came into the process")
    if fault.kind == "no-engine":
        lacks_code = stage.facts.get("planned_for") != str(USUAL)  # every release has engines for that one
        return Cause(codes.ARCH if lacks_code else codes.INCOMPLETE, f"it has {fault.text}")
    if fault.kind == "unused":
        return Cause(codes.UNUSED, f"it does not use the GPU that is there: {fault.text}")
    return Cause(codes.OURS, f"the trial itself failed in stage {stage.name}: {fault.name}: {fault.text}")


def _said(fault: Fault, stage: Stage) -> Iterator[Evidence]:
    status = f"{fault.name} ({fault.status})" if fault.status else fault.name
    words = ": ".join(filter(None, (status, " ".join(fault.text.split()))))
    yield Evidence(words, label=f"stage {stage.name}" + (f", {fault.function}" if fault.function else ""))


def _of_rows(rows: Iterable[Row]) -> Iterator[Trouble]:
    """Wrong numbers are one failure, however many rows show them; rows that failed are one for each cause."""
    wrong = [row for row in rows if row.status == "wrong"]
    if wrong:
        evidence = (*(_of_row(row) for row in wrong[:_ROWS_SHOWN]), *_more(len(wrong)))
        yield Trouble(Cause(codes.WRONG, f"{_times(len(wrong), 'result')} wrong"), "matrix", evidence)
    right = {_pass_of(row) for row in rows if row.status == "right"}
    by_cause: dict[Cause, list[Row]] = {}
    for row in rows:
        if row.status == "failed":
            by_cause.setdefault(_cause_of_row(row), []).append(row)
    for cause, failed in by_cause.items():
        evidence = (*(_of_row(row) for row in failed[:_ROWS_SHOWN]), *_more(len(failed)))
        yield Trouble(cause, "matrix", evidence, {_pass_of(row) for row in failed} <= right)


def _pass_of(row: Row) -> tuple[str, str, int, str]:
    return row.direction, row.dtype, row.dims, row.problem


def _cause_of_row(row: Row) -> Cause:
    if not row.error:
        return Cause(codes.CALL, "it answers with an error")
    return codes.of_status(row.error, row.detail)


def _of_row(row: Row) -> Evidence:
    source = f"{row.direction} {row.algorithm} {row.dtype} {row.dims}D {row.problem}"
    if row.status != "wrong":
        return Evidence.at(source, row.detail)
    allowed = f"at most {row.tolerance:.1g} of the greatest value" if row.tolerance else "nothing at all"
    more = f" ({row.detail})" if row.detail else ""
    return Evidence.at(source, f"differs from the reference by {row.difference:.1g}; allowed is {allowed}{more}")


def _more(total: int) -> tuple[Evidence, ...]:
    return (Evidence(f"and {total - _ROWS_SHOWN} more"),) if total > _ROWS_SHOWN else ()


def _times(number: int, noun: str) -> str:
    return f"{number} {noun} is" if number == 1 else f"{number} {noun}s are"


def _of_ending(outcome: Outcome) -> Iterator[Trouble]:
    ending = outcome.ending
    cause = _cause_of_ending(ending)
    if cause:
        yield Trouble(cause, ending.stage, tuple(_last_words(ending)))


def _cause_of_ending(ending: Ending) -> Cause | None:
    """None for an end that says nothing of the stack: its own, or one that somebody else made."""
    at = f" at {ending.doing}" if ending.doing else ""
    if ending.doing.startswith(PLANNING_FOR) and codes.SIGNALS.get(ending.code) != "SIGBUS":
        # 9.8.0 does so for 10.0 without NVRTC, and is whole
        return Cause(codes.OURS, f"it ends the process, or does not come back,{at}: whether it has engines stays open")
    if ending.kind == "timed-out":
        if ending.stage == "device":
            return Cause(codes.DRIVER_HANG, "the driver does not answer")
        if ending.stage in _OF_NODE:
            code = codes.NCCL if ending.stage == "nccl" else codes.CUDA_CALL
            return Cause(code, f"it does not come back{at}: it was ended after the time allowed")
        return Cause(codes.HANG, f"it does not come back{at}: it was ended after the time allowed")
    if ending.kind != "signal" or codes.SIGNALS.get(ending.code) in _FROM_OUTSIDE:
        return None
    if ending.stage == "device":
        name = codes.SIGNALS.get(ending.code, f"signal {ending.code}")
        return Cause(codes.DRIVER_CRASH, f"the driver's library, or CuPy, ends the process with {name}")
    if ending.stage in _OF_NODE:
        name = codes.SIGNALS.get(ending.code, f"signal {ending.code}")
        return Cause(codes.NCCL if ending.stage == "nccl" else codes.CUDA_CALL, f"it ends the process with {name}{at}")
    return codes.of_signal(ending.code, ending.doing, ending.stderr)


def _last_words(ending: Ending) -> Iterator[Evidence]:
    how = codes.SIGNALS.get(ending.code, f"signal {ending.code}") if ending.kind == "signal" else "no answer in time"
    yield Evidence(how, label=f"stage {ending.stage}" + (f", {ending.doing}" if ending.doing else ""))
    yield from _of_stderr(ending.stderr)


def _of_stderr(text: str) -> Iterator[Evidence]:
    """Its first lines, each once."""
    lines = dict.fromkeys(line.strip() for line in text.splitlines() if line.strip())
    for line in [*lines][:_STDERR_LINES]:
        yield Evidence(line, label="standard error")


def _answer(trouble: Trouble, about: TrialContext) -> Answer:
    code, outcome, subject = trouble.cause.code, about.outcome, about.subject
    where = (Evidence(subject.why, file=outcome.library),) if subject.why else ()
    gpu = f" on GPU {outcome.gpu}" if trouble.stage in _ON_GPU and about.fact("device", "memory") != "host" else ""
    if code in {codes.OURS, codes.BUSY, codes.NOT_PROVEN}:  # no fault of the stack
        return unknown(f"{subject.name}{gpu}: {trouble.cause.why}")._replace(code=code, subject=subject.label + gpu)
    answer = bad(
        f"{subject.name}{gpu}: {trouble.cause.why}" + (_PASSED_OVER if trouble.is_passed_over else ""),
        *needs_of(about),
        severity=Severity.WARNING if code == codes.MEMORY or trouble.is_passed_over else Severity.ERROR,
        evidence=(*trouble.evidence, *where),
        explains=(*_explains(code, subject.label, gpu), *_of_sizes(code, subject)),
    )
    return answer._replace(code=code, subject=subject.label + gpu)


def _explains(code: str, label: str, gpu: str) -> tuple[Symptom, ...]:
    """What a fault of the files makes happen later, on whatever GPU."""
    if code in _ROOTS:
        later: tuple[str, ...] = _SYMPTOMS
    elif code in _SYMPTOMS:
        later = _SYMPTOMS[_SYMPTOMS.index(code) + 1 :]
    else:
        return ()
    return tuple(Symptom(one, subject) for one in later for subject in dict.fromkeys((label, label + gpu)))


def _of_sizes(code: str, subject: TrialSubject) -> tuple[Symptom, ...]:
    """A part of another release has another size than the package lists, too."""
    listed = subject.copy and subject.copy.owner and not value_or(subject.copy.missing, ())
    return (Symptom(codes.INCOMPLETE, subject.label),) if listed and code == codes.MIXED else ()


def rooted(answer: Answer, label: str) -> Answer:
    """An answer of one of `check`'s rules about a copy, which explains what a trial of it showed, on whatever GPU."""
    if answer.kind is not Status.BAD or answer.code not in (*_ROOTS, codes.PART_MISSING):
        return answer
    gpus = ("", *(f" on GPU {number}" for number in range(16)))
    more = [one for gpu in gpus for one in _explains(answer.code, label, gpu)]
    mine = [one for one in dict.fromkeys((*answer.explains, *more)) if one != (answer.code, answer.subject)]
    return answer._replace(explains=tuple(mine))


def _open(outcome: Outcome, subject: TrialSubject) -> Iterator[Answer]:
    """What was tried and could not be compared, without anything being wrong."""
    stage = outcome.stage("matrix")
    silent = stage.facts.get("dtypes_without_result", {}) if stage and stage.status == "passed" else {}
    for dtype, given in sorted(silent.items()):
        why = f"no algorithm computed {dtype} on GPU {outcome.gpu}: {given}"
        yield unknown(f"{subject.label}: {why}")._replace(code=codes.WRONG, subject=subject.label)


def _end(ending: Ending) -> str:
    words = " ".join(ending.stderr.split())[-300:]
    signal = codes.SIGNALS.get(ending.code, "") if ending.kind == "signal" else ""
    if ending.kind == "not-started":
        return f"the trial could not be started: {words or ending.doing}"
    if signal in _FROM_OUTSIDE:
        return f"the trial was ended from outside ({signal}), as the kernel does when memory runs out"
    return f"the trial ended before it was through, with exit status {ending.code}" + (f": {words}" if words else "")


def merged(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """One answer for each code and subject: what the files show, and what the trial showed, in one chain."""
    found: dict[tuple[str, str, Status], Answer] = {}
    for answer in answers:
        key = (answer.code, answer.subject, answer.kind)
        before = found.get(key)
        found[key] = _joined(before, answer) if before and answer.kind is Status.BAD else before or answer
    bad_ones = {(code, subject) for code, subject, kind in found if kind is Status.BAD}
    kept = [one for one in found.values() if one.kind is Status.BAD or (one.code, one.subject) not in bad_ones]
    return tuple(sorted(kept, key=lambda one: (one.code, one.subject, one.why)))


def _joined(one: Answer, other: Answer) -> Answer:
    return one._replace(
        severity=min(one.severity, other.severity, key=lambda severity: severity.rank),
        evidence=tuple(dict.fromkeys((*one.evidence, *other.evidence))),
        needs=one.needs or other.needs,
        explains=tuple(dict.fromkeys((*one.explains, *other.explains))),
    )
