"""Small things that are otherwise on Windows: letters in a pipe, rights, handles, `explain` and `run`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.lab.pe_file import pe_bytes
from tests.windows.machine import HOME, Windows
from tests.windows.test_installed import card, driver, report

pytestmark = [pytest.mark.system, pytest.mark.slow]

DOCTOR = f"{HOME}\\Scripts\\gpudoctor.exe"
PYTHON = f"{HOME}\\python.exe"
SETTINGS = "C:\\users\\root\\.theanorc.txt"
MESSAGE = (
    "Traceback (most recent call last):\r\n"
    '  File "C:\\Users\\jo\\train.py", line 1, in <module>\r\n    import torch\r\n'
    "OSError: [WinError 126] The specified module could not be found. Error loading "
    '"C:\\Users\\jo\\venv\\Lib\\site-packages\\torch\\lib\\fbgemm.dll" or one of its dependencies.\r\n'
)


@pytest.fixture(scope="module")
def windows(base: Windows, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Windows]:
    """One for all of these: each leaves it as it found it, or adds what the others do not look at."""
    machine = Windows(base.copy(tmp_path_factory.mktemp("commands") / "windows").folder)
    machine.start()
    try:
        yield machine
    finally:
        machine.close()


@pytest.mark.parametrize(("name", "encoding"), [("Jürgen", "cp1252"), ("Łukasz", "utf-8"), ("Юрий", "utf-8")])
def test_a_user_s_name_stays_what_it_is_in_a_pipe(name: str, encoding: str, windows: Windows) -> None:
    """In the code page of Windows where that has its letters, else in UTF-8: what is pasted must lead there."""
    home = f"C:\\users\\{name}"
    windows.put(f"{home}\\cuda\\bin\\nvcc.exe", b"MZ")
    code = (
        "import os, subprocess, sys; home = os.fsdecode(bytes.fromhex(sys.argv[1])); "
        f"order = [r'{DOCTOR}', 'install', 'config', 'path', home + r'\\cuda\\bin']; "
        "done = subprocess.run(order, env={**os.environ, 'USERPROFILE': home}, capture_output=True); "
        "sys.stdout.buffer.write(done.stdout); sys.stderr.buffer.write(done.stderr); sys.exit(done.returncode)"
    )
    done = windows.run(PYTHON, "-c", code, home.encode().hex(), encoding=encoding)
    assert (done.status, done.err) == (0, "")
    assert f"add {home}\\cuda\\bin to your Path" in done.out
    assert "?" not in done.out
    assert "·" not in done.out


def test_what_is_not_allowed_asks_for_an_administrator(windows: Windows) -> None:
    """Windows gives the same error for a file that another program has open, which is named first."""
    windows.put(SETTINGS, "[global]\r\ndevice = cpu\r\n")
    order = ("install", "config", "theano", "--theano", "0.8.2", "--apply")
    code = (
        f"import subprocess, sys; held = open(r'{SETTINGS}'); "
        f"sys.exit(subprocess.run([r'{DOCTOR}', *{order!r}]).returncode)"
    )
    done = windows.python("-c", code)
    assert done.status == 2, done
    assert done.err.startswith(f"gpudoctor: {SETTINGS}: permission denied. End the programs that have it open"), done
    assert "as administrator" in done.err
    assert "sudo" not in done.err
    assert windows.at(SETTINGS).read_bytes() == b"[global]\r\ndevice = cpu\r\n"
    windows.at(SETTINGS).unlink()


def test_a_file_is_really_on_the_disk(windows: Windows) -> None:
    """Windows refuses to flush what is open for reading, which `sync` would pass over as a file system without."""
    windows.put("kept.txt", b"x")
    code = (
        "import gpudoctor, os, sys; sys.path.insert(0, gpudoctor.HERE); from installers import file_identity as stamp; "
        "flush, done = os.fsync, []; "
        "os.fsync = lambda handle: done.append(flush(handle)); stamp.sync('C:/kept.txt'); print(len(done))"
    )
    done = windows.python("-c", code)
    assert (done.out, done.err) == ("1\n", "")


def test_a_traceback_is_explained(windows: Windows) -> None:
    """From a file, as cmd and as PowerShell 5 write one, and from a pipe."""
    windows.put("log.txt", MESSAGE.encode())
    windows.put("log16.txt", b"\xff\xfe" + MESSAGE.encode("utf-16-le"))
    told = [windows.doctor("explain", f"C:\\{name}", "--format", "json") for name in ("log.txt", "log16.txt")]
    told.append(windows.run(DOCTOR, "explain", "-", "--format", "json", typed=MESSAGE))
    for done in told:
        assert done.status == 1, done
        causes = json.loads(done.out)["causes"]
        assert [one["code"] for one in causes] == ["missing-libomp140", "msvc-redist-missing"]
        assert causes[0]["matched"][0]["line"] == 4


def test_a_command_is_run_untouched(windows: Windows) -> None:
    windows.put(
        "train.py",
        "import sys\nprint(sys.stdin.read().upper(), end='')\nprint('to the error stream', file=sys.stderr)\n"
        "open('C:/run.log', 'w').write('RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED')\n"
        "sys.exit(int(sys.argv[1]))\n",
    )
    start = (DOCTOR, "run", "--log", "C:\\run.log", "--", PYTHON, "C:\\train.py")
    done = windows.run(*start, "0", typed="hello\n")
    assert (done.status, done.out) == (0, "HELLO\n")
    assert done.err.endswith("to the error stream\n")
    done = windows.run(*start, "7", typed="hello\n")
    assert (done.status, done.out) == (7, "HELLO\n")
    assert f"{PYTHON} C:\\train.py 7 ended with exit status 7" in " ".join(done.err.split())
    assert "CUDNN_STATUS_NOT_INITIALIZED" in done.err
    done = windows.doctor("run", "--", "nosuch")
    assert (done.status, done.out) == (127, "")
    assert done.err.endswith("gpudoctor: nosuch: command not found\n")


def test_a_laptop_s_other_card_comes_first(windows: Windows) -> None:
    """Windows lists Intel's before NVIDIA's; it is none of ours, and no fault."""
    key = "HKLM\\SYSTEM\\CurrentControlSet\\Enum\\PCI\\VEN_8086&DEV_46A6&SUBSYS_0B191028&REV_0C\\3&11583659&0&10"
    windows.register(key, "CompatibleIDs", "PCI\\VEN_8086&CC_030000\\0PCI\\VEN_8086&CC_0300", "REG_MULTI_SZ")
    windows.register(key, "Service", "igfx")
    card(windows)
    found = report(windows, driver(windows))
    assert [one["address"] for one in found["facts"]["pci"]] == ["0000:01:00.0"]
    assert not [one for one in found["findings"] if one["severity"] != "info"]


def test_the_driver_s_own_dll_and_its_release(windows: Windows) -> None:
    """nvcuda.dll lies in System32, where every search finds it; without NVML its version says the driver's release."""
    card(windows)
    windows.at("windows/system32/nvml.dll").unlink(missing_ok=True)
    windows.put("windows/system32/nvcuda.dll", pe_bytes("nvcuda.dll", version=(31, 0, 15, 3623)))
    done = windows.doctor("which", "nvcuda.dll", "--python", HOME, "--format", "json")
    [item] = json.loads(done.out)["subjects"][0]["libraries"]
    assert (done.status, item["path"].lower()) == (0, "c:/windows/system32/nvcuda.dll")
    release = report(windows)["facts"]["driver"]["release"]
    assert (release["value"], "nvcuda.dll" in release["how"]) == ("536.23", True)
