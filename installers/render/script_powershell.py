"""A plan as a PowerShell script that a person can review and run: it stops at the first error and can be run again.

It works without gpudoctor, from Windows PowerShell 5.1 on (about_Automatic_Variables, Expand-Archive, Get-FileHash).
"""

from __future__ import annotations

from hashlib import sha256

from installers.plan import (
    ByHand,
    Check,
    Command,
    CopyTree,
    Download,
    EditText,
    Extract,
    Plan,
    Step,
    UseFile,
    WriteFile,
)
from installers.render.comments import comment
from installers.render.powershell import installer, literal, step_lines
from installers.render.words import reason, title

_HEAD = """\
# Stops at the first error; running it again does no harm. What is fetched and unpacked lies in a directory of its own
# ($env:GPUDOCTOR_STAGING names another one), and what is replaced is kept there, below "replaced".
Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
[Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
"""
_FUNCTIONS = """\
function Test-Writable([string] $Directory) {
    $place = $Directory
    if (-not (Test-Path -LiteralPath $place)) { $place = Split-Path -Parent $place }
    if (-not (Test-Path -LiteralPath $place)) { throw "$place is not there: install the CUDA toolkit first" }
    $probe = Join-Path $place ('gpudoctor-' + [Guid]::NewGuid())
    try { New-Item -ItemType File -Path $probe | Out-Null }
    catch { throw "$place is not writable: run this script in a PowerShell started as administrator" }
    Remove-Item -LiteralPath $probe
}

function Test-Cuda([string] $Major, [string] $Headers) {
    $header = Join-Path $Headers 'cuda.h'
    if (-not (Test-Path -LiteralPath $header)) { return }
    $found = Select-String -LiteralPath $header -Pattern '^#define CUDA_VERSION (\\d+)\\d{3}' | Select-Object -First 1
    if ($found -and $found.Matches[0].Groups[1].Value -ne $Major) {
        throw "$Headers holds the headers of another CUDA, and the archive is for CUDA $Major"
    }
}

function Test-Digest([string] $File, [string[]] $Sha256) {
    if ($env:GPUDOCTOR_SHA256) { $Sha256 += $env:GPUDOCTOR_SHA256 }
    return $Sha256 -contains (Get-FileHash -Algorithm SHA256 -LiteralPath $File).Hash
}

function Confirm-Digest([string] $File, [string[]] $Sha256) {
    if (Test-Digest $File $Sha256) { return }
    $reader = New-Object IO.StreamReader (Resolve-Path -LiteralPath $File).ProviderPath
    $start = New-Object char[] 1024
    $reader.Read($start, 0, 1024) | Out-Null
    $reader.Close()
    if ((-join $start) -match '<(!doctype )?html') { throw "$File is a web page: log in, and download again" }
    Write-Output ('  its SHA-256 is ' + (Get-FileHash -Algorithm SHA256 -LiteralPath $File).Hash)
    if (-not $Sha256) { throw "nobody knows the digest of ${File}: if you trust that one, set GPUDOCTOR_SHA256 to it" }
    throw "$File is not the file that was meant: another digest"
}

function Get-Status($Failure) {
    # The status that a server answered with; 0 where there was no answer.
    while ($Failure) {
        if (($Failure -is [Net.WebException]) -and $Failure.Response) { return [int] $Failure.Response.StatusCode }
        $Failure = $Failure.InnerException
    }
    return 0
}

function Add-Rest([string] $Url, [string] $File) {
    # Appends what the server has after the bytes that are there. Invoke-WebRequest of 5.1 cannot go on with a file.
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
        Write-Output '  it is there already'
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

function Expand-Into([string] $File, [string] $Directory) {
    New-Item -ItemType Directory -Force -Path $Directory | Out-Null
    if ($File -like '*.zip') { Expand-Archive -Force -LiteralPath $File -DestinationPath $Directory; return }
    tar -xf $File -C $Directory
    if ($LASTEXITCODE -ne 0) { throw "$File could not be unpacked" }
}

function Copy-Into([string] $Source, [string] $Pattern, [string] $Directory) {
    $found = @(Get-ChildItem -LiteralPath $Source -Filter $Pattern -File)
    if (-not $found) { throw "the archive has no $Pattern in $Source" }
    New-Item -ItemType Directory -Force -Path $Directory | Out-Null
    foreach ($file in $found) {
        $to = Join-Path $Directory $file.Name
        if (Test-Path -LiteralPath $to) {
            $there = (Get-FileHash -Algorithm SHA256 -LiteralPath $to).Hash
            if ($there -eq (Get-FileHash -Algorithm SHA256 -LiteralPath $file.FullName).Hash) { continue }
            $kept = Join-Path $replaced ($Directory -replace ':', '')
            New-Item -ItemType Directory -Force -Path $kept | Out-Null
            Copy-Item -LiteralPath $to -Destination $kept
        }
        Copy-Item -Force -LiteralPath $file.FullName -Destination "$to.gpudoctor-new"
        Move-Item -Force -LiteralPath "$to.gpudoctor-new" -Destination $to
    }
}

function Copy-All([string] $Source, [string] $Directory) {
    if (@(Get-ChildItem -LiteralPath $Source -File)) { Copy-Into $Source '*' $Directory }
    foreach ($folder in @(Get-ChildItem -LiteralPath $Source -Directory)) {
        Copy-All $folder.FullName (Join-Path $Directory $folder.Name)
    }
}

function Move-Renamed([string] $From, [string] $To) {
    if (-not (Test-Path -LiteralPath $From)) { return }
    New-Item -ItemType Directory -Force -Path (Split-Path -Parent $To) | Out-Null
    Move-Item -Force -LiteralPath $From -Destination $To
}
"""
_WRITE = """\
function Write-Text([string] $File, [string[]] $Lines) {
    # UTF-8 without a mark before it, which Set-Content of 5.1 cannot write; what was there is kept beside the file.
    $text = ($Lines -join "`n") + "`n"
    if (Test-Path -LiteralPath $File) {
        if ([IO.File]::ReadAllText($File) -ceq $text) { return }
        Copy-Item -LiteralPath $File -Destination ($File + (Get-Date -Format '.yyyyMMddTHHmmss') + '.before')
    }
    New-Item -ItemType Directory -Force -Path (Split-Path -Parent $File) | Out-Null
    [IO.File]::WriteAllText($File, $text)
}
"""


