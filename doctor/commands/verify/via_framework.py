"""The same convolution through the user's frameworks, judged as a trial of a copy is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat

from compat.base.record import NamedTuple
from compat.need import Advice
from doctor.commands.verify.cudnn_trial.memory import MOST_BYTES
from doctor.commands.verify.cudnn_trial.outcome import Outcome, Stage
from doctor.commands.verify.findings import answers_of
from doctor.commands.verify.missing import lacks_of_framework
from doctor.commands.verify.subject import Known, TrialSubject
from doctor.commands.verify.trial import Case, Trial, fault_of, program_of, try_framework
from doctor.commands.verify.verification import FrameworkTried
from doctor.diagnose import answers_under_policy
from doctor.host import BadRequest
from doctor.messages import cause as codes
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Severity, Status, Symptom, bad, unknown
from doctor.rules.shared.cudnn_use import loaded_copy
from doctor.rules.shared.rule import NotApplicable

_FAILED = "framework-convolution-failed"
_WORDS_AT_MOST = 600
_LOOK = "Run gpudoctor check --deep, which looks at this framework's files and libraries."


class Way(NamedTuple):
    """How frameworks are tried."""

    known: Known
    gpu: int
    timeout_s: float


def through(wanted: tuple[str, ...], way: Way, note: Callable[[str], None]) -> tuple[FrameworkTried, ...]:
    """A trial of every installed framework that is named; raises BadRequest for one that is not installed."""
    found = []
    for name in wanted:
        cases = tuple(_cases(name, way))
        if not cases:
            where = ", ".join(one.label for one in value_or(way.known.facts.environments, ())) or "no environment"
            raise BadRequest(f"--framework {name}: it is not installed in {where}; --python names another")
        for case in cases:
            note(f"trying {case.framework.label} on GPU {case.gpu}")
            found.append(_tried(case, way))
    return tuple(found)


def _cases(name: str, way: Way) -> Iterator[Case]:
    for environment in value_or(way.known.facts.environments, ()):
        for framework in value_or(environment.frameworks, ()):
            if program_of(framework.package) == name:
                yield Case(way.known.host, environment, framework, gpu=way.gpu, share=share_of(way.known.facts))


def share_of(facts: Facts) -> float:
    """What a trial may take of the memory of the smallest GPU; 0.0 where that is not known, or it is cut in parts."""
    sizes = [value_or(gpu.memory_bytes, 0) for gpu in value_or(facts.gpus, ())]
    is_cut = any(value_or(gpu.mig_enabled, False) for gpu in value_or(facts.gpus, ()))
    return MOST_BYTES / min(sizes) if sizes and all(sizes) and not is_cut else 0.0


def _tried(case: Case, way: Way) -> FrameworkTried:
    trial = try_framework(case, value_or(way.known.facts.loader.predictions, ()), way.timeout_s)
    return FrameworkTried(
        trial, tuple(answers_through(trial, case.framework, way.known)), lacks_of_framework(trial, way.known.facts)
    )


def answers_through(trial: Trial, framework: Framework, known: Known) -> Iterator[Answer]:
    """What is wrong (BAD), and what stays open (UNKNOWN); nothing for a trial that passed."""
    is_lacking = known.facts.has_gpu is True and any(one.lacks for one in trial.stages)
    if is_lacking and not framework.is_cpu_build:
        trial = _blamed(trial)
    own = tuple(_of_python(trial))
    yield from own
    for one in trial.surprises:
        why = f"{trial.framework} mapped {one.mapped}, where check predicts {one.predicted or 'that nothing is found'}"
        yield unknown(why)._replace(code=codes.OURS, subject=trial.framework)
    if trial.doubt:
        yield unknown(f"{trial.framework}: {trial.doubt}")._replace(code=codes.NOT_CUDNN, subject=trial.framework)
    if not own and not trial._replace(surprises=(), doubt="").has_passed:
        patient = TrialSubject(trial.framework, _copy(framework, known.facts))
        outcome = Outcome(
            library=trial.interpreter,
            gpu=trial.gpu,
            level="conv",
            stages=trial.stages,
            rows=trial.rows,
            ending=trial.ending,
        )
        said = answers_of(outcome, patient, known.facts, known.matrix)
        yield from said
        yield from _of_rules(framework.label, known, said) if is_lacking else ()


def _blamed(trial: Trial) -> Trial:
    """A framework that finds no GPU where one is has failed, by its own words; not one that is not made to use any."""
    lacking = {one.name for one in trial.stages if one.status == "missing" and not one.facts.get("is_meant")}
    return trial._replace(stages=tuple(_failed(one, trial) if one.name in lacking else one for one in trial.stages))


def _failed(stage: Stage, trial: Trial) -> Stage:
    """By the one line of its words that names a cause; what else it says is mostly of other things."""
    lines = (stage.lacks, *trial.ending.stderr.splitlines())
    found = fault_of("", "\n".join(lines))
    same = (one for one in map(fault_of, repeat(""), lines) if one[:4] == found[:4])
    fault = found._replace(kind="unused", text=stage.lacks) if found.kind == "python" else next(same, found)
    return stage._replace(status="failed", lacks="", fault=fault)


def _of_rules(label: str, known: Known, said: Iterable[Answer]) -> Iterator[Answer]:
    """What check's own rules have against this framework: why it finds no GPU."""
    symptoms = tuple(Symptom(one.code, one.subject) for one in said)
    for one in answers_under_policy(known.facts, known.matrix):
        if (one.kind, one.severity, one.subject) == (Status.BAD, Severity.ERROR, label):
            yield one._replace(explains=(*one.explains, *symptoms))


def _of_python(trial: Trial) -> Iterator[Answer]:
    """Failures that speak of the framework, not of cuDNN: its import, and exceptions whose words name no cause."""
    ending = trial.ending
    if ending.stage == "import" and ending.kind in {"signal", "timed-out"}:
        how = codes.SIGNALS.get(ending.code, f"signal {ending.code}") if ending.kind == "signal" else "a hang"
        code = "framework-import-crash" if ending.kind == "signal" else "framework-import-hang"
        yield _bad(trial, code, f"importing {trial.framework} ends in {how}", ending.stderr)
    for stage in trial.stages:
        if stage.status == "failed" and stage.fault and stage.fault.kind == "python":
            what = "cannot be imported" if stage.name == "import" else f"fails in stage {stage.name}"
            last_line = stage.fault.text.strip().rpartition("\n")[2]
            yield _bad(trial, _FAILED, f"{trial.framework} {what}: {last_line}", stage.fault.text)


def _bad(trial: Trial, code: str, why: str, words: str) -> Answer:
    evidence = (Evidence(" ".join(words.split())[-_WORDS_AT_MOST:], label=f"{trial.interpreter}, {trial.package}"),)
    return bad(why, Advice(_LOOK), evidence=evidence)._replace(code=code, subject=trial.framework)


def _copy(framework: Framework, facts: Facts) -> CudnnCopy | None:
    """The copy that a framework was predicted to load, None if that is unknown."""
    try:
        return loaded_copy(framework, facts)
    except (NotApplicable, UnseenError):
        return None
