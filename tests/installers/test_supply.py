"""Files from a mirror or a directory: other places, the same digests. How a directory is filled: test_bundle.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.version import CudnnVersion
from doctor.cli import execute
from installers.apply import apply
from installers.bundle import BadBundle, from_directory
from installers.digest import DigestMismatch
from installers.journal import State
from installers.methods.cudnn_archive import Order, archive_plan
from installers.mirrors import BadSupply, from_mirror
from installers.plan import Plan
from installers.steps.download import Download
from installers.steps.use_file import UseFile
from tests.installers.target import ROOT

ORDER = Order(version=CudnnVersion.parse("9.10.2"), cuda="12", home="/usr/local/cuda", archive="", sha256="", own=False)
PLAN = archive_plan(ORDER, ROOT, Matrix())
[FILE] = [step for step in PLAN.steps if isinstance(step, Download)]


def test_a_mirror_has_the_same_paths_and_digests() -> None:
    [found] = [step for step in from_mirror(PLAN, "https://mirror.example/nvidia/").steps if isinstance(step, Download)]
    assert found.url == f"https://mirror.example/nvidia/{FILE.url.split('/', 3)[3]}"
    assert found._replace(url=FILE.url) == FILE


@pytest.mark.parametrize(
    "mirror", ["http://mirror.example", "ftp://x", "mirror.example", "https://", "https://x/?a", "https://x\ny"]
)
def test_what_is_no_mirror(mirror: str) -> None:
    with pytest.raises(BadSupply, match="no address of a mirror"):
        from_mirror(PLAN, mirror)


@pytest.mark.parametrize("mirror", ["https://zoe:hunter2@mirror.example/", "http://hunter2@x", "zoe:hunter2@x/?"])
def test_a_password_is_not_printed(mirror: str) -> None:
    with pytest.raises(BadSupply, match=r"~/\.netrc") as refused:
        from_mirror(PLAN, mirror)
    assert "hunter2" not in str(refused.value)


def test_a_directory_must_have_every_file(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match=f"lacks {FILE.to}"):
        from_directory(PLAN, str(tmp_path), here=True)
    (tmp_path / FILE.to).write_bytes(b"another file")
    [found] = [step for step in from_directory(PLAN, str(tmp_path), here=True).steps if isinstance(step, UseFile)]
    assert (found.path, found.sha256) == (str(tmp_path / FILE.to), FILE.sha256)
    with pytest.raises(DigestMismatch):
        apply(Plan("x", (found,)), State(str(tmp_path / "state")))


def test_a_plan_without_a_download() -> None:
    with pytest.raises(BadBundle, match="downloads nothing"):
        from_directory(Plan("x", ()), "/x", here=False)


def test_a_directory_of_windows() -> None:
    [found] = [step for step in from_directory(PLAN, "D:\\files", here=False).steps if isinstance(step, UseFile)]
    assert found.path == f"D:\\files\\{FILE.to}"


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    order = ["install", "cudnn", "9.10.2", "--cuda-version", "12", "--os", "linux"]
    assert execute([*order, "--mirror", "https://mirror.example", "--format", "json"]) == 0
    steps = json.loads(capsys.readouterr().out)["plan"]["steps"]
    assert any(step.get("url", "").startswith("https://mirror.example/") for step in steps)
    assert execute([*order, "--bundle", "/media/disk"]) == 0
    assert f"/media/disk/{FILE.to}" in capsys.readouterr().out
    assert execute([*order, "--bundle", "/media/disk", "--mirror", "https://mirror.example"]) == 2
    assert "give only one of --mirror (an address) and --bundle (a directory)" in capsys.readouterr().err
