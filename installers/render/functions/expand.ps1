function Expand-Into([string] $File, [string] $Directory) {
    New-Item -ItemType Directory -Force -Path $Directory | Out-Null
    if ($File -like '*.zip') { Expand-Archive -Force -LiteralPath $File -DestinationPath $Directory; return }
    tar -xf $File -C $Directory
    if ($LASTEXITCODE -ne 0) { throw "$File could not be unpacked" }
}
