"""Packages of an environment are put back where pip or uv fails halfway, or is killed."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from installers.apply import apply
from installers.command import CommandFailed
from installers.effect import DistributionsInstalled, Effect, NodesMade
from installers.environment_backup import Pair, environments_of, folders_of, keep, keep_all, put_back
from installers.journal import State
from installers.plan import Plan
from installers.run import MEANS
from installers.steps.command import Command, Inverse, is_of_packages
from installers.undo import recover
from tests.installers.trees import digest_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a shell script stands for uv")
HALF = 'rm -r "$SITE/old" "$SITE/old-1.dist-info"; mkdir "$SITE/new"; echo x > "$SITE/new/half"; rm "$BIN/old"'


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """A package with a link, a program, and a directory that is empty."""
    venv = tmp_path / "venv"
    site = venv / "lib/python3.12/site-packages"
    for name, text in (("old/__init__.py", "one"), ("old-1.dist-info/RECORD", "two"), ("other/lib.so.1", "three")):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    (site / "other/lib.so").symlink_to("lib.so.1")
    (site / "other/linked").symlink_to("../old")
    (site / "empty").mkdir()
    (venv / "bin").mkdir()
    (venv / "bin/python").symlink_to(sys.executable)
    (venv / "bin/old").write_text("#!/bin/sh\n")
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
    return venv


def order(prefix: Path, script: str) -> Plan:
    """uv, which does what the script says."""
    uv = prefix.parent / "uv"
    site = prefix / "lib/python3.12/site-packages"
    uv.write_text(f"#!/bin/sh\nSITE={site} BIN={prefix}/bin\n{script}\n")
    uv.chmod(0o755)
    back = Inverse((("uv", "pip", "install", "old"),))
    steps = (Command((str(uv), "pip", "install", "new"), "new", inverse=back),)
    return Plan("install new", steps, (DistributionsInstalled(f"{prefix}/bin/python", ("new",)),))


def test_what_fails_halfway_loses_nothing(prefix: Path, tmp_path: Path) -> None:
    before = digest_of(prefix)
    state = State(str(tmp_path / "state"))
    with pytest.raises(CommandFailed) as failed:
        apply(order(prefix, f"{HALF}; exit 2"), state)
    assert digest_of(prefix) == before
    assert "The packages of the environment are as before." in failed.value.hint


def test_what_ends_well_leaves_no_mirror(prefix: Path, tmp_path: Path) -> None:
    apply(order(prefix, HALF), State(str(tmp_path / "state")))
    site = prefix / "lib/python3.12/site-packages"
    assert sorted(path.name for path in site.iterdir()) == ["empty", "new", "other"]
    assert sorted(path.name for path in prefix.iterdir()) == ["bin", "lib", "pyvenv.cfg"]
    assert (site / "other/lib.so.1").stat().st_nlink == 1


def test_what_was_killed_is_put_back_by_the_next_run(prefix: Path, tmp_path: Path) -> None:
    before = digest_of(prefix)
    state = State(str(tmp_path / "state"))
    child = os.fork()
    if not child:
        apply(order(prefix, f"{HALF}; kill -9 $PPID"), state)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 9
    assert digest_of(prefix) != before
    with state.lock():
        (undone,) = recover(state)
    assert digest_of(prefix) == before
    assert [one.reversed for one in undone.commands] == [True]


def test_putting_back_can_be_done_again(prefix: Path, tmp_path: Path) -> None:
    (folder, *_) = folders_of(str(prefix))
    before = digest_of(Path(folder))
    assert keep(folder, str(tmp_path / "mirror"))
    (Path(folder) / "other/lib.so.1").unlink()
    (Path(folder) / "empty").rmdir()
    for _ in range(2):
        put_back(Pair(folder, str(tmp_path / "mirror")))
        assert digest_of(Path(folder)) == before


def _other_kind(site: Path) -> None:
    """A directory, a file and a link become something else; the new link leads to somebody's files."""
    shutil.rmtree(site / "old")
    (site / "old").symlink_to(site.parents[3] / "somebody")
    (site / "other/lib.so.1").unlink()
    (site / "other/lib.so.1").mkdir()
    (site / "other/lib.so.1/part").write_text("new")
    (site / "other/linked").unlink()
    (site / "other/linked").mkdir()
    (site / "other/linked/part").write_text("new")
    (site / "empty").rmdir()
    (site / "empty").write_text("new")


