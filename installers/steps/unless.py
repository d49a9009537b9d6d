"""The beginning and the end of a part of a plan that is passed over where what it brings is there already.

What is on a machine is looked at when a plan is made for it. A script is run where nobody looked, and again after a
restart: there these lines look. Source: nvidia-smi(1), `--query-gpu=driver_version`; what it prints where no driver
runs begins with no number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import quote
from installers.render.comments import comment
from installers.render.powershell import literal
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run


class Unless(NamedTuple):
    """One of `path` and `driver` says what is looked for; the end of a part says neither."""

    what: str  # "the NVIDIA driver"
    why: str = ""
    path: str = ""  # a file or directory
    driver: str = ""  # the oldest release that will do, "525.60.13"
    ends: bool = False


def _title(step: Unless) -> str:
    """The end of a part is no step of its own."""
    there = f"driver {step.driver} or newer is running" if step.driver else f"{step.path} exists"
    return "" if step.ends else f"{step.what}, unless {there}"


def _typed(step: Unless, _: Target) -> Lines:
    return comment(_title(step))


def _bash_script(step: Unless, _: Target) -> Lines:
    if step.ends:
        return ("fi",)
    test = f"driver_runs {quote(step.driver)}" if step.driver else f"[ -e {quote(step.path)} ]"
    # a part may be a word to the user alone, and bash takes no branch without a command
    return (f"if {test}; then", "  say '   it already exists'", "else", "  :")


def _powershell_script(step: Unless, _: Target) -> Lines:
    if step.ends:
        return ("}",)
    test = f"Test-Driver {literal(step.driver)}" if step.driver else f"Test-Path -LiteralPath {literal(step.path)}"
    return (f"if ({test}) {{ Write-Output '   it already exists' }}", "else {")


def _nothing(step: Unless, run: Run) -> None:
    """What is there was seen before the plan was made."""


KIND = StepType(
    Unless,
    title=_title,
    bash=Shell(_typed, _bash_script, functions=lambda step: ("driver_runs.sh",) if step.driver else ()),
    powershell=Shell(_typed, _powershell_script, functions=lambda step: ("test_driver.ps1",) if step.driver else ()),
    apply=_nothing,
    is_note=True,
    configures=True,
)
