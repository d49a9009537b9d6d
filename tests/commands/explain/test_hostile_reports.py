"""A saved report of somebody else: whatever its names hold, what is printed to be pasted runs nothing of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from doctor.commands.check.command import CheckSubject, report_of
from doctor.model.encode import encode_report
from doctor.model.finding import Report
from tests.lab.case import examine
from tests.lab.cases import CASES

pytestmark = pytest.mark.skipif(os.name != "posix", reason="by bash")
PAYLOADS = (
    *("$(touch canary)", "`touch canary`", ";touch canary;", "|touch canary|", "\\$(touch canary)"),
    *("' ;touch canary; '", '" ;touch canary; "', "\ntouch canary\n", "#{x}\n touch canary #", "\u202e\x1b]0;x\x07"),
)


@pytest.fixture(scope="module", params=[("lonely-header", "local"), ("volta-cu130", "project")], ids=lambda one: one[0])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A report, and a part of a path in it that its commands name."""
    name, part = request.param
    case = next(one for one in CASES if one.name == name)
    return json.dumps(encode_report(examine(case, case.build(tmp_path_factory.mktemp(name))).report)), part


@pytest.mark.parametrize("payload", PAYLOADS)
def test_its_names_run_nothing(saved: tuple[str, str], payload: str, tmp_path: Path) -> None:
    text, part = saved
    (tmp_path / "r.json").write_text(text.replace(f"/{part}/", f"/{part}{json.dumps(payload)[1:-1]}/"))
    report = report_of(CheckSubject(source=str(tmp_path / "r.json")), 0.0)
    commands = [line for one in report.findings for remedy in one.remedies for line in remedy.commands]
    assert any(payload.split("\n", maxsplit=1)[0][:12] in line for line in commands) or not payload.isprintable()
    assert _runs(commands, tmp_path) == []
    assert not set("".join(commands)) & set("\x1b\x07\u202e")
    assert _shown(report)


def _runs(commands: list[str], folder: Path) -> list[str]:
    """What a restricted shell, which knows `touch` alone and writes to no file, made of them."""
    (folder / "bin").mkdir()
    (folder / "bin" / "touch").symlink_to(str(shutil.which("touch")))
    script = "\n".join(("command_not_found_handle() { :; }", *commands))
    bash = str(shutil.which("bash"))
    subprocess.run((bash, "-r", "-c", script), env={"PATH": str(folder / "bin")}, cwd=folder, check=False, timeout=30)
    return sorted({one.name for one in folder.iterdir()} - {"bin", "r.json"})


def _shown(report: Report) -> bool:
    from doctor.commands.check.text import render
    from doctor.output.document import TextStyle

    return all(letter.isprintable() or letter == "\n" for letter in render(report, TextStyle(symbols=True)))
