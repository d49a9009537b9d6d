function Test-Writable([string] $Directory) {
    $place = $Directory
    if (-not (Test-Path -LiteralPath $place)) { $place = Split-Path -Parent $place }
    if (-not (Test-Path -LiteralPath $place)) { throw "$place does not exist: install the CUDA toolkit first" }
    $probe = Join-Path $place ('gpudoctor-' + [Guid]::NewGuid())
    try { New-Item -ItemType File -Path $probe | Out-Null }
    catch { throw "$place is not writable: run this script in a PowerShell started as administrator" }
    Remove-Item -LiteralPath $probe
}

function Test-Cuda([string] $Major, [string] $Headers) {
    $header = Join-Path $Headers 'cuda.h'
    if (-not (Test-Path -LiteralPath $header)) { return }
    $found = Select-String -LiteralPath $header -Pattern '^#define CUDA_VERSION (\d+)\d{3}' | Select-Object -First 1
    if ($found -and $found.Matches[0].Groups[1].Value -ne $Major) {
        throw "$Headers has the headers of another CUDA, but the archive is for CUDA $Major"
    }
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
