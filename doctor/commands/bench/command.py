"""What `gpudoctor bench` does, apart from reading its command line and printing."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from compat.base.choice import one_of
from compat.base.record import NamedTuple
from doctor.commands.bench import networks
from doctor.commands.bench.document import BenchDocument
from doctor.commands.bench.encode import NotABench, decode_bench
from doctor.commands.bench.measure import run
from doctor.commands.bench.missing import explained
from doctor.commands.bench.outcome import PATHS, TORCH, Bench, Network, Order, Progress
from doctor.commands.bench.pictures import Pictures, notes_on, pictures_for
from doctor.commands.bench.results_table import Report, subject_of
from doctor.host import BadRequest, Host, HostError
from doctor.host.choice import host_of
from doctor.host.files import open_named
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.output.document import TextStyle
from doctor.output.write import deliver, format_for

if TYPE_CHECKING:
    from doctor.commands.verify.subject import Subject as Copy

COMPLETE, INCOMPLETE = 0, 4
SMALL = ("cifar10", "mnist", "dogs-vs-cats", "lenet")  # those of a minute, not of an evening
DEVICES = {"cpu": PATHS[:1], "gpu": PATHS[1:], "all": PATHS}
_POOLS = {"on": (True,), "off": (False,), "both": (True, False)}
_READ_AT_MOST = 64 << 20  # bytes of a saved benchmark

Note = Callable[[Progress], None]


class Options(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    networks: tuple[str, ...] = ()
    device: str = "all"
    cudnn: str | None = None
    python: str | None = None
    gpu: int = 0
    batch: int = 0
    steps: int = 0
    seconds: float = 20.0  # how long one network may be timed on one path, where the steps are not said
    pool: str = "both"
    data: str | None = None
    tf32: bool = False  # products of the GPU may be rounded so
    style: str = "text"
    output: str | None = None
    saved: str | None = None  # show this one again, measure nothing
    redact: bool = False


def bench(options: Options, terminal: TextStyle, report: Note) -> tuple[str, int]:
    """Measure and show: the text to print ("" when it went to a file) and the exit status.

    Raises NoSuchName, BadRequest, NotABench and NotWritten for what the user got wrong.
    """
    chosen = format_for(options.style, BenchDocument)
    found = _saved(options.saved) if options.saved is not None else _measured(options, report)
    if options.redact:
        from doctor.output.redact import redact

        found = redact(found, host_of(None))
    status = INCOMPLETE if found.bench.lacks else COMPLETE
    return deliver(BenchDocument(found), chosen, options.output, terminal), status


def _saved(path: str) -> Report:
    try:
        with open_named(path) as stream:
            text = stream.read(_READ_AT_MOST)
        return decode_bench(_plain(json.loads(text)))
    except OSError as error:
        raise NotABench(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise NotABench(f"{path}: {error}") from error
    except NotABench as error:
        raise NotABench(f"{path}: {error}") from error


def _plain(value: Any) -> Any:
    """The value with every text in one printable line, without markup: somebody else may have written the file."""
    if isinstance(value, str):
        line = "".join(one if one.isprintable() else " " for one in value)
        return re.sub(r"<(?=[A-Za-z/!?])", "\u2039", line)  # no tag in Markdown, SVG or a terminal
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, dict) else value


def _measured(options: Options, report: Note) -> Report:
    wanted = chosen_networks(options.networks)
    order, facts = order_of(options, wanted), None
    host = host_of(None)
    if options.device != "cpu":
        order, facts = _with_cudnn(options, order, host)
    if options.device != "gpu":
        order = order._replace(torch=_torch(options, facts, host))
    with ExitStack() as stack:
        pictures = _pictures(options, wanted, stack)
        order = order._replace(
            networks=tuple(_sized(one, pictures) for one in wanted),
            data={name: one.folder for name, one in pictures.items()},
        )
        done = run(order, report, host)
    done = _with_data(done, options, {one.name: one for one in wanted}, pictures)
    done = done._replace(lacks=tuple(explained(one, facts) for one in done.lacks))
    return Report(command_of(options), tuple(map(subject_of, wanted)), done)


def chosen_networks(names: tuple[str, ...]) -> tuple[Network, ...]:
    """The networks of these names, each once; the small ones where none is named; raises NoSuchName."""
    known = networks.names()
    every = [one for name in names for one in (known if name == "all" else (one_of("network", name, known),))]
    return tuple(networks.load(name) for name in dict.fromkeys(every or SMALL))


def order_of(options: Options, wanted: tuple[Network, ...]) -> Order:
    """What is to be measured; raises NoSuchName, BadRequest."""
    paths = DEVICES[one_of("device", options.device, tuple(DEVICES))]
    pools = _POOLS[one_of("way of the memory pool", options.pool, tuple(_POOLS))]
    for name, value in (("--batch", options.batch), ("--steps", options.steps), ("--gpu", options.gpu)):
        if value < 0:
            raise BadRequest(f"{name} {value}: a number from {'0' if name == '--gpu' else '1'} up")
    if not 0 < options.seconds < float("inf"):
        raise BadRequest(f"--seconds {options.seconds}: give a number of seconds above 0")
    return Order(
        wanted,
        paths,
        gpu=options.gpu,
        batch=options.batch,
        steps=options.steps,
        seconds=options.seconds,
        pools=pools,
        dtype="tf32" if options.tf32 else "fp32",
    )


def _torch(options: Options, facts: Facts | None, host: Host) -> tuple[str, ...]:
    """Interpreter and directory of the first torch in the environments that `check` looks at; raises BadRequest."""
    if facts:
        environments = facts.environments
    else:
        from doctor.host.snapshot import Snapshot
        from doctor.probes import Guard, environment

        environments = Guard().one("environment", lambda: environment.look(Snapshot(host), _pythons(options)))
    for one in value_or(environments, ()):
        for framework in value_or(one.frameworks, ()):
            if framework.package == "torch" and framework.path:
                return one.interpreter, framework.path
    return ()


def _pythons(options: Options) -> tuple[str, ...]:
    return (options.python,) if options.python else ()


def _with_cudnn(options: Options, order: Order, host: Host) -> tuple[Order, Facts]:
    """With the library to measure, if there is one, and what was seen of this machine. Raises BadRequest."""
    from doctor.commands.verify.subject import library_dirs, named, predicted
    from doctor.probes import ProbeRequest, look

    facts = look(host, ProbeRequest(_pythons(options)))
    if options.cudnn:
        path = os.path.abspath(options.cudnn).replace(os.sep, "/")
        chosen = named((path,), host, facts)
    else:
        chosen = predicted(host, facts)
    subject = next((one for one in chosen.subjects if one.library), None)
    if subject is None and options.cudnn:
        raise BadRequest(f"--cudnn {options.cudnn}: it has no main library")
    if subject is None:
        return order, facts
    folders = library_dirs(subject, facts)
    _refuse_unsafe(host, subject, folders)
    return order._replace(library=subject.library, library_dirs=folders), facts


def _refuse_unsafe(host: Host, subject: Copy, folders: tuple[str, ...]) -> None:
    """Load nothing that another user could change; raises BadRequest."""
    try:
        for path in (subject.library, *(part.path for part in value_or(subject.copy.parts, ())), *folders):
            host.refuse_unsafe(path)
    except HostError as refused:
        raise BadRequest(f"{subject.library} is not loaded: {refused}") from refused


def _pictures(options: Options, wanted: tuple[Network, ...], stack: ExitStack) -> dict[str, Pictures]:
    if options.data is None:
        return {}
    folders = {one.name: stack.enter_context(TemporaryDirectory(prefix="gpudoctor-bench-")) for one in wanted}
    return {one.name: pictures_for(one, options.data, options.batch or one.batch, folders[one.name]) for one in wanted}


def _sized(network: Network, pictures: dict[str, Pictures]) -> Network:
    """With an epoch over the user's own pictures, where there are some."""
    own = pictures.get(network.name)
    return network._replace(images_per_epoch=own.usable) if own else network


def _with_data(done: Bench, options: Options, wanted: dict[str, Network], pictures: dict[str, Pictures]) -> Bench:
    """With the user's own name for the data, and what became of it."""
    if not pictures:
        return done
    told = tuple(note for name, one in pictures.items() for note in notes_on(wanted[name], one))
    own = str(options.data)
    timings = tuple(
        one._replace(data=own) if one.network in pictures and one.path != TORCH else one for one in done.timings
    )
    return done._replace(timings=timings, notes=(*done.notes, *told))


def command_of(options: Options) -> str:
    """The command that measures the same again."""
    words = ["gpudoctor", "bench", *options.networks]
    defaults = Options()
    for name in ("device", "cudnn", "python", "gpu", "batch", "steps", "seconds", "data"):
        if getattr(options, name) != getattr(defaults, name):
            words += [f"--{name}", f"{getattr(options, name)}"]
    words += ["--memory-pool", options.pool] if options.pool != defaults.pool else []
    words += ["--tf32"] if options.tf32 else []
    return shlex.join(words)
