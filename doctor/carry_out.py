"""What `gpudoctor install cudnn --apply` does after the plan is made: carry it out, look again, judge again."""

from __future__ import annotations

import json
import os

from compat.matrix import Matrix
from compat.record import NamedTuple
from compat.version import CudnnVersion
from doctor.encode import encode
from doctor.facts import Facts
from doctor.facts.cudnn import CudnnCopy
from doctor.facts.seen import value_or
from doctor.finding import Answer, Kind
from doctor.formats import Look
from doctor.install import BadOrder, Prepared, host_with
from doctor.judge import codes, judge, load_rules
from doctor.page import Page
from doctor.probes import Request, look
from installers.apply import Applied, Means, apply
from installers.journal import State
from installers.plan import ByHand, Check, Command, CopyTree, EditText, RefreshLoader, SetVariable, Step, WriteFile
from installers.render import commands
from installers.render.words import title

SCHEMA = "gpudoctor.applied/1"
_CONFIGURES = (EditText, WriteFile, SetVariable, ByHand, RefreshLoader, Check)  # nothing new comes onto the machine
_LIBRARIES = ("libcudnn*", "cudnn*.dll")


class Verified(NamedTuple):
    """What was found when it was looked again."""

    copy: CudnnCopy | None  # the one that the plan installed; None: it was not found, or the plan copies none
    faults: tuple[Answer, ...]
    installs_copy: bool

    @property
    def is_good(self) -> bool:
        """Whether the plan brought about what it promised."""
        return not self.faults and (self.copy is not None or not self.installs_copy)


def needing_root(prepared: Prepared) -> tuple[str, ...]:
    """The commands that this user may not run: what to ask about before anything is done."""
    if prepared.target.is_root:
        return ()
    steps = [one for one in prepared.plan.steps if isinstance(one, (Command, RefreshLoader)) and one.needs_root]
    return commands(prepared.plan._replace(steps=tuple(steps)), prepared.target)


def carry_out(prepared: Prepared, means: Means, style: str, view: Look) -> tuple[str, int]:
    """The text to print, and the exit status: 0 done and found whole, 1 done but something is still wrong.

    Raises BadOrder for another machine's plan, InstallError where nothing was changed.
    """
    if prepared.facts is None:
        raise BadOrder("--apply changes this machine: leave --os and --arch out")
    if needing_root(prepared) and not means.as_root:
        raise BadOrder(f"root is needed for: {'; '.join(needing_root(prepared))}: run it as root, or say --sudo")
    applied = apply(prepared.plan, State(), means)
    verified = verify(prepared)
    status = 0 if verified.is_good else 1
    if style == "json":
        return json.dumps(_encoded(applied, verified), indent=2, ensure_ascii=False) + "\n", status
    return _page(applied, verified, view), status


def verify(prepared: Prepared) -> Verified:
    """Look at the machine again, and ask the rules that the plan names."""
    into = _libraries(prepared)
    home = os.path.dirname(into) if into else ""
    facts = look(host_with(home, into), Request())
    expects = {code for step in prepared.plan.steps if isinstance(step, Check) for code in step.expects}
    installs = not all(isinstance(step, _CONFIGURES) for step in prepared.plan.steps)
    wanted = expects or {code for code in codes() if installs and code.startswith("cudnn-")}
    copy = _copy_in(into, facts)
    answers = judge(facts, Matrix.of_user(), load_rules(sorted(wanted)))
    about = None if not into or copy is None else copy.label
    faults = tuple(one for one in answers if one.kind is Kind.BAD and about in {None, one.subject})
    return Verified(copy, faults, bool(into))


def _libraries(prepared: Prepared) -> str:
    steps = (step for step in prepared.plan.steps if isinstance(step, CopyTree))
    return next((step.into for step in steps if set(step.patterns) & set(_LIBRARIES)), "")


def _copy_in(directory: str, facts: Facts) -> CudnnCopy | None:
    if not directory:
        return None
    real = os.path.realpath(directory).replace(os.sep, "/")
    copies = value_or(facts.cudnn, ())
    return next((one for one in copies if one.path == real and value_or(one.parts, ())), None)


def _encoded(applied: Applied, verified: Verified) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "id": applied.id,
        "recovered": [one.id for one in applied.recovered],
        "left": [title(step) for step in applied.left],
        "found": encode(verified.copy),
        "faults": [{"code": one.code, "subject": one.subject, "why": one.why} for one in verified.faults],
        "good": verified.is_good,
    }


def _page(applied: Applied, verified: Verified, view: Look) -> str:
    page = Page(view)
    for one in applied.recovered:
        page.paragraph(f"An earlier run that was killed is taken back: {one.id}, {one.summary}", colour="yellow")
    page.paragraph(_verdict(verified), colour="green" if verified.is_good else "red")
    for fault in verified.faults:
        page.paragraph(f"  {fault.code}: {fault.why}", hang=4)
    for step in applied.left:
        _left(page, step)
    page.paragraph(f"To take it back: gpudoctor install rollback {applied.id}")
    return page.text()


def _left(page: Page, step: Step) -> None:
    if not isinstance(step, Check):
        first, *rest = title(step).splitlines()
        page.paragraph(f"Left for you: {first}", hang=2)
        page.verbatim("\n".join(rest), indent=4)


def _verdict(verified: Verified) -> str:
    if verified.copy is None and verified.installs_copy:
        return "Done, but no cuDNN is found where it was copied to."
    if verified.copy is None:
        return "Done." if verified.is_good else "Done, but this is still wrong:"
    version: CudnnVersion | None = value_or(verified.copy.version, None)
    whole = "whole" if verified.is_good else "with faults"
    return f"Done: cuDNN {version or 'of an unknown version'} is in {verified.copy.path}, {whole}."
