"""`gpudoctor check --from`: the rules, asked of a machine that a file shows; nothing of this one is mixed in."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from functools import partial

from compat.base.choice import choose
from compat.matrix import Matrix
from compat.need import BY_HAND, Need
from doctor.commands.check.command import OF_A_MACHINE, Options, refuse, report_options, verifier_for, write_reports
from doctor.commands.explain.cluster_archive import REST, Member, as_one, nodes_of, places_of, text_of
from doctor.commands.explain.dump import tell
from doctor.commands.explain.evidence import STANDARD_INPUT, Saved, load
from doctor.commands.explain.facts import facts_of
from doctor.commands.explain.report_from_text import without_refuted
from doctor.diagnose import make_report
from doctor.host import BadRequest
from doctor.host.choice import host_of
from doctor.messages.causes import Cause, causes_of
from doctor.messages.reading import Reading, read, read_whole
from doctor.model.decode import NotAReport, facts_of_report
from doctor.model.facts import Facts
from doctor.model.facts.failure import Unread
from doctor.model.facts.seen import Place
from doctor.model.finding import Answer, Evidence, Report, Severity, Status
from doctor.output.document import TextStyle
from doctor.probes import independent_probes
from doctor.rules.shared.engine import Rules, codes, judge, load_rules

_OF_THE_TEXT = partial(Place, "")  # how evidence names a line
_INCOMPLETE = "evidence-incomplete"
_SURE = 0.6  # a message that may mean several things is told by `explain`, with the question that decides


def check_file(options: Options, source: str, terminal: TextStyle) -> tuple[str, int]:
    """What `doctor.commands.check.command.check` returns, of a file; raises BadRequest for what is none."""
    given = options._replace(policy=options.policy or None)  # "" is none, and none is looked for here
    refuse(given, _OF_ANOTHER, "--from is about the machine that the file shows")
    asked = report_options(options)
    return write_reports(report_of_file(options, source), host_of(None), asked, terminal)


def report_of_file(options: Options, source: str) -> Report:
    """The report; raises BadRequest, NoSuchName."""
    started, matrix = time.perf_counter(), Matrix.of_user()
    rules, saved = load_rules(choose("rule", codes(), options.only, options.skip)), load(source)
    place = "standard input" if source == STANDARD_INPUT else os.path.basename(source)
    if nodes := nodes_of(saved.members):
        return _of_nodes(nodes, saved.unread, rules, matrix, place)
    name = f"the machine of {place}"
    facts, answers = _of_report(saved, rules, matrix, source) if saved.report else _of_text(saved, rules, matrix, name)
    return make_report(facts, answers, matrix, started, verifier_for(facts, answers, matrix, rules, None))


def _of_nodes(
    nodes: dict[str, tuple[Member, ...]], unread: tuple[Unread, ...], rules: Rules, matrix: Matrix, place: str
) -> Report:
    """Each node by itself, under its name; of the archive as a whole nothing is a fact."""
    started = time.perf_counter()
    facts = facts_of(tell(Reading((), 0, whole=True)), f"the nodes of {place}", matrix)._replace(unread=unread)
    of_all = {code: rule for code, rule in rules.items() if code == _INCOMPLETE and unread}
    whole = make_report(facts, judge(facts, matrix, of_all), matrix, started)
    reports: dict[str, Report] = {}
    for node, members in nodes.items():
        facts, answers, _ = _judged(Saved(text_of(members)), rules, matrix, node, places_of(members))
        reports[node] = make_report(facts, answers, matrix, started, verifier_for(facts, answers, matrix, rules, None))
    return as_one(reports, whole)


def _of_report(saved: Saved, rules: Rules, matrix: Matrix, source: str) -> tuple[Facts, tuple[Answer, ...]]:
    try:
        facts = facts_of_report(saved.report or {}, {name: one.kind for name, one in independent_probes().items()})
    except NotAReport as error:
        raise BadRequest(f"{source}: {error}") from error
    return facts, judge(facts, matrix, rules)


def _of_text(saved: Saved, rules: Rules, matrix: Matrix, name: str) -> tuple[Facts, tuple[Answer, ...]]:
    """Dumps by the rules, messages by their signatures."""
    if not saved.reading and not saved.text.strip():
        raise BadRequest(f"{name.removeprefix('the machine of ')}: it holds no text")
    facts, answers, known = _judged(saved, rules, matrix, name)
    if not known:
        raise BadRequest(f"{name.removeprefix('the machine of ')}: no report, dump or message in it is known")
    return facts, answers


def _judged(
    saved: Saved, rules: Rules, matrix: Matrix, name: str, at: Callable[[int], Place] = _OF_THE_TEXT
) -> tuple[Facts, tuple[Answer, ...], bool]:
    """The facts of a text, the answers, and whether a dump or a message in it is known."""
    # A dump of any node is none of all.
    told = tell(Reading((), 0, whole=True) if name == REST else _with_the_rest(saved))
    facts = facts_of(told.located(at), name, matrix)._replace(unread=saved.unread)
    messages = causes_of(saved.reading or read(io.BytesIO(saved.text)), matrix)
    answers = without_refuted(judge(facts, matrix, rules), facts)
    found = {one.code for one in answers if one.kind is Status.BAD}
    asked = {*rules} | {one.code for one in messages if one.code not in codes()}
    said = [one for one in messages if one.blames_stack and one.confidence >= _SURE and one.code not in found]
    more = tuple(_answer(one, name, at) for one in said if one.code in asked)
    replaced = {one.code for one in more}
    kept = tuple(one for one in answers if one.code not in replaced or one.kind is not Status.UNKNOWN)
    judged = tuple(sorted((*kept, *more), key=lambda one: (one.code, one.subject)))
    return facts, judged, bool(told.titles or messages)


def _with_the_rest(saved: Saved) -> Reading:
    """All lines of what is kept, and of more those that can matter."""
    whole = read_whole(io.BytesIO(saved.text))
    if not saved.reading:
        return whole
    last = whole.lines[-1].number  # an empty one, behind the last line end
    rest = (line for line in saved.reading.lines if line.number >= last)
    return Reading((*whole.lines[:-1], *rest), saved.reading.size_bytes, whole=False)


def _answer(cause: Cause, subject: str, at: Callable[[int], Place]) -> Answer:
    """A message of the text as what a rule would have said."""
    return Answer(
        kind=Status.BAD,
        why=cause.summary,
        severity=Severity.ERROR,
        needs=(Need(BY_HAND, cause.mends),) if cause.mends else (),
        evidence=tuple(Evidence.at(at(one.line), one.text) for one in cause.matched),
        code=cause.code,
        subject=subject,
    )


_OF_ANOTHER = {
    **OF_A_MACHINE,
    "dockerfile": "--dockerfile",
    "target": "--target",
    "build_args": "--build-arg",
    "platform": "--platform",
    "assume_driver": "--assume-driver",
    "assume_gpus": "--assume-gpu",
    "policy": "--policy",
}
