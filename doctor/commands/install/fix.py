"""What `gpudoctor check --fix` does after the report: one finding at a time, asked, carried out, judged again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.need import RestartMachine
from doctor.commands.check.command import CheckSubject, ReportOptions, report_of
from doctor.commands.check.text import render
from doctor.commands.install.apply import needing_root
from doctor.commands.install.history import told_of_killed, way_back
from doctor.commands.install.install import Prepared, show_step, shown_steps
from doctor.diagnose import EXIT_BAD, EXIT_FINE, exit_status
from doctor.host.files import read_regular
from doctor.model.facts import Facts
from doctor.model.finding import Finding, Remedy, Report, Status
from doctor.output.document import TextStyle
from doctor.output.page import Page
from doctor.prescribe.corrected_line import corrections
from doctor.prescribe.target import target_of
from doctor.script.parse import FILE_AT_MOST_BYTES
from installers.apply import Applied, Interrupted, apply
from installers.at_work import AtWork
from installers.effect import Effect
from installers.journal import State
from installers.plan import Plan, Target
from installers.render import step_lines
from installers.render.parts import numbered
from installers.run import MEANS, ExecutionOptions
from installers.step import Step, kind_of
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.command import Command
from installers.steps.edit_line import EditLine
from installers.steps.reboot import Reboot
from installers.steps.remove_from_path import RemoveFromPath
from installers.steps.set_variable import SetVariable
from installers.steps.unset_variable import UnsetVariable

_YES, _NO, _QUIT = "y", "n", "q"


class CannotMend(GpudoctorError):
    """`--fix` was said together with what it cannot fix, or where nobody can be asked."""


class Talk(NamedTuple):
    """The person at the terminal; an end of the input is answered for them with "q"."""

    tell: Callable[[str], None]
    ask: Callable[[str], str]  # the question: the line that was typed
    agrees: bool = False  # every question is answered with yes (--yes)


class Offer(NamedTuple):
    """One way to fix a finding, and who does which steps of it."""

    summary: str
    steps: tuple[Step, ...]
    first: tuple[Step, ...]  # those at the beginning that are for the person, who does them before answering
    carried: tuple[Step, ...]  # those that can be carried out; empty where all is for the person
    target: Target
    effects: tuple[Effect, ...] | None


class Setting(NamedTuple):
    """What stays the same from one finding to the next."""

    again: Callable[[], Report]
    talk: Talk
    means: ExecutionOptions
    view: TextStyle
    failed: list[str]  # ways that were begun and not carried out to their end


def fix(
    subject: CheckSubject, options: ReportOptions, view: TextStyle, talk: Talk | None, means: ExecutionOptions = MEANS
) -> int:
    """Report, walk through the findings, and return the exit status of the last report; 1 also where a way failed.

    Raises CannotMend without a `talk`, and for options that name another machine or another form of report.
    """
    talk = _allowed(subject, options, talk)
    severity = options.severity

    def again() -> Report:
        return report_of(subject, time.perf_counter())

    report = again()
    talk.tell(render(report, view))
    failed: list[str] = []
    last = walk(report, Setting(again, talk, means, view, failed=failed))
    if last is not report:
        talk.tell("\n" + render(last, view))
    return exit_status(last, severity) or (EXIT_BAD if failed else EXIT_FINE)


def _allowed(subject: CheckSubject, options: ReportOptions, talk: Talk | None) -> Talk:
    if subject.source is not None:
        raise CannotMend("--fix changes this machine, but --from reads another one")
    usual = ReportOptions()
    for name in ("root", "image", "lock"):
        if getattr(subject, name) is not None:
            raise CannotMend(f"--fix changes this machine or a Dockerfile: omit --{name}")
    others = {
        "--framework": bool(subject.frameworks),
        "--list": options.list_rules,
        "--format": options.style != usual.style,
        "--output": options.outputs != usual.outputs,
        "--redact": options.redact,
    }
    said = [name for name, is_said in others.items() if is_said]
    if said:
        raise CannotMend(f"--fix prints its own report: omit {', '.join(said)}")
    if talk is None:
        raise CannotMend("--fix asks before each change: run it in a terminal, or add --yes")
    return talk


def walk(report: Report, setting: Setting) -> Report:
    """Each root finding with a remedy once, those that appear on the way too; the last report that was made."""
    met: set[tuple[str, str]] = set()
    while True:
        mendable = (finding for finding in report.findings if finding.remedies and not finding.explained_by)
        finding = next((one for one in mendable if (one.code, one.subject) not in met), None)
        if finding is None:
            return report
        met.add((finding.code, finding.subject))
        offers = tuple(_offer(remedy, report.facts) for remedy in finding.remedies)
        setting.talk.tell(_shown(finding, offers, setting.view))
        answer = _choice(offers, setting.talk)
        if answer == _QUIT:
            return report
        if isinstance(answer, Offer) and _carried_out(answer, setting):
            report = setting.again()
            setting.talk.tell(_outcome(finding, report, setting.view))


def _offer(remedy: Remedy, facts: Facts) -> Offer:
    """What comes after a step by hand in the middle waits for it, and so is left."""
    if facts.machine.kind == "dockerfile":
        edits = tuple(_edits(remedy.plan, facts))
        steps = edits or remedy.plan.steps
        return Offer(remedy.summary, steps, first=(), carried=edits, target=target_of(facts, remedy.need), effects=None)
    steps = tuple(step for step in remedy.plan.steps if not kind_of(step).is_note)
    first = next((number for number, step in enumerate(steps) if not _by_hand(step)), len(steps))
    end = next((number for number, step in enumerate(steps) if number > first and _by_hand(step)), len(steps))
    carried = tuple(step for step in steps[first:end] if not kind_of(step).is_left(step))
    if isinstance(remedy.need, RestartMachine):  # it would end the walk, and this run's journal, halfway
        carried = ()
    return Offer(
        summary=remedy.summary,
        steps=remedy.plan.steps,
        first=steps[:first],
        carried=carried,
        target=target_of(facts, remedy.need),
        effects=remedy.plan.effects,
    )


def _edits(plan: Plan, facts: Facts) -> Iterator[EditLine]:
    """The lines of the Dockerfile, and of files that it copies, that change; none if one of them is not as it was."""
    found = []
    for line, text in corrections(plan, facts):
        is_own = line.source.file == os.path.basename(facts.machine.name)
        path = facts.machine.name if is_own else line.source.file
        rows = read_regular(path, FILE_AT_MOST_BYTES).decode("utf-8", "surrogateescape").splitlines()
        row = rows[line.source.line - 1] if 0 < line.source.line <= len(rows) else ""
        if row.split() != line.what.split():
            return
        indent = row[: len(row) - len(row.lstrip())]
        found.append(EditLine(path, line.source.line, row, indent + text.lstrip(), why=plan.summary))
    yield from found


def _by_hand(step: Step) -> bool:
    if isinstance(step, Command):
        return step.place != "" or _is_cmdlet(step.argv[0])
    return isinstance(step, (ByHand, Reboot)) or (isinstance(step, EditLine) and step.by_root)


def _is_cmdlet(name: str) -> bool:
    """Whether it is a Verb-Noun of PowerShell, which is no program that could be started."""
    verb, _, noun = name.partition("-")
    return verb.isalpha() and noun.isalpha() and verb[0].isupper() and noun[0].isupper()


def _shown(finding: Finding, offers: tuple[Offer, ...], view: TextStyle) -> str:
    page = Page(view)
    page.line("")
    page.paragraph(finding.summary, colour="bold")
    page.paragraph(f"{finding.code} {page.symbol('·', '-')} {finding.subject}", colour="dim")
    for way, offer in enumerate(offers, 1):
        page.gap()
        lead = f"Way {way}: " if len(offers) > 1 else ""
        page.paragraph(f"{lead}{offer.summary}" + ("" if offer.carried else " (for you to do)"), colour="bold", hang=2)
        for number, step in numbered(shown_steps(offer.steps)):
            if (
                isinstance(step, (ByHand, Reboot)) and step.text == offer.summary
            ):  # a single thing to do is its own summary
                continue
            show_step(page, number, step, offer.target)
    return page.text()


_FOR_YOU = "gpudoctor cannot do this for you."
_YOUR_SHELL = f"{_FOR_YOU} No program can change the variables of your shell: paste the command into it."


def _choice(offers: tuple[Offer, ...], talk: Talk) -> Offer | str:
    """The way that was chosen, "n" or "q"."""
    able = [number for number, offer in enumerate(offers, 1) if offer.carried]
    if not able:
        settings = any(kind_of(step).configures and not kind_of(step).is_note for one in offers for step in one.steps)
        talk.tell(f"{_YOUR_SHELL if settings else _FOR_YOU}\n")
        return _NO
    if talk.agrees:
        return next((offers[one - 1] for one in able if not offers[one - 1].first), _NO)
    usual, *others = able
    first = offers[usual - 1].first
    last = len(tuple(number for number, step in numbered(shown_steps(first)) if number))
    before = f"First do step {last if last == 1 else f'1 to {last}'} yourself. " if first else ""
    question = f"{before}Apply it?" if len(offers) == 1 else f"{before}Apply way {usual}?"
    more = "".join(f", {one} = way {one}" for one in others)
    while True:
        answer = talk.ask(f"{question} [y/N{more}] ").strip().lower() or _NO
        number = {"y": str(usual), "yes": str(usual)}.get(answer, answer)
        if number in map(str, able):
            return offers[int(number) - 1]
        if answer[0] in {_NO, _QUIT}:
            return answer[0]
        talk.tell(f"{answer!r} is not a valid answer: type y, n or q.\n")


def _carried_out(offer: Offer, setting: Setting) -> bool:
    """Whether something may have changed; what fails is told, and the walk goes on."""
    plan = Plan(offer.summary, offer.carried, offer.effects)
    as_root = needing_root(Prepared(plan, offer.target, None))
    means = setting.means
    if as_root and not means.as_root:
        question = f"These need root: {'; '.join(as_root)}. Run them with sudo? [y/N] "
        if not setting.talk.agrees and setting.talk.ask(question).strip().lower() not in {"y", "yes"}:
            setting.talk.tell("Nothing was changed: run these commands yourself, or run gpudoctor as root.\n")
            return False
        means = means._replace(as_root=("sudo",))
    try:
        applied = apply(plan, State(), means)
    except (AtWork, Interrupted):  # whatever would come next
        raise
    except GpudoctorError as error:
        setting.failed.append(offer.summary)
        setting.talk.tell(_failure(error, setting.view))
    else:
        _as_in_a_new_shell(offer)
        setting.talk.tell(_left(offer, applied, setting.view))
    return True


def _as_in_a_new_shell(offer: Offer) -> None:
    """Let the next look see the variables as a new shell has them, once the user's scripts are edited."""
    if not any(isinstance(step, EditLine) for step in offer.carried):
        return
    for step in offer.steps:
        if isinstance(step, SetVariable):
            os.environ[step.name] = step.value
        elif isinstance(step, RemoveFromPath) and step.left:
            os.environ[step.name] = step.left
        elif isinstance(step, (RemoveFromPath, UnsetVariable)):
            os.environ.pop(step.name, None)


