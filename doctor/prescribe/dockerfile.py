"""A plan for an image as lines of its Dockerfile: nothing can be run inside of a file.

Sources: the Dockerfile reference, "ENV", "RUN" (here-documents, with BuildKit), "Environment replacement".
"""

from __future__ import annotations

import re
from typing import Union

from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.prescribe.corrected_line import corrected, in_base, manifest
from installers.plan import Plan, Target
from installers.render import commands
from installers.render.comments import comment
from installers.render.image_variables import cannot_unset
from installers.steps.add_to_path import AddToPath
from installers.steps.remove_from_path import RemoveFromPath
from installers.steps.set_variable import SetVariable
from installers.steps.unset_variable import UnsetVariable

Variables = Union[AddToPath, RemoveFromPath, SetVariable, UnsetVariable]
_END = "GPUDOCTOR"
_EMPTY = '""'
_PLAIN = re.compile(r"[\w./:,+=@%-]*")


def dockerfile_lines(plan: Plan, target: Target, facts: Facts) -> tuple[str, ...]:
    """What to write at the end of the image's Dockerfile, or into its lines; comments where there is only advice."""
    if facts.machine.kind in {"dockerfile", "lock"} and (lines_instead := corrected(plan, facts)):
        return lines_instead
    given = {one.name: one.value for one in value_or(facts.configuration.variables, ())}
    lines: list[str] = []
    others = []
    for step in plan.steps:
        if isinstance(step, (AddToPath, RemoveFromPath, SetVariable, UnsetVariable)):
            lines += _env_lines(step, given, facts)
        else:
            others.append(step)
    typed = commands(plan._replace(steps=tuple(others)), target)
    if all(line.startswith("#") for line in typed):
        lines += typed
    elif in_project := manifest(plan, facts):
        return in_project
    elif facts.machine.kind == "lock":
        return ("# change the project to this, and lock again:", *typed)
    elif facts.machine.kind == "dockerfile":
        lines += _run(typed)
    else:
        lines += [f"RUN bash -es <<'{_END}'", *typed, _END]
    if all(line.startswith("#") for line in lines) or (not others and lines[0].startswith("#")):
        return tuple(lines)
    if facts.machine.kind == "dockerfile":  # a line that fails is not fixed by one after it
        if base := in_base(plan, facts):
            name = base.image.partition(":")[0]
            return (f"# {base.source}: use another tag of {name}, or add after it:", *lines)
        return ("# replace the lines that install it now:", *lines)
    return ("# at the end of the image's Dockerfile:", *lines)


def _run(typed: tuple[str, ...]) -> list[str]:
    """One RUN of all commands, the advice above it."""
    told = [line for line in typed if line.startswith("#")]
    done = " && \\\n    ".join(line for line in typed if not line.startswith("#"))
    return [*told, *f"RUN {done}".split("\n")]


def _env_lines(step: Variables, given: dict[str, str], facts: Facts) -> list[str]:
    """The line; where the Dockerfile itself is known, in place of the one that is wrong, whose variables stay open."""
    name = "PATH" if isinstance(step, AddToPath) else step.name
    places = {one.name: one.set_in for one in value_or(facts.configuration.variables, ())}
    place = places.get(name, "") if facts.machine.kind == "dockerfile" else ""
    value = _value(step, given)
    if not value or (place and value == _EMPTY):
        return [*comment(f"{place}: delete {name} from this line" if place else cannot_unset(name))]
    line = f"ENV {name}={value}"
    return [*comment(f"{place}: use this value for {name}"), line.replace("\\${", "${")] if place else [line]


def _value(step: Variables, given: dict[str, str]) -> str:
    """The variable's new value as a Dockerfile reads it, "" to unset it; `given` has those that decide."""
    if isinstance(step, AddToPath):
        return f"{_quoted(step.directory)}:$PATH"
    if isinstance(step, SetVariable):
        return _quoted(step.value)
    if isinstance(step, UnsetVariable):
        return ""
    gone = step.directory.rstrip("/")
    left = [part for part in given.get(step.name, "").split(":") if part.rstrip("/") != gone]
    return _quoted(":".join(left))  # the loader takes an empty list of directories for none: ld.so(8)


def _quoted(value: str) -> str:
    """As a Dockerfile reads it back."""
    if value and _PLAIN.fullmatch(value):
        return value
    return '"' + re.sub(r'(["\\$])', r"\\\1", value) + '"'
