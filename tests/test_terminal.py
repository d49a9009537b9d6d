"""The name of a directory holds signs that steer a terminal: no text form of any command prints them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from doctor.cli import execute
from tests.lab.cases import CASES

NAME = "e\x1b[2Jv\u202e\x9bx\x07 y"
COMMANDS = (
    "check --python .venv",
    "check --python .venv --format github",
    "check --python .venv --format markdown",
    "check --python .venv --format junit",
    "check --python .venv --format html",
    "check --root root",
    "gate --python .venv",
    "which cudnn --python .venv",
    "which cudnn --python .venv --framework torch",
    "which cudnn --root root",
    "verify --python .venv --level load",
    "policy init --output -",
    "install torch --python .venv",
    "install cudnn --python .venv",
    "install config loader lib",
    "install config path lib",
    "explain missing",
    "check --from missing",
    "check --root missing",
    "check --dockerfile Dockerfile",
    "explain log",
)
SITE = ".venv/lib/python3.11/site-packages"


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such names")
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_steers_a_terminal(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / NAME
    files = {
        ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.2\n",
        f"{SITE}/torch-2.9.1.dist-info/METADATA": "Name: torch\nVersion: 2.9.1\n",
        f"{SITE}/torch/version.py": "__version__ = '2.9.1+cu128'\ncuda = '12.8'\n",
        "lib/x": "",
        "Dockerfile": f"FROM ubuntu:24.04\nENV LD_LIBRARY_PATH=/opt/{NAME}\nRUN pip install torch==2.9.1\n",
        "log": f"RuntimeError: CUDA error: no kernel image is available for execution on the device {NAME}\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".venv" / "bin").mkdir()
    (folder / ".venv" / "bin" / "python").symlink_to("/usr/bin/python3")
    next(one for one in CASES if one.name == "F23").build(folder / "root")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("VIRTUAL_ENV", str(folder / ".venv"))
    execute(command.split())
    printed = capsys.readouterr()
    assert printed.out or printed.err
    assert not set("\x1b\u202e\x9b\x07") & set(printed.out + printed.err)