def script(plan: Plan) -> str:
    """The whole script, ending with a line feed."""
    steps = [line for number, step in enumerate(plan.steps, 1) for line in _step(number, step)]
    new = [step for step in plan.steps if isinstance(step, CopyTree) and step.is_new]
    first = [f"New-Item -ItemType Directory -Force -Path {literal(step.into)} | Out-Null" for step in new]
    first += [f"Test-Writable {literal(step.into)}" for step in plan.steps if isinstance(step, CopyTree)]
    copies = [step for step in plan.steps if isinstance(step, CopyTree) and step.cuda_major]
    first += [f"Test-Cuda {step.cuda_major} {literal(_headers(step))}" for step in copies]
    head = "\n".join(comment(f"{plan.summary}: written by gpudoctor, to be read, then run."))
    works_on_files = any(isinstance(step, (Download, UseFile, Extract, CopyTree)) for step in plan.steps)
    top = f"{_staging(plan)}\n{_FUNCTIONS}" if works_on_files else ""
    top += f"\n{_WRITE}" if any(isinstance(step, WriteFile) for step in plan.steps) else ""
    body = "\n".join([*dict.fromkeys(first), *steps, "", "Write-Output 'Done.'"])
    return f"{head}\n{_HEAD}{top}\n{body}\n"


def _headers(step: CopyTree) -> str:
    return f"{step.into}\\include" if step.patterns == ("**",) else step.into


