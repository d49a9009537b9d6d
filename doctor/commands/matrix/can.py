"""What `gpudoctor matrix can` does, apart from reading its command line and printing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.base.user_dirs import this_family
from compat.build import uses_opencl, whole_release
from compat.can import BuildVerdict, CanAnswer, Case, Reply, can
from compat.cards import GpuCard, gpu_cards_of
from compat.channels import Offer, covered, offers
from compat.driver_name import driver_named
from compat.matrix import Matrix, Uncovered
from compat.platform import machine_of, unpublished
from compat.reason import BAD, NO, OK, UNKNOWN, YES, Reason, verdict_of
from compat.spec import Spec, parse_spec, parse_specs
from compat.spoken import architecture_of, system_of
from compat.target import TargetMachine
from doctor.commands.matrix.dates import OldRows, old_rows, old_rows_json, write_old_rows
from doctor.commands.matrix.offers import offer_json, offer_sources, write_offers
from doctor.output.document import TextStyle
from doctor.output.page import Page
from doctor.output.write import deliver, format_for
from doctor.rules.shared.products import NotJudged, known_products

SCHEMA = "gpudoctor.can/1"
_STATUS = {YES: 0, NO: 1, UNKNOWN: 4}
_COLOURS = {YES: "green", OK: "green", NO: "red", BAD: "red", UNKNOWN: "yellow"}
_SYMBOLS = {OK: ("✓", "+"), BAD: ("✗", "x"), UNKNOWN: ("?", "?")}
_WSL = "wsl"
_SYSTEMS = ("linux", "windows", _WSL, "macos")
_ARCHES = ("x86_64", "sbsa", "jetson", "ppc64le")
_MOST_NEAR = 3  # names of cards
_LONG = 100  # characters: no name of a card is longer
_MOST_SHOWN = 3  # builds of one reason
MOST_REASONS = 5


class CanRequest(NamedTuple):
    """What the user asked; the defaults are those of the command line."""

    specs: tuple[str, ...]
    gpus: tuple[str, ...] = ()
    driver: str = ""
    python: str = ""
    os_family: str = ""  # "": this machine's, Linux on a Mac
    arch: str = ""  # "": that of the machines that the cards sit in, else x86_64
    glibc: str = ""
    style: str = "text"
    output: str | None = None
    sources: bool = False  # print the rows and where they are from


class BadVersion(GpudoctorError):
    """A Python or glibc version is not one."""


def ask(asked: CanRequest, terminal: TextStyle) -> tuple[str, int]:
    """The text to print ("" when it went to a file), and the exit status: yes 0, no 1, unknown 4.

    Raises BadSpec, VersionError, BadVersion, NoSuchName and NotWritten for what the user got wrong.
    """
    chosen = format_for(asked.style, CanDocument)
    matrix = Matrix.of_user()
    named, not_judged = known_products(parse_specs(asked.specs), "cuda", "cudnn")
    specs = tuple(whole_release(spec, matrix) for spec in named)
    circumstances_of(asked, matrix)  # what was mistyped is told first
    document: CanDocument | NoCard
    try:
        cards = gpu_cards_of(asked.gpus, matrix)
    except Uncovered as error:
        document, verdict = NoCard(str(error), matrix, asked.gpus), UNKNOWN
    else:
        where = circumstances_of(asked, matrix, machine_arch(cards, matrix))
        reply = can(specs, cards, where, matrix)
        if where.os_family == "macos" and not asked.arch and reply.verdict != YES:  # an older one: for Intel
            intel = where._replace(arch="x86_64")
            older = can(specs, cards, intel, matrix)
            where, reply = (intel, older) if older.verdict == YES else (where, reply)
        lacking = _without_a_yes(specs, reply)
        chips = tuple(dict.fromkeys(chip for card in cards for chip in card.capabilities))
        served = offers(lacking, where._replace(capabilities=chips), matrix)
        old = old_rows(specs, reply.verdict, matrix)
        beyond = Beyond(not_judged, served, covered(lacking, matrix), old, sources=asked.sources)
        document = CanDocument(reply, cards, where, matrix, beyond)
        verdict = document.verdict
    return deliver(document, chosen, asked.output, terminal), _STATUS[verdict]


class Beyond(NamedTuple):
    """What the rows of builds do not speak of."""

    not_judged: tuple[NotJudged, ...] = ()
    offers: tuple[Offer, ...] = ()
    covered: tuple[str, ...] = ()  # the channels that the reply speaks of
    old: tuple[OldRows, ...] = ()
    sources: bool = False  # print the rows, too


def _without_a_yes(specs: tuple[Spec, ...], reply: Reply) -> tuple[Spec, ...]:
    """Those of which some chip has no build that is known to work with CUDA."""
    return tuple(spec for at, spec in enumerate(specs) if not all(_has_cuda(case.answers[at]) for case in reply.cases))


def _has_cuda(answer: CanAnswer) -> bool:
    build = answer.best.build if answer.best else None
    return answer.verdict == YES and not (build and uses_opencl(build))


class CanDocument:
    """A reply; see `doctor.output.document.Document`."""

    indent = 2

    def __init__(
        self,
        reply: Reply,
        cards: tuple[GpuCard, ...],
        where: TargetMachine,
        matrix: Matrix,
        beyond: Beyond,
    ) -> None:
        self.reply, self.not_judged, self.offers, self.covered, self.old, self._sources = reply, *beyond
        self._cards, self._where, self._matrix = cards, where, matrix

    @property
    def verdict(self) -> str:
        """That of the reply; a yes that leaves a package out is unknown."""
        return UNKNOWN if self.not_judged and self.reply.verdict == YES else self.reply.verdict

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.can/1`."""
        document = encoded(self.reply, self._cards, self._where, self._matrix)
        left_out = [{"name": one.name, "why": one.why} for one in self.not_judged]
        channels = list(map(offer_json, self.offers))
        old = old_rows_json(self.old)
        return {**document, "verdict": self.verdict, "not_judged": left_out, "channels": channels, "old_rows": old}

    def text(self, style: TextStyle) -> str:
        """Every case: the answer, its command, its reasons; and the rows if they are asked for."""
        page = Page(style)
        for one in self.not_judged:
            page.paragraph(f"unknown: {one}", colour="yellow", hang=2)
        _write_cases(page, self.reply, self._cards, self._where, self._matrix)
        write_offers(page, self.offers, self.covered)
        if self.reply.verdict == UNKNOWN:
            page.gap()
            page.paragraph(f"To find out: {settles(self.reply)}", hang=2)
        write_old_rows(page, self.old)
        if self._sources:
            _write_sources(page, self.reply, self._cards, self._matrix, offer_sources(self.offers))
        return page.text()


