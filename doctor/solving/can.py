"""What `gpudoctor matrix can` does, apart from reading its command line and printing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from compat.can import Answer, Candidate, Case, Reply, can
from compat.cards import Card, card_of
from compat.error import GpudoctorError
from compat.matrix import Matrix, Uncovered
from compat.reason import BAD, NO, OK, UNKNOWN, YES, Circumstances, Reason
from compat.record import NamedTuple
from compat.spec import parse_spec
from compat.version import DriverRelease
from doctor.choice import one_of
from doctor.formats import Look
from doctor.judging.products import known_product
from doctor.page import Page

SCHEMA = "gpudoctor.can/1"
_STATUS = {YES: 0, NO: 1, UNKNOWN: 4}
_COLOURS = {YES: "green", OK: "green", NO: "red", BAD: "red", UNKNOWN: "yellow"}
_SYMBOLS = {OK: ("✓", "+"), BAD: ("✗", "x"), UNKNOWN: ("?", "?")}
_SYSTEMS = ("linux", "windows", "macos")
_ARCHES = ("x86_64", "sbsa", "jetson", "ppc64le")
_MOST_SHOWN = 8


class Asked(NamedTuple):
    """What the user asked; the defaults are those of the command line."""

    specs: tuple[str, ...]
    gpus: tuple[str, ...] = ()
    driver: str = ""
    python: str = ""
    os_family: str = "linux"
    arch: str = "x86_64"
    glibc: str = ""
    style: str = "text"


class BadVersion(GpudoctorError):
    """A Python or glibc version is not one."""


def ask(asked: Asked, look: Look) -> tuple[str, int]:
    """The text to print, and the exit status: yes 0, no 1, unknown 4.

    Raises BadSpec, VersionError, BadVersion and NoSuchName for what the user got wrong.
    """
    one_of("format", asked.style, ("text", "json"))
    matrix = Matrix.of_user()
    specs = tuple(known_product(parse_spec(text), "cuda", "cudnn") for text in asked.specs)
    where = circumstances_of(asked)
    try:
        cards = tuple(card_of(name, matrix) for name in asked.gpus)
    except Uncovered as error:
        return no_card(str(error), matrix, asked, look)
    reply = can(specs, cards, where, matrix)
    if asked.style == "json":
        text = json.dumps(encoded(reply, cards, where, matrix), indent=2, ensure_ascii=False) + "\n"
    else:
        text = _page(reply, cards, where, look)
    return text, _STATUS[reply.verdict]


def circumstances_of(asked: Asked) -> Circumstances:
    """Raises VersionError, BadVersion and NoSuchName."""
    return Circumstances(
        os_family=one_of("operating system", asked.os_family, _SYSTEMS),
        arch=one_of("architecture", asked.arch, _ARCHES),
        python=_dotted("Python", asked.python),
        driver=DriverRelease.parse(asked.driver) if asked.driver else None,
        glibc=_dotted("glibc", asked.glibc),
    )


def _dotted(kind: str, text: str) -> str:
    """The first two parts of a version, a free-threaded Python's "t" included; raises BadVersion."""
    import re

    found = re.fullmatch(r"(\d{1,3}\.\d{1,3})(?:\.\d{1,3})?(t?)", text)
    if text and not found:
        raise BadVersion(f"{text!r} is not a {kind} version such as {'3.12' if kind == 'Python' else '2.31'}")
    return found[1] + found[2] if found else ""


def no_card(why: str, matrix: Matrix, asked: Asked, look: Look, schema: str = SCHEMA) -> tuple[str, int]:
    """A card that no row has: it may be new, so this is no mistake of the user's."""
    from difflib import get_close_matches  # late: only for names that are not there

    names = [row.name.removeprefix("NVIDIA ") for row in matrix.rows("gpu", "products")]
    near = [match for name in asked.gpus for match in get_close_matches(name, names, n=3)]
    advice = "give its compute capability instead, --gpu sm_89"
    advice += f"; near names are {', '.join(near)}" if near else ""
    if asked.style == "json":
        reply = {"schema": schema, "verdict": UNKNOWN, "why": f"{why}; {advice}", "cases": []}
        return json.dumps(reply, indent=2, ensure_ascii=False) + "\n", _STATUS[UNKNOWN]
    page = Page(look)
    page.paragraph(f"unknown: {why}", colour="yellow")
    page.paragraph(f"  {advice}", hang=2)
    return page.text(), _STATUS[UNKNOWN]


def encoded(reply: Reply, cards: tuple[Card, ...], where: Circumstances, matrix: Matrix) -> dict[str, Any]:
    """The reply as JSON objects, schema gpudoctor.can/1."""
    return {
        "schema": SCHEMA,
        "matrix_as_of": matrix.as_of(),
        "verdict": reply.verdict,
        "circumstances": circumstances_json(cards, where),
        "cases": [
            {"gpus": list(case.cards), "verdict": case.verdict, "answers": list(map(_answer_json, case.answers))}
            for case in reply.cases
        ],
    }