def _staging(plan: Plan) -> str:
    """A directory of the user's, one a plan."""
    name = sha256(repr(plan).encode()).hexdigest()[:16]
    return (
        "$staging = $env:GPUDOCTOR_STAGING\n"
        f"if (-not $staging) {{ $staging = Join-Path $env:LOCALAPPDATA 'gpudoctor\\scripts\\{name}' }}\n"
        "$staging = (New-Item -ItemType Directory -Force -Path $staging).FullName\n"
        "$replaced = Join-Path $staging ('replaced\\' + (Get-Date -Format 'yyyyMMddTHHmmss'))\n"
    )


def _step(number: int, step: Step) -> tuple[str, ...]:
    said = f"Write-Output {literal(f'{number}. {title(step).splitlines()[0]}')}"
    return ("", *comment(reason(step)), said, *_lines(step))


def _lines(step: Step) -> tuple[str, ...]:
    if isinstance(step, Download):
        return (f"Get-Archive {literal(step.url)} {_staged(step.to)} @({_digests(step.sha256)})",)
    if isinstance(step, UseFile):
        path = literal(step.path)
        return (
            f"Confirm-Digest {path} @({_digests(step.sha256)})",
            f"Copy-Item -Force -LiteralPath {path} -Destination {_staged(step.to)}",
        )
    if isinstance(step, Extract):
        expand = f"Expand-Into {_staged(step.archive)} {_staged(step.to)}"
        pairs = ((_staged(f"{step.to}/{before}"), _staged(f"{step.to}/{after}")) for before, after in step.renames)
        return (expand, *(f"Move-Renamed {before} {after}" for before, after in pairs))
    if isinstance(step, CopyTree):
        return tuple(_copy(step, pattern) for pattern in step.patterns)
    if isinstance(step, WriteFile):
        return (f"Write-Text {literal(step.path)} @({', '.join(map(literal, step.lines))})",)
    if isinstance(step, (ByHand, Check, EditText)):
        return tuple(f"Write-Output {literal(f'   {line}')}" for line in _told(step))
    return _checked(step)


def _told(step: ByHand | Check | EditText) -> tuple[str, ...]:
    """What is left to a person: settings are merged into a file by `--apply`, not by a script."""
    if isinstance(step, EditText):
        settings = (f"{key} = {value}" for key, value in step.settings)
        head = (f"[{step.section}]",) if step.section else ()
        return (f"left for you, in {step.path}:", *head, *settings, *step.lines)
    return tuple(step.text.splitlines()[1:]) if isinstance(step, ByHand) else ("gpudoctor check",)


def _checked(step: Step) -> tuple[str, ...]:
    """PowerShell goes on after a program that fails, unless its exit status is looked at."""
    lines = step_lines(step)
    if isinstance(step, Command) and step.staged:
        return _installer(step)
    if isinstance(step, Command) and not step.place:
        failed = f"if ($LASTEXITCODE -ne 0) {{ throw {literal(f'{step.argv[0]} failed')} }}"
        return (*lines, failed)
    return lines


def _installer(step: Command) -> tuple[str, ...]:
    failed = f"if ($ended.ExitCode -ne 0) {{ throw {literal(f'{step.argv[0]} failed')} }}"
    return (f"$ended = {installer(step, _staged(step.argv[0]))}", failed)


def _digests(digests: tuple[str, ...]) -> str:
    return ", ".join(map(literal, digests))


def _staged(name: str) -> str:
    return f"(Join-Path $staging {literal(name.replace('/', chr(92)))})" if name else "$staging"


def _copy(step: CopyTree, pattern: str) -> str:
    below, _, last = pattern.rpartition("/")
    source, into = (f"{one}/{below}".rstrip("/").replace("/", "\\") for one in (step.source, step.into))
    if last == "**":
        return f"Copy-All {_staged(source)} {literal(into)}"
    return f"Copy-Into {_staged(source)} {literal(last)} {literal(into)}"
