"""The answer of `gpudoctor matrix solve` as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from compat.build import follows, host_of, uses_opencl
from compat.matrix import Matrix
from compat.platform import absent
from compat.reason import NO, UNKNOWN, YES
from compat.row import FrameworkRow
from compat.solve.candidates import SolveCandidate
from compat.solve.rejections import Rejection
from compat.solve.relaxations import Change
from compat.solve.search import Solution
from compat.traits import traits_of
from doctor.commands.matrix import can
from doctor.commands.matrix.dates import old_rows_json, write_old_rows
from doctor.commands.matrix.offers import offer_json, offer_sources, write_offers
from doctor.commands.matrix.solve_answer import Place, SolveAnswer
from doctor.output.document import TextStyle
from doctor.output.page import Page

SCHEMA = "gpudoctor.solve/1"
_COLOURS = {YES: "green", NO: "red", UNKNOWN: "yellow"}


class SolveDocument:
    """An answer; see `doctor.output.document.Document`."""

    indent = 2

    def __init__(self, answer: SolveAnswer, matrix: Matrix, *, sources: bool = False) -> None:
        self.answer = answer
        self._matrix = matrix
        self._sources = sources

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.solve/1`."""
        return encoded(self.answer, self._matrix)

    def text(self, style: TextStyle) -> str:
        """The set and its commands, or the changes that make one, then why not; the rows if they are asked for."""
        page, answer = Page(style), self.answer
        _headline(page, answer, self._matrix)
        for case in answer.cases:
            page.gap()
            _headline(page, case, self._matrix)
            _body(page, case, self._matrix)
        if not answer.cases:
            _body(page, answer, self._matrix)
        if answer.verdict == UNKNOWN:
            page.gap()
            page.paragraph(f"To find out: {settles(answer)}", hang=2)
        write_old_rows(page, answer.old)
        if self._sources:
            for one in answer.cases or (answer,):
                _write_sources(page, one, self._matrix)
        return page.text()


def _body(page: Page, answer: SolveAnswer, matrix: Matrix) -> None:
    if answer.solution:
        _solution(page, answer.solution, matrix)
        _commands(page, answer)
    _changes(page, answer.changes)
    _newer(page, answer.newer)
    _apart(page, answer.apart)
    write_offers(page, answer.offers, answer.covered)
    _refusals(page, answer)


def settles(answer: SolveAnswer) -> str:
    """What would settle an answer that is unknown."""
    if answer.cases:
        return "nvidia-smi --query-gpu=compute_cap --format=csv prints the chip's compute capability"
    if answer.uncovered:
        names = dict.fromkeys(one.name for one in answer.uncovered)
        return f"gpudoctor matrix refresh {' '.join(names)} reads new releases from your package index; then ask again"
    return "install it on that machine, then run gpudoctor verify: it computes on the GPU"


def _headline(page: Page, answer: SolveAnswer, matrix: Matrix) -> None:
    asked = " and ".join(map(str, answer.specs))
    together = " together" if len(answer.specs) > 1 else ""
    works = f"work{together or 's'}"
    where = ", ".join(_place(answer.place))
    text = {
        YES: f"yes: the newest {asked} that {works} on {where}",
        UNKNOWN: f"unknown: no build of {asked} is known to work{together} on {where}",
        NO: f"no: no build of {asked} {works} on {where}",
    }[answer.verdict]
    if answer.uncovered:
        text = f"unknown: no row has a build of {' and '.join(map(str, answer.uncovered))} for {where}"
    if answer.cases:
        text = f"{answer.verdict}: {asked} on {where}: it depends on the chip"
    page.paragraph(text, colour=_COLOURS[answer.verdict], hang=2)
    for one in answer.not_judged:
        page.paragraph(f"  Not judged: {one}", colour="yellow", hang=4)
    if answer.cases:
        return
    if len(answer.specs) > 1 and answer.solution:
        page.paragraph(
            f"  The newest come first, in the order of the arguments: {', then '.join(_asked(answer))}.", hang=2
        )
    row = absent("", "", answer.place.circumstances, matrix)
    if row:
        page.paragraph(f"  {row.summary}; for another machine, give --os linux, --gpu and --driver", hang=2)
    elif not answer.place.circumstances.wants_gpu:
        page.paragraph("  No GPU and no driver is known here: name them, --gpu and --driver.", hang=2)


