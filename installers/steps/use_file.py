"""An archive that the user has already, verified as a download is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import quote, quoted_path, script_word, verified
from installers.render.powershell import literal, staged_path
from installers.render.powershell import verified as powershell_verified
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run


class UseFile(NamedTuple):
    """Where it lies, and what it is called in the staging directory."""

    path: str
    to: str  # name in the staging directory
    sha256: tuple[str, ...]
    why: str


def _title(step: UseFile) -> str:
    return f"use {step.path}" + ("" if step.sha256 else " (no known checksum)")


def _apply(step: UseFile, run: Run) -> None:
    """Its bytes are copied while they are hashed: what is unpacked is what was judged, whatever becomes of the file."""
    from installers.digest import copy_verified  # late: printing needs none of it

    copy_verified(os.path.expanduser(step.path), run.staged(step.to), step.sha256, run.report)


def _size_bytes(step: UseFile) -> int:
    try:
        return os.path.getsize(os.path.expanduser(step.path))
    except OSError:
        return 0


def _bash(step: UseFile, _: Target) -> Lines:
    take = () if step.path == step.to else (f"cp -- {quoted_path(step.path)} {quote(step.to)}",)
    return (*take, *verified(step.to, step.sha256))


def _is_bare(step: UseFile) -> bool:
    """Whether it is a name alone, of a file that a browser saved: a script can be started anywhere."""
    return not set(step.path) & set("/~")


def _bash_script(step: UseFile, _: Target) -> Lines:
    taken = f"taken=$(locate {quote(step.path)})" if _is_bare(step) else f"taken={quoted_path(step.path)}"
    first, copy = (" ".join(("verify", name, *step.sha256)) for name in ('"$taken"', script_word(step.to)))
    return (taken, first, f'cp -- "$taken" {script_word(step.to)}', copy)  # it may have been swapped meanwhile


def _bash_functions(step: UseFile) -> Lines:
    found = ("locate.sh",) if _is_bare(step) else ()
    return ("stop.sh", "verify.sh", *found)


def _powershell(step: UseFile, _: Target) -> Lines:
    take = f"Copy-Item -LiteralPath {literal(step.path)} -Destination {literal(step.to)}"
    return (*(() if step.path == step.to else (take,)), *powershell_verified(step.to, step.sha256))


def _powershell_script(step: UseFile, _: Target) -> Lines:
    digests, copy = f"@({', '.join(map(literal, step.sha256))})", staged_path(step.to)
    return (
        f"$taken = Find-File {literal(step.path)}",
        f"Confirm-Digest $taken {digests}",
        f"Copy-Item -Force -LiteralPath $taken -Destination {copy}",
        f"Confirm-Digest {copy} {digests}",  # it may have been swapped meanwhile
    )


KIND = StepType(
    UseFile,
    title=_title,
    bash=Shell(_bash, _bash_script, functions=_bash_functions),
    powershell=Shell(_powershell, _powershell_script, functions=lambda _: ("verify.ps1", "find.ps1")),
    apply=_apply,
    size_bytes=_size_bytes,
    staged=True,
)