def _in_place(site: Path) -> None:
    with (site / "easy-install.pth").open("w") as opened:
        opened.write("/b\n")


def _outside(site: Path) -> None:
    (site.parents[2] / "share/man/man1/old.1").unlink()


def _all_of_it(site: Path) -> None:
    shutil.rmtree(site / "other")
    shutil.rmtree(site / "odd\nname \udcff")


@pytest.mark.parametrize("change", [_other_kind, _in_place, _outside, _all_of_it])
def test_whatever_became_of_it(change: Callable[[Path], None], prefix: Path, tmp_path: Path) -> None:
    site = prefix / "lib/python3.12/site-packages"
    somebody = tmp_path / "somebody/__init__.py"
    for path, text in (
        (somebody, "precious"),
        (site / "easy-install.pth", "/a\n/b\n"),
        (site / "old-1.dist-info/RECORD", "old/__init__.py,,\n../../../share/man/man1/old.1,,\n../../../../no,,\n"),
        (prefix / "share/man/man1/old.1", "page"),
        (prefix / "share/mine", "mine"),
        (site / "odd\nname \udcff/part\tof it", "odd"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = digest_of(prefix, new_times=False)
    pairs = keep_all(str(prefix), f"{prefix}/.mirror")
    change(site)
    for pair in pairs:
        put_back(pair)
    shutil.rmtree(prefix / ".mirror")
    assert digest_of(prefix, new_times=False) == before
    assert somebody.read_text() == "precious"


def test_the_owner_of_directories_and_links_is_kept(prefix: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give files away")
    other = prefix / "lib/python3.12/site-packages/other"
    for path in (other, other / "lib.so"):
        os.chown(path, 1234, 1234, follow_symlinks=False)
    pairs = keep_all(str(prefix), f"{prefix}/.mirror")
    shutil.rmtree(other)
    for pair in pairs:
        put_back(pair)
    assert [path.lstat().st_uid for path in (other, other / "lib.so", other / "lib.so.1")] == [1234, 1234, os.geteuid()]


@pytest.mark.parametrize(
    ("real", "link", "kept"),
    [
        ("lib64/python3.12/site-packages", "", True),
        ("lib/pypy3.10/site-packages", "", True),
        ("Lib/site-packages", "", True),
        ("packages", "lib/python3.12/site-packages", True),
        ("../others", "lib/python3.12/site-packages", False),
        ("../others/python3.12/site-packages", "lib", False),
    ],
)
def test_where_packages_lie(real: str, link: str, kept: bool, tmp_path: Path) -> None:
    """What is kept without the packages would be called put back."""
    prefix = tmp_path / "venv"
    module = prefix / real / "one.py"
    module.parent.mkdir(parents=True)
    (prefix / "bin").mkdir()
    module.write_text("one")
    if link:
        (prefix / link).parent.mkdir(parents=True, exist_ok=True)
        (prefix / link).symlink_to(prefix / real if link != "lib" else (prefix / real).parents[1])
    pairs = keep_all(str(prefix), f"{prefix}/.mirror")
    module.unlink()
    for pair in pairs:
        put_back(pair)
    assert module.exists() is kept
    assert bool(pairs) is kept


@pytest.mark.parametrize("after_s", [0, 3600])
def test_what_was_mended_by_hand_since_stays(
    after_s: int, prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is killed, its user installs by hand what they need; the next run comes weeks later."""
    state = State(str(tmp_path / "state"))
    child = os.fork()
    if not child:
        apply(order(prefix, f"{HALF}; kill -9 $PPID"), state)
        os._exit(0)
    os.waitpid(child, 0)
    (mirror,) = prefix.glob(".gpudoctor-*-kept")
    os.utime(mirror, (time.time() - after_s, time.time() - after_s))
    site = prefix / "lib/python3.12/site-packages"
    (site / "new/mine").write_text("of later")
    with state.lock():
        (undone,) = recover(state)
    assert (site / "new/mine").exists() is bool(after_s)
    assert [one.reversed for one in undone.commands] == [not after_s]
    assert not [*prefix.glob(".gpudoctor*")]


def test_byte_code_written_since_is_nobodys_work(prefix: Path, tmp_path: Path) -> None:
    state = State(str(tmp_path / "state"))
    before = digest_of(prefix)
    child = os.fork()
    if not child:
        apply(order(prefix, f"{HALF}; kill -9 $PPID"), state)
        os._exit(0)
    os.waitpid(child, 0)
    (mirror,) = prefix.glob(".gpudoctor-*-kept")
    shutil.rmtree(prefix / "lib/python3.12/site-packages/new")
    os.utime(mirror, (time.time() - 3600, time.time() - 3600))
    (prefix / "lib/python3.12/site-packages/other/__pycache__").mkdir()
    (prefix / "lib/python3.12/site-packages/other/__pycache__/one.pyc").write_text("code")
    with state.lock():
        recover(state)
    assert digest_of(prefix) == before


def test_what_leads_elsewhere_since_is_left_alone(prefix: Path, tmp_path: Path) -> None:
    """Root takes a run back in an environment whose owner put a link in the way meanwhile."""
    state = State(str(tmp_path / "state"))
    child = os.fork()
    if not child:
        apply(order(prefix, f"{HALF}; kill -9 $PPID"), state)
        os._exit(0)
    os.waitpid(child, 0)
    site = prefix / "lib/python3.12/site-packages"
    site.rename(tmp_path / "away")
    etc = tmp_path / "etc"
    etc.mkdir()
    (etc / "passwd").write_text("root")
    site.symlink_to(etc)
    with state.lock():
        recover(state)
    assert [path.name for path in etc.iterdir()] == ["passwd"]


def test_without_second_names_nothing_is_kept(prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has none, as FAT."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(CommandFailed) as failed:
        apply(order(prefix, f"{HALF}; exit 2"), State(str(tmp_path / "state")), MEANS)
    assert "may have done part of its work; undo it with" in failed.value.hint
    assert sorted(path.name for path in prefix.iterdir()) == ["bin", "lib", "pyvenv.cfg"]


@pytest.mark.parametrize(
    ("argv", "is_one"),
    [
        (("uv", "pip", "install", "torch"), True),
        (("/v/bin/python", "-m", "pip", "uninstall", "-y", "torch"), True),
        (("pip", "install", "torch"), True),
        (("uv", "lock"), False),
        (("apt-get", "install", "-y", "python3-pip"), False),
        (("uv", "pip", "list"), False),
    ],
)
def test_which_commands_change_packages(argv: tuple[str, ...], is_one: bool) -> None:
    assert is_of_packages(argv) is is_one


def test_only_virtual_environments_are_mirrored(prefix: Path, tmp_path: Path) -> None:
    def of(*effects: Effect) -> tuple[str, ...]:
        return environments_of(Plan("", (), effects))

    assert of(DistributionsInstalled(f"{prefix}/bin/python", ("torch",))) == (str(prefix),)
    assert of(DistributionsInstalled("/usr/bin/python3", ("torch",)), NodesMade()) == ()
    assert of(DistributionsInstalled("python3", ("torch",))) == ()
    assert folders_of(str(tmp_path / "nothing")) == ()
