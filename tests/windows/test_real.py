"""NVIDIA's own DLLs, whole and damaged, loaded for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.commands.verify import child
from tests.wheels import WINDOWS, fetch, unpack
from tests.windows.machine import SITE, Windows
from tests.windows.test_installed import report

pytestmark = [pytest.mark.system, pytest.mark.slow]

CUDNN = f"{SITE}\\nvidia\\cudnn\\bin"


def test_cudnn_is_loaded_and_what_is_missing_or_damaged_is_named(windows: Windows) -> None:
    unpack(fetch("nvidia-cudnn-cu12==9.1.0.70", platforms=WINDOWS), windows.at(SITE))
    order = ("verify", "--level", "load", "--format", "json", "--cudnn", CUDNN)
    done = windows.doctor(*order)
    assert (done.status, json.loads(done.out)["verdict"]) == (0, "passed"), done.out

    ops = windows.at(f"{CUDNN}\\cudnn_ops64_9.dll")
    whole = ops.read_bytes()
    ops.write_bytes(whole[: len(whole) // 2])
    done = windows.doctor(*order)
    found = [one["code"] for one in json.loads(done.out)["findings"]]
    assert (done.status, found[0]) == (1, "cudnn-install-incomplete")
    ops.write_bytes(whole)

    windows.at(f"{CUDNN}\\cudnn_adv64_9.dll").unlink()
    done = windows.doctor(*order)
    assert done.status == 1
    assert "cudnn_adv64_9.dll is missing" in done.out


def test_a_dll_in_system32_says_its_release(windows: Windows) -> None:
    """Nothing but its version resource does."""
    unpack(fetch("nvidia-cudnn-cu12==9.1.0.70", platforms=WINDOWS), windows.folder, ["nvidia/cudnn/bin/cudnn64_9.dll"])
    windows.put("windows/system32/cudnn64_9.dll", windows.folder / "nvidia/cudnn/bin/cudnn64_9.dll")
    [copy] = report(windows)["facts"]["cudnn"]
    assert copy["version"]["value"] == "9.1.0"


def test_what_a_framework_s_process_has_mapped_is_seen(windows: Windows) -> None:
    """The part of `verify --framework` that runs in the user's own interpreter; a framework would load the same."""
    unpack(fetch("nvidia-cudnn-cu12==9.1.0.70", platforms=WINDOWS), windows.at(SITE))
    windows.put("probe.py", Path(child.__file__))
    code = (
        "import ctypes, sys; sys.path.insert(0, 'C:/'); import probe; before = probe.mapped()[1]; "
        f"ctypes.WinDLL(r'{CUDNN}\\cudnn64_9.dll'); print(before, probe.mapped()[1])"
    )
    done = windows.python("-c", code)
    assert done.status == 0, done.err
    before, _, after = done.out.strip().partition("} ")
    assert before == "{'files': []"
    assert "/nvidia/cudnn/bin/cudnn64_9.dll" in after
