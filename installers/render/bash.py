"""A plan's steps as bash lines."""

from __future__ import annotations

import re
from posixpath import dirname
from shlex import join, quote
from typing import Union

from installers.plan import (
    ByHand,
    ChangeMode,
    Check,
    Command,
    CopyTree,
    Download,
    EditText,
    Extract,
    MakeLink,
    Plan,
    RefreshLoader,
    RemoveFromPath,
    SetVariable,
    Step,
    Target,
    UnsetVariable,
    UseFile,
    WriteFile,
)
from installers.render.comments import comment

Staged = Union[Download, UseFile, Extract, CopyTree, ChangeMode, MakeLink, RefreshLoader, EditText, Check]


def lines(plan: Plan, target: Target) -> tuple[str, ...]:
    """Every step's lines, in order."""
    return tuple(line for step in plan.steps for line in step_lines(step, target))


def step_lines(step: Step, target: Target) -> tuple[str, ...]:
    """One step."""
    if isinstance(step, Command):
        return (*_place(step), f"{_sudo(step.needs_root, step.place, target)}{join(step.argv)}")
    if isinstance(step, WriteFile):
        return (_write(step, target),)
    if isinstance(step, ByHand):
        return comment(step.text)
    if isinstance(step, RemoveFromPath):
        return (*_set_in(step.set_in, f"take {step.directory} out of {step.name}"), _without(step))
    if isinstance(step, SetVariable):
        return (*_set_in(step.set_in, f"set {step.name}"), f"export {step.name}={quote(step.value)}")
    if isinstance(step, UnsetVariable):
        return _unset(step)
    return _staged(step, target)


def _staged(step: Staged, target: Target) -> tuple[str, ...]:
    """Steps that work on files, from the directory that a person chose to do them in."""
    if isinstance(step, Download):
        fetch = f"curl -fL --retry 3 -o {quote(step.to)} {quote(step.url)}"
        return (fetch, *_verify(step.to, step.sha256))
    if isinstance(step, UseFile):
        take = () if step.path == step.to else (f"cp -- {quote(step.path)} {quote(step.to)}",)
        return (*take, *_verify(step.to, step.sha256))
    if isinstance(step, Extract):
        return _extract(step)
    as_root = _sudo(getattr(step, "needs_root", False), "", target)
    if isinstance(step, CopyTree):
        return tuple(f"{as_root}{line}" for line in _copies(step))
    if isinstance(step, ChangeMode):
        return (f"{as_root}chmod {step.add} {' '.join(map(quoted_glob, step.paths))}",)
    if isinstance(step, MakeLink):
        return (f"{as_root}ln -sfn -- {quote(step.text)} {quote(step.path)}",)
    if isinstance(step, RefreshLoader):
        return (f"{as_root}ldconfig",)
    return ("gpudoctor check",) if isinstance(step, Check) else _edit(step)


def _verify(name: str, digests: tuple[str, ...]) -> tuple[str, ...]:
    if not digests:
        return (*comment("no digest of this file is known: compare this one with one that you trust"), _digest(name))
    return (f"{_digest(name)} | grep -E '^({'|'.join(digests)}) '",)


def _digest(name: str) -> str:
    return f"sha256sum {quote(name)}"


def _extract(step: Extract) -> tuple[str, ...]:
    into = step.to or "."
    make = () if into == "." else (f"mkdir -p {quote(into)}",)
    unpack = f"tar -xf {quote(step.archive)} -C {quote(into)}"
    if step.archive.endswith(".zip"):
        unpack = f"unzip -q -o {quote(step.archive)} -d {quote(into)}"
    return (*make, unpack, *(_rename(f"{into}/{before}", f"{into}/{after}") for before, after in step.renames))


def _rename(before: str, after: str) -> str:
    """Not every archive has everything that is renamed where it is there."""
    return f"[ ! -e {quote(before)} ] || {{ mkdir -p {quote(dirname(after))} && mv {quote(before)} {quote(after)}; }}"


def _renamed(old: str, new: str) -> tuple[str, ...]:
    """What not every archive holds may be missing."""
    folder, made = old.rpartition("/")[0], new.rpartition("/")[0]
    make = () if made == folder else (f"mkdir -p {quote(made)}",)
    return (*make, f"[ ! -e {quote(old)} ] || mv {quote(old)} {quote(new)}")


def _copies(step: CopyTree) -> tuple[str, ...]:
    """One command a directory of the patterns, which `cp` keeps below the one it copies into."""
    found: list[str] = []
    for pattern in step.patterns:
        below, _, last = pattern.rpartition("/")
        source, into = (f"{one}/{below}".rstrip("/") for one in (step.source, step.into))
        what = f"-R -P {quote(source)}/." if last == "**" else f"-P {quoted_glob(f'{source}/{last}')}"
        found += [f"mkdir -p {quote(into)}"] if step.is_new else []
        found += [f"cp {what} {quote(into)}/"]
    return tuple(found)


def quoted_glob(pattern: str) -> str:
    """A path whose `*`, `?` stay for the shell to expand; all else is quoted."""
    return "".join(one if one in {"*", "?"} else quote(one) for one in re.split(r"([*?])", pattern) if one)


def quoted_path(path: str) -> str:
    """A path in quotes; "~/" at its front stays for the shell to expand."""
    return f"~/{quote(path[2:])}" if path.startswith("~/") else quote(path)


def _edit(step: EditText) -> tuple[str, ...]:
    section = f"in {step.path}, section {step.section}:" if step.section else f"in {step.path}:"
    settings = (f"  {key} = {value}" for key, value in step.settings)
    return tuple(line for text in (section, *settings, *step.lines) for line in comment(text))


def _unset(step: UnsetVariable) -> tuple[str, ...]:
    return (*_set_in(step.set_in, f"delete {step.name}"), f"unset {step.name}")


def _sudo(needs_root: bool, place: str, target: Target) -> str:
    """Containers mostly run as root and have no sudo; their host is another machine, whose user we do not know."""
    if not needs_root:
        return ""
    if place:
        return "sudo "
    return "" if target.is_root or target.container else "sudo "


def _place(step: Command) -> tuple[str, ...]:
    return comment(f"on {step.place}:") if step.place else ()


def _write(step: WriteFile, target: Target) -> str:
    text = f"printf '%s\\n' {join(step.lines)}"
    if _sudo(step.needs_root, "", target):
        return f"{text} | sudo tee {quote(step.path)} >/dev/null"
    return f"{text} >{quoted_path(step.path)}"


def _set_in(where: str, what: str) -> tuple[str, ...]:
    """The lasting change is an edit in a file of the user's; the command after it helps the shell at hand."""
    return comment(f"in {where}: {what}, then in this shell:") if where else ()


def _without(step: RemoveFromPath) -> str:
    bare = step.directory.rstrip("/") or "/"
    spellings = f"-e {quote(bare)} -e {quote(bare.rstrip('/') + '/')}"
    return f"{step.name}=$(printf '%s' \"${step.name}\" | tr ':' '\\n' | grep -vxF {spellings} | paste -sd: -)"
