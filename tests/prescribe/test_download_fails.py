"""A remedy whose download fails leaves the machine as it was: pasted, as a script, and carried out."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.need import MoveFilesAside, Need, RemoveFile
from doctor.prescribe.candidates import Candidate, with_more
from installers.apply import apply
from installers.choose import plan_for
from installers.errors import InstallError
from installers.journal import State
from installers.plan import Plan, Target
from installers.render import chained, commands, script_bash, script_powershell
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.download import Download
from installers.steps.extract import Extract
from installers.steps.use_file import UseFile
from tests.installers.server import serving
from tests.installers.target import ROOT, WINDOWS

FETCH = Download("", "cudnn.tgz", ("0" * 64,), 1, "manifest", "an archive")
UNPACK = Extract("cudnn.tgz", "unpacked", "it is an archive")


@pytest.fixture(scope="module")
def archive() -> Iterator[Plan]:
    """A server has no such file."""
    with serving(b"x", *["status 404"] * 9) as server:
        yield Plan("unpack it", (FETCH._replace(url=server.url), UNPACK, Check("it must be found", ())), ())


def remedy(folder: Path, more: Plan, target: Target = ROOT) -> Candidate:
    """What lies in a directory is put aside, and an archive comes in its place."""
    need: Need = MoveFilesAside(f"{folder}/cudnn.h", "cudnn*.h")
    if target.os_family == "windows":
        need = RemoveFile(f"{folder}/cudnn.h")
    first = Candidate(need, plan_for(need, target, Matrix()), target)
    return with_more(first, Candidate(need, more, target))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with a header."""
    made = tmp_path / "include"
    made.mkdir()
    (made / "cudnn.h").write_text("old")
    return made


def test_pasted_into_bash(folder: Path, tmp_path: Path, archive: Plan) -> None:
    one = remedy(folder, archive)
    lines = "\n".join(chained(commands(one.plan, one.target), one.target))
    subprocess.run(["bash", "-s"], input=lines, text=True, cwd=tmp_path, capture_output=True)
    assert [each.name for each in folder.iterdir()] == ["cudnn.h"]


def test_as_a_script(folder: Path, tmp_path: Path, archive: Plan) -> None:
    one = remedy(folder, archive)
    ran = subprocess.run(
        ["bash", "-s"],
        input=script_bash.script(one.plan, one.target),
        text=True,
        cwd=tmp_path,
        capture_output=True,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(tmp_path)},
    )
    assert ran.returncode != 0
    assert [each.name for each in folder.iterdir()] == ["cudnn.h"]


def test_carried_out(folder: Path, tmp_path: Path, archive: Plan) -> None:
    with pytest.raises(InstallError):
        apply(remedy(folder, archive).plan, State(str(tmp_path / "state")))
    assert [each.name for each in folder.iterdir()] == ["cudnn.h"]


def test_in_powershell(folder: Path, archive: Plan) -> None:
    """Its block stops at the first failure, and the download stands first."""
    one = remedy(folder, archive, WINDOWS)
    lines = chained(commands(one.plan, one.target), one.target)
    text = script_powershell.script(one.plan, one.target)
    assert lines[:2] == ("& {", "    $ErrorActionPreference = 'Stop'")
    for told in ("\n".join(lines), text):
        assert told.index("cudnn.tgz") < told.index("Move-Item -LiteralPath")


def test_in_powershell_a_program_that_fails_is_the_last() -> None:
    """Its status stops nothing by itself, unlike a cmdlet's error."""
    lines = ("# first", "uv pip install a", "Copy-Item b c", "& 'C:\\my python.exe' -m pip uninstall -y a", "$d = 1")
    block = [line.strip() for line in chained(lines, WINDOWS)][2:-1]
    check = "if ($LASTEXITCODE) { throw 'a command failed; the steps after it did not run' }"
    assert block == ["# first", lines[1], check, lines[2], lines[3], check, lines[4]]


def test_what_a_person_downloads_is_said_before_it_is_used(folder: Path) -> None:
    use = (ByHand("download it from that page"), UseFile("cudnn.tgz", "cudnn.tgz", ("0" * 64,), "it asks for a login"))
    plan = remedy(folder, Plan("unpack it", (*use, UNPACK), ())).plan
    assert plan.steps[:3] == (*use, UNPACK)


def test_what_brings_nothing_stays_in_its_order(folder: Path) -> None:
    told = ByHand("restart")
    assert remedy(folder, Plan("restart", (told,), ())).plan.steps[-1] is told
