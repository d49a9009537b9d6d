"""gpudoctor.exe, installed from the wheel by Windows' own pip."""

from __future__ import annotations

import json
from typing import Any

import pytest

import doctor
from tests.lab import stub
from tests.windows.machine import Windows

pytestmark = [pytest.mark.system, pytest.mark.slow]

CARD = "VEN_10DE&DEV_2684&SUBSYS_88E21043&REV_A1"


def card(windows: Windows, service: str = "nvlddmkm") -> None:
    """What Windows writes down of an RTX 4090."""
    key = f"HKLM\\SYSTEM\\CurrentControlSet\\Enum\\PCI\\{CARD}\\4&1a2b3c4d&0&0008"
    windows.register(key, "CompatibleIDs", "PCI\\VEN_10DE&CC_030000\\0PCI\\VEN_10DE&CC_0300", "REG_MULTI_SZ")
    windows.register(
        key, "LocationInformation", "@System32\\drivers\\pci.sys,#65536;PCI bus %1, device %2, function %3;(1,0,0)"
    )
    windows.register(key, "Service", service)


def driver(windows: Windows, release: str = "551.86", cuda: str = "12.4", **more: Any) -> dict[str, str]:
    """A driver, and the variables under which it answers."""
    windows.put("windows/system32/nvml.dll", stub.nvml_dll())
    windows.put("windows/system32/nvcuda.dll", stub.nvml_dll())
    said = stub.machine_env(stub.card(), driver=release, cuda=cuda, **more)
    return {name: value for name, value in said.items() if name.startswith("STUB")}


def report(windows: Windows, environ: dict[str, str] | None = None, *options: str) -> dict[str, Any]:
    done = windows.doctor("check", "--format", "json", *options, environ=environ)
    found: dict[str, Any] = json.loads(done.out)
    assert "check-error" not in {one["code"] for one in found["findings"]}, found["findings"]
    return found


def codes(found: dict[str, Any]) -> list[str]:
    return [one["code"] for one in found["findings"]]


def test_version(windows: Windows) -> None:
    done = windows.doctor("--version")
    assert (done.status, done.out) == (0, f"gpudoctor {doctor.__version__}\n")


def test_check_without_a_driver_with_one_and_with_one_that_hangs(windows: Windows) -> None:
    assert report(windows)["verdict"] == "no-gpu"  # its one adapter is Wine's
    card(windows, service="BasicDisplay")
    found = report(windows)
    assert codes(found)[0] == "windows-driver-missing"
    assert [(one["address"], one["device_id"]) for one in found["facts"]["pci"]] == [("0000:01:00.0", 0x2684)]
    card(windows)
    environ = driver(windows)
    found = report(windows, environ)
    assert not [one for one in found["findings"] if one["severity"] != "info"]
    shown = windows.doctor("check", environ=environ)
    assert "NVIDIA GeForce RTX 4090" in shown.out
    assert "551.86" in shown.out
    hung = report(windows, driver(windows, hang="nvmlDeviceGetName"), "--timeout", "3")
    assert "driver-hang" in codes(hung)
