"""The line of a user's script that sets a variable, and what it becomes; what the variable holds in this shell then.

Everything else that the line says stays. A line inside an `if` becomes `: # …`: `:` is a command that does nothing, so
that the block around it stays valid. Sources: Bash's manual, "Bourne Shell Builtins"; pam_env(8) for /etc/environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Union

from doctor.host import Host
from doctor.host.optional_reads import text_of
from doctor.model.facts import Facts
from doctor.model.facts.seen import Place, value_or
from doctor.probes.configuration import spellings
from installers.plan import Plan, Target
from installers.render.bash import quote
from installers.step import Step
from installers.steps.edit_line import EditLine
from installers.steps.note import Note
from installers.steps.remove_from_path import RemoveFromPath
from installers.steps.set_variable import SetVariable
from installers.steps.unset_variable import UnsetVariable

_Setting = Union[RemoveFromPath, SetVariable, UnsetVariable]
_ENVIRONMENT = "/etc/environment"  # no shell reads it: pam_env(8)
_SCRIPT_BYTES = 1 << 20
_DIRECTORY = r"[\w./${}-]"  # what a directory of a list may be made of


def with_edited_lines(plan: Plan, facts: Facts, host: Host, target: Target) -> Plan:
    """Return the plan with the edits of the user's files first, the last line of a file before those above it."""
    edits: dict[Place, EditLine] = {}
    steps: list[Step] = []
    shell = {one.name: one.value for one in value_or(facts.configuration.variables, ())}  # as each step leaves it
    for step in plan.steps:
        if not isinstance(step, (RemoveFromPath, SetVariable, UnsetVariable)):
            steps.append(step)
            continue
        if target.live and host.is_live:
            steps += [Note(text) for text in _about(step, host) if Note(text) not in steps]
        place = _place(step.set_in, facts)
        edit = _edit(step, place, edits.get(place), host, target) if place else None
        if place and edit:
            edits[place] = edit
            step = step._replace(set_in="")  # noqa: PLW2901 - what is left of it is for this shell
        if target.live or not edit:
            steps.append(_in_this_shell(step, shell, host))
    first = sorted(edits.values(), key=lambda one: (one.path, -one.line))
    return plan._replace(steps=(*first, *steps))


def _about(step: _Setting, host: Host) -> Iterator[str]:
    """Say how long a command in this shell lasts where no file is known that sets the variable; and fish's spelling."""
    if not step.set_in and isinstance(step, SetVariable):
        yield f"{step.name} is set for this shell only; to keep it, put the `export` line into ~/.bashrc, too"
    elif not step.set_in and host.environ.get(step.name):
        yield (
            f"No file that gpudoctor reads sets {step.name}: what started this shell did. If it comes back, look at"
            " systemd (`systemctl --user show-environment`), the settings of your IDE and your batch script"
        )
    if isinstance(step, UnsetVariable) and host.environ.get("SHELL", "").endswith("/fish"):
        yield f"In fish, type `set -e {step.name}` instead of unset"


def _place(set_in: str, facts: Facts) -> Place | None:
    """The file and line of which the facts speak in these words; None for a module, an image, an unknown one."""
    variables = ((one.set_in, one.set_at) for one in value_or(facts.configuration.variables, ()))
    entries = ((one.set_in, one.set_at) for one in value_or(facts.loader.search, ()))
    found = dict((*variables, *entries)).get(set_in) if set_in else None
    return found if found and found.line else None


def _edit(step: _Setting, place: Place, begun: EditLine | None, host: Host, target: Target) -> EditLine | None:
    """The edit of a line; None where what the line says is not understood."""
    home = host.environ.get("HOME", "")
    path = f"{home}/{place.file[2:]}" if place.file.startswith("~/") else place.file
    rows = text_of(host, path, _SCRIPT_BYTES).splitlines()
    if place.line > len(rows) or any(row.endswith("\\") for row in rows[max(place.line - 2, 0) : place.line]):
        return None  # a line that goes on is edited by a person
    before = rows[place.line - 1]
    now = before if begun is None else begun.after
    after = now and _edited(step, now, place.file, host)
    if after == before:
        return None
    by_root = target.live and not target.is_root and place.file.startswith("/etc/")
    return EditLine(
        path=place.file,
        line=place.line,
        before=before,
        after=after,
        why=step.why,
        by_root=by_root,
        then_shell=target.live,
    )


def _edited(step: _Setting, line: str, file: str, host: Host) -> str | None:
    """The line after the step, None to delete it, as it is where nothing is understood."""
    if isinstance(step, SetVariable):
        return with_value(line, step.name, step.value)
    if isinstance(step, UnsetVariable):
        return _deleted(line, file) if re.search(rf"(^|[ \t;]){step.name}[= ]", line) is not None else line
    entry = step.directory.rstrip("/") or "/"
    pieces = [_bare(piece) for piece, _ in spellings(host, line, step.name, [entry])]
    left = line
    for piece in pieces:
        left = without_entry(left, piece)
    return _deleted(line, file) if left != line and _sets_nothing(left, step.name) else left


def _bare(piece: str) -> str:
    """Without what follows a directory that is spelled out, "${NAME"."""
    return piece if piece.startswith(("$", "~")) else piece.partition("$")[0]


def _deleted(line: str, file: str) -> str | None:
    """None; a line in a block is put out of force, since a block needs a command."""
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}: # {line.lstrip()}" if indent and file != _ENVIRONMENT else None


def with_value(line: str, name: str, value: str) -> str:
    """Return the line with another value for the variable."""
    new = quote(value)
    return re.sub(rf"((?:^|[ \t;]){name}[= ])[^;&]*", lambda found: f"{found[1]}{new}", line, count=1)


def without_entry(line: str, directory: str) -> str:
    """Return the line without a directory of a list, however many slashes end it."""
    spelled = rf"(?<!{_DIRECTORY}){re.escape(directory.rstrip('/') or '/')}/*"
    ends = r"(?![\w./-]|\$(?!\{\w+:\+))"  # "${NAME:+:$NAME}" begins the next entry
    left, count = re.subn(rf"{spelled}:", "", line, count=1)
    if not count:
        left = re.sub(rf":?{spelled}{ends}", "", line, count=1)
    # ${NAME:+:$NAME} at the front would leave an empty element
    return re.sub(r"=([\"']?)\$\{(\w+):\+:", r"=\1${\2:+", left)


def _sets_nothing(line: str, name: str) -> bool:
    """Whether a line gives a list nothing any more, but itself."""
    itself = rf"\${name}|\${{{name}}}|\${{{name}:\+\${{?{name}}}?}}"
    exported = rf"(?:;\s*export\s+{name}\s*)?"
    form = rf"\s*(?:export\s+|set\s+-gx\s+|setenv\s+)?{name}[= ]([\"']?)(?:{itself})?\1\s*{exported}(?:#.*)?"
    return re.fullmatch(form, line) is not None


def _in_this_shell(step: _Setting, shell: dict[str, str], host: Host) -> _Setting:
    """A list with what is left of it: the value that the shell at work has is known."""
    if not isinstance(step, RemoveFromPath) or not host.is_live:
        return step
    value = shell.get(step.name, host.environ.get(step.name, ""))
    gone = step.directory.rstrip("/") or "/"
    shell[step.name] = ":".join(one for one in value.split(":") if one and (one.rstrip("/") or "/") != gone)
    return step._replace(left=shell[step.name])
