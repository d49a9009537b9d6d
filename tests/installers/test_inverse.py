"""Each command knows what takes it back, and a rollback says what it does not take back."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.need import (
    InstallCudnn,
    InstallDriver,
    InstallPackage,
    InstallSystemPackage,
    InstallToolkit,
    Need,
    OpenDeviceNodes,
    RemoveFile,
    SignKernelModule,
)
from installers.apply import apply, stay_done
from installers.at_work import Watch
from installers.choose import load_methods, plan_for
from installers.command import CommandFailed, run_command, settled
from installers.cuda_order import CudaOrder, NoSuchToolkit
from installers.journal import State, history, record_of_command
from installers.methods.container_image import container_plan
from installers.methods.cuda_installer import installer_plan
from installers.methods.cuda_wheel import wheel_plan
from installers.methods.local_repository import local_plan
from installers.packages import install, manager_of
from installers.plan import Plan
from installers.run import ExecutionOptions
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.write_file import WriteFile
from installers.undo import NoSuchRun, OnlyCommands, Reversal, recover, rollback
from tests.installers import target as machines
from tests.installers.needs import ANYWHERE, LINUX_ONLY, plans_for

MATRIX = Matrix()
ORDERED = (container_plan, installer_plan, local_plan, wheel_plan)


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(str(tmp_path / "state"))


def thoughtless(plan: Plan) -> list[tuple[str, ...]]:
    steps = (step for step in plan.steps if isinstance(step, Command) and not step.place)
    return [step.argv for step in steps if step.inverse is None]


@pytest.mark.parametrize("name", [*machines.LINUX, "windows"])
def test_every_command_knows_its_inverse(name: str) -> None:
    target = machines.LINUX.get(name, machines.WINDOWS)
    needs = ANYWHERE if name == "windows" else (*ANYWHERE, *LINUX_ONLY)
    assert [argv for _, plan in plans_for(needs, target, MATRIX) for argv in thoughtless(plan)] == []
    for ordered in ORDERED:
        try:
            assert thoughtless(ordered(CudaOrder("12.8"), target, MATRIX)) == []
        except NoSuchToolkit:
            continue


def test_the_methods_of_cuda_are_among_those_above() -> None:
    assert len([one for one in load_methods() if "CUDA" in one.title]) >= 7


KEYRING = ["", "", "dpkg --purge cuda-keyring"]  # what fetches the package and reads its key stays
REPO = ["dnf remove -y dnf-plugins-core", "rm -f /etc/yum.repos.d/cuda-rhel9.repo"]
HEADERS = "dnf remove -y kernel-devel-5.14.0-427.el9.x86_64 kernel-headers"
STREAM = ["dnf module remove -y nvidia-driver:580-open", "dnf module reset -y nvidia-driver"]
TORCH = InstallPackage("torch", "==2.9.1", machines.UBUNTU.python, "cu128")


@pytest.mark.parametrize(
    ("machine", "need", "commands"),
    [
        ("ubuntu", InstallToolkit("==12.8.*"), [*KEYRING, "", "apt-get remove -y cuda-toolkit-12-8"]),
        ("rocky", InstallCudnn(cuda="12"), [*REPO, "dnf remove -y cudnn9-cuda-12"]),
        ("rocky", InstallDriver(">=580"), [*REPO, "", "", HEADERS, "", *STREAM]),
        ("sles", InstallSystemPackage("gcc"), ["zypper --non-interactive remove gcc"]),
        ("ubuntu", TORCH, ["", "@ -m pip uninstall -y torch torchvision"]),
        ("uv", InstallPackage("numpy", ">=2", machines.UV.python), ["uv pip uninstall --python @ numpy"]),
        ("ubuntu", OpenDeviceNodes(("/dev/nvidia0",), "video"), ["gpasswd -d user video"]),
        ("root", SignKernelModule(), ["mokutil --revoke-import"]),
        ("ubuntu", RemoveFile("/a b"), ["mv -- /a b.bak /a b"]),
        ("conda", InstallCudnn("==9.10.2"), ["conda remove -y -p /opt/conda/envs/ml cudnn"]),
    ],
)
def test_inverses(machine: str, need: Need, commands: list[str]) -> None:
    target = machines.LINUX[machine]
    steps = [step for step in plan_for(need, target, MATRIX).steps if isinstance(step, Command) and step.inverse]
    found = [" ".join(argv) for step in steps if step.inverse for argv in step.inverse.commands or ((),)]
    assert [line.replace("@", target.python) for line in commands] == found


def test_the_release_that_was_there_comes_back() -> None:
    target = machines.UBUNTU._replace(releases=(("torch", "2.8.0+cu126"), ("torchvision", "0.23.0")))
    away, new = (
        one for one in plan_for(InstallPackage("torch", "==2.9.1", target.python, "cu128"), target, MATRIX).steps
    )
    assert isinstance(away, Command)
    assert isinstance(new, Command)
    assert away.inverse
    assert new.inverse
    assert away.inverse.commands == (
        (target.python, "-m", "pip", "install", "--no-deps", "torch==2.8.0+cu126", "torchvision==0.23.0"),
    )
    assert "--index-url" in away.inverse.left
    assert new.inverse.commands == ((target.python, "-m", "pip", "uninstall", "-y", "torch", "torchvision"),)


def test_what_was_there_before_is_left_alone(tmp_path: Path) -> None:
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    Path(old).touch()
    inverse = Inverse((("rm", "-f", old, new), ("rm", old)), names=(old, new), present=("test", "-e"))
    found = settled(Command(("touch", old, new), "", inverse=inverse)).inverse
    assert found
    assert found.commands == (("rm", "-f", new),)
    assert found.left == f"{old} was there before; an undo does not restore it"


def test_where_nobody_can_tell_nothing_is_removed() -> None:
    inverse = Inverse((("rm", "x"),), names=("x",), present=("no-such-program-at-all",))
    found = settled(Command(("touch", "x"), "", inverse=inverse)).inverse
    assert found
    assert found.commands == ()


def test_packages_ask_the_package_manager_what_is_there() -> None:
    for target in machines.LINUX.values():
        if manager_of(target):
            inverse = install(target, "gcc", why="x").inverse
            assert inverse
            assert (inverse.names, inverse.present != ()) == (("gcc",), True)


def touching(path: Path, inverse: Inverse | None = None) -> Command:
    return Command(("touch", str(path)), "x", inverse=inverse or Inverse((("rm", str(path)),)))


def test_a_failure_says_what_stays_done(tmp_path: Path, state: State) -> None:
    made, written = tmp_path / "made", tmp_path / "written"
    plan = Plan(
        "x", (touching(made), WriteFile(str(written), ("a",), "x"), Command(("false",), "x", inverse=Inverse()))
    )
    with pytest.raises(CommandFailed, match="`false` failed") as caught:
        apply(plan, state)
    assert f"`touch {made}` was not undone; undo it with `rm {made}`." in caught.value.hint
    assert CommandFailed.hint in caught.value.hint
    assert made.exists()
    assert not written.exists()


def test_rollback_runs_inverses_only_when_somebody_agreed(tmp_path: Path, state: State) -> None:
    made, written = tmp_path / "made", tmp_path / "written"
    applied = apply(Plan("x", (touching(made), WriteFile(str(written), ("a",), "x"))), state)
    undone = rollback(state)
    assert (written.exists(), made.exists()) == (False, True)
    assert stay_done(undone.commands) == f"`touch {made}` was not undone; undo it with `rm {made}`."
    [entry] = history(state)
    assert (entry.id, entry.state, entry.commands[0].reversed) == (applied.id, "undone", False)


def test_commands_alone_are_not_called_taken_back(tmp_path: Path, state: State) -> None:
    made = tmp_path / "made"
    apply(Plan("x", (touching(made),)), state)
    with pytest.raises(OnlyCommands, match="changed the machine only by commands: nothing was undone"):
        rollback(state)
    assert history(state)[0].state == "done"
    undone = rollback(state, reversal=Reversal(run_command))
    assert not made.exists()
    assert stay_done(undone.commands) == ""
    assert history(state)[0].state == "undone"


def test_commands_of_a_run_that_is_undone_can_still_be_taken_back(tmp_path: Path, state: State) -> None:
    made = tmp_path / "made"
    with pytest.raises(CommandFailed) as caught:
        apply(Plan("x", (touching(made), Command(("false",), "x", inverse=Inverse()))), state)
    [entry] = history(state)
    assert (entry.state, entry.id in caught.value.hint) == ("undone", True)
    with pytest.raises(NoSuchRun):
        rollback(state)  # unnamed, it is not meant
    with pytest.raises(OnlyCommands, match="are already as before; the effects of its commands stay"):
        rollback(state, entry.id)
    rollback(state, entry.id, Reversal(run_command))
    assert not made.exists()
    with pytest.raises(NoSuchRun):
        rollback(state, entry.id, Reversal(run_command))


def test_the_last_command_is_taken_back_first_and_caches_after_the_files(tmp_path: Path, state: State) -> None:
    ran: list[str] = []
    written = tmp_path / "written"

    def run(command: Command, _: Watch) -> None:
        ran.append(f"{' '.join(command.argv)} {'after' if not written.exists() else 'before'}")

    steps = (
        Command(("one",), "x", inverse=Inverse((("not", "one"),))),
        WriteFile(str(written), ("a",), "x"),
        RefreshLoader("x"),
        Command(("two",), "x", needs_root=True, inverse=Inverse((("not", "two"), ("nor", "this")))),
        Command(("three",), "x", inverse=Inverse(left="a third")),
        ByHand("x"),
    )
    apply(Plan("x", steps), state, ExecutionOptions(run=run, as_root=("sudo",)))
    assert ran == ["one after", "sudo ldconfig before", "sudo two before", "three before"]
    ran.clear()
    undone = rollback(state, reversal=Reversal(run, ("sudo",)))
    assert ran == ["sudo not two before", "sudo nor this before", "not one before", "sudo ldconfig after"]
    assert stay_done(undone.commands) == "`three` was not undone (a third)."


@pytest.mark.parametrize(("user", "typed"), [(0, "ldconfig"), (1000, "sudo ldconfig")])
def test_a_cache_of_files_that_are_gone_is_said(
    user: int, typed: str, tmp_path: Path, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = (WriteFile(str(tmp_path / "written"), ("a",), "x"), RefreshLoader("x"))
    apply(Plan("x", steps), state, ExecutionOptions(run=lambda _, __: None))
    commands = rollback(state).commands
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert stay_done(commands) == f"What `ldconfig` made is of the files as they were: run `{typed}` once."


def test_a_run_that_is_killed_in_a_command_says_so(tmp_path: Path, state: State) -> None:
    journal = state.begin("x")
    journal.append(record_of_command(1, touching(tmp_path / "made")))
    [undone] = recover(state)
    assert stay_done(undone.commands).startswith(f"`touch {tmp_path}/made` may have done part of its work")


def test_an_inverse_that_fails_can_be_tried_again(tmp_path: Path, state: State) -> None:
    made, other = tmp_path / "made", tmp_path / "other"
    apply(Plan("x", (touching(other), touching(made))), state)
    made.unlink()
    other.unlink()
    other.mkdir()  # `rm` refuses it
    made.touch()
    with pytest.raises(CommandFailed):
        rollback(state, reversal=Reversal(run_command))
    assert not made.exists()
    assert [one.reversed for one in history(state)[0].commands] == [False, True]
    other.rmdir()
    other.touch()
    rollback(state, reversal=Reversal(run_command))
    assert history(state)[0].state == "undone"


@pytest.mark.system
def test_a_real_package_manager_takes_back_what_was_not_there(state: State) -> None:
    if not shutil.which("apt-get") or os.geteuid() != 0:
        pytest.skip("apt-get as root is needed")
    assert settled(install(machines.DEBIAN, "dpkg", why="x")).inverse == Inverse(
        (), "dpkg was there before; an undo does not restore it", names=("dpkg",), present=("dpkg", "-s")
    )
    apply(Plan("install hello", (install(machines.DEBIAN, "hello", why="x"),)), state)
    assert shutil.which("hello")
    rollback(state, reversal=Reversal(run_command))
    assert not shutil.which("hello")
