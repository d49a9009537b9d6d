"""One registry of formats for every command that reports; a new one is one file."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.cli import execute
from doctor.output import formats
from doctor.output.write import format_names
from tests.examples import example

OF_FINDINGS = """
from doctor.output.document import Format

FORMAT = Format("codes", lambda document, style: "".join(one.code for one in document.findings) + ".", needs="findings")
"""


SAVED = Path(__file__).resolve().parents[3] / "docs" / "benchmarks" / "bench-cpu.json"  # measured, and committed


@pytest.fixture
def commands(tmp_path: Path) -> dict[str, list[str]]:
    """One run of every command that reports, none of which needs a GPU, a network or this machine's own state."""
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc" / "os-release").write_text('ID=alpine\nPRETTY_NAME="Alpine Linux"\n')
    (root / "lib").mkdir()
    (root / "lib" / "ld-musl-x86_64.so.1").write_text("")
    return {
        "check": ["check", "--root", str(root)],
        "which": ["which", "cudnn", "--root", str(root)],
        "verify": ["verify", "--level", "load"],
        "bench": ["bench", "--show", str(SAVED)],
        "matrix list": ["matrix", "list"],
        "matrix show": ["matrix", "show", "cudnn", "9.10.2"],
        "matrix can": ["matrix", "can", "torch==2.6.0", "--gpu", "sm_89"],
        "matrix solve": ["matrix", "solve", "torch", "--gpu", "sm_89"],
    }


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two more formats, a file each, in a folder beside ours."""
    folder = tmp_path / "formats"
    folder.mkdir()
    (folder / "keys.py").write_text(example("doctor/output/formats/keys.py"))
    (folder / "codes_only.py").write_text(OF_FINDINGS)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(folder)])


COMMANDS = ("check", "which", "verify", "bench", "matrix list", "matrix show", "matrix can", "matrix solve")


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_new_format_serves_every_command(
    name: str, commands: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    status = execute(commands[name])
    capsys.readouterr()
    assert execute([*commands[name], "--format", "keys"]) == status
    assert capsys.readouterr().out.startswith("keys: schema, ")


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_format_that_needs_a_view_serves_those_that_have_it(
    name: str, commands: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    status = execute([*commands[name], "--format", "codes-only"])
    said = capsys.readouterr()
    if name in {"check", "verify"}:
        assert said.out.endswith(".")
        assert status != 2
    else:
        assert status == 2
        assert "no format 'codes-only'" in said.err


@pytest.mark.no_cover  # a sweep over lines that others cover
@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_what_is_accepted(
    name: str, commands: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [sys.executable, "-c", "from doctor.cli import main; main()", *name.split(), "--help"]
    help_text = subprocess.run(argv, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "300"})
    line = " ".join(help_text.stdout.partition("--format")[2].partition("\n  -")[0].split())
    listed = re.findall(r"[a-z]+", line.split("NAME")[1].replace(" or ", " ").partition(".")[0])
    every = format_names("findings", "rows", "markdown", "chart")
    accepted = []
    for style in every:
        status = execute([*commands[name], "--format", style])
        capsys.readouterr()
        accepted += [style] if status != 2 else []
    assert listed == accepted


@pytest.mark.parametrize("name", COMMANDS)
def test_output_holds_what_would_be_printed(
    name: str, commands: dict[str, list[str]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status = execute([*commands[name], "--format", "json"])
    printed = json.loads(capsys.readouterr().out)
    target = tmp_path / "report.json"
    assert execute([*commands[name], "--format", "json", "--output", str(target)]) == status
    assert capsys.readouterr().out == ""
    written = json.loads(target.read_text(encoding="utf-8"))
    for one in (written, printed):
        one.pop("made", None)
        one["elapsed_s"] = 0
    assert written == printed


def test_markdown_in_a_file_has_its_chart_beside_it(commands: dict[str, list[str]], tmp_path: Path) -> None:
    target = tmp_path / "bench.md"
    execute([*commands["bench"], "--format", "markdown", "--output", str(target)])
    assert "](bench.svg)" in target.read_text(encoding="utf-8")
    assert (tmp_path / "bench.svg").read_text(encoding="utf-8").startswith("<svg")
    execute([*commands["matrix show"], "--format", "markdown", "--output", str(tmp_path / "cudnn.md")])
    assert sorted(one.name for one in tmp_path.glob("*.*")) == ["bench.md", "bench.svg", "cudnn.md"]


def test_csv_is_a_table(commands: dict[str, list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    execute([*commands["matrix list"], "--format", "csv"])
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["product", "rows", "as of", "what it holds"]
    assert len({len(row) for row in rows}) == 1
