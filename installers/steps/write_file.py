"""A small text file to write, in place of what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import joined, literal_word, quote, quoted_path, sudo
from installers.render.powershell import literal, quoted
from installers.step import FILES, Lines, Shell, StepType
from installers.text_file import directory_of, replace_text

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run


class WriteFile(NamedTuple):
    """The whole file, a line feed after each line."""

    path: str
    lines: tuple[str, ...]
    why: str
    needs_root: bool = False


def _apply(step: WriteFile, run: Run) -> None:
    replace_text(step.path, lambda _: "".join(f"{line}\n" for line in step.lines), run)


def _bash(step: WriteFile, target: Target) -> Lines:
    text = f"printf '%s\\n' {joined(step.lines)}"
    folder = step.path.rpartition("/")[0]
    if folder.startswith("~/"):
        text = f"mkdir -p {quoted_path(folder)} && {text}"
    if sudo(target, needs_root=step.needs_root):
        return (f"{text} | sudo tee {quote(step.path)} >/dev/null",)
    return (f"{text} >{quoted_path(step.path)}",)


def _bash_script(step: WriteFile, _: Target) -> Lines:
    *words, last = (f"  {literal_word(line)}" for line in step.lines or ("",))
    return ("printf '%s\\n' \\", *(f"{one} \\" for one in words), f"{last} | write {quoted_path(step.path)}")


def _powershell(step: WriteFile, _: Target) -> Lines:
    folder = step.path.rpartition("/")[0]
    make = (f"New-Item -ItemType Directory -Force {quoted(folder)} | Out-Null",) if folder.startswith("~/") else ()
    return (
        *make,
        f"Set-Content -LiteralPath {quoted(step.path)} -Value {', '.join(map(quoted, step.lines))}",
    )


def _powershell_script(step: WriteFile, _: Target) -> Lines:
    return (f"Write-Text {literal(step.path)} @({', '.join(map(literal, step.lines))})",)


KIND = StepType(
    WriteFile,
    title=lambda step: f"write {step.path}",
    bash=Shell(_bash, _bash_script, functions=lambda _: ("write.sh",)),
    powershell=Shell(_powershell, _powershell_script, functions=lambda _: ("write.ps1",)),
    apply=_apply,
    writes=lambda step: (directory_of(step.path),),
    taken_back=lambda _: FILES,
    configures=True,
)
