"""Each copy of cuDNN in a child of its own, on each GPU that is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from compat.base.record import NamedTuple
from doctor.commands.verify.cudnn_trial.outcome import Ending, Order, Outcome
from doctor.commands.verify.findings import answers_of
from doctor.commands.verify.missing import lacks_of
from doctor.commands.verify.subject import Known, Subject, TrialSubject, library_dirs
from doctor.commands.verify.verification import Tried
from doctor.host import BadRequest, HostError
from doctor.messages import cause as codes
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.model.finding import unknown

_GPUS_AT_MOST = 64
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class Manner(NamedTuple):
    """How copies are tried."""

    known: Known
    order: Order  # with everything but the library, its neighbours and the GPU
    note: Callable[[str], None]


def gpus_of(level: str, wanted: str | None, facts: Facts) -> tuple[int, ...]:
    """The GPUs that are meant, as CUDA numbers them; raises BadRequest.

    CUDA_VISIBLE_DEVICES counts: GPU 0 is the first that it names.
    """
    wanted = ("all" if level == "node" else "0") if wanted is None else wanted
    if wanted != "all" and not (wanted.isascii() and wanted.isdigit() and int(wanted) < _GPUS_AT_MOST):
        raise BadRequest(f"--gpu {wanted}: give a number, or all")
    if level == "load":
        return (0,)
    if wanted != "all":
        return (int(wanted),)
    visible = next((one.value for one in value_or(facts.configuration.variables, ()) if one.name == _VISIBLE), None)
    total = len(value_or(facts.gpus, ()))
    shown = total if visible is None else min(total, len([one for one in visible.split(",") if one.strip()]))
    return tuple(range(min(max(1, shown), _GPUS_AT_MOST)))


def try_copies(subjects: Iterable[Subject], gpus: tuple[int, ...], manner: Manner) -> tuple[Tried, ...]:
    """Every copy that has a main library, on every GPU."""
    return tuple(
        tried for subject in subjects if subject.library for gpu in gpus for tried in _try(subject, (gpu,), manner)
    )


def try_copies_at_once(subjects: Iterable[Subject], gpus: tuple[int, ...], manner: Manner) -> tuple[Tried, ...]:
    """The same, on all GPUs at the same time."""
    return tuple(tried for subject in subjects if subject.library and gpus for tried in _try(subject, gpus, manner))


def _try(subject: Subject, gpus: tuple[int, ...], manner: Manner) -> Iterator[Tried]:
    from doctor.commands.verify.cudnn_trial.run import run_together  # late: bad usage answers at once

    host, facts, matrix = manner.known
    level = manner.order.level
    on = "" if level == "load" else f" on GPU {', '.join(map(str, gpus))}"
    manner.note(f"trying {subject.label}{on}, level {level}")
    order = manner.order._replace(library=subject.library, library_dirs=library_dirs(subject, facts))
    try:
        parts = (part.path for part in value_or(subject.copy.parts, ()))
        for path in (subject.library, *parts, *order.library_dirs):
            host.refuse_unsafe(path)
    except HostError as refused:
        yield from (_refused(subject, order._replace(gpu=gpu), refused) for gpu in gpus)
        return
    patient = TrialSubject(subject.label, subject.copy, subject.why)
    for outcome in run_together(tuple(order._replace(gpu=gpu) for gpu in gpus)):
        yield Tried(subject, outcome, answers_of(outcome, patient, facts, matrix), lacks_of(outcome, facts))


def _refused(subject: Subject, order: Order, refused: HostError) -> Tried:
    outcome = Outcome(
        library=order.library,
        gpu=order.gpu,
        level=order.level,
        stages=(),
        rows=(),
        ending=Ending(kind="not-started", code=0, stage="", doing="", stderr=str(refused)),
    )
    answer = unknown(f"{subject.label} was not loaded: {refused}")._replace(code=codes.OURS, subject=subject.label)
    return Tried(subject, outcome, (answer,), "")
