"""`gpudoctor install NAME --apply` with the real pip of a real environment, and what takes it back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from compat.matrix import Matrix
from compat.need import InstallDriver, InstallToolkit
from doctor.cli import execute
from doctor.commands.install.apply import apply_plan
from doctor.commands.install.install import BadOrder, Prepared
from doctor.output.document import TextStyle
from installers.choose import plan_for
from installers.run import ExecutionOptions
from tests.installers.target import UBUNTU, WSL
from tests.machine import machine

Shown = pytest.CaptureFixture[str]


class Setting(NamedTuple):
    """An environment, and a directory of wheels that pip installs from."""

    python: str
    wheels: Path

    def install(self, *words: str) -> int:
        return execute(["install", *words, "--python", self.python])

    def versions(self) -> dict[str, str]:
        code = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
        done = subprocess.run([self.python, "-I", "-c", code], capture_output=True, text=True, check=True)
        return {name: version for name, version in json.loads(done.stdout).items() if name.startswith("demo")}


def wheel(folder: Path, name: str, version: str, *requires: str) -> None:
    info = f"{name}-{version}.dist-info"
    lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {one}" for one in requires)]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as packed:
        packed.writestr(f"{name}/__init__.py", f"version = {version!r}\n")
        packed.writestr(f"{info}/METADATA", "\n".join(["Metadata-Version: 2.1", *lines]) + "\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", f"{name}/__init__.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    """The environment has pip from the interpreter that runs the tests: making one of its own takes seconds."""
    base = os.path.realpath(sys.executable)
    subprocess.run([base, "-m", "venv", "--without-pip", "--system-site-packages", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv/bin/python")
    if subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("the interpreter below has no pip")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel(wheels, "demo", "1.0")
    wheel(wheels, "demo", "2.0", "demo-part")
    wheel(wheels, "demo_part", "0.1")
    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GPUDOCTOR_STATE": str(tmp_path / "state"),
        "HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    return Setting(python, wheels)


def test_it_is_installed_found_and_taken_back_as_far_as_that_goes(
    setting: Setting, capfd: pytest.CaptureFixture[str]
) -> None:
    assert setting.install("demo", "1.0", "--any", "--apply") == 0
    assert "Done: demo 1.0 is in" in capfd.readouterr().out
    assert setting.install("demo", "2.0", "--any", "--apply", "--format", "json") == 0
    out = capfd.readouterr().out
    told = json.loads(out)  # what pip says is not among it
    assert (told["good"], told["found"]["version"]) == (True, "2.0")
    assert setting.versions() == {"demo": "2.0", "demo_part": "0.1"}

    assert execute(["install", "rollback"]) == 2
    assert "changed the machine only by commands: nothing was undone" in capfd.readouterr().err
    assert setting.versions()["demo"] == "2.0"

    assert execute(["install", "rollback", "--commands"]) == 0
    told_back = capfd.readouterr().out
    assert "(1 command reversed)" in told_back
    assert "packages that were installed or changed with it stay" in told_back
    assert setting.versions()["demo"] == "1.0"
    assert len(setting.versions()) == 2, "the part that came along is still there, as was said"

    assert execute(["install", "rollback", "--commands"]) == 0
    assert "demo" not in setting.versions()
    assert execute(["install", "history"]) == 0
    assert capfd.readouterr().out.count("    undone: ") == 2


def test_a_release_that_is_not_there_fails_in_one_line(setting: Setting, capfd: pytest.CaptureFixture[str]) -> None:
    assert setting.install("demo", "9.9", "--any", "--apply") == 2
    assert "failed with exit status 1" in capfd.readouterr().err
    assert setting.versions() == {}


def test_dry_run_wins_over_apply(setting: Setting, capsys: Shown) -> None:
    assert setting.install("demo", "1.0", "--any", "--apply", "--dry-run") == 0
    assert "-m pip install demo==1.0" in capsys.readouterr().out
    assert setting.versions() == {}


def test_root_is_never_taken_unasked() -> None:
    plan = plan_for(InstallToolkit("==12.8.*"), UBUNTU, Matrix())
    with pytest.raises(BadOrder, match="root is needed for: sudo apt-get update"):
        apply_plan(Prepared(plan, UBUNTU, machine()), ExecutionOptions(), "text", TextStyle())


def test_what_is_all_by_hand_is_not_called_done() -> None:
    plan = plan_for(InstallDriver(">=580"), WSL, Matrix())
    with pytest.raises(BadOrder, match="gpudoctor cannot run these steps from here:"):
        apply_plan(Prepared(plan, WSL, machine()), ExecutionOptions(), "text", TextStyle())
