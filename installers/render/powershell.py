"""A plan's steps as PowerShell lines."""

from __future__ import annotations

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

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/\\=+")


def lines(plan: Plan, target: Target) -> tuple[str, ...]:
    """Every step's lines, in order; what needs an administrator says so first."""
    found = [line for step in plan.steps for line in step_lines(step)]
    if any(getattr(step, "needs_root", False) for step in plan.steps) and not target.is_root:
        found.insert(0, "# in a PowerShell started as administrator:")
    return tuple(found)


def quoted(word: str) -> str:
    """An argument of a command: bare where PowerShell takes it as it is."""
    return word if word and set(word) <= _PLAIN and not word.startswith("=") else literal(word)


def literal(word: str) -> str:
    """A string in an expression, where a bare word would be a command: single quotes, doubled inside.

    The curly single quotes close a string too, so they are doubled as well. Source: about_Quoting_Rules.
    """
    for quote in "'\u2018\u2019\u201a\u201b":
        word = word.replace(quote, quote * 2)
    return f"'{word}'"


def step_lines(step: Step) -> tuple[str, ...]:
    """One step."""
    if isinstance(step, Command):
        place = comment(f"on {step.place}:") if step.place else ()
        return (*place, *(_installer(step) if step.staged else (_call(step.argv),)))
    if isinstance(step, WriteFile):
        return (f"Set-Content -Path {quoted(step.path)} -Value {', '.join(map(quoted, step.lines))}",)
    if isinstance(step, ByHand):
        return comment(step.text)
    if isinstance(step, RemoveFromPath):
        return _without(step)
    if isinstance(step, SetVariable):
        return _variable(step.name, literal(step.value))
    if isinstance(step, UnsetVariable):
        return _unset(step)
    return _staged(step)


def _staged(step: Staged) -> tuple[str, ...]:
    """Steps that work on files, from the directory that a person chose to do them in."""
    if isinstance(step, Download):
        return (f"Invoke-WebRequest -Uri {literal(step.url)} -OutFile {literal(step.to)}", *_verify(step))
    if isinstance(step, UseFile):
        take = f"Copy-Item -LiteralPath {literal(step.path)} -Destination {literal(step.to)}"
        return (*(() if step.path == step.to else (take,)), *_verify(step))
    if isinstance(step, Extract):
        into = literal(step.to or ".")
        if step.archive.endswith(".zip"):
            unpack = f"Expand-Archive -LiteralPath {literal(step.archive)} -DestinationPath {into} -Force"
            return (unpack, *(_rename(step.to, *pair) for pair in step.renames))
        return (f"New-Item -ItemType Directory -Force {into} | Out-Null", f"tar -xf {literal(step.archive)} -C {into}")
    if isinstance(step, CopyTree):
        return _copies(step)
    if isinstance(step, MakeLink):
        return (f"New-Item -ItemType SymbolicLink -Force -Path {literal(step.path)} -Target {literal(step.text)}",)
    return _rest(step)


def _rename(folder: str, before: str, after: str) -> str:
    """Not every archive has everything that is renamed where it is there."""
    here, there = (f"{folder or '.'}/{name}".replace("/", "\\") for name in (before, after))
    parent = literal(there.rpartition("\\")[0])
    move = f"New-Item -ItemType Directory -Force {parent} | Out-Null; Move-Item -Force {literal(here)} {literal(there)}"
    return f"if (Test-Path {literal(here)}) {{ {move} }}"


def _extract(step: Extract) -> tuple[str, ...]:
    into = literal(step.to or ".")
    if step.archive.endswith(".zip"):
        return (f"Expand-Archive -LiteralPath {literal(step.archive)} -DestinationPath {into} -Force",)
    return (f"New-Item -ItemType Directory -Force {into} | Out-Null", f"tar -xf {literal(step.archive)} -C {into}")


def _renamed(folder: str, old: str, new: str) -> str:
    """What not every archive holds may be missing."""
    before, after = (f"{folder}/{one}".replace("/", "\\") for one in (old, new))
    make = f"New-Item -ItemType Directory -Force {literal(after.rpartition(chr(92))[0])} | Out-Null"
    move = f"Move-Item -Force -LiteralPath {literal(before)} -Destination {literal(after)}"
    return f"if (Test-Path -LiteralPath {literal(before)}) {{ {make}; {move} }}"


