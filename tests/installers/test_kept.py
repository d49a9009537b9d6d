"""Packages of an environment are put back where pip or uv fails halfway, or is killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from installers.apply import apply
from installers.command import CommandFailed
from installers.effect import DistributionsInstalled, Effect, NodesMade
from installers.journal import State
from installers.kept import environments_of, folders_of, keep, put_back
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
    assert failed.value.hint.endswith("The environment's packages are as they were before.")


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
        put_back(folder, str(tmp_path / "mirror"))
        assert digest_of(Path(folder)) == before


def test_without_second_names_nothing_is_kept(prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has none, as FAT."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(CommandFailed) as failed:
        apply(order(prefix, f"{HALF}; exit 2"), State(str(tmp_path / "state")), MEANS)
    assert "may have done a part, take it back with" in failed.value.hint
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
