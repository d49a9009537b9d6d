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
k.FreeLibrary.argtypes = (wintypes.HMODULE,)
k.FreeLibrary(found)
try:
    ctypes.CDLL("cudnn64_9.dll")
    print(path.value, "by ctypes", sep="|")
except OSError:
    print(path.value, "", sep="|")
"""

WAITING = """
import ctypes, os, subprocess, sys
os.chdir("C:\\\\elsewhere")
assert ctypes.windll.kernel32.LoadLibraryW("cudnn64_9.dll")
order = ["C:\\\\Python311\\\\Scripts\\\\gpudoctor.exe", "which", "cudnn", "--live", str(os.getpid())]
other = {**os.environ, "PATH": "C:\\\\windows"}
done = subprocess.run([*order, *sys.argv[1:]], cwd="C:\\\\", env=other, capture_output=True)
sys.stdout.buffer.write(done.stdout)
sys.exit(done.returncode)
"""


def test_a_running_process_is_held_against_it(windows: Windows) -> None:
    """By the variables and the directory of that process, not by those of the command that asks."""
    library = stub.nvml_dll()
    environ = {"WINEPATH": "C:\\on Path"}
    windows.put("on Path/cudnn64_9.dll", library)
    windows.put("elsewhere/x", b"")
    windows.put("wait.py", WAITING)
    done = windows.python("C:\\wait.py", environ=environ)
    assert done.status == 0, done
    assert "C:\\on Path\\cudnn64_9.dll" in done.out
    assert "the prediction holds: 1" in done.out
    windows.put("elsewhere/cudnn64_9.dll", library)  # its current directory comes before Path
    done = windows.python("C:\\wait.py", "--format", "json", environ=environ)
    told = json.loads(done.out)
    assert (done.status, [one["predicted"] for one in told["live"]["libraries"]]) == (0, [True]), told["live"]
    assert told["live"]["libraries"][0]["path"].lower() == "c:/elsewhere/cudnn64_9.dll"
    done = windows.doctor("which", "cudnn", "--live", "99998")
    assert (done.status, done.err.startswith("gpudoctor: process 99998 cannot be read: ")) == (2, True)


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
        loaded, _, by_ctypes = windows.python("-c", LOADED, environ=environ).out.strip().partition("|")
        assert loaded.lower() == f"{place}\\cudnn64_9.dll".lower()
        assert item["path"].lower().replace("/", "\\") == loaded.lower()
        assert bool(by_ctypes) is (place in places[:2])
        windows.at(f"{place}\\cudnn64_9.dll").unlink()
    done = windows.doctor("which", "cudnn", "--python", HOME, environ=environ)
    assert done.status == 1
    for place in ("C:\\windows\\system32", "C:"):  # without safe search mode the current directory comes first
        windows.put(f"{place}\\cudnn64_9.dll", library)
    key = "HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager"
    windows.register(key, "SafeDllSearchMode", "0", "REG_DWORD")
    done = windows.doctor("which", "cudnn", "--python", HOME, "--format", "json", environ=environ)
    [item] = json.loads(done.out)["subjects"][0]["libraries"]
    loaded = windows.python("-c", LOADED, environ=environ).out.partition("|")[0]
    assert (item["path"].lower(), loaded.lower()) == ("c:/cudnn64_9.dll", "c:\\cudnn64_9.dll")
