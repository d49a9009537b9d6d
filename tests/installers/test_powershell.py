"""PowerShell lines."""

from __future__ import annotations

import pytest

from compat.matrix import Matrix
from compat.need import AssignVariable, ClearVariable, DropFromPath, InstallPackage, Need, RemoveFile, RestartMachine
from installers.choose import plan_for
from installers.render import commands
from installers.render.powershell import quoted
from tests.installers.target import WINDOWS

# Another variable in it, %USERPROFILE%, keeps its name there.
IN_REGISTRY = (
    "if ($key.GetValueNames() -contains 'PATH') { $key.SetValue('PATH', (($key.GetValue('PATH', '', "
    "'DoNotExpandEnvironmentNames') -split ';' | Where-Object { $_.TrimEnd('\\') -ne 'C:\\old\\bin' }) -join ';'), "
    "$key.GetValueKind('PATH')) }"
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("plain", "plain"),
        ("C:\\CUDA\\bin", "C:\\CUDA\\bin"),
        ("C:\\Program Files\\x", "'C:\\Program Files\\x'"),
        ("it's", "'it''s'"),
        ("it\u2019s", "'it\u2019\u2019s'"),
        ("$(Get-Date)", "'$(Get-Date)'"),
        ("a;b", "'a;b'"),
        ("a`b", "'a`b'"),
        ("torch>=2", "'torch>=2'"),
        ("@args", "'@args'"),
        ("", "''"),
    ],
)
def test_quoting(word: str, expected: str) -> None:
    assert quoted(word) == expected


@pytest.mark.parametrize(
    ("need", "expected"),
    [
        (
            InstallPackage("torch", "==2.9.1"),
            "& 'C:\\Users\\A User\\venv\\Scripts\\python.exe' -m pip install torch==2.9.1",
        ),
        (AssignVariable("CUDA_PATH", "C:\\a b"), "$env:CUDA_PATH = 'C:\\a b'"),
        (AssignVariable("CUDA_PATH", "C:\\a"), "$env:CUDA_PATH = 'C:\\a'"),
        (ClearVariable("CUDA_PATH"), "Remove-Item -ErrorAction SilentlyContinue Env:CUDA_PATH"),
        (
            DropFromPath("PATH", "C:/old/bin"),
            "$env:PATH = ($env:PATH -split ';' | Where-Object { $_.TrimEnd('\\') -ne 'C:\\old\\bin' }) -join ';'",
        ),
        (
            DropFromPath("PATH", "C:/old/bin"),
            IN_REGISTRY,
        ),
        (RemoveFile("C:\\a.dll"), "Move-Item -LiteralPath C:\\a.dll -Destination C:\\a.dll.bak"),
        (RestartMachine(), "Restart-Computer"),
    ],
)
def test_lines(need: Need, expected: str) -> None:
    assert expected in commands(plan_for(need, WINDOWS, Matrix()), WINDOWS)
