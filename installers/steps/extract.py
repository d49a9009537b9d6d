"""Unpack a .tar.gz, .tar.xz or .zip of the staging directory into a directory of it."""

from __future__ import annotations

import os
from posixpath import dirname
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import quote, script_word
from installers.render.powershell import literal, staged_path
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run


class Extract(NamedTuple):
    """An archive, and where it goes."""

    archive: str
    to: str  # "" is the staging directory itself
    why: str
    renames: tuple[tuple[str, str], ...] = ()  # below `to`: what is there under the first name gets the second one


def _apply(step: Extract, run: Run) -> None:
    from installers.unpack import unpack  # late: printing needs none of it

    into = run.staged(step.to)
    unpack(run.archives.get(step.archive) or run.staged(step.archive), into, run.report)
    for before, after in step.renames:
        _rename(os.path.join(into, before), os.path.join(into, after))


def _rename(before: str, after: str) -> None:
    """Not every archive has everything that is renamed where it is there; so in the shells."""
    if os.path.lexists(before):
        os.makedirs(os.path.dirname(after), exist_ok=True)
        os.rename(before, after)


# --- bash -----------------------------------------------------------------------------------------------------------


def _bash(step: Extract, _: Target) -> Lines:
    into = step.to or "."
    make = () if into == "." else (f"mkdir -p {quote(into)}",)
    unpack = f"tar -xf {quote(step.archive)} -C {quote(into)}"
    if step.archive.endswith(".zip"):
        unpack = f"unzip -q -o {quote(step.archive)} -d {quote(into)}"
    return (*make, unpack, *(_bash_rename(f"{into}/{before}", f"{into}/{after}") for before, after in step.renames))


def _bash_rename(before: str, after: str) -> str:
    return f"[ ! -e {quote(before)} ] || {{ mkdir -p {quote(dirname(after))} && mv {quote(before)} {quote(after)}; }}"


def _bash_script(step: Extract, _: Target) -> Lines:
    below = f"{step.to}/" if step.to else ""
    pairs = ((script_word(f"{below}{before}"), script_word(f"{below}{after}")) for before, after in step.renames)
    unpack = f"unpack {script_word(step.archive)} {script_word(step.to)}"
    return (unpack, *(f"rename {before} {after}" for before, after in pairs))


# --- PowerShell -----------------------------------------------------------------------------------------------------


def _powershell(step: Extract, _: Target) -> Lines:
    into = literal(step.to or ".")
    make = f"New-Item -ItemType Directory -Force {into} | Out-Null"
    unpack: Lines = (make, f"tar -xf {literal(step.archive)} -C {into}")
    if step.archive.endswith(".zip"):
        unpack = (f"Expand-Archive -LiteralPath {literal(step.archive)} -DestinationPath {into} -Force",)
    return (*unpack, *(_powershell_rename(step.to, *pair) for pair in step.renames))


def _powershell_rename(folder: str, before: str, after: str) -> str:
    here, there = (f"{folder or '.'}/{name}".replace("/", "\\") for name in (before, after))
    parent = literal(there.rpartition("\\")[0])
    move = f"New-Item -ItemType Directory -Force {parent} | Out-Null; Move-Item -Force {literal(here)} {literal(there)}"
    return f"if (Test-Path {literal(here)}) {{ {move} }}"


def _powershell_script(step: Extract, _: Target) -> Lines:
    expand = f"Expand-Into {staged_path(step.archive)} {staged_path(step.to)}"
    pairs = ((staged_path(f"{step.to}/{before}"), staged_path(f"{step.to}/{after}")) for before, after in step.renames)
    return (expand, *(f"Move-Renamed {before} {after}" for before, after in pairs))


KIND = StepType(
    Extract,
    title=lambda step: f"unpack {step.archive}",
    bash=Shell(_bash, _bash_script, functions=lambda step: ("unpack.sh", *(("rename.sh",) if step.renames else ()))),
    powershell=Shell(
        _powershell,
        _powershell_script,
        functions=lambda step: ("expand.ps1", *(("rename.ps1",) if step.renames else ())),
    ),
    apply=_apply,
    staged=True,
)
