"""A file to fetch into the staging directory; a file with another digest is refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render import bash_functions, powershell_functions
from installers.render.bash import protocol, quote, script_word, verified
from installers.render.powershell import literal, staged_path
from installers.render.powershell import verified as powershell_verified
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run

_MIB = 1 << 20
_TRUST = {
    "manifest": "checksum from NVIDIA's manifest",
    "several": "checksum confirmed by independent packagers",
    "one": "checksum from one packager's recipe",
}


class Download(NamedTuple):
    """Where it lies, what it is called here, and what it must be."""

    url: str
    to: str  # name in the staging directory
    sha256: tuple[str, ...]  # any of these; () is refused when applied
    size_bytes: int | None
    digest_from: str  # how far the digest can be trusted, see `compat.artefact`
    why: str


def _title(step: Download) -> str:
    size = f"{step.size_bytes / _MIB:,.0f} MiB, " if step.size_bytes else ""
    unknown = "signed by NVIDIA" if step.to.endswith(".exe") else "no known checksum"
    trust = _TRUST.get(step.digest_from, "your checksum") if step.sha256 else unknown
    return f"download {step.to} ({size}{trust})"


def _refuse(step: Download) -> None:
    from installers.fetch import require_digest

    require_digest(step)


def _apply(step: Download, run: Run) -> None:
    from installers.digest import verify_file  # late, as what follows: printing needs none of it
    from installers.errors import InstallError
    from installers.fetch import fetch

    # Under its digest: what broke off is found again, and by no other file of that name.
    to = os.path.join(run.downloads(), step.sha256[0].lower())
    try:
        verify_file(to, step.sha256, run.report)
    except (FileNotFoundError, InstallError):
        fetch(step, to, run.report, run.limits)
    run.archives[step.to] = to


def _bash(step: Download, _: Target) -> Lines:
    get = f"curl -fL --retry 3{protocol(step.url)} -o {quote(step.to)} {quote(step.url)}"
    return (get, *verified(step.to, step.sha256))


def _bash_script(step: Download, _: Target) -> Lines:
    return (" ".join(("fetch", quote(step.url), script_word(step.to), *step.sha256)),)


def _powershell(step: Download, _: Target) -> Lines:
    get = f"Invoke-WebRequest -Uri {literal(step.url)} -OutFile {literal(step.to)}"
    return (get, *powershell_verified(step.to, step.sha256))


def _powershell_script(step: Download, _: Target) -> Lines:
    return (f"Get-Archive {literal(step.url)} {staged_path(step.to)} @({', '.join(map(literal, step.sha256))})",)


_BASH_FETCH = """\
fetch() { # URL FILE SHA256...: resumes an interrupted download; a part of another file is deleted once
  local url=$1 file=$2 part=$2.part there=
  shift 2
  if [ -f "$file" ] && is_one_of "$file" "$@"; then
    say "  it already exists"
    return
  fi
  if [ -s "$part" ]; then there=$(stat --format %s -- "$part"); fi
  if [ -z "$there" ] || ! is_one_of "$part" "$@"; then
    if [ -n "$there" ]; then say "  resuming after $there bytes"; fi
    receive "$url" "$part"
    if [ -n "$there" ] && ! is_one_of "$part" "$@"; then
      say "  what was there is not the beginning of this file: from the start"
      rm -f -- "$part"
      receive "$url" "$part"
    fi
  fi
  verify "$part" "$@"
  mv -f -- "$part" "$file"
}
"""
_POWERSHELL_FETCH = """\
function Get-Status($Failure) {
    # The status that a server answered with; 0 where there was no answer.
    while ($Failure) {
        if (($Failure -is [Net.WebException]) -and $Failure.Response) { return [int] $Failure.Response.StatusCode }
        $Failure = $Failure.InnerException
    }
    return 0
}

function Add-Rest([string] $Url, [string] $File) {
    # Appends the bytes that are still missing. Invoke-WebRequest of 5.1 cannot go on with a file.
    $there = [long] 0
    if (Test-Path -LiteralPath $File) { $there = [long] (Get-Item -LiteralPath $File).Length }
    $request = [Net.WebRequest]::Create($Url)
    $request.Timeout = 60000
    $request.ReadWriteTimeout = 60000
    if ($there -gt 0) { $request.AddRange($there) }
    $response = $request.GetResponse()
    try {
        # What a server sends with another status than 206 is the file from its start.
        $mode = [IO.FileMode]::Create
        if ([int] $response.StatusCode -eq 206) { $mode = [IO.FileMode]::Append }
        $out = New-Object IO.FileStream ($File, $mode)
        try {
            $begun = $out.Position
            $response.GetResponseStream().CopyTo($out)
            $arrived = $out.Position - $begun
        }
        finally { $out.Close() }
        if ($response.ContentLength -gt $arrived) { throw "$Url broke off" }
    }
    finally { $response.Close() }
}

function Receive-File([string] $Url, [string] $File) {
    for ($try = 1; ; $try++) {
        try {
            Add-Rest $Url $File
            return
        }
        catch {
            $status = Get-Status $_.Exception
            # 416: nothing goes on from here, so from the start; other answers of that kind stay as they are.
            if ($status -eq 416) { Remove-Item -Force -LiteralPath $File }
            elseif (($status -ge 400) -and ($status -lt 500)) { throw }
            if ($try -ge 4) { throw }
            Start-Sleep -Seconds $try
        }
    }
}

function Get-Archive([string] $Url, [string] $File, [string[]] $Sha256) {
    if ((Test-Path -LiteralPath $File) -and (Test-Digest $File $Sha256)) {
        Write-Output '  it already exists'
        return
    }
    $part = "$File.part"
    $resumed = Test-Path -LiteralPath $part
    if (-not $resumed) { Receive-File $Url $part }
    elseif (-not (Test-Digest $part $Sha256)) {
        Write-Output '  going on with what an earlier run fetched'
        Receive-File $Url $part
        if (-not (Test-Digest $part $Sha256)) {
            Write-Output '  that is not the beginning of this file: from the start'
            Remove-Item -Force -LiteralPath $part
            Receive-File $Url $part
        }
    }
    Confirm-Digest $part $Sha256
    Move-Item -Force -LiteralPath $part -Destination $File
}
"""

_BASH_FUNCTIONS = (bash_functions.STOP, bash_functions.VERIFY, bash_functions.RECEIVE, _BASH_FETCH)

KIND = StepType(
    Download,
    title=_title,
    bash=Shell(
        _bash,
        _bash_script,
        functions=lambda _: _BASH_FUNCTIONS,
    ),
    powershell=Shell(
        _powershell,
        _powershell_script,
        functions=lambda _: (powershell_functions.VERIFY, _POWERSHELL_FETCH),
    ),
    apply=_apply,
    refuse=_refuse,
    size_bytes=lambda step: step.size_bytes or 0,
    staged=True,
)
