"""Commands that change files of the system, run on files of the tests' own, and taken back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.need import MoveFilesAside, OpenDeviceNodes, RemoveModprobeLine
from installers.apply import apply
from installers.choose import plan_for
from installers.journal import State
from installers.plan import Plan
from installers.render import commands
from installers.steps.command import Command
from installers.undo import rollback
from tests.installers.target import UBUNTU, WINDOWS

MATRIX = Matrix()


def done(plan: Plan, *replaced: tuple[str, str]) -> None:
    """Its commands on files; no restart, no new initial disk."""
    for step in plan.steps:
        if isinstance(step, Command) and step.argv[0] in {"find", "mkdir"}:
            _run(step.argv, *replaced)


def taken_back(plan: Plan) -> None:
    for step in reversed(plan.steps):
        if isinstance(step, Command) and step.argv[0] in {"find", "mkdir"}:
            for argv in step.inverse.commands if step.inverse else ():
                _run(argv)


def _run(argv: tuple[str, ...], *replaced: tuple[str, str]) -> None:
    for old, new in replaced:
        argv = tuple(word.replace(old, new) for word in argv)
    subprocess.run(argv, check=True)


@pytest.mark.parametrize("line", ["blacklist nvidia", "blacklist nvidia # test (a|b)", "install nvidia /bin/false"])
def test_a_line_of_modprobe_is_deleted(line: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.conf"
    before = f"# mine\n  {line}\nblacklist nvidia_other\n{line} more\n"
    file.write_text(before)
    plan = plan_for(RemoveModprobeLine(str(file), line), UBUNTU._replace(is_root=True), MATRIX)
    state = State(str(tmp_path / "state"))
    edit = plan._replace(steps=plan.steps[:1])
    made = apply(edit, state)
    assert file.read_text() == f"# mine\nblacklist nvidia_other\n{line} more\n"
    rollback(state, made.id)
    assert file.read_text() == before


def test_headers_are_put_aside(tmp_path: Path) -> None:
    names = {"cudnn.h", "cudnn_version.h", "cuda.h"}
    for name in names:
        (tmp_path / name).write_text(name)
    plan = plan_for(MoveFilesAside(f"{tmp_path}/cudnn_version.h", "cudnn*.h"), UBUNTU, MATRIX)
    done(plan)
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"cuda.h"}
    taken_back(plan)
    assert {path.name for path in tmp_path.iterdir()} == names


def test_dlls_are_put_aside_by_powershell() -> None:
    need = MoveFilesAside("C:/Windows/System32/cudnn64_9.dll", "cudnn*64_9.dll")
    lines = commands(plan_for(need, WINDOWS, MATRIX), WINDOWS)
    folder = r"C:\Windows\System32"
    aside = rf"{folder}\cudnn64_9.dll.aside"
    assert f"New-Item -ItemType Directory -Force -Path {aside}" in lines
    assert rf"Move-Item -Path '{folder}\cudnn*64_9.dll' -Destination {aside}" in lines


def test_links_are_put_aside_too_and_not_the_directory_that_holds_them(tmp_path: Path) -> None:
    (tmp_path / "libcudnn.so.8.0.5").write_text("8")
    (tmp_path / "libcudnn.so.8").symlink_to("libcudnn.so.8.0.5")
    plan = plan_for(MoveFilesAside(f"{tmp_path}/libcudnn.so.8", "libcudnn*"), UBUNTU, MATRIX)
    done(plan)
    assert [path.name for path in tmp_path.iterdir()] == ["libcudnn.so.8.aside"]
    assert (tmp_path / "libcudnn.so.8.aside/libcudnn.so.8").read_text() == "8"
    taken_back(plan)
    assert (tmp_path / "libcudnn.so.8").read_text() == "8"


def test_the_mode_of_the_nodes_is_the_driver_s_own_again(tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text("options nvidia NVreg_DeviceFileMode=0660 NVreg_DeviceFileGID=44 x=1\n")
    (tmp_path / "b.conf").write_text("options nvidia x=1\n")
    plan = plan_for(OpenDeviceNodes(("/dev/nvidia0", "/dev/nvidiactl"), "root"), UBUNTU, MATRIX)
    assert isinstance(plan.steps[0], Command)
    assert plan.steps[0].argv == ("chmod", "0666", "/dev/nvidia0", "/dev/nvidiactl")
    done(plan, ("/etc/modprobe.d", str(tmp_path)))
    assert (tmp_path / "a.conf").read_text().split() == ["options", "nvidia", "x=1"]
    assert {path.name for path in tmp_path.iterdir()} == {"a.conf", "a.conf.bak", "b.conf"}
