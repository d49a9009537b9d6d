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
