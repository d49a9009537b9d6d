"""The articles' Windows case, gone through whole: CUDA 8.0, the zip of cuDNN 5.1, Theano 0.8 and its settings."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.installers.archives import WINDOWS_ERAS, pack
from tests.windows.machine import Windows
from tests.windows.test_installed import card, codes, driver, report

pytestmark = [pytest.mark.system, pytest.mark.slow]

CUDA = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v8.0"
SETTINGS = "C:\\users\\root\\.theanorc.txt"


def toolkit(windows: Windows, release: str = "8.0.61", home: str = CUDA) -> None:
    """What NVIDIA's installer leaves of a toolkit before 11.1, as far as gpudoctor looks at it."""
    major, minor, _ = release.split(".")
    windows.put(f"{home}\\version.txt", f"CUDA Version {release}\r\n")
    windows.put(f"{home}\\include\\cuda.h", f"#define CUDA_VERSION {major}0{minor}0\n")
    windows.put(f"{home}\\include\\cuda_runtime.h", "")
    windows.put(f"{home}\\bin\\nvcc.exe", b"MZ")
    windows.put(f"{home}\\bin\\cudart64_{major}{minor}.dll", b"MZ")
    key = f"HKLM\\SOFTWARE\\NVIDIA Corporation\\GPU Computing Toolkit\\CUDA\\v{major}.{minor}"
    windows.register(key, "InstallDir", f"{home}\\")


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def own_path(windows: Windows) -> str:
    done = windows.run("reg.exe", "query", "HKCU\\Environment", "/v", "Path")
    return done.out.partition("_SZ")[2].strip() if done.status == 0 else ""


def test_from_the_zip_to_theano_and_back(windows: Windows, tmp_path: Path) -> None:
    card(windows)
    environ = driver(windows)
    toolkit(windows)
    packed = pack(WINDOWS_ERAS[0], tmp_path)
    windows.put("Downloads/cudnn.zip", packed)
    windows.put(SETTINGS, "[global]\r\ndevice = cpu\r\n")
    windows.put(f"{CUDA}\\include\\cudnn.h", "#define CUDNN_MAJOR 4\n")
    before, settings = tree(windows.at(CUDA)), windows.at(SETTINGS).read_bytes()
    order = ("install", "cudnn", "5.1", "--cuda-version", "8.0", "--archive", "C:\\Downloads\\cudnn.zip")

    told = windows.doctor(*order, environ=environ)
    assert told.status == 0, told
    assert f"add {CUDA}\\bin to your Path" in " ".join(told.out.split())
    assert f"copy cudnn*.dll to {CUDA}\\bin" in " ".join(told.out.split())
    assert "GiB" in told.out.partition("Free in")[2]
    script = windows.doctor(*order, "--script", "powershell", environ=environ)
    assert f"Copy-Into (Join-Path $staging 'unpacked\\cuda\\bin') 'cudnn*.dll' '{CUDA}\\bin'" in script.out

    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    done = windows.doctor(*order, "--sha256", digest, "--apply", environ=environ)
    assert done.status == 0, done
    assert "complete" in done.out
    assert {*tree(windows.at(CUDA))} - {*before} == {"bin/cudnn64_5.dll", "lib/x64/cudnn.lib"}
    assert own_path(windows) == f"{CUDA}\\bin"

    done = windows.doctor(
        "install", "config", "theano", "--theano", "0.8.2", "--cnmem", "0.8", "--apply", environ=environ
    )
    assert done.status == 0, done
    assert b"cnmem = 0.8" in windows.at(SETTINGS).read_bytes()
    found = report(windows, environ)
    assert codes(found) == ["nvcc-too-old-for-gpu-arch"]  # information: the card of this machine is of 2022
    assert [one["header_version"] for one in found["facts"]["cudnn"]]

    for _ in range(2):
        assert windows.doctor("install", "rollback", environ=environ).status == 0
    assert tree(windows.at(CUDA)) == before
    assert windows.at(SETTINGS).read_bytes() == settings
    assert own_path(windows) == ""


def test_path_is_set_and_taken_back(windows: Windows) -> None:
    """In the registry, as it was written: what others wrote since, and %NAMES%, stay."""
    toolkit(windows)
    windows.register("HKCU\\Environment", "Path", "%USERPROFILE%\\bin;D:\\tools", "REG_EXPAND_SZ")
    order = ("install", "config", "path", f"{CUDA}\\bin", "--apply")
    assert windows.doctor(*order).status == 0
    assert own_path(windows) == f"{CUDA}\\bin;%USERPROFILE%\\bin;D:\\tools"
    plan = windows.doctor("install", "cudnn", "5.1", "--cuda-version", "8.0", "--archive", "C:\\cudnn.zip")
    assert (plan.status, "your Path" in " ".join(plan.out.split())) == (0, False)  # it is looked at
    assert windows.doctor("install", "rollback").status == 0
    assert own_path(windows) == "%USERPROFILE%\\bin;D:\\tools"
    assert windows.doctor(*order).status == 0
    windows.register("HKCU\\Environment", "Path", f"E:\\new;{CUDA}\\bin;%USERPROFILE%\\bin", "REG_EXPAND_SZ")
    assert windows.doctor("install", "rollback").status == 0
    assert own_path(windows) == "E:\\new;%USERPROFILE%\\bin"


def test_a_toolkit_of_another_major_is_known_by_every_spelling(windows: Windows) -> None:
    home = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4"
    toolkit(windows, "12.4.1", home)
    ask = "import ctypes; b = ctypes.create_unicode_buffer(99); ctypes.windll.kernel32.GetShortPathNameW(r'{}', b, 99)"
    [short] = windows.python("-c", f"{ask.format('C:/Program Files')}; print(b.value)").out.splitlines()
    assert "~" in short
    for spelled in (
        home,
        home.replace("\\", "/").lower() + "/",
        f"\\\\?\\{home}",
        home.replace("C:\\Program Files", short),
    ):
        done = windows.doctor("install", "cudnn", "8.9.7", "--cuda-version", "11.8", "--cuda-home", spelled)
        assert (done.status, "contains CUDA 12.4" in done.err) == (2, True), (spelled, done)
