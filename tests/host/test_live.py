"""This machine: safe programs, dead mounts, devices."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from compat.base import trust
from doctor.host import HostError, Missing, NotRunnable
from doctor.host.live import LiveHost

AS_ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A script that only we can change."""
    path = tmp_path / "bin" / "tool"
    path.parent.mkdir(mode=0o755)
    path.write_text("#!/bin/sh\necho ran as $0\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def host(program: Path) -> LiveHost:
    return LiveHost({"PATH": f"/nonexistent:{program.parent}:{os.defpath}"})


def test_a_command_is_found_and_run(program: Path) -> None:
    ran = host(program).run(("tool",))
    assert (ran.status, ran.stdout) == (0, f"ran as {program}\n")


def test_a_link_is_run_by_its_real_file(program: Path, tmp_path: Path) -> None:
    link = tmp_path / "bin" / "alias"
    link.symlink_to(program)
    assert host(program).run(("alias",)).status == 0


def test_a_command_that_is_not_there(program: Path) -> None:
    for name in ("no-such-command", "./no-such-command", "/"):
        with pytest.raises(Missing):
            host(program).run((name,))


@pytest.mark.parametrize("content", [b"", b"\x7fELFnonsense", b"#!/no/such/interpreter\n"])
def test_a_file_that_is_no_program(program: Path, content: bytes) -> None:
    program.write_bytes(content)
    with pytest.raises(NotRunnable):
        host(program).run(("tool",))


@AS_ROOT
@pytest.mark.parametrize("fault", ["owner", "group", "others", "directory owner", "directory others"])
def test_root_runs_nothing_that_others_can_change(program: Path, fault: str) -> None:
    target = program.parent if fault.startswith("directory") else program
    if fault.endswith("owner"):
        os.chown(target, 1000, 0)
    elif fault == "group":
        os.chown(target, 0, 1000)
        target.chmod(0o775)
    else:
        target.chmod(0o777)
    for ask in (lambda: host(program).run(("tool",)), lambda: host(program).refuse_unsafe(str(program))):
        with pytest.raises(NotRunnable, match="can be changed by another user"):
            ask()


@AS_ROOT
def test_root_runs_what_lies_in_a_sticky_directory(program: Path) -> None:
    program.parent.chmod(0o1777)
    assert host(program).run(("tool",)).status == 0


@AS_ROOT
@pytest.mark.parametrize(("gid", "runs"), [(50, True), (65534, False), (987654, False)])
def test_root_runs_what_an_empty_group_may_change(program: Path, gid: int, runs: bool) -> None:
    """50 is Debian's staff, 65534 the primary group of nobody."""
    if gid == 50 and not trust._is_of_root(50):
        pytest.skip("no empty group 50 here")
    os.chown(program.parent, 0, gid)
    program.parent.chmod(0o2775)
    if runs:
        assert host(program).run(("tool",)).status == 0
    else:
        with pytest.raises(NotRunnable):
            host(program).run(("tool",))


@AS_ROOT
def test_root_follows_a_link_before_it_judges(program: Path, tmp_path: Path) -> None:
    target = tmp_path / "home" / "tool"
    target.parent.mkdir()
    program.rename(target)
    os.chown(target.parent, 1000, 1000)
    program.symlink_to(target)
    with pytest.raises(NotRunnable):
        host(program).run(("tool",))


@pytest.mark.skipif(sys.platform != "linux", reason="Linux devices")
def test_devices_are_drained_without_waiting(tmp_path: Path) -> None:
    this = LiveHost()
    assert len(this.drain("/dev/zero", 100_000)) < 200_000
    os.mkfifo(tmp_path / "fifo")
    assert this.drain(str(tmp_path / "fifo")) == b""
    with pytest.raises(Missing):
        this.drain(str(tmp_path / "none"))


@pytest.mark.skipif(sys.platform != "linux", reason="Linux")
def test_what_it_knows_of_itself(tmp_path: Path) -> None:
    this = LiveHost()
    assert this.kernel_machine() == os.uname().machine
    assert this.libc_version().startswith("glibc ")
    assert this.space_bytes("/") > 0
    assert this.name == os.uname().nodename
    with pytest.raises(Missing):
        this.space_bytes(str(tmp_path / "none"))
    assert this.may_access("/", "rx")
    assert not this.may_access("/no/such", "r")


def test_environment_is_the_judged_ones() -> None:
    assert dict(LiveHost({"A": "1"}).environ) == {"A": "1"}


@pytest.mark.parametrize("path", ["/a\0b", "\0", "", "/" + "x" * 300, "/" + "d/" * 3000])
def test_impossible_paths(path: str) -> None:
    this = LiveHost()
    for ask in (
        this.read_bytes,
        this.open,
        this.names,
        this.status,
        this.link_status,
        this.link_target,
        this.real_path,
    ):
        with pytest.raises(HostError):
            ask(path)
    assert not this.exists(path)
    assert not this.may_access(path, "r")
    with pytest.raises(HostError):
        this.run((path,))
