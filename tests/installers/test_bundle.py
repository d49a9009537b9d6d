"""A bundle is filled where there is a network, and serves the same plan where there is none."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from doctor.cli import execute
from installers.apply import apply
from installers.bundle import SUMS, BadBundle, fill, from_directory, not_in_it
from installers.digest import DigestMismatch, NoDigest
from installers.errors import InstallError
from installers.journal import State
from installers.plan import Plan
from installers.run import MEANS
from installers.steps.command import Command
from installers.steps.download import Download
from installers.steps.use_file import UseFile
from tests.installers.server import serving

CONTENT = b"an archive" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PIP = (sys.executable, "-m", "pip", "install")
ROOT_ONLY = Command(("apt-get", "install", "-y", "cuda-toolkit-12-8"), "", needs_root=True)


def archive(url: str, sha256: tuple[str, ...] = (SHA256,)) -> Download:
    return Download(url, "cudnn.tgz", sha256, len(CONTENT), "manifest", "the archive")


def wheel(folder: Path, name: str, requires: str = "") -> Path:
    """A wheel without a module."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n" + (
        f"Requires-Dist: {requires}\n" if requires else ""
    )
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}-1.0.dist-info/METADATA", metadata)
        file.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


def test_an_archive_is_fetched_once_and_used_later(tmp_path: Path) -> None:
    bundle = tmp_path / "b"
    with serving(CONTENT, "") as server:
        plan = Plan("x", (archive(server.url), ROOT_ONLY))
        [found] = fill(plan, str(bundle), MEANS, here=False)
        assert fill(plan, str(bundle), MEANS, here=False) == (found,)
        assert len(server.seen) == 1
    assert found == ("cudnn.tgz", len(CONTENT), SHA256)
    assert (bundle / SUMS).read_text() == f"{SHA256}  cudnn.tgz\n"
    assert not_in_it(plan) == (ROOT_ONLY,)
    subprocess.run(["sha256sum", "--quiet", "-c", SUMS], cwd=bundle, check=True)
    step, rest = from_directory(plan, str(bundle), here=True).steps
    assert (step, rest) == (UseFile(str(bundle / "cudnn.tgz"), "cudnn.tgz", (SHA256,), "the archive"), ROOT_ONLY)
    apply(Plan("x", (step,)), State(str(tmp_path / "state")))


def test_what_nobody_can_verify_is_not_fetched(tmp_path: Path) -> None:
    with serving(CONTENT, "") as server:
        with pytest.raises(NoDigest):
            fill(Plan("x", (archive(server.url, ()),)), str(tmp_path / "b"), MEANS, here=False)
        assert server.seen == []
        with pytest.raises(DigestMismatch):
            fill(Plan("x", (archive(server.url, ("0" * 64,)),)), str(tmp_path / "b"), MEANS, here=False)
    assert not (tmp_path / "b/cudnn.tgz").exists()


def test_wheels_with_what_they_require(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, bundle, site = tmp_path / "index", tmp_path / "b", tmp_path / "site"
    wheel(index, "leading", "follower")
    wheel(index, "follower")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    steps = (
        Command((*PIP, "--dry-run", "leading"), "", rehearses=True),
        Command((*PIP, "--force-reinstall", "leading==1.0", "--extra-index-url", "https://index.example"), ""),
    )
    found = fill(Plan("x", steps), str(bundle), MEANS, here=True)
    assert [one.name for one in found] == ["follower-1.0-py3-none-any.whl", "leading-1.0-py3-none-any.whl"]
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    plan = from_directory(
        Plan("x", (steps[1]._replace(argv=(*steps[1].argv, "--target", str(site))),)), str(bundle), here=True
    )
    [command] = (one for one in plan.steps if isinstance(one, Command))
    assert "https://index.example" not in command.argv
    subprocess.run(command.argv, check=True, capture_output=True)
    assert {one.name for one in site.glob("*.dist-info")} == {"follower-1.0.dist-info", "leading-1.0.dist-info"}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((), "fetches no file"),
        ((ROOT_ONLY,), "--method archive"),
        ((Command(("uv", "pip", "install", "--python", "x", "torch"), ""),), "uv cannot only download"),
    ],
)
def test_a_plan_without_files(steps: tuple[Command, ...], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match=said):
        fill(Plan("x", steps), str(tmp_path / "b"), MEANS, here=True)
    assert not (tmp_path / "b").exists()


def test_wheels_for_another_machine(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match="Python of this machine"):
        fill(Plan("x", (Command((*PIP, "torch"), ""),)), str(tmp_path / "b"), MEANS, here=False)


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with serving(CONTENT, "") as server, pytest.raises(InstallError, match="file"):
        fill(Plan("x", (archive(server.url),)), str(tmp_path / "file/b"), MEANS, here=False)


def test_a_bundle_without_the_wheels(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match="no wheel"):
        from_directory(Plan("x", (Command((*PIP, "torch"), ""),)), str(tmp_path), here=True)


@pytest.mark.parametrize("more", [["--apply"], ["--dry-run"], ["--script", "bash"], ["--bundle", "/x"]])
def test_one_thing_at_a_time(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    order = ["install", "cudnn", "9.10.2", "--cuda-version", "12", "--os", "linux", "--download-only", "/nowhere"]
    assert execute([*order, *more]) == 2
    assert "--download-only does not work with --apply" in capsys.readouterr().err


@pytest.mark.parametrize("style", ["text", "json"])
def test_on_the_command_line(style: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is there already, by the digest that the user names, needs no network."""
    (tmp_path / "cudnn-linux-x86_64-9.10.2.21_cuda12-archive.tar.xz").write_bytes(CONTENT)
    order = ["install", "cudnn", "9.10.2", "--cuda-version", "12", "--os", "linux", "--sha256", SHA256]
    assert execute([*order, "--download-only", str(tmp_path), "--format", style]) == 0
    said = capsys.readouterr().out
    if style == "json":
        [file] = json.loads(said)["files"]
        assert file["sha256"] == SHA256
    else:
        assert "cudnn-linux-x86_64-9.10.2.21_cuda12-archive.tar.xz" in said
        assert "--bundle DIR" in said


def test_a_link_in_the_directory_leads_to_no_other_file(tmp_path: Path) -> None:
    """Another user may have put it there; and a name of two lines would spoil the sums."""
    mine, bundle = tmp_path / "mine", tmp_path / "b"
    mine.write_text("precious")
    bundle.mkdir()
    (bundle / SUMS).symlink_to(mine)
    (bundle / "a\nb.whl").write_text("x")
    with serving(CONTENT, "") as server:
        plan = Plan("x", (archive(server.url),))
        (bundle / "cudnn.tgz.part").symlink_to(mine)
        with pytest.raises(InstallError):
            fill(plan, str(bundle), MEANS, here=False)
        (bundle / "cudnn.tgz.part").unlink()
        fill(plan, str(bundle), MEANS, here=False)
    assert mine.read_text() == "precious"
    assert (bundle / SUMS).read_text() == f"{SHA256}  cudnn.tgz\n"


@pytest.mark.parametrize("option", ["--bundle", "--download-only", "--mirror"])
def test_a_variable_that_was_not_set_is_no_directory(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", "cudnn", "9.10.2", "--cuda-version", "12.8", "--os", "linux", option, ""]) == 2
    assert "is empty" in capsys.readouterr().err


def test_a_directory_that_no_later_command_takes_is_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    order = ["install", "cudnn", "9.10.2", "--cuda-version", "12.8", "--os", "linux"]
    assert execute([*order, "--download-only", "a\nb"]) == 2
    assert "cannot be printed" in capsys.readouterr().err
