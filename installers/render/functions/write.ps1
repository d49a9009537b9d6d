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
