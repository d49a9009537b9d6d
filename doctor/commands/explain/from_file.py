"""`gpudoctor check --from`: the rules, asked of a machine that a file shows; nothing of this one is mixed in."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import Advice
from doctor.commands.explain.cluster_archive import REST, Member, as_one, nodes_of, places_of, text_of
from doctor.commands.explain.dump import tell
from doctor.commands.explain.evidence import STANDARD_INPUT, Saved, load
from doctor.commands.explain.facts import facts_of
from doctor.commands.explain.report_from_text import without_refuted
from doctor.diagnose import Observation, diagnose
from doctor.host import BadRequest
from doctor.messages.causes import MORE_EXACT, Cause, causes_of
from doctor.messages.reading import Reading, read, read_whole
from doctor.model.decode import NotAReport, facts_of_report
from doctor.model.facts import Facts
from doctor.model.facts.failure import Unread
from doctor.model.facts.seen import Place
from doctor.model.finding import Answer, Evidence, Report, Severity, Status
from doctor.probes import independent_probes
from doctor.rules.shared.engine import Rules, codes

_OF_THE_TEXT = partial(Place, "")  # how evidence names a line
_MADE_AT = re.compile(r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}Z", re.ASCII)  # as `check` writes it
_INCOMPLETE = "evidence-incomplete"
_SURE = 0.6  # a message that may mean several things is told by `explain`, with the question that decides


def report_of_file(source: str, rules: Rules, matrix: Matrix, started: float) -> Report:
    """Return the report on the machine, or the nodes, that a file shows; raises BadRequest."""
    saved = load(source)
    place = "standard input" if source == STANDARD_INPUT else os.path.basename(source)
    if nodes := nodes_of(saved.members):
        return _of_nodes(nodes, saved.unread, rules, matrix, place)
    if saved.report:
        report = diagnose(Observation(_of_report(saved.report, source)), matrix, rules, started)
        made = saved.report.get("made")
        at = str(made.get("at", "")) if isinstance(made, dict) else ""
        return report._replace(made_at=at if _MADE_AT.fullmatch(at) else "")
    if not saved.reading and not saved.text.strip():
        raise BadRequest(f"{place}: the file contains no text")
    shown = _of_text(saved, matrix, f"the machine of {place}")
    if not shown.is_known:
        raise BadRequest(f"{place}: it contains no report, dump or message that gpudoctor knows")
    return diagnose(shown.observation(rules), matrix, rules, started)


def _of_nodes(
    nodes: dict[str, tuple[Member, ...]], unread: tuple[Unread, ...], rules: Rules, matrix: Matrix, place: str
) -> Report:
    """Return the reports of all nodes as one, each under its name; no fact is one of the archive as a whole."""
    started = time.perf_counter()
    facts = facts_of(tell(Reading((), 0, whole=True)), f"the nodes of {place}", matrix)._replace(unread=unread)
    of_all = {code: rule for code, rule in rules.items() if code == _INCOMPLETE and unread}
    whole = diagnose(Observation(facts), matrix, of_all, started)
    reports: dict[str, Report] = {}
    for node, members in nodes.items():
        shown = _of_text(Saved(text_of(members)), matrix, node, places_of(members))
        reports[node] = diagnose(shown.observation(rules), matrix, rules, started)
    return as_one(reports, whole)


def _of_report(report: dict[str, Any], source: str) -> Facts:
    try:
        return facts_of_report(report, {name: one.kind for name, one in independent_probes().items()})
    except NotAReport as error:
        raise BadRequest(f"{source}: {error}") from error


class _Shown(NamedTuple):
    """What a text shows of one machine."""

    facts: Facts  # by its dumps
    messages: tuple[Cause, ...]  # by the signatures
    at: Callable[[int], Place]  # where a line of it is
    is_known: bool  # whether a dump or a message in it is known

    def observation(self, rules: Rules) -> Observation:
        """Return the facts; answers that the text refutes are dropped, and what its messages say is added."""
        return Observation(self.facts, revise=partial(self._revised, rules=rules))

    def _revised(self, answers: tuple[Answer, ...], rules: Rules) -> tuple[Answer, ...]:
        answers = without_refuted(answers, self.facts)
        found = {one.code for one in answers if one.kind is Status.BAD}
        found |= {rough for rough, exact in MORE_EXACT.items() if found.intersection(exact)}
        asked = {*rules} | {one.code for one in self.messages if one.code not in codes()}
        said = [one for one in self.messages if one.blames_stack and one.confidence >= _SURE and one.code not in found]
        more = tuple(_answer(one, self) for one in said if one.code in asked)
        replaced = {one.code for one in more}
        kept = tuple(one for one in answers if one.code not in replaced or one.kind is not Status.UNKNOWN)
        return tuple(sorted((*kept, *more), key=lambda one: (one.code, one.subject)))


def _of_text(saved: Saved, matrix: Matrix, name: str, at: Callable[[int], Place] = _OF_THE_TEXT) -> _Shown:
    # A dump of any node is none of all.
    told = tell(Reading((), 0, whole=True) if name == REST else _with_the_rest(saved))
    facts = facts_of(told.located(at), name, matrix)._replace(unread=saved.unread)
    messages = causes_of(saved.reading or read(io.BytesIO(saved.text)), matrix)
    return _Shown(facts, messages, at, bool(told.titles or messages))


def _with_the_rest(saved: Saved) -> Reading:
    """All lines of what is kept, and of more those that can matter."""
    whole = read_whole(io.BytesIO(saved.text))
    if not saved.reading:
        return whole
    last = whole.lines[-1].number  # an empty one, behind the last line end
    rest = (line for line in saved.reading.lines if line.number >= last)
    return Reading((*whole.lines[:-1], *rest), saved.reading.size_bytes, whole=False)


def _answer(cause: Cause, shown: _Shown) -> Answer:
    """Return a message of the text as what a rule would have said."""
    return Answer(
        kind=Status.BAD,
        why=cause.summary,
        severity=Severity.ERROR,
        needs=(Advice(cause.mends),) if cause.mends else (),
        evidence=tuple(Evidence.at(shown.at(one.line), one.text) for one in cause.matched),
        code=cause.code,
        subject=shown.facts.machine.label,
    )
