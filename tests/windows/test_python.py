"""The Pythons that Windows users have: virtual environments, --user, `py -3.11`, long paths, and Linux beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab import stub
from tests.lab.parts import package
from tests.lab.pe_file import pe_bytes
from tests.windows.machine import HOME, SITE, Windows
from tests.windows.test_installed import card, codes, driver, report
from tests.windows.test_which import LOADED

pytestmark = [pytest.mark.system, pytest.mark.slow]

# What CPython's PC/launcher.c with VENV_REDIRECT does, which the embeddable Python lacks: start the base, and tell it.
STARTER = r"""
#include <windows.h>
int main(void) {
    static wchar_t own[32768];
    STARTUPINFOW start = { sizeof(start) };
    PROCESS_INFORMATION made;
    DWORD status = 101;
    GetModuleFileNameW(NULL, own, 32768);
    SetEnvironmentVariableW(L"__PYVENV_LAUNCHER__", own);
    GetStartupInfoW(&start);
    wchar_t *base = L"C:\\Python311\\python.exe";
    if (!CreateProcessW(base, GetCommandLineW(), NULL, NULL, TRUE, 0, NULL, NULL, &start, &made))
        return 102;
    WaitForSingleObject(made.hProcess, INFINITE);
    GetExitCodeProcess(made.hProcess, &status);
    return (int)status;
}
"""
VENV = "C:\\Users\\Jörg O'Neil [x]\\my env"
ROAMING = "C:\\users\\root\\AppData\\Roaming"


def starter(folder: Path) -> Path:
    (folder / "starter.c").write_text(STARTER)
    made, source = folder / "python.exe", folder / "starter.c"
    build = (sys.executable, "-m", "ziglang", "cc", "-O2", "-target", "x86_64-windows-gnu", "-o", made, source)
    subprocess.run(build, check=True)
    return made


def test_a_virtual_environment_loads_from_beside_its_base(windows: Windows, tmp_path: Path) -> None:
    """Scripts holds a starter: the program that searches for DLLs lies in the base's directory."""
    windows.put(f"{VENV}\\Scripts\\python.exe", starter(tmp_path))
    windows.put(f"{VENV}\\pyvenv.cfg", f"home = {HOME}\r\ninclude-system-site-packages = false\r\nversion = 3.11.9\r\n")
    python = f"{VENV}\\Scripts\\python.exe"
    done = windows.run(python, "-c", "import sys; print(ascii(sys.prefix), sys.base_prefix)")
    assert done.out == f"{VENV!a} {HOME}\n", done
    for place in (f"{VENV}\\Scripts", HOME):
        windows.put(f"{place}\\cudnn64_9.dll", stub.nvml_dll())
    done = windows.run(python, "-c", LOADED)
    assert done.out.partition("|")[0].lower() == f"{HOME}\\cudnn64_9.dll".lower()
    for spelled in (python, f"\\\\?\\{python}"):
        told = windows.doctor("which", "cudnn", "--python", spelled, "--format", "json")
        [subject] = json.loads(told.out)["subjects"]
        assert (told.status, subject["environment"]) == (0, VENV.replace("\\", "/"))
        assert subject["libraries"][0]["path"] == f"{HOME}\\cudnn64_9.dll".replace("\\", "/")


def test_packages_of_pip_install_user(windows: Windows, tmp_path: Path) -> None:
    """Where the real pip puts them, and the Python that py starts, as nothing of it is on Path."""
    wheel = tmp_path / "cupy_cuda12x-13.6.0-py3-none-any.whl"
    tree = tmp_path / "tree"
    package("cupy-cuda12x", "13.6.0", {"cupy/__init__.py": ""}, site="/", tags="py3-none-any")(tree)
    subprocess.run([sys.executable, "-m", "zipfile", "-c", wheel, *sorted(tree.iterdir())], check=True)
    windows.put(wheel.name, wheel)
    done = windows.python("-m", "pip", "install", "--user", "--no-index", "--no-deps", f"C:\\{wheel.name}")
    assert done.status == 0, done
    key = "HKCU\\Software\\Python\\PythonCore\\3.11\\InstallPath"
    windows.small("reg.exe", "add", key, "/ve", "/d", f"{HOME}\\", "/f")
    user_site = f"{ROAMING}\\Python\\Python311\\site-packages".replace("\\", "/").lower()
    for options in ((), ("--python", "py -3.11"), ("--python", "3.11")):
        [found] = report(windows, None, *options)["facts"]["environments"]
        assert found["interpreter"] == f"{HOME}\\python.exe".replace("\\", "/")
        [one] = found["frameworks"]["value"]
        assert (one["package"], one["path"].lower().rpartition("/")[0]) == ("cupy-cuda12x", user_site)


def test_long_paths_32_bits_and_linux_beside(windows: Windows) -> None:
    card(windows)
    environ = driver(windows)
    record = windows.at(f"{SITE}\\tensorflow-2.15.0.dist-info\\RECORD")
    files = {"tensorflow/__init__.py": "", "tensorflow/python/platform/build_info.py": "is_cuda_build = False\n"}
    at = SITE.removeprefix("C:").replace("\\", "/")
    package("tensorflow", "2.15.0", files, site=at, tags="cp311-cp311-win_amd64")(windows.drive)
    python = ("--python", f"{HOME}\\python.exe")
    lxss = "HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Lxss"
    windows.register(f"{lxss}\\{{1b}}", "DistributionName", "Ubuntu-24.04")
    windows.register(f"{lxss}\\{{1b}}", "Version", "2", "REG_DWORD")
    found = report(windows, environ, *python)
    assert codes(found)[0] == "tf-native-windows-after-2-10"
    assert "wsl -d Ubuntu-24.04" in json.dumps(found["findings"][0]["remedies"])
    assert "windows-long-paths" not in codes(found)

    with record.open("a") as lines:
        lines.write("tensorflow/include/" + "x" * 230 + ".h,,\n")
    assert "windows-long-paths" in codes(report(windows, environ, *python))
    key = "HKLM\\SYSTEM\\CurrentControlSet\\Control\\FileSystem"
    windows.register(key, "LongPathsEnabled", "1", "REG_DWORD")
    assert "windows-long-paths" not in codes(report(windows, environ, *python))

    windows.put("Python310-32/python.exe", pe_bytes("python.exe", machine="i386"))
    windows.put("Python310-32/python310.dll", pe_bytes("python310.dll", machine="i386"))
    assert codes(report(windows, environ, "--python", "C:\\Python310-32")) == ["python-32-bit"]
