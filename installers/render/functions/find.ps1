function Find-File([string] $Name) {
    # A bare name is searched here, beside this script and in Downloads.
    if ([IO.Path]::IsPathRooted($Name)) { return $Name }
    foreach ($place in '.', $PSScriptRoot, (Join-Path $env:USERPROFILE 'Downloads')) {
        if (-not $place) { continue }
        $file = Join-Path $place $Name
        if (Test-Path -LiteralPath $file) { return (Resolve-Path -LiteralPath $file).ProviderPath }
    }
    throw "$Name is not here, not beside this script and not in Downloads"
}