def _asked(answer: SolveAnswer) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.name for one in answer.specs))


def _place(place: Place) -> Iterator[str]:
    if place.is_here:
        yield "this machine"
    for card in place.cards:
        yield " or ".join(f"{card.name} ({chip.sm})" if card.name != chip.sm else chip.sm for chip in card.capabilities)
    yield from can.said(place.circumstances)
    for name, version in (("CUDA", place.circumstances.cuda), ("cuDNN", place.circumstances.cudnn)):
        if version is not None:
            yield f"{name} {version} of the system"


def _solution(page: Page, solution: Solution, matrix: Matrix) -> None:
    page.gap()
    for one in solution.chosen:
        page.paragraph(f"  {one.label}: {_libraries(one.row, matrix)}", hang=4)
    if solution.python:
        others = [one for one in solution.pythons or () if one != solution.python and not one.endswith("t")]
        also = f" (or {', '.join(others)})" if others else ""
        page.paragraph(f"  Python {solution.python}{also}", hang=4)
    for reason in solution.doubts[: can.MOST_REASONS]:
        page.paragraph(f"  {page.symbol('?', '?')} {reason.brief}", colour="yellow", hang=4)
    for note in _remarks(solution):
        page.paragraph(f"  {note}", hang=4)


def _libraries(row: FrameworkRow, matrix: Matrix) -> str:
    """What CUDA and cuDNN it works with, and who brings them."""
    host = host_of(row, matrix)
    if host:
        return f"runs on {host}"
    if follows(row.package) and row.cuda is None:
        return f"built with {follows(row.package)}, for the same CUDA"
    if uses_opencl(row):
        return "OpenCL of the driver, no CUDA"
    if not row.cuda:
        return "no CUDA of its own" if row.cuda == "" else "its CUDA is not recorded"
    parts = [f"CUDA {_plain(row.cuda)}"]
    own = {name: wanted for name, wanted in (row.pins or {}).items() if name.startswith("nvidia-cudnn-cu")}
    if own:
        parts += [f"{name} {_plain(wanted)}".rstrip() for name, wanted in own.items()]
    elif row.cudnn or row.cudnn_accepts:
        parts.append(f"cuDNN {row.cudnn or _plain(row.cudnn_accepts or '')}")
    beside = traits_of(row.package).runs_on
    wheels = f"that of {beside}" if traits_of(beside).extended else "as wheels of NVIDIA's"
    origin = {"bundled": "inside its wheel", "wheels": wheels, "system": "from the system"}
    return ", ".join(parts) + (f", {origin[row.libraries]}" if row.libraries in origin else "")


def _plain(specifier: str) -> str:
    return specifier.removeprefix("==")


def _remarks(solution: Solution) -> Iterator[str]:
    yield from solution.remarks
    yield from (
        f"{one.label}: {one.row.note}" for one in solution.chosen if one.row.libraries == "system" and one.row.note
    )


def _commands(page: Page, answer: SolveAnswer) -> None:
    page.gap()
    if answer.verdict != YES:
        page.paragraph("It is not known to work, so there are no commands.")
        return
    if not answer.commands:
        page.paragraph("No package index is recorded that serves all of these builds, so there are no commands.")
        _by_hand(page, answer)
        return
    pip = answer.commands["pip"]
    page.paragraph("Install it in a new environment", colour="bold")
    page.verbatim("\n".join(pip), indent=2)
    if "uv" in answer.commands:
        page.paragraph("or with uv", colour="bold")
        page.verbatim("\n".join(answer.commands["uv"]), indent=2)
    conda = answer.commands["conda"]
    page.paragraph("or with conda" + (", in place of the first line" if conda[1:] == pip[1:] else ""), colour="bold")
    page.verbatim("\n".join(conda[:1] if conda[1:] == pip[1:] else conda), indent=2)
    _by_hand(page, answer)


def _by_hand(page: Page, answer: SolveAnswer) -> None:
    if answer.by_hand:
        page.paragraph("then by hand", colour="bold")
        for one in answer.by_hand:
            page.verbatim(one, indent=2)


