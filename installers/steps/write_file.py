"""A small text file to write, in place of what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render import bash_functions
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


_POWERSHELL_WRITE = """\
function Write-Text([string] $File, [string[]] $Lines) {
    # UTF-8 without a BOM, which Set-Content of 5.1 cannot write; the old file is kept beside it.
    $File = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($File) # "~" is of PowerShell
    $text = ($Lines -join "`n") + "`n"
    if (Test-Path -LiteralPath $File) {
        if ([IO.File]::ReadAllText($File) -ceq $text) { return }
        Copy-Item -LiteralPath $File -Destination ($File + (Get-Date -Format '.yyyyMMddTHHmmss') + '.before')
    }
    New-Item -ItemType Directory -Force -Path (Split-Path -Parent $File) | Out-Null
    [IO.File]::WriteAllText($File, $text)
}
"""

KIND = StepType(
    WriteFile,
    title=lambda step: f"write {step.path}",
    bash=Shell(_bash, _bash_script, functions=lambda _: (bash_functions.WRITE,)),
    powershell=Shell(_powershell, _powershell_script, functions=lambda _: (_POWERSHELL_WRITE,)),
    apply=_apply,
    writes=lambda step: (directory_of(step.path),),
    taken_back=lambda _: FILES,
    configures=True,
)
