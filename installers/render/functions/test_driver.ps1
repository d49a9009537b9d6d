function Test-Driver([string] $Oldest) {
    $there = Get-Command -ErrorAction SilentlyContinue nvidia-smi
    if (-not $there) { return $false }
    $found = @(& nvidia-smi '--query-gpu=driver_version' '--format=csv,noheader')
    if (($LASTEXITCODE -ne 0) -or ($found.Count -eq 0)) { return $false }
    if ($found[0] -notmatch '^[0-9]+[.]') { return $false }
    return ([version] $found[0]) -ge ([version] $Oldest)
}