def _rest(step: ChangeMode | RefreshLoader | EditText | Check) -> tuple[str, ...]:
    """Windows has neither modes nor a cache of the loader."""
    if isinstance(step, EditText):
        section = f"in {step.path}, section {step.section}:" if step.section else f"in {step.path}:"
        settings = (f"  {key} = {value}" for key, value in step.settings)
        return tuple(line for text in (section, *settings, *step.lines) for line in comment(text))
    return ("gpudoctor check",) if isinstance(step, Check) else ()


def _verify(step: Download | UseFile) -> tuple[str, ...]:
    found = f"(Get-FileHash -Algorithm SHA256 -LiteralPath {literal(step.to)}).Hash"
    if not step.sha256:
        return (*comment("no digest of this file is known: compare this one with one that you trust"), found)
    digests = ", ".join(map(literal, step.sha256))
    return (f"if ({found} -notin {digests}) {{ throw {literal(f'{step.to} is not the file that NVIDIA made')} }}",)


def _copies(step: CopyTree) -> tuple[str, ...]:
    found = []
    for pattern in step.patterns:
        below, _, last = pattern.rpartition("/")
        source, into = (f"{one}/{below}".rstrip("/").replace("/", "\\") for one in (step.source, step.into))
        what = f"{source}\\{last.replace('**', '*')}"
        found.append(f"New-Item -ItemType Directory -Force {literal(into)} | Out-Null")
        recurse = " -Recurse" if last == "**" else ""
        found.append(f"Copy-Item -Path {literal(what)} -Destination {literal(into)} -Force{recurse}")
    return tuple(found)


def _installer(step: Command) -> tuple[str, ...]:
    """PowerShell does not wait for a program with windows, unless it is told to."""
    words = ", ".join(map(literal, step.argv[1:]))
    start = f"Start-Process -Wait -PassThru -FilePath {literal(f'.{chr(92)}{step.argv[0]}')} -ArgumentList {words}"
    return (f"$ended = {start}", f"if ($ended.ExitCode -ne 0) {{ throw {literal(f'{step.argv[0]} failed')} }}")


def _call(argv: tuple[str, ...]) -> str:
    """A program whose name had to be quoted is a string until the call operator runs it."""
    words = tuple(map(quoted, argv))
    return " ".join(("&", *words) if words[0].startswith("'") else words)


def installer(step: Command, file: str = "") -> str:
    """A program with windows, for which PowerShell does not wait unless told to; `file` is an expression.

    Start-Process of 5.1 joins its arguments with blanks and quotes none of them.
    """
    name, *words = step.argv
    told = ", ".join(literal(f'"{one}"' if set(one) & set(" \t") else one) for one in words)
    where = file or literal(f".\\{name}")
    return f"Start-Process -Wait -PassThru -FilePath {where}" + (f" -ArgumentList {told}" if told else "")


def _variable(name: str, value: str) -> tuple[str, ...]:
    """For later processes of the user, and for the shell at hand."""
    return (f"[Environment]::SetEnvironmentVariable('{name}', {value}, 'User')", f"$env:{name} = {value}")


def _unset(step: UnsetVariable) -> tuple[str, ...]:
    return (
        f"[Environment]::SetEnvironmentVariable('{step.name}', $null, 'User')",
        f"Remove-Item -ErrorAction SilentlyContinue Env:{step.name}",
    )


def _without(step: RemoveFromPath) -> tuple[str, ...]:
    """In the registry itself: GetEnvironmentVariable would put the values of `%NAME%` in for good.

    Setting a variable tells the programs that run; one that is not there serves for that.
    """
    bare = literal(step.directory.replace("/", "\\").rstrip("\\"))
    kept = "-split ';' | Where-Object { $_.TrimEnd('\\') -ne " + bare + " }) -join ';'"
    saved = f"($key.GetValue('{step.name}', '', 'DoNotExpandEnvironmentNames') {kept}"
    save = f"$key.SetValue('{step.name}', ({saved}), $key.GetValueKind('{step.name}'))"
    return (
        "$key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)",
        f"if ($key.GetValueNames() -contains '{step.name}') {{ {save} }}",
        "$key.Close()",
        "[Environment]::SetEnvironmentVariable('GPUDOCTOR', $null, 'User')",
        f"$env:{step.name} = ($env:{step.name} {kept}",
    )