def _squeezed(name: str) -> str:
    """A card's name without blanks and capitals: "RTX 5090Ti" and "rtx 5090 ti" are one slip."""
    return "".join(name.split()).casefold()


class NoCard:
    """A card that no row has: it may be new, so this is no mistake of the user's."""

    indent = 2

    def __init__(self, why: str, matrix: Matrix, gpus: tuple[str, ...], schema: str = SCHEMA) -> None:
        from difflib import get_close_matches  # late: only for names that are not there

        rows = matrix.rows("gpu", "products")
        names = {_squeezed(name): row.name.removeprefix("NVIDIA ") for row in rows for name in (row.name, *row.aliases)}
        close = (match for name in gpus for match in get_close_matches(_squeezed(name[:_LONG]), names, n=9))
        near = tuple(dict.fromkeys(names[match] for match in close))[:_MOST_NEAR]
        self._why, self._schema = why, schema
        self._advice = "give its compute capability instead, --gpu sm_89"
        self._advice += f"; near names are {', '.join(near)}" if near else ""

    def plain(self) -> dict[str, Any]:
        """The schema of the command that asked."""
        return {"schema": self._schema, "verdict": UNKNOWN, "why": f"{self._why}; {self._advice}", "cases": []}

    def text(self, style: TextStyle) -> str:
        """What is not known, and what to name instead."""
        page = Page(style)
        page.paragraph(f"unknown: {self._why}", colour="yellow")
        page.paragraph(f"  {self._advice}", hang=2)
        return page.text()


def machine_arch(cards: tuple[GpuCard, ...], matrix: Matrix) -> str:
    """The architecture of the only machines that these cards sit in; "x86_64" where they sit in any."""
    found = {machine.arch for machine in (machine_of(card.id, matrix) for card in cards) if machine}
    return found.pop() if len(found) == 1 else "x86_64"


