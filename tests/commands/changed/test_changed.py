"""What changed before it broke: the planted change is named with the finding that it may explain."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from compat.base.duration import moment
from compat.matrix import Matrix
from doctor.changes import _groups
from doctor.cli import execute
from doctor.model.facts.seen import Place
from doctor.probes.changes import Change
from tests.golden.product import run
from tests.lab.case import Case
from tests.lab.cases import CASES

[UPDATED] = [one for one in CASES if one.name == "F12"]
NOW = time.time()


def stamp(age_s: float) -> str:
    return time.strftime("%Y-%m-%d  %H:%M:%S", time.localtime(NOW - age_s))


def apt(age_s: float, line: str, by: str = "/usr/bin/unattended-upgrade") -> str:
    return f"\nStart-Date: {stamp(age_s)}\nCommandline: {by}\n{line}\nEnd-Date: {stamp(age_s)}\n"


def planted(case: Case, folder: Path, log: str) -> Path:
    case.build(folder / "tree")
    path = folder / "tree/var/log/apt/history.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(log)
    return folder


DRIVER = apt(90_000, "Upgrade: libnvidia-compute-580:amd64 (580.82.09-0ubuntu1, 580.95.05-0ubuntu1)")
EDITOR = apt(80_000, "Install: vim:amd64 (9.1), libcudnn9-cuda-12:amd64 (9.10.2.21-1)", "apt install vim")


def test_the_update_that_needs_a_restart(tmp_path: Path) -> None:
    said = run(
        "changed", "--since", "3 days", folder=planted(UPDATED, tmp_path, DRIVER + EDITOR), machine=UPDATED
    ).output
    words = " ".join(said.split())
    upgrade = "upgraded libnvidia-compute-580 580.82.09-0ubuntu1 to 580.95.05-0ubuntu1 (/usr/bin/unattended-upgrade)"
    assert f"{upgrade} → may explain driver-library-mismatch" in words
    assert said.count("may explain") == 1
    assert "installed vim" not in said


def test_what_is_older_is_left_out(tmp_path: Path) -> None:
    folder = planted(UPDATED, tmp_path, DRIVER)
    said = run("changed", "--since", "2 hours", folder=folder, machine=UPDATED).output
    assert "libnvidia" not in said
    assert "Records begin: apt" in said


def test_as_json_of_a_root(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = planted(UPDATED, tmp_path, DRIVER + EDITOR)
    assert execute(["changed", "--root", str(folder / "tree"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    parts = [(one["name"], one["part"]) for one in found["changes"] if one["part"] != "setting"]
    assert parts == [("libcudnn9-cuda-12", "cudnn"), ("libnvidia-compute-580", "driver")]
    assert found["unread"] == {}


def test_a_machine_without_records_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["changed", "--root", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "no records that gpudoctor can read" in said
    assert "No record of a change" in said


@pytest.mark.parametrize("since", ["yesterday", "-3 days", "3 fortnights", "2026-13-01", ""])
def test_a_time_that_nobody_can_read(since: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["changed", "--root", os.sep, "--since", since]) == 2
    assert capsys.readouterr().err.startswith("gpudoctor: --since")


@pytest.mark.parametrize(("log", "named"), [(DRIVER, True), (EDITOR, False), ("", False)])
def test_check_says_it_below_the_finding(log: str, named: bool, tmp_path: Path) -> None:
    said = run("check", folder=planted(UPDATED, tmp_path, log), machine=UPDATED).output
    assert "driver-library-mismatch" in said
    assert (": upgraded libnvidia-compute-580 580.82.09-0ubuntu1" in " ".join(said.split())) == named


def test_a_healthy_machine_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.changes.history_of", None)
    [healthy] = [one for one in CASES if one.name == "C2"]
    assert run("check", folder=planted(healthy, tmp_path, DRIVER), machine=healthy).status == 0


def test_a_token_in_a_command_line_is_redacted(tmp_path: Path) -> None:
    log = apt(
        90_000,
        "Upgrade: libnvidia-compute-580:amd64 (580.82, 580.95)",
        "apt -o Acquire::http::Proxy=http://joe:hunter2@proxy upgrade",
    )
    folder = planted(UPDATED, tmp_path, log)
    for command in (["changed"], ["check"]):
        assert "hunter2" not in run(*command, "--redact", folder=folder, machine=UPDATED).output


def test_a_change_of_another_year_has_one(tmp_path: Path) -> None:
    log = "Start-Date: 2021-04-24  06:50:54\nInstall: libcudnn8:amd64 (8.1.1)\n"
    said = run("changed", "--since", "2020-01-01", folder=planted(UPDATED, tmp_path, log), machine=UPDATED).output
    assert "  24 Apr 2021   installed libcudnn8 8.1.1\n" in said


def test_a_run_of_many_packages_is_grouped_in_bounded_time() -> None:
    changes = [Change(NOW - 60, "installed", f"libnvidia-{number}", Place("/log")) for number in range(50_000)]
    before_s = time.process_time()
    [group] = _groups(changes, [], Matrix.of_user())
    assert (len(group.changes), time.process_time() - before_s < 3) == (50_000, True)


@pytest.mark.parametrize("since", ["2026-11-20T06:50Z", "2026-11-20 08:50+02:00", "2026-11-20T01:50:00-0500"])
def test_a_time_with_its_zone(since: str) -> None:
    assert moment(since, "--since", NOW) == 1795157400
