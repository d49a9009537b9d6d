"""What `gpudoctor matrix solve` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import whole_release
from compat.can import with_companions
from compat.cards import GpuCard, gpu_cards_of
from compat.matrix import Matrix, Uncovered
from compat.reason import NO, UNKNOWN, YES
from compat.solve.search import Solution
from compat.spec import Spec, parse_specs
from compat.target import TargetMachine
from doctor.commands.matrix import can
from doctor.commands.matrix.dates import old_rows
from doctor.commands.matrix.solve_answer import Place, answer
from doctor.commands.matrix.solve_view import SCHEMA, SolveDocument
from doctor.output.document import TextStyle
from doctor.output.write import deliver, format_for, write_new
from doctor.rules.shared.products import NotJudged, known_products

_OF_SYSTEM = {"cuda": "cuda==12.4", "cudnn": "cudnn==9.10"}
_STATUS = {YES: 0, NO: 1, UNKNOWN: 4}


class SolveRequest(NamedTuple):
    """What the user asked; "" is this machine's where nothing of another machine was named."""

    specs: tuple[str, ...]
    gpus: tuple[str, ...] = ()
    driver: str = ""
    python: str = ""
    os_family: str = ""
    arch: str = ""
    glibc: str = ""
    style: str = "text"
    output: str | None = None
    sources: bool = False  # print the rows and where they are from
    write: str | None = None  # a project's file to write the set to

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is about another machine than this one."""
        return bool(self.gpus or self.driver or self.os_family or self.arch or self.glibc)


def ask(asked: SolveRequest, terminal: TextStyle) -> tuple[str, int]:
    """The text to print ("" when it went to a file), and the exit status: a set 0, there is none 1, unknown 4.

    Raises BadSpec, VersionError, BadVersion, NoSuchName, Unwritable and NotWritten for what the user got wrong.
    A set that is not known to work is not written.
    """
    chosen = format_for(asked.style, SolveDocument)
    manifest = _manifest_for(asked.write, asked.output) if asked.write is not None else None
    matrix = Matrix.of_user()
    named, not_judged = _packages(asked.specs, matrix)
    specs = tuple(spec for spec in named if spec.name not in _OF_SYSTEM)
    document: SolveDocument | can.NoCard
    try:
        place = place_of(asked, matrix)
        place = place._replace(circumstances=with_companions(named, place.circumstances, matrix))
    except Uncovered as error:
        document, verdict = can.NoCard(str(error), matrix, asked.gpus, SCHEMA), UNKNOWN
    else:
        found = answer(specs, place, matrix)
        found = found._replace(not_judged=not_judged, old=old_rows(specs, found.verdict, matrix))
        document = SolveDocument(found, matrix, sources=asked.sources)
        verdict = document.answer.verdict
        if manifest and verdict == YES and document.answer.solution:
            write_new(str(asked.write), manifest(document.answer.solution, place.circumstances, matrix))
    return deliver(document, chosen, asked.output, terminal), _STATUS[verdict]


class NoPackage(GpudoctorError):
    """CUDA or cuDNN was asked for without a package, or without the release that the system has."""


def _packages(texts: tuple[str, ...], matrix: Matrix) -> tuple[tuple[Spec, ...], tuple[NotJudged, ...]]:
    """Read the packages, and cuda==X and cudnn==X of the system; raises NoPackage, and what `known_products` does."""
    known, not_judged = known_products(parse_specs(texts), *_OF_SYSTEM)
    of_system = [spec for spec in known if spec.name in _OF_SYSTEM]
    for spec in of_system if len(of_system) == len(known) else ():
        raise NoPackage(f"{spec.name} is no package: name one that uses it, {spec.name}{spec.versions} torch")
    for spec in of_system:
        if not re.fullmatch(r"==\d+(\.\d+){1,3}(\.\*)?", spec.versions):
            raise NoPackage(f"which {spec.name} does the system have? e.g. {_OF_SYSTEM[spec.name]}")
    return tuple(dict.fromkeys(whole_release(spec, matrix) for spec in known)), not_judged


def _manifest_for(path: str, report: str | None) -> Callable[[Solution, TargetMachine, Matrix], str]:
    """What makes of a set the text of such a file; raises Unwritable for a name of none, and for that of the report."""
    from doctor.commands.matrix.manifest import Unwritable, manifest_for, project_of  # late: only --write needs them

    manifest = manifest_for(path)
    if report is not None and os.path.realpath(report) == os.path.realpath(path):
        raise Unwritable(f"{path} cannot hold the report as well: name another file for one of them")
    return lambda solution, where, matrix: manifest.render(project_of(solution, where, matrix))


def place_of(asked: SolveRequest, matrix: Matrix) -> Place:
    """What was named, else this machine as it is; raises Uncovered for a card that no row has."""
    if not asked.is_elsewhere:
        return _here(asked, matrix)
    cards = gpu_cards_of(asked.gpus, matrix)
    chips = tuple(dict.fromkeys(chip for card in cards for chip in card.capabilities))
    families = tuple(dict.fromkeys(card.family for card in cards))
    where = can.circumstances_of(_as_can(asked), matrix, can.machine_arch(cards, matrix))
    return Place(cards, where._replace(capabilities=chips, families=families), is_here=False)


def _as_can(asked: SolveRequest) -> can.CanRequest:
    return can.CanRequest(
        specs=asked.specs,
        gpus=asked.gpus,
        driver=asked.driver,
        python=asked.python,
        os_family=asked.os_family,
        arch=asked.arch,
        glibc=asked.glibc,
    )


def _here(asked: SolveRequest, matrix: Matrix) -> Place:
    """This machine's cards, driver, system and Python; a Python that was named takes its place."""
    from doctor.host.choice import host_of  # late: nothing is probed for another machine
    from doctor.model.facts.seen import Seen, value_or
    from doctor.planned.planned import circumstances_of
    from doctor.probes import ProbeRequest, look

    facts = look(host_of(None), ProbeRequest(()))
    environments = value_or(facts.environments, ())
    seen = value_or(environments[0].python, "") if environments else ""
    python = can.circumstances_of(_as_can(asked), matrix).python or ".".join(seen.split(".")[:2])
    where = circumstances_of(facts, python)
    cards = tuple(
        GpuCard(name=value_or(gpu.name, "GPU"), capabilities=(gpu.capability.value,), row="", source="", note="")
        for gpu in value_or(facts.gpus, ())
        if isinstance(gpu.capability, Seen) and gpu.capability.value in where.capabilities
    )
    return Place(cards, where, is_here=True)
