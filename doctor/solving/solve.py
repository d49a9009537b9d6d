"""What `gpudoctor matrix solve` does, apart from reading its command line and printing."""

from __future__ import annotations

from compat.cards import Card, card_of
from compat.matrix import Matrix, Uncovered
from compat.reason import NO, UNKNOWN, YES
from compat.record import NamedTuple
from compat.spec import parse_spec
from doctor.choice import one_of
from doctor.formats import Look
from doctor.judging.products import known_product
from doctor.solving import can
from doctor.solving.solve_answer import Place, answer
from doctor.solving.solve_view import SCHEMA, to_json, to_text

_STATUS = {YES: 0, NO: 1, UNKNOWN: 4}


class Asked(NamedTuple):
    """What the user asked; "" is this machine's where nothing of another machine was named."""

    specs: tuple[str, ...]
    gpus: tuple[str, ...] = ()
    driver: str = ""
    python: str = ""
    os_family: str = ""
    arch: str = ""
    glibc: str = ""
    style: str = "text"

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is about another machine than this one."""
        return bool(self.gpus or self.driver or self.os_family or self.arch or self.glibc)


def ask(asked: Asked, look: Look) -> tuple[str, int]:
    """The text to print, and the exit status: a set was found 0, there is none 1, unknown 4.

    Raises BadSpec, VersionError, BadVersion and NoSuchName for what the user got wrong.
    """
    one_of("format", asked.style, ("text", "json"))
    matrix = Matrix.of_user()
    specs = tuple(known_product(parse_spec(text)) for text in asked.specs)
    try:
        place = place_of(asked, matrix)
    except Uncovered as error:
        return can.no_card(str(error), matrix, _as_can(asked), look, SCHEMA)
    found = answer(specs, place, matrix)
    text = to_json(found, matrix) if asked.style == "json" else to_text(found, look)
    return text, _STATUS[found.verdict]


def place_of(asked: Asked, matrix: Matrix) -> Place:
    """What was named, else this machine as it is; raises Uncovered for a card that no row has."""
    if not asked.is_elsewhere:
        return _here(asked)
    cards = tuple(card_of(name, matrix) for name in asked.gpus)
    chips = tuple(dict.fromkeys(chip for card in cards for chip in card.capabilities))
    return Place(cards, can.circumstances_of(_as_can(asked))._replace(capabilities=chips), is_here=False)


def _as_can(asked: Asked) -> can.Asked:
    os_family, arch = asked.os_family or "linux", asked.arch or "x86_64"
    return can.Asked(asked.specs, asked.gpus, asked.driver, asked.python, os_family, arch, asked.glibc, asked.style)


def _here(asked: Asked) -> Place:
    """This machine's cards, driver, system and Python; a Python that was named takes its place."""
    from doctor.examine import host_of  # late: nothing is probed for another machine
    from doctor.facts.seen import Seen, value_or
    from doctor.probes import Request, look
    from doctor.solving.planned import circumstances_of

    facts = look(host_of(None), Request(()))
    environments = value_or(facts.environments, ())
    seen = value_or(environments[0].python, "") if environments else ""
    python = can.circumstances_of(_as_can(asked)).python or ".".join(seen.split(".")[:2])
    where = circumstances_of(facts, python)
    cards = tuple(
        Card(value_or(gpu.name, "GPU"), (gpu.capability.value,), "", "", "")
        for gpu in value_or(facts.gpus, ())
        if isinstance(gpu.capability, Seen) and gpu.capability.value in where.capabilities
    )
    return Place(cards, where, is_here=True)
