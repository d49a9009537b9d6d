"""What does not answer, and what is beyond all measure, costs a bounded time, and the report says so."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compat.base import mounts
from doctor.cli import execute
from doctor.host import Unreadable
from doctor.host.live import LiveHost
from doctor.host.root import NotADirectory, RootHost
from doctor.host.snapshot import Snapshot
from doctor.model.facts.failure import Unread

ROOT = Path(__file__).resolve().parents[2]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="mounts of Linux")


@functools.cache
def hanging_is_possible() -> bool:
    """Root in a mount namespace of its own, with FUSE."""
    if sys.platform != "linux" or os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        return False
    return subprocess.run(("unshare", "--mount", "true"), capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("links", "path", "mount"),
    [
        ({}, "/m/x", "{root}/m"),
        ({}, "/m", "{root}/m"),
        ({}, "/mm/x", ""),
        ({}, "/x/../m/x", "{root}/m"),
        ({"/home": "m/home"}, "/home/user", "{root}/m"),
        ({"/home": "{root}/m"}, "/home/user", "{root}/m"),
        ({"/a": "b", "/b": "a"}, "/a/x", ""),
        ({"/l": "x"}, "/l/y", ""),
    ],
)
@LINUX
def test_the_way_into_a_mount(tmp_path: Path, links: dict[str, str], path: str, mount: str) -> None:
    root = os.path.realpath(tmp_path)
    for name, target in links.items():
        (tmp_path / name.lstrip("/")).symlink_to(target.format(root=root))
    found = mounts.mount_on_the_way(f"{root}{path}", (f"{root}/m", f"{root}/other"))
    assert found == mount.format(root=root)


@pytest.fixture
def dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A directory that is a mount by name, and whose status nobody gets."""
    path = os.path.realpath(tmp_path / "m")
    os.mkdir(path)
    monkeypatch.setattr(mounts, "hanging_mounts", lambda: (path,))
    for module in ("doctor.host.live", "doctor.host.root"):
        monkeypatch.setattr(f"{module}.hanging_mounts", lambda: (path,))
    monkeypatch.setattr(mounts, "ANSWERS_WITHIN_S", 0.2)
    monkeypatch.setattr(mounts, "_waited_s", 0.0)
    monkeypatch.setattr(mounts, "_answered", {})
    asked = os.stat

    def stat(name: object, **options: object) -> os.stat_result:
        if name == path:
            time.sleep(60)
        return asked(name, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", stat)
    return path


@LINUX
def test_a_dead_mount_is_asked_once(dead: str) -> None:
    this = LiveHost({})
    started = time.monotonic()
    for name in ("a", "b", "c"):
        with pytest.raises(Unreadable, match="does not answer"):
            this.read_bytes(f"{dead}/{name}")
        assert not this.may_access(f"{dead}/{name}", "r")
    assert time.monotonic() - started < 10
    assert [one.label for one in Snapshot(this).unread] == [dead]


@LINUX
def test_a_dead_mount_in_a_root(dead: str) -> None:
    root = os.path.dirname(dead)
    host = RootHost(root)
    assert host.names("/") == ("m",)
    assert not host.is_dir("/m/x")
    assert [one.label for one in host.unread] == [dead]
    with pytest.raises(NotADirectory, match="does not answer"):
        RootHost(dead)


@LINUX
def test_many_dead_mounts_share_a_time(dead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "_ALL_WITHIN_S", 0.3)
    started = time.monotonic()
    assert [mounts._ask(dead) for _ in range(20)] == [False] * 20
    assert time.monotonic() - started < 10


@LINUX
def test_a_mount_that_answers_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("x", encoding="utf-8")
    path = os.path.realpath(tmp_path)
    monkeypatch.setattr("doctor.host.live.hanging_mounts", lambda: (path,))
    this = LiveHost({})
    assert this.read_text(f"{path}/f") == "x"
    assert this.unread == ()


@LINUX
def test_which_mounts_may_hang() -> None:
    found = mounts.hanging_mounts()
    assert "/" not in found
    assert not [one for one in found if one.startswith(("/proc/", "/sys/", "/dev/"))]
    assert mounts.plain("/a\\040b\\134") == "/a b\\"


COMMANDS: tuple[tuple[str, dict[str, str], int | None, str], ...] = (
    ("check", {"VIRTUAL_ENV": "{}/x"}, 4, "does not answer"),
    ("check", {"HOME": "{}/home"}, 4, "does not answer"),
    ("check", {"CUDA_HOME": "{}/cuda"}, 4, "does not answer"),
    ("check --json", {"VIRTUAL_ENV": "{}/x"}, 4, "does not answer"),
    ("check --python {}/x", {}, 2, "does not answer"),
    ("check --root {}", {}, 2, "does not answer"),
    ("check --output {}/r.json", {}, 2, "does not answer"),
    ("explain {}/train.log", {}, 2, "does not answer"),
    ("which cudnn", {"VIRTUAL_ENV": "{}/x"}, 4, "does not answer"),
    ("gate", {"VIRTUAL_ENV": "{}/x"}, None, "GPU"),
    ("install torch", {"HOME": "{}/home"}, 0, "pip"),
    ("policy init --output -", {"VIRTUAL_ENV": "{}/x"}, 0, ""),
    ("run -- echo started", {"VIRTUAL_ENV": "{}/x"}, 0, "started"),
)


@pytest.mark.system
@pytest.mark.skipif("not hanging_is_possible()", reason="needs root, mount namespaces and FUSE")
@pytest.mark.parametrize("kind", ["silent", "half"])
@pytest.mark.parametrize("case", COMMANDS, ids=lambda one: one[0])
def test_beside_a_fuse_that_hangs(tmp_path: Path, kind: str, case: tuple[str, dict[str, str], int | None, str]) -> None:
    line, variables, status, words = case
    folder = tmp_path / "mnt"
    folder.mkdir()
    given = {name: one.format(folder) for name, one in variables.items()}
    beside = ("unshare", "--mount", sys.executable, "-m", "tests.host.dead_fuse", str(folder), kind)
    command = ("env", *(f"{name}={one}" for name, one in given.items()), sys.executable, "gpudoctor.py")
    ran = subprocess.run(
        (*beside, *command, *line.format(folder).split()),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    ended = re.search(r"status (-?\d+) after ([\d.]+) s", ran.stdout)
    assert ended, ran
    assert words in " ".join((ran.stdout + ran.stderr).split())
    assert status is None or int(ended[1]) == status, ran.stdout
    assert float(ended[2]) < 20
    assert "Traceback" not in ran.stderr


def environments(root: Path, count: int) -> None:
    (root / "etc").mkdir()
    (root / "etc" / "os-release").write_text('ID=ubuntu\nVERSION_ID="24.04"\n')
    for number in range(count):
        prefix = root / "opt" / f"e{number}"
        (prefix / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
        (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.3\n")
        (prefix / "bin").mkdir()
        (prefix / "bin" / "python").write_text("#!/bin/sh\n")


def test_three_thousand_environments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environments(tmp_path, 3_000)
    started = time.thread_time()
    assert execute(["check", "--root", str(tmp_path), "--json"]) == 4
    assert time.thread_time() - started < 5
    report = json.loads(capsys.readouterr().out)
    assert len(report["facts"]["environments"]) == 48
    told = json.dumps([one for one in report["answers"] if one["code"] == "evidence-incomplete"])
    assert "/opt: only the first 2000 of its 3000 entries" in told
    assert "further Python environments: the first 48 were checked" in told


def test_forty_eight_environments_leave_nothing_out(tmp_path: Path) -> None:
    environments(tmp_path, 48)
    assert execute(["check", "--root", str(tmp_path), "--quiet"]) == 0


def test_what_is_left_out_is_noted_in_a_look_only(tmp_path: Path) -> None:
    from doctor.host.optional_reads import first_names

    for name in "abc":
        (tmp_path / name).touch()
    host = Snapshot(RootHost(str(tmp_path)))
    assert first_names(host, "/", 2) == first_names(RootHost(str(tmp_path)), "/", 2) == ("a", "b")
    assert first_names(host, "/", 3) == ("a", "b", "c")
    assert host.unread == (Unread("/", "only the first 2 of its 3 entries were searched"),)


def packages(root: Path, count: int) -> None:
    site = root / "opt" / "e" / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    (root / "etc").mkdir()
    (root / "opt" / "e" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.3\n")
    (root / "opt" / "e" / "bin").mkdir()
    (root / "opt" / "e" / "bin" / "python").write_text("#!/bin/sh\n")
    for number in range(count):
        os.mkdir(f"{site}/p{number}-1.0.dist-info")


@pytest.mark.slow
def test_a_hundred_thousand_packages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Time grows with their number, and what is more than is read is unknown."""
    taken = {}
    for count in (25_000, 100_000, 100_001):
        root = tmp_path / str(count)
        root.mkdir()
        packages(root, count)
        started = time.thread_time()
        status = execute(["check", "--root", str(root)])
        taken[count] = time.thread_time() - started
        assert status == (4 if count == 100_001 else 0), capsys.readouterr().out
        said = " ".join(capsys.readouterr().out.split())
        assert ("the directory has more than 100000 entries" in said) == (count == 100_001)
    assert taken[100_000] < 8 * taken[25_000]
    assert taken[100_000] < 20
