"""Add permissions to files that are no links."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.errors import CannotChange
from installers.render.bash import quote, quoted_glob, sudo
from installers.step import FILES, Lines, Shell, StepType, nothing

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run

_BITS = {"r": 0o444, "w": 0o222, "x": 0o111}
_WHO = {"u": 0o700, "g": 0o070, "o": 0o007, "a": 0o777}


class ChangeMode(NamedTuple):
    """Which files, and what is added."""

    paths: tuple[str, ...]  # globs, "/usr/local/cuda/include/cudnn*.h"
    add: str  # "a+r", "a+rx"
    why: str
    needs_root: bool = False


def _apply(step: ChangeMode, run: Run) -> None:
    import glob  # late: printing needs none of it

    paths = sorted({path for pattern in step.paths for path in glob.glob(pattern, recursive=True)})
    run.change_modes(paths, partial(_with_mode, add=step.add))


def _with_mode(mode: int, *, add: str) -> int:
    """A mode with "a+r" and the like added; an "X" is "x" where somebody may run the file already."""
    match = re.fullmatch(r"([ugoa]*)\+([rwxX]+)", add)
    if match is None:
        raise CannotChange(f"no permission is meant by {add!r}")
    who = 0
    for sign in match[1] or "a":
        who |= _WHO[sign]
    signs = match[2].replace("X", "x" if mode & 0o111 else "")
    for sign in signs:
        mode |= _BITS[sign] & who
    return mode


def _line(step: ChangeMode) -> str:
    return f"chmod {quote(step.add)} {' '.join(map(quoted_glob, step.paths))}"


def _bash(step: ChangeMode, target: Target) -> Lines:
    return (f"{sudo(target, needs_root=step.needs_root)}{_line(step)}",)


KIND = StepType(
    ChangeMode,
    title=lambda step: f"add the mode {step.add} to {', '.join(step.paths)}",
    bash=Shell(_bash, lambda step, _: (_line(step),)),
    powershell=Shell(nothing),  # Windows has no such modes
    apply=_apply,
    taken_back=lambda _: FILES,
)
