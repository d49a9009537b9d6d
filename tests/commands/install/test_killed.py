"""`gpudoctor install NAME --apply` that a signal ends, with a script and with the real pip."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.commands.install.test_install_package import Setting, setting, wheel
from tests.installers.script_run import REPOSITORY, until
from tests.installers.trees import digest_of

__all__ = ["setting"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="parent-death signals")
PIP = """
import os, pathlib, time
root = pathlib.Path(os.environ["GPUDOCTOR_STATE"]).parent
started, go, written = (root / name for name in ("started", "go", "written"))
site = pathlib.Path(__file__).parents[1]
started.touch()
while not go.exists():
    time.sleep(0.02)
for number in range(55):
    (site / f"new-{number}").write_text("x")
written.touch()
"""


COMMAND = (sys.executable, "-m", "gpudoctor", "install")


def start(python: str, release: str) -> subprocess.Popen[bytes]:
    """`gpudoctor install demo --apply`; through a pipe a test would wait for pip, too."""
    argv = (*COMMAND, "demo", release, "--any", "--python", python, "--apply")
    return subprocess.Popen(argv, cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def roll_back() -> subprocess.CompletedProcess[str]:
    return subprocess.run((*COMMAND, "rollback"), cwd=REPOSITORY, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_nothing_arrives_after_a_rollback(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = os.path.realpath(sys.executable)
    subprocess.run([base, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    [site] = (tmp_path / "venv/lib").glob("python3*/site-packages")
    for name, text in (
        ("pip/__init__.py", ""),
        ("pip/__main__.py", PIP),
        ("pip-24.0.dist-info/METADATA", "Name: pip\nVersion: 24.0\n"),
    ):
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text)
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    before = sorted(one.name for one in site.iterdir())
    running = start(str(tmp_path / "venv/bin/python"), "1.0")
    until((tmp_path / "started").exists)
    running.send_signal(number)
    assert running.wait(60) == (143 if number == signal.SIGTERM else -number)
    done = roll_back()
    assert done.returncode == (2 if number == signal.SIGTERM else 0), done.stderr
    assert ("was undone" in done.stdout) == (number == signal.SIGKILL)
    (tmp_path / "go").touch()
    time.sleep(0.2)
    assert not (tmp_path / "written").exists()
    assert sorted(one.name for one in site.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize(("number", "files"), [(15, 0), (15, 1500), (1, 1), (9, 0), (9, 1), (9, 1500)])
def test_a_real_pip_is_taken_back_whatever_it_has_done(number: int, files: int, setting: Setting) -> None:
    """It is ended when it has written so many of 3,000 files of the new release; the old one is there again."""
    assert setting.install("demo", "1.0", "--any", "--apply") == 0
    [site] = Path(setting.python).parents[1].glob("lib/python3*/site-packages")
    wheel(setting.wheels, "demo", "3.0")
    with zipfile.ZipFile(setting.wheels / "demo-3.0-py3-none-any.whl", "a") as packed:
        for one in range(3000):
            packed.writestr(f"demo/part/{one}.py", f"value = {one}\n")
    before = digest_of(site)
    running = start(setting.python, "3.0")
    until(lambda: len(list(site.glob("demo/part/*.py"))) >= files and _has_subprocess(running.pid))
    running.send_signal(number)
    assert running.wait(60) == (-number if number == signal.SIGKILL else 128 + number)
    roll_back()
    time.sleep(3)
    assert digest_of(site) == before
    assert setting.versions() == {"demo": "1.0"}


def _has_subprocess(pid: int) -> bool:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text() != ""
