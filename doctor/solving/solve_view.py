"""The answer of `gpudoctor matrix solve` as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from compat.matrix import Matrix
from compat.reason import NO, UNKNOWN, YES
from compat.row import FrameworkRow
from compat.solve import Solution
from compat.solve_builds import Candidate
from compat.solve_changes import Change
from compat.solve_proof import Refusal
from doctor.formats import Look
from doctor.page import Page
from doctor.solving import can
from doctor.solving.solve_answer import Answer, Place

SCHEMA = "gpudoctor.solve/1"
_COLOURS = {YES: "green", NO: "red", UNKNOWN: "yellow"}
_MOST_REFUSALS = 6  # a package
_UNINTERESTING = ("is a CPU build", "is a pre-release", "is built for AMD")


def to_text(answer: Answer, look: Look) -> str:
    """For a person."""
    page = Page(look)
    _headline(page, answer)
    if answer.solution:
        _solution(page, answer.solution)
        _commands(page, answer)
    _changes(page, answer.changes)
    _newer(page, answer.newer)
    _refusals(page, answer)
    _sources(page, answer)
    return page.text()


def _headline(page: Page, answer: Answer) -> None:
    asked = " and ".join(map(str, answer.specs))
    together = "work together" if len(answer.specs) > 1 else "work"
    where = ", ".join(_place(answer.place))
    text = {
        YES: f"yes: the newest of {asked} that {together if len(answer.specs) > 1 else 'works'} on {where}",
        UNKNOWN: f"unknown: no builds of {asked} are known to {together} on {where}; of these nobody knows that they "
        "do not",
        NO: f"no: no builds of {asked} {together} on {where}",
    }[answer.verdict]
    page.paragraph(text, colour=_COLOURS[answer.verdict], hang=2)
    if not answer.place.circumstances.wants_gpu:
        page.paragraph(
            "  No GPU and no driver is known here, so neither is judged: name them, --gpu and --driver.", hang=2
        )


def _place(place: Place) -> Iterator[str]:
    if place.is_here:
        yield "this machine"
    for card in place.cards:
        yield " or ".join(f"{card.name} ({chip.sm})" if card.name != chip.sm else chip.sm for chip in card.capabilities)
    yield from can.said(place.circumstances)


def _solution(page: Page, solution: Solution) -> None:
    page.gap()
    for one in solution.chosen:
        page.paragraph(f"  {one.label}", colour="bold")
        page.paragraph(f"    {_libraries(one.row)} [{one.name}]", hang=6)
    if solution.python:
        others = [one for one in (solution.pythons or ())[1:] if not one.endswith("t")]
        also = f"; {', '.join(others)} will do too" if others else ""
        page.paragraph(f"  Python {solution.python}{also}", hang=4)
    for reason in solution.doubts:
        page.paragraph(f"  {page.symbol('?', '?')} {reason.what} [{', '.join(reason.rows)}]", colour="yellow", hang=4)
    for note in _remarks(solution):
        page.paragraph(f"  {note}", hang=4)


def _libraries(row: FrameworkRow) -> str:
    """What CUDA and cuDNN it works with, and who brings them."""
    if not row.cuda:
        return "no CUDA of its own" if row.cuda == "" else "its CUDA is not recorded"
    parts = [f"CUDA {_plain(row.cuda)}"]
    if row.pins and any(name.startswith("nvidia-cudnn") for name in row.pins):
        parts += [f"{name} {_plain(wanted)}" for name, wanted in row.pins.items() if name.startswith("nvidia-cudnn")]
    elif row.cudnn or row.cudnn_accepts:
        parts.append(f"cuDNN {row.cudnn or _plain(row.cudnn_accepts or '')}")
    origin = {"bundled": "inside its wheel", "wheels": "as wheels of NVIDIA's", "system": "from the system"}
    return ", ".join(parts) + (f", {origin[row.libraries]}" if row.libraries in origin else "")


def _plain(specifier: str) -> str:
    return specifier.removeprefix("==")


def _remarks(solution: Solution) -> Iterator[str]:
    for pin in solution.pins:
        yield f"{pin} is added: newer releases of it have no code for these cards"
    yield from solution.remarks
    yield from (
        f"{one.label}: {one.row.note}" for one in solution.chosen if one.row.libraries == "system" and one.row.note
    )


def _commands(page: Page, answer: Answer) -> None:
    page.gap()
    if not answer.commands:
        page.paragraph("No package index is recorded that serves all of these builds, so there are no commands here")
        return
    page.paragraph("Install it in an environment of its own", colour="bold")
    for tool, lines in answer.commands.items():
        page.paragraph(f"  with {tool}{', which installs the wheels with pip' if tool == 'conda' else ''}")
        page.verbatim("\n".join(lines), indent=4)


def _changes(page: Page, changes: tuple[Change, ...]) -> None:
    if not changes:
        return
    page.gap()
    page.paragraph("What would make one; each was solved again", colour="bold")
    for change in changes:
        sets = " / ".join(solution.label for solution in change.solutions)
        page.paragraph(f"  {change.what}: {sets}", hang=4)
        for reason in (reason for solution in change.solutions for reason in solution.doubts):
            page.paragraph(f"    ? not certain: {reason.what}", colour="yellow", hang=6)


def _newer(page: Page, newer: Solution | None) -> None:
    if newer is None:
        return
    page.gap()
    page.paragraph("Newer, but not known to work", colour="bold")
    page.paragraph(f"  {newer.label}", hang=4)
    for reason in newer.doubts:
        page.paragraph(f"    ? {reason.what} [{', '.join(reason.rows)}]", hang=6)


def _refusals(page: Page, answer: Answer) -> None:
    shown = [one for one in answer.refusals if not one.reason.what.startswith(_UNINTERESTING)]
    if not shown:
        return
    page.gap()
    page.paragraph("Why nothing newer" if answer.verdict == YES else "Why not", colour="bold")
    for package in dict.fromkeys(one.package for one in shown):
        of_package = [one for one in shown if one.package == package]
        for one in of_package[:_MOST_REFUSALS]:
            page.paragraph(f"  {one.span}: {one.reason.what}", hang=4)
        if len(of_package) > _MOST_REFUSALS:
            page.paragraph(f"  {package}: {len(of_package) - _MOST_REFUSALS} more reasons (--format json shows all)")


def _sources(page: Page, answer: Answer) -> None:
    """The rows of the set, once each, and where a reader can check them."""
    chosen = answer.solution.chosen if answer.solution else ()
    found = {one.name: one.row.source for one in chosen}
    found |= {card.row: card.source for card in answer.place.cards if card.row}
    found |= {reason.rows[-1]: reason.source for one in chosen for reason in one.fit.reasons if reason.rows}
    page.references("Sources", found)


def to_json(answer: Answer, matrix: Matrix) -> str:
    """For a program, schema gpudoctor.solve/1."""
    return json.dumps(encoded(answer, matrix), indent=2, ensure_ascii=False) + "\n"


def encoded(answer: Answer, matrix: Matrix) -> dict[str, Any]:
    """The answer as JSON objects."""
    return {
        "schema": SCHEMA,
        "matrix_as_of": matrix.as_of(),
        "verdict": answer.verdict,
        "specs": list(map(str, answer.specs)),
        "circumstances": {
            **can.circumstances_json(answer.place.cards, answer.place.circumstances),
            "this_machine": answer.place.is_here,
        },
        "solution": _solution_json(answer.solution),
        "commands": {tool: list(lines) for tool, lines in answer.commands.items()},
        "newer": _solution_json(answer.newer),
        "refusals": list(map(_refusal_json, answer.refusals)),
        "changes": [
            {
                "kinds": list(change.kinds),
                "what": change.what,
                "solutions": list(map(_solution_json, change.solutions)),
            }
            for change in answer.changes
        ],
    }


def _solution_json(solution: Solution | None) -> dict[str, Any] | None:
    if solution is None:
        return None
    return {
        "builds": list(map(_build_json, solution.chosen)),
        "python": solution.python or None,
        "pythons": None if solution.pythons is None else list(solution.pythons),
        "pins": list(solution.pins),
        "doubts": list(map(can.reason_json, solution.doubts)),
        "remarks": list(_remarks(solution)),
    }


def _build_json(one: Candidate) -> dict[str, Any]:
    return {
        "asked": one.asked,
        "package": one.row.package,
        "release": one.release,
        "build": one.row.build,
        "row": one.name,
        "reasons": list(map(can.reason_json, one.fit.reasons)),
        "source": one.row.source,
    }


def _refusal_json(one: Refusal) -> dict[str, Any]:
    return {"package": one.package, "builds": list(one.builds), "reason": can.reason_json(one.reason)}
