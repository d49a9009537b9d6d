"""An installation command as data: what it installs and removes, with which tool."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping

from compat.base.record import NamedTuple
from doctor.commands.dockerfile.context import Context
from doctor.commands.dockerfile.pins import Pins, python_packages, system_packages
from doctor.commands.dockerfile.requirements import Line, Listed, constrained, name_of, requirements
from doctor.host import BadRequest
from doctor.model.facts.seen import Place
from doctor.script.expand import shown
from doctor.script.shell import Call, Word, calls

_LONGEST = 4_000  # characters of a command
_CONDA_SPEC = re.compile(r"([\w.-]+)(?:={1,2}(\d[\w.]*)(?:=.*)?|([<>!~][\w.,<>=!*~]*))?")
_CONDA = frozenset({"conda", "mamba", "micromamba"})
_REMOVE = frozenset({"uninstall", "remove"})


class Command(NamedTuple):
    """What one installation command asks for."""

    text: str
    tool: str  # "pip", "uv", "conda", "apt"
    lines: tuple[Line, ...] = ()  # Python requirements
    removed: tuple[str, ...] = ()  # Python packages
    system: tuple[str, ...] = ()  # packages of the system
    tags: tuple[str, ...] | None = ("",)  # of the package indexes, as of Pinned
    build: str | None = ""  # that its index serves, None if unknown
    is_upgrade: bool = False
    is_anew: bool = False
    environment: str = ""  # that it names
    unread: tuple[str, ...] = ()  # of it, what is not understood
    words: tuple[str, ...] = ()  # of the command, after its tool


def command_of(text: str, environ: Mapping[str, str], folder: str = ".") -> Command:
    """Return what a command asks for; raises BadRequest for one that installs nothing that is known."""
    if len(text) > _LONGEST:
        raise BadRequest(f"the command has more than {_LONGEST} characters")
    try:
        shlex.split(text)
    except ValueError as error:
        raise BadRequest(f"{shown(text)[:80]}: a quote has no end") from error
    found = [one for one in calls(text, environ) if one.program not in {"cd", "export", "true"}]
    if len(found) != 1:
        raise BadRequest(f'give one command, for example what-if "pip install vllm"; found {len(found)}')
    call = found[0]
    if names := system_packages(call):
        return Command(text, "apt", system=tuple(word.text for word in names))
    pins = python_packages(call, environ)
    if pins is not None:
        made = _conda(text, pins) if pins.tool == "conda" else _pip(text, call, pins, environ, Context(folder))
        if not (made.lines or made.unread):
            raise BadRequest(f"{shown(text)[:80]}: nothing to install in this command")
        return made
    removed = _removed(call)
    if removed:
        return Command(text, "conda" if call.program in _CONDA else "pip", removed=removed)
    raise BadRequest(f"{shown(text)[:80]}: what-if reads the install commands of pip, uv, conda and apt")


def _pip(text: str, call: Call, pins: Pins, environ: Mapping[str, str], context: Context) -> Command:
    listed = Listed(specs=tuple(Line(word.text, Place("", 0)) for word in pins.specs))
    unread = [f"{shown(word.text)[:80]} names no release" for word in pins.others]
    for word in pins.files:
        told = requirements(word.text, context, environ)
        listed = listed.joined(told)
        if not told.is_whole:
            unread.append(f"{shown(word.text)[:80]} was not read")
    for word in pins.constraints:
        told = requirements(word.text, context, environ)
        listed = listed.joined(told._replace(specs=(), constraints=told.specs + told.constraints))
    unread += [f"{one.spec[:80]} names no release" for one in listed.others]
    return Command(
        text,
        pins.tool,
        lines=constrained(listed),
        tags=pins.tags(listed.indexes, has_main=listed.has_main, is_whole=listed.is_whole),
        build=pins.build(listed.indexes, is_whole=listed.is_whole),
        is_upgrade=pins.is_upgrade,
        is_anew=pins.is_anew,
        environment=pins.environment,
        unread=tuple(unread),
        words=tuple(word.text for word in _after_install(call)),
    )


def _after_install(call: Call) -> tuple[Word, ...]:
    """The words of the command that follow `install`."""
    texts = [one.text for one in call.words]
    return call.words[texts.index("install") + 1 :] if "install" in texts else ()


def _conda(text: str, pins: Pins) -> Command:
    """conda's specs as pip's: a build string is left out."""
    lines = []
    for word in pins.specs:
        found = _CONDA_SPEC.fullmatch(word.text.rpartition("::")[2].replace(" ", ""))
        if found:
            version = f"=={found[2]}" if found[2] else found[3] or ""
            lines.append(Line(found[1] + version, Place("", 0)))
    unread = tuple(f"{word.text[:80]} was not read" for word in pins.files)
    return Command(text, "conda", tuple(lines), tags=None, build=None, environment=pins.environment, unread=unread)


def _removed(call: Call) -> tuple[str, ...]:
    words = [one.text for one in call.words]
    verb = next((number for number, one in enumerate(words) if one in _REMOVE), 0)
    tools = {"uv", *_CONDA} | {one for one in words[:verb] if re.fullmatch(r"pip[\d.]*", os.path.basename(one))}
    if not verb or not tools & {call.program, *words[:verb]}:
        return ()
    return tuple(name_of(one) for one in words[verb + 1 :] if not one.startswith("-"))
