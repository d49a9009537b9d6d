"""What `gpudoctor install ... --apply` does after the plan is made: carry it out, look again, judge again."""

from __future__ import annotations

from compat.need import InstallCudnn, InstallToolkit
from doctor.commands.install.history import told_of_killed, way_back
from doctor.commands.install.install import BadOrder, Prepared
from doctor.commands.install.verify_installed import Verified, described, verify
from doctor.model.encode import encode
from doctor.output.document import TextStyle
from doctor.output.formats.json import encoded
from doctor.output.page import Page
from installers.apply import Applied, apply
from installers.journal import State
from installers.plan import Plan
from installers.render import commands
from installers.run import ExecutionOptions
from installers.step import Step, kind_of
from installers.steps.check import Check
from installers.steps.pause import Pause
from installers.steps.unless import Unless

SCHEMA = "gpudoctor.applied/1"
_UNKNOWN = 4  # exit status: nothing is wrong, but whether all is right is unknown yet


def needing_root(prepared: Prepared) -> tuple[str, ...]:
    """The commands that this user may not run: what to ask about before anything is done."""
    if prepared.target.is_root:
        return ()
    commands_too = (step for step in up_to_a_pause(prepared.plan).steps if kind_of(step).runs)
    steps = [step for step in commands_too if kind_of(step).needs_root(step)]
    return commands(prepared.plan._replace(steps=tuple(steps)), prepared.target)


def up_to_a_pause(plan: Plan) -> Plan:
    """What one call carries out: to where the plan waits for a person, and what must be true then."""
    for number, step in enumerate(plan.steps, 1):
        if isinstance(step, Pause):
            check = Check("after the reboot, the remaining steps continue", step.expects, step.finds)
            return plan._replace(steps=(*plan.steps[:number], check))
    return plan


def apply_plan(prepared: Prepared, means: ExecutionOptions, style: str, view: TextStyle) -> tuple[str, int]:
    """The text to print, and the exit status.

    0 done and found whole, 1 done but something is still wrong, 4 done but nothing can be told before a restart.

    Raises BadOrder for another machine's plan, InstallError where nothing was changed.
    """
    if prepared.facts is None:
        raise BadOrder("--apply changes this machine: omit --os, --arch and --distribution")
    prepared = prepared._replace(plan=up_to_a_pause(prepared.plan))
    if needing_root(prepared) and not means.as_root:
        raise BadOrder(f"root is needed for: {'; '.join(needing_root(prepared))}: run as root, or add --sudo")
    doing = [one for one in prepared.plan.steps if not kind_of(one).is_left(one) and not isinstance(one, Unless)]
    if not doing:
        first = next(one for one in prepared.plan.steps if not isinstance(one, Unless))
        what = kind_of(first).title(first)
        raise BadOrder(f"gpudoctor cannot run these steps from here: {what}; to see all steps, omit --apply")
    applied = apply(prepared.plan, State(), means)
    verified = verify(prepared)
    status = _UNKNOWN if verified.waits else 0 if verified.is_good else 1
    if style == "json":
        return encoded(_encoded(applied, verified)) + "\n", status
    return _page(applied, verified, prepared.plan.steps, view), status


def _encoded(applied: Applied, verified: Verified) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "id": applied.id,
        "log": applied.log,
        "recovered": [one.id for one in applied.recovered],
        "left": ["\n".join(_text(step)) for step in applied.left],
        "found": encode(verified.found),
        "faults": [{"code": one.code, "subject": one.subject, "why": one.why} for one in verified.faults],
        "good": verified.is_good,
        "waits": verified.waits,
    }


def _page(applied: Applied, verified: Verified, steps: tuple[Step, ...], view: TextStyle) -> str:
    page = Page(view)
    for one in applied.recovered:
        for line in told_of_killed(one):
            page.paragraph(line, colour="yellow")
    page.paragraph(_verdict(verified), colour="green" if verified.is_good else "yellow" if verified.waits else "red")
    for fault in verified.faults:
        page.paragraph(f"  {fault.code}: {fault.why}", hang=4)
    for step in applied.left:
        if not isinstance(step, Check):
            first, *rest = _text(step)
            page.paragraph(f"To do by hand: {first}", hang=2)
            page.verbatim("\n".join(rest), indent=4)
    page.paragraph(way_back(applied.id, steps))
    page.paragraph(f"Log: {applied.log}")
    return page.text()


def _text(step: Step) -> tuple[str, ...]:
    """Return the text, and below it the commands to type."""
    kind = kind_of(step)
    return (kind.title(step), *(kind.told(step) if kind.told else ()))


def _verdict(verified: Verified) -> str:
    if verified.waits:
        return f"All is done up to this step: {verified.waits}."
    if verified.found is None and verified.wanted is not None:
        text = "it was not found"
        if isinstance(verified.wanted, (InstallCudnn, InstallToolkit)):
            text = f"no {'cuDNN' if isinstance(verified.wanted, InstallCudnn) else 'such CUDA toolkit'} was found"
        return f"Done, but {text} in the expected place."
    if verified.found is None:
        return "Done." if verified.is_good else "Done, but these errors remain:"
    return f"Done: {described(verified.found)}, {'complete' if verified.is_good else 'with errors'}."
