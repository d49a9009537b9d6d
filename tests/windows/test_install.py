"""`install torch` on Windows: the build for its driver and card, also where a CPU build is there already."""

from __future__ import annotations

import json

import pytest

from tests.lab.parts import package
from tests.windows.machine import HOME, SITE, Windows
from tests.windows.test_installed import card, codes, driver, report

pytestmark = [pytest.mark.system, pytest.mark.slow]


def commands(windows: Windows, environ: dict[str, str], *order: str) -> list[str]:
    done = windows.doctor("install", *order, "--format", "json", environ=environ)
    assert done.status == 0, done
    found: list[str] = json.loads(done.out)["commands"]
    return found


def test_torch_is_the_build_for_the_driver(windows: Windows) -> None:
    """Driver 551.86 runs CUDA 12.4, and by minor-version compatibility what is built with any 12."""
    card(windows)
    environ = driver(windows)
    newest = commands(windows, environ, "torch")[0]
    assert newest.endswith("/cu126")
    assert commands(windows, environ, "torch", "2.5.1")[0].endswith("/cu124")
    answer = windows.doctor("matrix", "can", "torch==2.5.1", "--format", "json")
    assert json.loads(answer.out)["circumstances"]["os"] == "windows"

    files = {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.5.1+cpu'\ncuda = None\nhip = None\n"}
    at = SITE.removeprefix("C:").replace("\\", "/")
    package("torch", "2.5.1+cpu", files, site=at, tags="cp311-cp311-win_amd64")(windows.drive)
    found = report(windows, environ, "--python", f"{HOME}\\python.exe")
    assert codes(found) == ["cpu-only-wheel"]
    [remedy, *_] = found["findings"][0]["remedies"]
    removed, stops, installed = map(str.strip, remedy["commands"][2:-1])
    assert stops.startswith("if ($LASTEXITCODE) { throw ")
    assert removed == f"{HOME}\\python.exe -m pip uninstall -y torch"
    assert installed.startswith(f"{HOME}\\python.exe -m pip install torch==2.5.1 ")
    assert installed.endswith("/cu124")
