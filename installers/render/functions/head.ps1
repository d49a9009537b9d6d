# If Windows refuses scripts: powershell -NoProfile -ExecutionPolicy Bypass -File THIS-FILE.ps1
# Stops at the first error; you can run it again. Downloads are unpacked in a separate directory
# ($env:GPUDOCTOR_STAGING sets another one). Replaced files are kept there, in "replaced".
Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
[Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
