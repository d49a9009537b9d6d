"""Commands of the README and the documents: those for beginners are executed, the others at least exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from doctor.cli import _app, _spelled_out, execute

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "README.md",
    *(f"docs/{name}.md" for name in ("first-steps", "reading-a-report", "exit-codes", "faq", "how-it-works")),
)
FENCE = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANSWERS = {0, 1, 4}  # whatever the machine of the tests is; 2 is bad usage, 3 a fault


LOCK = """version = 1
requires-python = ">=3.12"
[[package]]
name = "project"
version = "1"
source = { virtual = "." }
"""


def commands() -> list[tuple[str, str]]:
    """The lines of the fences named sh, without those of the set-up and the tests (HTML comments name them)."""
    found = []
    for page in PAGES:
        text = re.sub(
            r"^<!-- \w+ command -->\n```sh\n.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.M | re.S
        )
        found += [(page, line) for fence in FENCE.findall(text) for line in fence.splitlines() if "gpudoctor" in line]
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands name: an environment, a log, a program that fails, a Dockerfile, a root, a report."""
    folder = tmp_path_factory.mktemp("project")
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    (folder / ".venv/pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\n")
    (folder / "train.log").write_text("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED\n")
    (folder / "train.py").write_text("raise SystemExit('RuntimeError: No CUDA GPUs are available')\n")
    (folder / "Dockerfile").write_text("FROM nvidia/cuda:12.8.1-cudnn-runtime-ubuntu24.04\n")
    (folder / "uv.lock").write_text(LOCK)
    (folder / "image/etc").mkdir(parents=True)
    (folder / "image/etc/os-release").write_text("ID=ubuntu\nVERSION_ID=24.04\n")
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for name, module in (("gpudoctor", "-m gpudoctor "), ("python", "")):
        (bin_folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module}"$@"\n')
        (bin_folder / name).chmod(0o755)
    execute(["check", "--root", str(folder / "image"), "--output", str(folder / "report.json")])
    return folder


def run(line: str, project: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{project / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", line], cwd=project, env=env, capture_output=True, text=True, check=False)


def test_there_are_commands() -> None:
    assert {page for page, _ in commands()} == set(PAGES)


@pytest.mark.parametrize(("page", "line"), commands())
def test_the_command_works(page: str, line: str, project: Path) -> None:
    done = run(line, project)
    assert done.returncode in ANSWERS, (page, done.stderr)
    assert done.stdout or "-o " in line or ">" in line
    assert done.stderr == "" or "run --" in line, page


IN_CODE = re.compile(r"^```\w*\n(.*?)^```$|^ {4}(gpudoctor [^\n]*)$|`(gpudoctor [^`]+)`", re.MULTILINE | re.DOTALL)
ONE = re.compile(r"(?<![\w./-])gpudoctor (?!\W|found a)([^\n#|;&)`]+)")  # "gpudoctor found a fault" is a message
# What changes the machine, needs a network, another program, a GPU, a framework or a value of the reader's.
NOT_HERE = re.compile(
    r"--(apply|fix|online|data|theano)|[\[$<…]|\b(NAME|PATH|FILE|COMMAND|ID)\b|torchrun|rollback|refresh"
    r"|install (cudnn|driver)$|--framework torch"
)
RUN_TOO = ("changed", "install", "lock", "what-if", "explain")


def written(page: Path) -> Iterator[str]:
    """What stands behind the name of the program, in blocks, indented lines and code within a sentence."""
    for found in IN_CODE.finditer(page.read_text("utf-8")):
        for one in ONE.findall(next(filter(None, found.groups()))):
            yield one.split("  ")[0].strip().rstrip("'\"],.:")


def unknown_in(line: str) -> str:
    """The first word that is no command or option of ours; "" if there is none."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quotation that YAML or a sentence ends
        words = line.replace('"', "").split()
    words = list(_spelled_out(words))
    command: Any = get_command(_app(words))
    while words and hasattr(command, "commands"):
        name = words.pop(0)
        inner = command.get_command(None, name)
        if inner is None:
            return "" if not name.islower() else name
        command = inner
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {
        "-h",
        "--help",
        "--json",
    }
    mine = words[: words.index("--")] if "--" in words else words
    options = (one.partition("=")[0] for one in mine if re.match(r"--?[a-z]", one))
    return next((one for one in options if one not in known), "")


def test_the_readme_shows_a_real_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of it but the time it took and the date of the matrix, which the last two lines hold."""
    readme = (ROOT / "README.md").read_text("utf-8")
    command, *shown = readme.partition("```console\n$ gpudoctor ")[2].partition("\n```")[0].splitlines()
    line = re.search(r"whose second line is `(.*)`", readme)
    assert line
    (tmp_path / "Dockerfile").write_text(
        f'FROM python:3.11-slim\n{line[1]}\nCOPY train.py .\nCMD ["python", "train.py"]\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    assert execute(shlex.split(command)) == 1
    assert capsys.readouterr().out.splitlines()[:-2] == shown[:-2]


def lines_to_run() -> list[tuple[str, str]]:
    """What the other pages show in blocks and can run on any machine."""
    found = []
    for name in RUN_TOO:
        text = re.sub(r"`gpudoctor [^`]+`", "", (ROOT / f"docs/{name}.md").read_text("utf-8"))
        blocks = [next(filter(None, one.groups())) for one in IN_CODE.finditer(text)]
        lines = [line.removeprefix("$ ").partition("  ")[0] for block in blocks for line in block.splitlines()]
        found += [(name, one) for one in lines if one.startswith("gpudoctor ") and not NOT_HERE.search(one)]
    return list(dict.fromkeys(found))


def test_the_other_pages_show_commands_that_work(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    shutil.copy(project / "report.json", project / "good.json")
    shutil.copy(project / "report.json", project / "other-machine.json")
    wrong = {}
    for page, line in lines_to_run():
        status = execute(shlex.split(line, comments=True)[1:])
        said = capfd.readouterr()
        if status not in ANSWERS or said.err or not (said.out or " -o " in line):
            wrong[page, line] = (status, said.err)
    assert not wrong
    assert {page for page, _ in lines_to_run()} == {*RUN_TOO}


def test_every_command_of_the_documents_exists() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    wrong = {f"{page.name}: {line}": word for page in pages for line in written(page) if (word := unknown_in(line))}
    assert not wrong
    assert sum(1 for page in pages for _ in written(page)) > 100
    assert unknown_in("check --rot /mnt") == "--rot"
    assert unknown_in("matrix shwo torch") == "shwo"
