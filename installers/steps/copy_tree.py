"""Copy from the staging directory into a real one as `cp -P` does; what is replaced is backed up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.errors import InstallError
from installers.render.bash import quote, quoted_glob, script_word, sudo
from installers.render.powershell import literal, staged_path
from installers.step import FILES, Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.progress import Report
    from installers.run import Run
    from installers.transaction import Item


class CopyTree(NamedTuple):
    """A pattern is a path below `source` whose parts may be globs; a last part "**" is everything below.

    Each pattern must match something.
    """

    source: str  # directory in the staging directory
    into: str
    patterns: tuple[str, ...]
    why: str
    needs_root: bool = False
    arch: str = ""  # as in Target: libraries for another processor are refused; "" takes all
    cuda_major: int = 0  # a directory with the headers of another CUDA is refused; 0 takes all
    is_new: bool = False  # the directory need not be there yet


class NoToolkit(InstallError):
    """The directory that an archive belongs into is not there."""

    hint = "Install the CUDA toolkit first; --cuda-home names another directory, --prefix one of its own."

    def __init__(self, place: str) -> None:
        super().__init__(f"{place} is not there")


class NotInArchive(InstallError):
    """An archive does not hold what the plan copies from it."""

    hint = "Most likely this is another archive than its name says: compare it with the one that the plan names."


def _title(step: CopyTree) -> str:
    what = "everything in it" if step.patterns == ("**",) else ", ".join(step.patterns)
    return f"copy {what} to {step.into}"


def _refuse(step: CopyTree) -> None:
    from installers.compatibility import require_cuda  # late: printing needs none of it

    if not step.cuda_major:
        return
    if not step.is_new and not os.path.isdir(os.path.dirname(step.into)):
        raise NoToolkit(os.path.dirname(step.into))
    for headers in (step.into, os.path.join(step.into, "include")):
        require_cuda(headers, step.cuda_major)


def _apply(step: CopyTree, run: Run) -> None:
    run.put([_item(step, name, run) for name in _matches(step, run)])


def _matches(step: CopyTree, run: Run) -> list[str]:
    """Names below the source directory, each pattern's at least one; raises NotInArchive."""
    source = run.staged(step.source)
    names = sorted(_files_below(source)) if os.path.isdir(source) else []
    found: set[str] = set()
    for pattern in step.patterns:
        matching = {name for name in names if _fits(name, pattern)}
        if not matching:
            raise NotInArchive(f"the archive holds no {step.source}/{pattern}")
        found |= matching
    return sorted(found)


def _item(step: CopyTree, name: str, run: Run) -> Item:
    from installers.compatibility import require_machine  # late: printing needs none of it
    from installers.transaction import Item

    source = os.path.join(run.staged(step.source), *name.split("/"))
    if step.arch and not os.path.islink(source):
        require_machine(source, step.arch)
    return Item(os.path.join(step.into, *name.split("/")), partial(_copy_one, source, run.report))


def _files_below(directory: str, above: str = "") -> Iterator[str]:
    """Files and links, written with "/"; a link to a directory is a link."""
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files_below(entry.path, f"{above}{entry.name}/")
            else:
                yield f"{above}{entry.name}"


def _fits(name: str, pattern: str) -> bool:
    from fnmatch import fnmatchcase  # late: printing needs none of it

    parts, globs = name.split("/"), pattern.split("/")
    if globs[-1] == "**":
        globs = globs[:-1]
        parts = parts[: len(globs)] if len(parts) > len(globs) else []
    return len(parts) == len(globs) and all(map(fnmatchcase, parts, globs))


def _copy_one(source: str, report: Report, to: str) -> None:
    import shutil  # late, as what follows: printing needs none of it

    from installers.progress import Progress

    report(Progress("copy", source, 0, os.lstat(source).st_size))
    shutil.copy2(source, to, follow_symlinks=False)


def _headers(step: CopyTree) -> str:
    return f"{step.into}/include" if step.patterns == ("**",) else step.into


# --- bash -----------------------------------------------------------------------------------------------------------


def _bash(step: CopyTree, target: Target) -> Lines:
    """One command a directory of the patterns, which `cp` keeps below the one it copies into."""
    found: list[str] = []
    for pattern in step.patterns:
        below, _, last = pattern.rpartition("/")
        source, into = (f"{one}/{below}".rstrip("/") for one in (step.source, step.into))
        what = f"-R -P {quote(source)}/." if last == "**" else f"-P {quoted_glob(f'{source}/{last}')}"
        found += [f"mkdir -p {quote(into)}"] if step.is_new else []
        found += [f"cp --remove-destination {what} {quote(into)}/"]  # not through a link to a file elsewhere
    return tuple(f"{sudo(target, needs_root=step.needs_root)}{line}" for line in found)


def _bash_script(step: CopyTree, _: Target) -> Lines:
    return tuple(_bash_copy(step, pattern) for pattern in step.patterns)


def _bash_copy(step: CopyTree, pattern: str) -> str:
    below, _, last = pattern.rpartition("/")
    source, into = (f"{one}/{below}".rstrip("/") for one in (step.source, step.into))
    if last == "**":
        return f"copy_all {quote(into)} {script_word(source)}"
    return f'copy {quote(into)} "$staging"/{quoted_glob(f"{source}/{last}")}'


def _bash_first(step: CopyTree, _: Target) -> Lines:
    make = (f"mkdir -p -- {quote(step.into)}",) if step.is_new else ()
    fits = (f"is_for {step.cuda_major} {quote(_headers(step))}",) if step.cuda_major else ()
    return (*make, f"writable {quote(step.into)}", *fits)


