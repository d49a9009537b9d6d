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
    if (-not $Sha256) { throw "the checksum of ${File} is unknown: to trust it, set GPUDOCTOR_SHA256 to its checksum" }
    throw "$File is not the file that was meant: another digest"
}
