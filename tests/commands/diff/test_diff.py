"""The planted change stands first, with the finding that it may explain; what did not change is not told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.cli import execute
from tests.golden.product import Ran, run
from tests.lab.cases import CASES

BY_NAME = {one.name: one for one in CASES}
GOOD = "C2"


def saved(name: str, folder: Path) -> str:
    """The report of a machine of the lab; all lie at one place, as one machine on two days."""
    case = BY_NAME[name]
    case.build(folder / "tree")
    run("check", "-o", f"{name}.json", folder=folder, machine=case)
    (folder / "tree").rename(folder / f"was-{name}")
    return f"{name}.json"


def compare(old: str, new: str, folder: Path, *more: str) -> Ran:
    folder.mkdir(exist_ok=True)
    return run("diff", saved(old, folder), saved(new, folder) if old != new else f"{new}.json", *more, folder=folder)


@pytest.mark.parametrize(
    ("fault", "code", "item"),
    [
        ("F06", "cpu-only-wheel", "torch"),
        ("F07", "pip-nvidia-wheels-conflict", "nvidia-cudnn-cu12"),
        ("F09", "cudnn-copies-conflict", "LD_LIBRARY_PATH"),
        ("F12", "driver-library-mismatch", "kernel module"),
        ("F14", "driver-too-old-for-runtime", "driver"),
        ("F23", "ld-library-path-shadowing", "LD_LIBRARY_PATH"),
    ],
)
def test_a_planted_change_is_first(fault: str, code: str, item: str, tmp_path: Path) -> None:
    found = json.loads(compare(GOOD, fault, tmp_path, "--json").output)
    assert code in [one["code"] for one in found["new_findings"]]
    first = [one["name"] for one in found["differences"] if code in one["bears_on"]]
    assert item in first[:2], found["differences"][:5]


def test_the_other_way_it_is_gone(tmp_path: Path) -> None:
    ran = compare("F12", GOOD, tmp_path)
    assert ran.status == 0
    assert "gone:" in ran.output
    assert "new:" not in ran.output


@pytest.mark.parametrize("name", [GOOD, "F12"])
def test_one_machine_with_itself(name: str, tmp_path: Path) -> None:
    ran = compare(name, name, tmp_path)
    assert (ran.status, ran.output) == (0, "Nothing differs that matters for the GPU stack.\n")


def test_what_is_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text("{}")
    for old in (str(tmp_path / "x.json"), str(tmp_path / "none.json")):
        assert execute(["diff", old]) == 2
        assert capsys.readouterr().err.startswith("gpudoctor: ")


def test_redacted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = (str(tmp_path / saved(name, tmp_path)) for name in (GOOD, "F09"))
    for path in map(Path, (old, new)):
        path.write_text(path.read_text().replace("/home/user", "/home/zoe"))
    assert execute(["diff", old, new, "--redact", "--json"]) == 1
    said = capsys.readouterr().out
    assert "zoe" not in said
    assert json.loads(said)["new_findings"]


def test_a_report_of_an_environment_without_a_framework(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What nobody looked for is null there."""
    path = tmp_path / saved(GOOD, tmp_path)
    report = json.loads(path.read_text())
    assert "native_faults" in report["facts"]["environments"][0]
    for one in report["facts"]["environments"]:
        one["native_faults"] = None
    path.write_text(json.dumps(report))
    assert execute(["diff", str(path), str(path)]) == 0
    assert capsys.readouterr().out.startswith("Nothing differs")