def _bash_functions(step: CopyTree) -> Lines:
    everything = ("copy_all.sh",) if any(one.endswith("**") for one in step.patterns) else ()
    fits = ("is_for.sh",) if step.cuda_major else ()
    return ("stop.sh", "writable.sh", *fits, "copy.sh", *everything)


_BASH_LAST = ('if [ -d "$replaced" ]; then say "Replaced files are in $replaced"; fi',)


def _own_files(step: CopyTree) -> bool:
    """Whether the patterns alone tell the files of a product from all others: not where everything is copied."""
    return not any("**" in pattern or "/" in pattern for pattern in step.patterns)


def _name_before(step: CopyTree) -> str:
    """A name of this directory alone, by its whole path: another one may end alike."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", f"before-{step.into}").rstrip("-")


def _found(step: CopyTree) -> str:
    either = " -o ".join(f"-name {quote(pattern)}" for pattern in step.patterns)
    named = f"'(' {either} ')'" if len(step.patterns) > 1 else either
    into = f"{step.into.rstrip('/')}/"  # into a link as well: a toolkit's lib64 leads to targets/x86_64-linux/lib
    return f"find {quote(into)} -maxdepth 1 {named}"


def _keeps(step: CopyTree, target: Target) -> Lines:
    """All that is there under these names, links as links; nothing is there yet in a directory of its own.

    What an earlier plan kept in the same place is the original, and stays.
    """
    if not _own_files(step) or step.is_new:
        return ()
    if target.os_family == "windows":
        before, into = _name_before(step), step.into.replace("/", chr(92))
        part = literal(f"{before}.part")
        kept = (f"    {_powershell_found(into, one)} | Copy-Item -Force -Destination {part}" for one in step.patterns)
        return (
            f"if (-not (Test-Path -LiteralPath {literal(before)})) {{",
            f"    New-Item -ItemType Directory -Force {part} | Out-Null",
            *kept,
            f"    Rename-Item -LiteralPath {part} -NewName {literal(before)}",
            "}",
        )
    # a directory that is not there yet has nothing to keep
    archive = f"{_name_before(step)}.tar.gz"
    keep = f"{_found(step)} -print0 2>/dev/null | tar -czPf {archive} --null -T -"
    return (f"tar -tzPf {archive} >/dev/null 2>&1 || {keep}",)


def _powershell_found(folder: str, pattern: str) -> str:
    """The files of a directory, whose own brackets -Path would take for a pattern (about_Wildcards)."""
    return f"Get-ChildItem -LiteralPath {literal(folder)} -Filter {literal(pattern)}"


def _restores(step: CopyTree, target: Target) -> Lines:
    if not _own_files(step):
        return ()
    if target.os_family == "windows":
        into = step.into.replace("/", chr(92))
        gone = tuple(f"{_powershell_found(into, one)} | Remove-Item" for one in step.patterns)
        before = _name_before(step)
        there = f"Get-Item -LiteralPath {literal(before)} | Out-Null"  # in another directory nothing can be removed
        back = f"Copy-Item -Path {literal(f'{before}{chr(92)}*')} -Destination {literal(into)} -Force"
        return (there, *gone, back) if _keeps(step, target) else gone
    root = sudo(target, needs_root=step.needs_root)
    gone = (f"{root}{_found(step)} -delete",)
    kept = f"{_name_before(step)}.tar.gz"
    whole = f"tar -tzPf {kept} > /dev/null"  # nothing can be removed where it is not there, or was cut short
    return (whole, *gone, f"{root}tar -xzpPf {kept}") if _keeps(step, target) else gone


# --- PowerShell -----------------------------------------------------------------------------------------------------


def _powershell(step: CopyTree, _: Target) -> Lines:
    found = []
    for pattern in step.patterns:
        source, last, into = _powershell_places(step, pattern)
        what = f"{source}\\{last.replace('**', '*')}"
        found.append(f"New-Item -ItemType Directory -Force {literal(into)} | Out-Null")
        recurse = " -Recurse" if last == "**" else ""
        found.append(f"Copy-Item -Path {literal(what)} -Destination {literal(into)} -Force{recurse}")
    return tuple(found)


def _powershell_places(step: CopyTree, pattern: str) -> tuple[str, str, str]:
    below, _, last = pattern.rpartition("/")
    source, into = (f"{one}/{below}".rstrip("/").replace("/", "\\") for one in (step.source, step.into))
    return source, last, into


def _powershell_script(step: CopyTree, _: Target) -> Lines:
    return tuple(_powershell_copy(step, pattern) for pattern in step.patterns)


def _powershell_copy(step: CopyTree, pattern: str) -> str:
    source, last, into = _powershell_places(step, pattern)
    if last == "**":
        return f"Copy-All {staged_path(source)} {literal(into)}"
    return f"Copy-Into {staged_path(source)} {literal(last)} {literal(into)}"


def _powershell_first(step: CopyTree, _: Target) -> Lines:
    make = (f"New-Item -ItemType Directory -Force -Path {literal(step.into)} | Out-Null",) if step.is_new else ()
    headers = _headers(step).replace("/", "\\")
    fits = (f"Test-Cuda {step.cuda_major} {literal(headers)}",) if step.cuda_major else ()
    return (*make, f"Test-Writable {literal(step.into)}", *fits)


KIND = StepType(
    CopyTree,
    title=_title,
    bash=Shell(typed=_bash, scripted=_bash_script, first=_bash_first, functions=_bash_functions, last=_BASH_LAST),
    powershell=Shell(_powershell, _powershell_script, _powershell_first, lambda _: ("copy.ps1",)),
    apply=_apply,
    refuse=_refuse,
    writes=lambda step: (step.into,),
    fills=lambda step: (step.into,),
    keeps=_keeps,
    restores=_restores,
    taken_back=lambda _: FILES,
    staged=True,
)