def circumstances_of(asked: CanRequest, matrix: Matrix, arch: str = "x86_64") -> TargetMachine:
    """Raises VersionError, NotADriver, BadVersion and NoSuchName; `arch` is meant where none was named."""
    system = system_of(asked.os_family or _this_system(), _SYSTEMS)
    arch = "sbsa" if system == "macos" else arch  # the Macs of today
    return TargetMachine(
        os_family="linux" if system == _WSL else system,
        wsl=system == _WSL,
        arch=architecture_of(asked.arch or arch, _ARCHES),
        python=_dotted("Python", asked.python),
        driver=driver_named(asked.driver, matrix) if asked.driver else None,
        glibc=_dotted("glibc", asked.glibc),
    )


def _this_system() -> str:
    """The one that gpudoctor runs on; Linux on a Mac, where every question is about another machine."""
    here = this_family()
    return "linux" if here == "macos" else here


def _dotted(kind: str, text: str) -> str:
    """The first two parts of a version, a free-threaded Python's "t" included; raises BadVersion."""
    import re

    if kind == "Python":
        text = re.sub(r"^(?:cp|py|python) ?(\d)\.?(?=\d)", r"\1.", text.strip())  # "cp312" of a wheel, "python3.12"
    found = re.fullmatch(r"(\d{1,3}\.\d{1,3})(?:\.\d{1,3})?(t?)", text)
    if text and not found:
        raise BadVersion(f"{text!r} is not a {kind} version such as {'3.12' if kind == 'Python' else '2.31'}")
    return found[1] + found[2] if found else ""


def encoded(reply: Reply, cards: tuple[GpuCard, ...], where: TargetMachine, matrix: Matrix) -> dict[str, Any]:
    """The reply as JSON objects, schema gpudoctor.can/1."""
    return {
        "schema": SCHEMA,
        "matrix_as_of": matrix.as_of(),
        "verdict": reply.verdict,
        "settled_by": settles(reply) if reply.verdict == UNKNOWN else "",
        "circumstances": circumstances_json(cards, where),
        "cases": [
            {
                "gpus": list(case.cards),
                "verdict": case.verdict,
                "answers": list(map(_answer_json, case.answers)),
                "together": reason_json(case.together) if case.together else None,
            }
            for case in reply.cases
        ],
    }


def circumstances_json(cards: tuple[GpuCard, ...], where: TargetMachine) -> dict[str, Any]:
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


def _answer_json(answer: CanAnswer) -> dict[str, Any]:
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


def settles(reply: Reply) -> str:
    """What would settle a reply that is unknown."""
    if len(reply.cases) > 1 and len({case.verdict for case in reply.cases}) > 1:
        return "nvidia-smi --query-gpu=compute_cap --format=csv prints the chip's compute capability"
    bare = [parse_spec(one.spec).name for case in reply.cases for one in case.answers if one.best is None]
    frameworks = [name for name in dict.fromkeys(bare) if name not in {"cuda", "cudnn"}]
    if frameworks:
        names = " ".join(frameworks)
        return f"gpudoctor matrix refresh {names} reads new releases from your package index; then ask again"
    return "install it on that machine, then run gpudoctor verify: it computes on the GPU"


def _write_cases(page: Page, reply: Reply, cards: tuple[GpuCard, ...], where: TargetMachine, matrix: Matrix) -> None:
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
            _write_answer(page, answer, case, where, matrix)
        if case.together:
            page.gap()
            specs = " and ".join(answer.spec for answer in case.answers)
            what = "in one environment" if len(case.answers) > 1 else "with what it requires"
            page.paragraph(f"{verdict_of((case.together,))}: {specs} {what}", hang=2)
            _write_reason(page, case.together)
            if case.together.kind == OK:
                frameworks = [one.spec for one in case.answers if parse_spec(one.spec).name not in {"cuda", "cudnn"}]
                page.paragraph(f"    gpudoctor matrix solve {' '.join(frameworks)} prints the commands", hang=6)


