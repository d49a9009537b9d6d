"""`which` without a framework says what Wine's loader does, for a program and for ctypes."""

from __future__ import annotations

import json

import pytest

from tests.lab import stub
from tests.windows.machine import HOME, Windows

pytestmark = [pytest.mark.system, pytest.mark.slow]

LOADED = """
import ctypes, os, sys
from ctypes import wintypes
k = ctypes.WinDLL("kernel32")
k.LoadLibraryW.restype = wintypes.HMODULE
k.GetModuleFileNameW.argtypes = (wintypes.HMODULE, wintypes.LPWSTR, wintypes.DWORD)
found = k.LoadLibraryW("cudnn64_9.dll")
path = ctypes.create_unicode_buffer(1000)
if found:
    k.GetModuleFileNameW(found, path, 1000)
print(path.value)
"""
BY_CTYPES = "import ctypes; ctypes.CDLL('cudnn64_9.dll')"


def test_the_search_of_a_program(windows: Windows) -> None:
    """Each place has its own copy; the first one is taken away until none is left."""
    library = stub.nvml_dll()
    places = [HOME, "C:\\windows\\system32", "C:\\windows", "C:", "C:\\first on Path", "C:\\second"]
    for place in places:
        windows.put(f"{place}\\cudnn64_9.dll", library)
    environ = {"WINEPATH": "C:\\first on Path;C:\\second"}
    for place in places:
        done = windows.doctor("which", "cudnn", "--python", HOME, "--format", "json", environ=environ)
        [item] = json.loads(done.out)["subjects"][0]["libraries"]
        loaded = windows.python("-c", LOADED, environ=environ).out.strip()
        assert loaded.lower() == f"{place}\\cudnn64_9.dll".lower()
        assert item["path"].lower().replace("/", "\\") == loaded.lower()
        by_ctypes = windows.python("-c", BY_CTYPES, environ=environ).status == 0
        assert by_ctypes is (place in places[:2])
        windows.at(f"{place}\\cudnn64_9.dll").unlink()
    done = windows.doctor("which", "cudnn", "--python", HOME, environ=environ)
    assert done.status == 1