def _failure(error: GpudoctorError, view: TextStyle) -> str:
    page = Page(view)
    page.paragraph(" ".join(f"Failed: {error}. {error.hint}".split()), colour="red", hang=2)
    return page.text()


_FOR_THIS_SHELL = "In this shell, also run this (new shells do not need it):"
_FOR_EACH_SHELL = "In this shell, also run this. To keep it, add it to the start-up file of your shell (~/.bashrc):"


def _left(offer: Offer, applied: Applied, view: TextStyle) -> str:
    """What was taken back of an earlier run, which steps wait for the person, and how to take this run back."""
    page = Page(view)
    for one in applied.recovered:
        for line in told_of_killed(one):
            page.paragraph(line, colour="yellow")
    done = {id(step) for step in (*offer.first, *offer.carried)}
    is_kept = any(isinstance(step, EditLine) for step in offer.carried)
    for number, step in numbered(shown_steps(offer.steps)):
        if id(step) in done or not number or isinstance(step, Check):
            continue
        if isinstance(step, (RemoveFromPath, SetVariable, UnsetVariable)):
            page.paragraph(_FOR_THIS_SHELL if is_kept else _FOR_EACH_SHELL)
            for line in step_lines(step, offer.target):
                page.verbatim(line, indent=4)
        else:
            page.paragraph(f"To do by hand: step {number}", hang=2)
    if way_back(applied.id, offer.carried):
        page.paragraph(way_back(applied.id, offer.carried))
    return page.text().lstrip("\n")


def _outcome(finding: Finding, report: Report, view: TextStyle) -> str:
    page = Page(view)
    same = next((one for one in report.findings if (one.code, one.subject) == (finding.code, finding.subject)), None)
    if same is None and _is_open(finding, report):
        page.paragraph(f"Checked again: {finding.code} is unknown now.", colour="yellow")
    elif same is None:
        page.paragraph(f"Checked again: {finding.code} is fixed.", colour="green")
    else:
        page.paragraph(f"Checked again: {finding.code} remains: {same.summary}", colour="red", hang=2)
    return page.text()


def _is_open(finding: Finding, report: Report) -> bool:
    """Whether the rule now answers UNKNOWN, which is no proof of anything fixed."""
    subjects = {finding.subject, report.facts.machine.label}
    return any(
        one.kind is Status.UNKNOWN and one.code == finding.code and one.subject in subjects for one in report.answers
    )
