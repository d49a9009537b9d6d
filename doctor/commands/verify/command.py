"""What `gpudoctor verify` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from compat.base.choice import one_of
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.version import CodeTarget, ComputeCapability, VersionError
from doctor.commands.verify.copies import Manner, gpus_of, try_copies
from doctor.commands.verify.cudnn_trial.outcome import LEVELS, Order, Outcome
from doctor.commands.verify.document import VerifyDocument
from doctor.commands.verify.findings import merged
from doctor.commands.verify.machine_rules import against_the_driver
from doctor.commands.verify.node import try_node
from doctor.commands.verify.static_findings import answers_around
from doctor.commands.verify.subject import Known, named, predicted
from doctor.commands.verify.target import of_target
from doctor.commands.verify.trial import programs
from doctor.commands.verify.verification import FrameworkTried, GpuTried, Tried, Verification
from doctor.diagnose import NO_GPU, findings_of
from doctor.host import BadRequest
from doctor.host.choice import host_of
from doctor.model.finding import bad
from doctor.output.document import TextStyle
from doctor.output.write import deliver_all, deliveries
from doctor.probes import ProbeRequest, look

Note = Callable[[str], None]


class Options(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    cudnn: tuple[str, ...] = ()
    python: str | None = None
    frameworks: str = ""  # names with commas between them
    target: str = ""  # "sm_120": a GPU that need not be there
    gpu: str | None = None  # a number, or "all"; None: 0, at level node all
    level: str = "conv"
    style: str = ""  # of --format; "" where nobody said
    outputs: tuple[str, ...] = ()  # files, each in the format of its suffix; "-" is standard output
    timeout_s: float = 300.0
    redact: bool = False
    memory: str = "cupy"  # "host": for a library that computes there, as the tests' own does


def verify(options: Options, terminal: TextStyle, note: Note) -> tuple[str, int]:
    """Test cuDNN: the text to print ("" when it went to a file) and the exit status.

    `note` is told what is under way. Raises NoSuchName, BadRequest and NotWritten for what the user got wrong.
    """
    started = time.perf_counter()
    asked = deliveries(options.style, options.outputs, VerifyDocument)
    options = options._replace(level=one_of("level", options.level, tuple(LEVELS)))
    one_of("memory", options.memory, ("cupy", "host"))
    wanted = tuple(one_of("framework", name.strip(), programs()) for name in options.frameworks.split(",") if name)
    if not 0 < options.timeout_s < float("inf"):
        raise BadRequest("--timeout: give a number of seconds above 0")
    if options.target:
        options = options._replace(target=str(_target(options.target)), level="load")
    done = verification_of(options, wanted, note, started)
    if options.redact:
        from doctor.output.redact import redact  # late: only runs that ask for it pay for its patterns

        done = redact(done, host_of(None), done.facts)
    return deliver_all(VerifyDocument(done), asked, terminal), done.status


def _target(text: str) -> ComputeCapability:
    try:
        return CodeTarget.parse(text).capability if "_" in text else ComputeCapability.parse(text)
    except VersionError as error:
        raise BadRequest(f"--for {text}: give a GPU's architecture, as sm_120 or 12.0") from error


def verification_of(options: Options, wanted: tuple[str, ...], note: Note, started: float) -> Verification:
    """Look at the machine, try every copy that is meant, and judge what came of it."""
    note("looking at this machine")
    host = host_of(None)
    facts = look(host, ProbeRequest((options.python,) if options.python else ()))
    known = Known(host, facts, Matrix.of_user())
    gpus = gpus_of(options.level, options.gpu, facts)
    if facts.has_gpu is False and options.level != "load" and not options.cudnn and options.memory != "host":
        return _without_gpu(known, options, started)
    paths = tuple(os.path.abspath(path).replace(os.sep, "/") for path in options.cudnn)
    chosen = named(paths, host, facts) if paths else predicted(host, facts, wanted)
    order = Order(
        "",
        level=options.level,
        memory=options.memory,
        plan_for=options.target,
        timeout_s=options.timeout_s,
        stage_timeout_s=min(Order("").stage_timeout_s, options.timeout_s),
    )
    manner = Manner(known, order, note)
    tried_gpus: tuple[GpuTried, ...] = ()
    if options.level == "node":
        tried_gpus, copies = try_node(chosen.subjects, gpus, manner, started)
    else:
        copies = try_copies(chosen.subjects, gpus, manner)
    frameworks = _frameworks(wanted, options, known, note)
    every: tuple[GpuTried | Tried | FrameworkTried, ...] = (*tried_gpus, *copies, *frameworks)
    tried = [answer for one in every for answer in one.answers]
    tried += against_the_driver(known, tried)
    asked = {one.subject for one in copies if _has_planned(one.outcome)}
    if options.target:
        tried += [answer for one in copies for answer in of_target(one, ComputeCapability.parse(options.target), known)]
    answers = merged((*answers_around(chosen, known, options.level, tried, asked), *tried))
    return Verification(
        facts=facts,
        level=options.level,
        target=options.target,
        gpus=tried_gpus,
        copies=copies,
        frameworks=frameworks,
        answers=answers,
        findings=findings_of(answers, facts, known.matrix),
        matrix_as_of=known.matrix.as_of(),
        elapsed_s=time.perf_counter() - started,
    )


def _without_gpu(known: Known, options: Options, started: float) -> Verification:
    """Return the one finding that nothing can be computed; nothing is to be installed for it."""
    why = "this machine has no NVIDIA GPU to compute on (--level load needs none)"
    answers = (bad(why)._replace(code=NO_GPU, subject=known.facts.machine.label),)
    return Verification(
        facts=known.facts,
        level=options.level,
        copies=(),
        frameworks=(),
        answers=answers,
        findings=findings_of(answers, known.facts, known.matrix),
        matrix_as_of=known.matrix.as_of(),
        elapsed_s=time.perf_counter() - started,
    )


def _has_planned(outcome: Outcome) -> bool:
    stage = outcome.stage("plans")
    return stage is not None and not stage.facts.get("not_asked")


def _frameworks(wanted: tuple[str, ...], options: Options, known: Known, note: Note) -> tuple[FrameworkTried, ...]:
    if not wanted or options.level == "load":
        return ()  # level load computes nothing: a framework is then only a way to name its copy
    from doctor.commands.verify.via_framework import Way, through  # late: only where a framework is named

    gpu = gpus_of("conv", options.gpu, known.facts)[0]
    return through(wanted, Way(known, gpu, options.timeout_s), note)