def circumstances_json(cards: tuple[Card, ...], where: Circumstances) -> dict[str, Any]:
    """Where a build must work, null for what was not said."""
    return {
        "os": where.os_family,
        "arch": where.arch,
        "python": where.python or None,
        "driver": str(where.driver) if where.driver else None,
        "glibc": where.glibc or None,
        "gpus": [
            {"name": card.name, "capabilities": list(map(str, card.capabilities)), "row": card.row or None}
            for card in cards
        ],
    }


def _answer_json(answer: Answer) -> dict[str, Any]:
    candidates = (*((answer.best,) if answer.best else ()), *answer.others)
    return {
        "spec": answer.spec,
        "verdict": answer.verdict,
        "build": answer.best.name if answer.best else None,
        "why": [reason_json(reason) for reason in answer.reasons],
        "candidates": [
            {
                "build": one.name,
                "row": one.row,
                "verdict": one.verdict,
                "note": one.note,
                "reasons": list(map(reason_json, one.reasons)),
            }
            for one in candidates
        ],
        "instead": list(answer.instead),
    }


def reason_json(reason: Reason) -> dict[str, Any]:
    """A reason with its rows and their source."""
    return {"kind": reason.kind, "what": reason.what, "rows": list(reason.rows), "source": reason.source}


def _page(reply: Reply, cards: tuple[Card, ...], where: Circumstances, look: Look) -> str:
    page = Page(look)
    if len(reply.cases) > 1:
        differ = len({case.verdict for case in reply.cases}) > 1
        why = "it depends on the chip" if differ else "whichever chip it is"
        page.paragraph(f"{reply.verdict}: {why}", colour=_COLOURS[reply.verdict])
        for card in cards:
            if len(card.capabilities) > 1:
                page.paragraph(f"  {card.name}: {card.note or 'boards of that name carry different chips'}", hang=2)
    for case in reply.cases:
        for answer in case.answers:
            page.gap()
            _write_answer(page, answer, case, where)
    _write_sources(page, reply, cards)
    return page.text()


def _write_answer(page: Page, answer: Answer, case: Case, where: Circumstances) -> None:
    under = ", ".join(_said(case, where))
    page.paragraph(f"{answer.verdict}: {answer.spec} on {under}", colour=_COLOURS[answer.verdict], hang=2)
    for reason in answer.reasons:
        _write_reason(page, reason)
    if answer.best:
        page.gap()
        _write_candidate(page, answer.best)
    _write_others(page, answer.others)
    if answer.instead:
        page.gap()
        page.paragraph(f"  What does fit: {', '.join(answer.instead)}", hang=4)


def _said(case: Case, where: Circumstances) -> Iterator[str]:
    yield from case.cards
    yield from said(where)


def said(where: Circumstances) -> Iterator[str]:
    """The circumstances but for the cards, in words."""
    if where.driver is not None:
        yield f"driver {where.driver}"
    if where.python:
        yield f"Python {where.python}"
    if where.glibc:
        yield f"glibc {where.glibc}"
    yield f"{where.os_family} {where.arch}"


def _write_candidate(page: Page, candidate: Candidate) -> None:
    page.paragraph(f"  {candidate.name}: {candidate.verdict}", colour="bold")
    for reason in candidate.reasons:
        _write_reason(page, reason)
    if candidate.note:
        page.paragraph(f"    note: {candidate.note}", hang=6)


def _write_reason(page: Page, reason: Reason) -> None:
    symbol = page.symbol(*_SYMBOLS[reason.kind])
    rows = f" [{', '.join(reason.rows)}]" if reason.rows else ""
    page.paragraph(f"    {symbol} {reason.what}{rows}", hang=6)


def _write_others(page: Page, others: tuple[Candidate, ...]) -> None:
    """A line for the builds that are not the answer and share their worst reason."""
    names: dict[str, list[str]] = {}
    for one in others:
        against = [reason.what for kind in (BAD, UNKNOWN) for reason in one.reasons if reason.kind == kind]
        names.setdefault(f"{one.verdict}{', ' if against else ''}{against[0] if against else ''}", []).append(one.name)
    for why, alike in names.items():
        more = f" and {len(alike) - _MOST_SHOWN} more" if len(alike) > _MOST_SHOWN else ""
        page.paragraph(f"  {', '.join(alike[:_MOST_SHOWN])}{more}: {why}", hang=4)


def _write_sources(page: Page, reply: Reply, cards: tuple[Card, ...]) -> None:
    """Each row that was named, once, and where a reader can check it."""
    found = {card.row: card.source for card in cards if card.row}
    for case in reply.cases:
        for answer in case.answers:
            reasons = answer.best.reasons if answer.best else answer.reasons
            found.update({reason.rows[-1]: reason.source for reason in reasons if reason.rows})
    page.references("Sources", found)
