"""A plan's steps in words: what each does, and why."""

from __future__ import annotations

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
    RefreshLoader,
    RemoveFromPath,
    SetVariable,
    Step,
    UnsetVariable,
    UseFile,
    WriteFile,
)

_MIB = 1 << 20
_TRUST = {
    "manifest": "digest from NVIDIA's own manifest",
    "several": "digest on which independent packagers agree",
    "one": "digest from one packager's recipe",
}


def title(step: Step) -> str:
    """What a step does, one sentence without a full stop."""
    if isinstance(step, (Download, UseFile, Extract, Check)):
        return _of_archive(step)
    if isinstance(step, (Command, ByHand)):
        return step.text if isinstance(step, ByHand) else step.why
    return _of_files(step)


def _of_archive(step: Download | UseFile | Extract | Check) -> str:
    if isinstance(step, Download):
        size = f"{step.size_bytes / _MIB:,.0f} MiB, " if step.size_bytes else ""
        return f"download {step.to} ({size}{_trust(step)})"
    if isinstance(step, UseFile):
        return f"take {step.path}" + ("" if step.sha256 else ", whose digest nobody knows")
    return f"unpack {step.archive}" if isinstance(step, Extract) else "check the machine again"


def _trust(step: Download) -> str:
    return _TRUST.get(step.digest_from, "digest that you named") if step.sha256 else "no digest is known"


_Other = WriteFile | SetVariable | UnsetVariable | RemoveFromPath
_Files = CopyTree | ChangeMode | MakeLink | RefreshLoader | EditText


def _of_files(step: _Files | _Other) -> str:
    if isinstance(step, CopyTree):
        what = "everything in it" if step.patterns == ("**",) else ", ".join(step.patterns)
        return f"copy {what} to {step.into}"
    if isinstance(step, ChangeMode):
        return f"give {step.add} to {', '.join(step.paths)}"
    if isinstance(step, MakeLink):
        return f"make the link {step.path} to {step.text}"
    if isinstance(step, RefreshLoader):
        return "refresh the loader's cache"
    if isinstance(step, EditText):
        return f"edit {step.path}"
    return _of_surroundings(step)


def _of_surroundings(step: _Other) -> str:
    if isinstance(step, WriteFile):
        return f"write {step.path}"
    if isinstance(step, RemoveFromPath):
        return f"take {step.directory} out of {step.name}"
    return f"set {step.name} to {step.value}" if isinstance(step, SetVariable) else f"unset {step.name}"


def reason(step: Step) -> str:
    """Why a step is done; "" where its title says it."""
    return "" if isinstance(step, Command) else step.why