def _write_answer(page: Page, answer: CanAnswer, case: Case, where: TargetMachine, matrix: Matrix) -> None:
    under = ", ".join(_said(case, where))
    page.paragraph(f"{answer.verdict}: {answer.spec} on {under}", colour=_COLOURS[answer.verdict], hang=2)
    for reason in answer.reasons:
        _write_reason(page, reason)
    left = MOST_REASONS
    if answer.best:
        page.paragraph(f"  {answer.best.name}: {answer.best.verdict}", colour="bold")
        if answer.verdict == YES and len(case.answers) == 1 and not case.together:  # which `solve` installs whole
            _write_command(page, answer, answer.best, where._replace(capabilities=case.chips), matrix)
        # The reasons that bear on the answer: what speaks against it, if anything does, five at most.
        kind = {NO: (BAD,), UNKNOWN: (UNKNOWN,)}.get(answer.best.verdict, (OK,))
        found = [reason for reason in answer.best.reasons if reason.kind in kind]
        shown = [reason for reason in found if not reason.is_expected][:MOST_REASONS] or found[:1]
        for reason in shown:
            _write_reason(page, reason)
        left -= len(shown)
    best = (answer.best.name, answer.best.verdict) if answer.best else None
    others = tuple(one for one in answer.others if (one.name, one.verdict) != best)  # each platform has a row
    _write_others(page, others, max(left, 1))
    if answer.instead:
        page.paragraph(f"  What does fit: {', '.join(answer.instead)}", hang=4)


def _write_command(page: Page, answer: CanAnswer, best: BuildVerdict, where: TargetMachine, matrix: Matrix) -> None:
    """What installs the build, if it is recorded who serves it."""
    from compat.solve.candidates import candidate_of
    from compat.solve.conflicts import from_system  # late, as all here: only an answer in text has commands
    from doctor.commands.matrix.solve_answer import install_command

    if best.build:
        page.verbatim("\n".join(install_command(parse_spec(answer.spec), best.build, where, matrix)), indent=4)
        versions = candidate_of(parse_spec(answer.spec), best.build, matrix).versions
        if instead := unpublished(best.build, matrix, versions):
            page.paragraph(f"    {instead}", hang=6)
        if best.build.libraries == "system" and best.build.cuda and not where.cuda:
            page.paragraph(f"    {from_system(best.build)}", hang=6)


def _said(case: Case, where: TargetMachine) -> Iterator[str]:
    yield from case.cards
    yield from said(where)


def said(where: TargetMachine) -> Iterator[str]:
    """The circumstances without the cards, as text."""
    if where.driver is not None:
        yield f"driver {where.driver}"
    if where.python:
        yield f"Python {where.python}"
    if where.glibc:
        yield f"glibc {where.glibc}"
    yield f"{where.os_family} {where.arch}" + (" in WSL 2" if where.wsl else "")


def _write_reason(page: Page, reason: Reason) -> None:
    page.paragraph(f"    {page.symbol(*_SYMBOLS[reason.kind])} {reason.brief}", hang=6)


def _write_others(page: Page, others: tuple[BuildVerdict, ...], most: int) -> None:
    """A line for the builds that are not the answer and share their worst reason; none for CPU builds."""
    names: dict[str, dict[str, None]] = {}
    for one in others:
        against = [reason for kind in (BAD, UNKNOWN) for reason in one.reasons if reason.kind == kind]
        if against and against[0].is_expected:
            continue
        why = f"{one.verdict}{', ' if against else ''}{against[0].brief if against else ''}"
        names.setdefault(why, {})[one.name] = None
    for why, found in list(names.items())[:most]:
        alike = list(found)
        more = f" and {len(alike) - _MOST_SHOWN} more" if len(alike) > _MOST_SHOWN else ""
        page.paragraph(f"  {', '.join(alike[:_MOST_SHOWN])}{more}: {why}", hang=4)


def _write_sources(page: Page, reply: Reply, cards: tuple[GpuCard, ...], matrix: Matrix, more: dict[str, str]) -> None:
    """Each row that was named, once, and where a reader can check it."""
    reasons = [
        reason
        for case in reply.cases
        for answer in case.answers
        for reason in (answer.best.reasons if answer.best else answer.reasons)
    ]
    reasons += [case.together for case in reply.cases if case.together]
    best = [answer.best for case in reply.cases for answer in case.answers if answer.best]
    page.references("Notes", {one.name: one.note for one in best if one.note})
    found = {card.row: card.source for card in cards if card.row} | sources_of(reasons, matrix) | more
    page.references("Sources", found)


def sources_of(reasons: Iterable[Reason], matrix: Matrix) -> dict[str, str]:
    """Every row that reasons name, with its own source."""
    return {name: matrix.row_named(name).source for name in dict.fromkeys(row for one in reasons for row in one.rows)}
