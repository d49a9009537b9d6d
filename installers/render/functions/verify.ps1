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
    if (-not $Sha256 -and ($File -like '*.exe*')) {
        $program = "$File.exe" # PowerShell looks for a signature by the ending of the name
        Move-Item -Force -LiteralPath $File -Destination $program
        $signature = Get-AuthenticodeSignature -LiteralPath $program
        Move-Item -Force -LiteralPath $program -Destination $File
        $by = $signature.SignerCertificate.Subject
        if (($signature.Status -eq 'Valid') -and ($by -match 'O="?NVIDIA Corporation')) { return }
        throw "$File is not signed by NVIDIA Corporation"
    }
    Write-Output ('  its SHA-256 is ' + (Get-FileHash -Algorithm SHA256 -LiteralPath $File).Hash)
    if (-not $Sha256) { throw "the checksum of ${File} is unknown: to trust it, set GPUDOCTOR_SHA256 to its checksum" }
    throw "$File is not the file that was meant: another digest"
}
