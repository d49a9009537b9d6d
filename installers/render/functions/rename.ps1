function Move-Renamed([string] $From, [string] $To) {
    if (-not (Test-Path -LiteralPath $From)) { return }
    New-Item -ItemType Directory -Force -Path (Split-Path -Parent $To) | Out-Null
    Move-Item -Force -LiteralPath $From -Destination $To
}
