"""What people type: short options, names in any case, older spellings, and the help that answers them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.cli import execute
from doctor.model.finding import Answer

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    *("", "check", "explain", "which", "verify", "run", "gate", "bench", "policy init"),
    *("matrix", "matrix can", "matrix solve", "matrix show", "matrix list", "matrix refresh"),
    *("install", "install cuda", "install cudnn", "install driver", "install package", "install stack"),
    *("install history", "install rollback", "install config", "install config theano", "install config loader"),
)


def gpudoctor(*argv: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        [sys.executable, "-m", "gpudoctor", *argv], env=env, capture_output=True, text=True, check=False
    )


def said(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> str:
    assert execute(argv) == status
    shown = capsys.readouterr()
    return shown.err if status == 2 else shown.out


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_help_is_whole_at_every_width(
    page: str, columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = said(capsys, *page.split(), "-h")
    assert "…" not in shown
    assert "..." not in re.sub(r"\S+\.\.\.|, \.\.\.", "", shown)
    body, _, examples = shown.partition("\nExamples:\n")
    assert all(len(line) <= min(int(columns), 100) for line in body.splitlines())
    assert all(re.match(r"  (gpudoctor|python train.py 2>&1 \| gpudoctor)\b", line) for line in examples.splitlines())
    assert bool(examples) == ("Commands:" not in shown)


@pytest.mark.parametrize(("argv", "page"), [(["help"], ["--help"]), (["help", "check"], ["check", "--help"])])
def test_help_is_a_command_too(argv: list[str], page: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, *argv) == said(capsys, *page)


def test_short_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "-V") == said(capsys, "--version")
    root = ("--root", str(tmp_path))
    reports = [json.loads(said(capsys, "check", *root, *one)) for one in (("--json",), ("-f", "json"), ("-f", "JSON"))]
    assert {one["schema"] for one in reports} == {"gpudoctor.report/1"}
    assert said(capsys, "check", *root, "-f", "json", "-o", str(tmp_path / "r")) == ""
    assert json.loads((tmp_path / "r").read_text(encoding="utf-8"))["schema"] == "gpudoctor.report/1"


@pytest.mark.parametrize("command", ["which cudnn", "matrix list", "matrix can torch", "install cuda 12.8 --os linux"])
def test_json_is_short_for_the_format(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    execute([*command.split(), "--json"])
    short = json.loads(capsys.readouterr().out)
    execute([*command.split(), "--format", "json"])
    assert set(json.loads(capsys.readouterr().out)) == set(short)


def test_quiet_is_the_verdict_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ("--root", str(tmp_path))
    assert execute(["check", *root]) == execute(["check", *root, "-q"])
    capsys.readouterr()
    execute(["check", *root, "-q"])
    assert capsys.readouterr().out.count("\n") == 1
    execute(["check", *root, "-q", "-o", str(tmp_path / "r.txt")])
    assert capsys.readouterr().out.count("\n") == 1
    assert "The stack" in (tmp_path / "r.txt").read_text(encoding="utf-8")
    assert "-q prints one line of text: omit --format" in said(capsys, "check", *root, "-q", "--json", status=2)


@pytest.mark.parametrize(("more", "is_proven"), [((), False), (("-o", "r.txt"), True)])
def test_a_verdict_line_waits_for_no_remedy(
    more: tuple[str, ...], is_proven: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def prescribe(answer: Answer, *_: object) -> tuple[()]:
        asked.append(answer.code)
        return ()

    monkeypatch.setattr("doctor.prescribe.remedies.prescribe", prescribe)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Dockerfile").write_text("FROM ubuntu:24.04\nRUN pip install torch==2.6.0\n")
    assert execute(["check", "--dockerfile", "Dockerfile", "--assume-gpu", "RTX 5090", "-q", *more]) == 1
    assert bool(asked) is is_proven


def test_nothing_but_the_name_is_a_check_and_the_commands_to_go_on_with() -> None:
    quiet, alone = gpudoctor("check", "-q"), gpudoctor()
    assert alone.stdout.startswith(quiet.stdout)
    assert alone.returncode == quiet.returncode
    assert len(re.findall(r"^  gpudoctor \w+", alone.stdout, re.MULTILINE)) == 5
    narrow = gpudoctor(COLUMNS="60").stdout
    assert max(map(len, narrow.splitlines()[1:])) <= 60


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("check --josn", "no option '--josn'; did you mean --json"),
        ("check --formt json", "no option '--formt'; did you mean --format"),
        ("install cudnn --cuda 12.8 --os linux", "did you mean --cuda-version or --cuda-home"),
        ("check --venv .venv", "did you mean --python?"),
        ("check --gpu l4", "did you mean --assume-gpu"),
        ("can torch", "no command 'can'; did you mean matrix can?"),
        ("rollback", "did you mean install rollback?"),
        ("fix", "did you mean check --fix?"),
        ("chekc", "no command 'chekc'; did you mean check?"),
        ("matrix shwo", "no command 'shwo'; did you mean show?"),
        ("install cuda 12.8 --from d", "--from is now --bundle"),
        ("install cudnn --from d", "--from is now --bundle"),
        ("matrix refresh --from d", "--from is now --manifests"),
        ("bench --from x.json", "--from is now --show"),
        ("gate --within 5s", "--within is now --timeout"),
        ("check --fail-on eror", "did you mean error"),
        ("check --platform linux/arm64", "--platform is for --image, --dockerfile or --lock"),
        ("check --only cpu-only-wheel,cudnn-mising", "no rule 'cudnn-mising'; did you mean cudnn-missing"),
    ],
)
def test_a_slip_is_answered_with_the_nearest_name(line: str, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *line.split(), status=2)
    assert answer in text
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "usual"),
    [
        ("check --list --only CUDNN-missing", "check --list --only cudnn-missing"),
        ("matrix can torch 2.9.1 --gpu sm_89", "matrix can torch==2.9.1 --gpu sm_89"),
        ("matrix solve torch 2.9.1 --gpu sm_89", "matrix solve torch==2.9.1 --gpu sm_89"),
        ("matrix can torch --os win11", "matrix can torch --os windows"),
        ("matrix can torch --os Linux --arch AMD64", "matrix can torch --os linux --arch x86_64"),
        ("matrix show TORCH 2.9.1", "matrix show torch 2.9.1"),
        (
            "install cudnn 9.10.2 --cuda-version 12.9 --os win11",
            "install cudnn 9.10.2 --cuda-version 12.9 --os windows",
        ),
        ("install driver 580 --distribution Ubuntu-24.04", "install driver 580 --distribution ubuntu-24.04"),
        ("install driver 580 --distribution ubuntu24.04", "install driver 580 --distribution ubuntu-24.04"),
        (
            "install cuda 12.8 --distribution ubuntu-24.04 --method apt",
            "install cuda 12.8 --distribution ubuntu-24.04 --method packages",
        ),
        ("install cuda 12.8 --os linux --script BASH", "install cuda 12.8 --os linux --script bash"),
        ("gate --as PLAIN", "gate --as plain"),
        ("explain CUDNN-MISSING", "explain cudnn-missing"),
    ],
)
def test_names_as_people_type_them(typed: str, usual: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = execute(typed.split())
    shown = capsys.readouterr()
    assert status == execute(usual.split())
    assert shown == capsys.readouterr()
    assert status != 2, shown.err


def test_a_distribution_with_a_blank(capsys: pytest.CaptureFixture[str]) -> None:
    usual = said(capsys, "install", "driver", "580", "--distribution", "ubuntu-24.04")
    assert said(capsys, "install", "driver", "580", "--distribution", "Ubuntu 24.04") == usual


@pytest.mark.parametrize("words", [("help", "matrix", "can"), ("matrix", "help", "can"), ("install", "help")])
def test_help_stands_before_any_command(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(list(words)) == 0
    assert capsys.readouterr().out.startswith(f"Usage: gpudoctor {' '.join(one for one in words if one != 'help')}")