def _changes(page: Page, changes: tuple[Change, ...]) -> None:
    if not changes:
        return
    page.gap()
    page.paragraph("What would make one; each was solved again", colour="bold")
    for change in changes:
        sets = " / ".join(solution.label for solution in change.solutions)
        page.paragraph(f"  {change.what}: {sets}", hang=4)
        for reason in [reason for solution in change.solutions for reason in solution.doubts][:1]:
            page.paragraph(f"    ? not certain: {reason.brief}", colour="yellow", hang=6)


def _newer(page: Page, newer: Solution | None) -> None:
    if newer is None:
        return
    page.gap()
    why = f": {newer.doubts[0].brief}" if newer.doubts else ""
    page.paragraph(f"Newer, but not known to work: {newer.label}{why}", hang=2)


def _apart(page: Page, apart: tuple[Solution, ...]) -> None:
    if not apart:
        return
    page.gap()
    page.paragraph("In an environment of its own", colour="bold")
    for solution in apart:
        page.paragraph(f"  {solution.label}" + (f", Python {solution.python}" if solution.python else ""), hang=4)


def _refusals(page: Page, answer: SolveAnswer) -> None:
    shown = [one for one in answer.refusals if not one.reason.is_expected]
    shown = shown or list(answer.refusals if answer.verdict == NO else ())
    bearing = _bearing(shown)
    if not bearing:
        return
    page.gap()
    page.paragraph("Why nothing newer" if answer.verdict == YES else "Why not", colour="bold")
    for one in bearing:
        page.paragraph(f"  {one.span}: {one.reason.brief}", hang=4)


def _bearing(found: list[Rejection]) -> list[Rejection]:
    """The reasons that bear on the question: of the newest releases of each package in turn, five at most.

    Why a release of years ago is none either, no one asks.
    """
    packages = [
        [one for one in found if one.package == name and one.is_recent]
        for name in dict.fromkeys(r.package for r in found)
    ]
    turns = zip_longest(*packages)
    return [one for turn in turns for one in turn if one is not None][: can.MOST_REASONS]


def _write_sources(page: Page, answer: SolveAnswer, matrix: Matrix) -> None:
    """The rows of the set, once each, and where a reader can check them."""
    chosen = answer.solution.chosen if answer.solution else ()
    found = {one.name: one.row.source for one in chosen}
    found |= {card.row: card.source for card in answer.place.cards if card.row}
    found |= offer_sources(answer.offers)
    found |= can.sources_of((reason for one in chosen for reason in one.fit.reasons), matrix)
    found |= can.sources_of((one.reason for one in answer.refusals), matrix)
    page.references("Sources", found)


def encoded(answer: SolveAnswer, matrix: Matrix) -> dict[str, Any]:
    """The answer as JSON objects."""
    return {
        "schema": SCHEMA,
        "matrix_as_of": matrix.as_of(),
        **_answer_json(answer),
        "settled_by": settles(answer) if answer.verdict == UNKNOWN else "",
        "old_rows": old_rows_json(answer.old),
        "cases": list(map(_answer_json, answer.cases)),
    }


def _answer_json(answer: SolveAnswer) -> dict[str, Any]:
    return {
        "verdict": answer.verdict,
        "specs": list(map(str, answer.specs)),
        "circumstances": {
            **can.circumstances_json(answer.place.cards, answer.place.circumstances),
            "this_machine": answer.place.is_here,
        },
        "solution": _solution_json(answer.solution),
        "commands": {tool: list(lines) for tool, lines in answer.commands.items()},
        "by_hand": list(answer.by_hand),
        "newer": _solution_json(answer.newer),
        "not_judged": [{"name": one.name, "why": one.why} for one in answer.not_judged],
        "apart": list(map(_solution_json, answer.apart)),
        "covered": list(answer.covered),
        "channels": list(map(offer_json, answer.offers)),
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


def _build_json(one: SolveCandidate) -> dict[str, Any]:
    return {
        "asked": one.asked,
        "package": one.row.package,
        "release": one.release,
        "build": one.row.build,
        "row": one.name,
        "reasons": list(map(can.reason_json, one.fit.reasons)),
        "source": one.row.source,
    }


def _refusal_json(one: Rejection) -> dict[str, Any]:
    return {"package": one.package, "builds": list(one.builds), "reason": can.reason_json(one.reason)}
