"""`gpudoctor install driver`: the GPU decides the branch and the module, Secure Boot asks for a key."""

from __future__ import annotations

import json

import pytest

from compat.matrix import Matrix
from compat.need import InstallDriver
from doctor.cli import execute
from doctor.commands.install.apply import apply_plan
from doctor.commands.install.driver_choice import DriverOrder, WrongDriver, driver_plan
from doctor.commands.install.install import Prepared
from doctor.commands.install.verify_installed import verify
from doctor.output.document import TextStyle
from doctor.prescribe.target import target_of
from installers.journal import State
from installers.plan import Plan, Target
from installers.render import commands
from installers.repository import NoSuchBranch
from installers.run import ExecutionOptions
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.command import Command
from tests.installers import target as machines
from tests.machine import gpu, machine, seen, system

MATRIX = Matrix()


def lines(plan: Plan) -> list[str]:
    return [" ".join(step.argv) for step in plan.steps if isinstance(step, Command)]


@pytest.mark.parametrize(
    ("cards", "version", "module", "expected"),
    [
        (("8.9",), "", "", "ubuntu-drivers install"),
        (("8.9",), "580", "", "ubuntu-drivers install nvidia:580"),
        (("8.9",), "580", "open", "ubuntu-drivers install nvidia:580-open"),
        (("12.0",), "580", "", "ubuntu-drivers install nvidia:580-open"),
        (("8.9", "6.1"), "", "", "ubuntu-drivers install nvidia:580"),
        (("6.1",), "535", "", "ubuntu-drivers install nvidia:535"),
        ((), "580", "", "ubuntu-drivers install nvidia:580"),
    ],
)
def test_the_cards_decide(cards: tuple[str, ...], version: str, module: str, expected: str) -> None:
    facts = machine(gpus=seen(tuple(gpu(f"card {one}", one) for one in cards)))
    plan = driver_plan(DriverOrder(version, module), machines.UBUNTU, facts, MATRIX)
    assert expected in lines(plan)
    assert isinstance(plan.steps[-1], Check)
    assert "reboot" in getattr(plan.steps[-2], "text", "")


def test_a_gpu_that_is_named_decides() -> None:
    def planned(gpu: str, name: str, version: str = "12") -> str:
        target = machines.UBUNTU._replace(distribution=name, distribution_version=version, live=False, kernel="")
        plan = driver_plan(DriverOrder(gpus=(gpu,)), target, None, MATRIX)
        return "\n".join(commands(plan, target))

    assert "install -y cuda-drivers" in (old := planned("GTX 1080", "debian"))
    assert "nvidia-driver-pinning-580" in old
    assert "install -y nvidia-open" in planned("RTX 4090", "debian")
    assert "nvidia-driver:open-dkms" in planned("RTX 4090", "rocky", "9.4")
    assert "nvidia-driver:580-dkms" in (volta := planned("V100", "rocky", "9.4"))
    assert '"kernel-devel-$(uname -r)"' in volta
    assert "mokutil --import /var/lib/dkms/mok.pub" in volta
    assert "mokutil" not in planned("RTX 4090", "ubuntu", "24.04"), "its modules are signed"
    with pytest.raises(WrongDriver, match="has no proprietary kernel module"):
        driver_plan(DriverOrder("620", "proprietary"), machines.UBUNTU, None, MATRIX)


@pytest.mark.parametrize(
    ("card", "version", "module", "said"),
    [
        ("3.7", "580", "", "driver 580 does not support Kepler: 470 is the last branch"),
        ("6.1", "590.44", "", "580 is the last branch"),
        ("12.0", "", "proprietary", "Blackwell runs only with the open kernel module"),
        ("6.1", "", "open", "Pascal does not run with the open kernel module"),
        ("12.0", "470", "", "driver 470 does not support Blackwell: 570 is the first branch"),
        ("12.0", "565.57", "", "570 is the first branch"),
        ("7.5", "390", "", "Turing: 410 is the first branch"),
    ],
)
def test_a_driver_that_does_not_drive_the_card(card: str, version: str, module: str, said: str) -> None:
    with pytest.raises(WrongDriver, match=said):
        driver_plan(DriverOrder(version, module), machines.UBUNTU, machine(gpus=seen((gpu("card", card),))), MATRIX)


@pytest.mark.parametrize(("version", "drives"), [("566.36", False), ("572.16", True), ("573", True)])
def test_a_windows_driver_is_judged_by_its_branch(version: str, drives: bool) -> None:
    """566 is of branch 565 and 573 of branch 570, which is the first for Blackwell."""
    order = DriverOrder(version, gpus=("RTX 5090",))
    if drives:
        assert driver_plan(order, machines.WINDOWS, None, MATRIX).steps
    else:
        with pytest.raises(WrongDriver, match="570 is the first branch"):
            driver_plan(order, machines.WINDOWS, None, MATRIX)


def test_packages_that_ended_before_the_card() -> None:
    """The last CUDA in NVIDIA's repository for Debian 11 is 12.6, whose driver 560 drives no Blackwell card."""
    target = machines.DEBIAN._replace(distribution_version="11")
    assert driver_plan(DriverOrder(gpus=("RTX 4090",)), target, None, MATRIX).steps
    old = "\n".join(commands(driver_plan(DriverOrder(gpus=("GTX 1080",)), target, None, MATRIX), target))
    assert "install -y cuda-drivers" in old
    assert "pinning" not in old, "560 drives it, and nothing newer comes"
    with pytest.raises(NoSuchBranch, match="end with driver 560 and have no 570"):
        driver_plan(DriverOrder(gpus=("RTX 5090",)), target, None, MATRIX)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--distribution", "wsl"), "do not install a driver inside WSL"),
        (("--distribution", "wsl-ubuntu-24.04", "--gpu", "RTX 4090"), "do not install a driver inside WSL"),
        (("--os", "wsl2"), "do not install a driver inside WSL"),
        (("--gpu", "Jetson AGX Orin", "--distribution", "ubuntu-22.04"), "NVIDIA SDK Manager"),
        (("--distribution", "opensuse-15.6"), "repos/opensuse15/x86_64/cuda-opensuse15.repo"),
        (("--distribution", "Amazon Linux 2023"), "repos/amzn2023/x86_64/cuda-amzn2023.repo"),
    ],
)
def test_machines_as_people_name_them(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", "driver", *words]) == 0
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("target", "command"),
    [
        (machines.UBUNTU, "update-secureboot-policy --enroll-key"),
        (machines.DEBIAN, "mokutil --import /var/lib/dkms/mok.pub"),
        (machines.FEDORA._replace(distribution_version="42"), "kmodgenca -a"),
    ],
)
def test_secure_boot_asks_for_a_key(target: Target, command: str) -> None:
    facts = machine(system=system(secure_boot=seen(True)))
    plan = driver_plan(DriverOrder("580", ""), target, facts, MATRIX)
    assert command in lines(plan)
    texts = [step.text for step in plan.steps if isinstance(step, ByHand)]
    assert any("MOK management" in text for text in texts)
    assert sum("reboot" in text for text in texts) == 1
    off = driver_plan(DriverOrder("580", ""), target, machine(), MATRIX)
    assert command not in lines(off)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (machines.WSL, "do not install a driver inside WSL"),
        (machines.DOCKER, "a container uses its host's driver"),
        (machines.JETSON, "upgrade the board's system"),
        (machines.WINDOWS, "then restart Windows"),
    ],
)
def test_a_driver_that_comes_from_outside(target: Target, said: str) -> None:
    plan = driver_plan(DriverOrder("580", ""), target, None, MATRIX)
    assert any(said in getattr(step, "text", "") for step in plan.steps)
    assert not any(isinstance(step, Check) for step in plan.steps)


def test_until_the_restart_nothing_can_be_told(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path))
    facts = machine()
    target = target_of(facts, InstallDriver())._replace(is_root=True)
    prepared = Prepared(driver_plan(DriverOrder("595", ""), target, facts, MATRIX), target, facts)
    ran: list[tuple[str, ...]] = []
    text, status = apply_plan(
        prepared, ExecutionOptions(run=lambda command, _: ran.append(command.argv)), "json", TextStyle()
    )
    told = json.loads(text)
    assert (status, told["good"], told["found"]) == (4, False, None)
    assert told["waits"].startswith("reboot")
    assert ("ubuntu-drivers", "install", "nvidia:595") in ran
    assert len(State().journals()[0].commands()) == len(ran)
    assert verify(prepared).waits


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--module", "closed", "--os", "linux"), "no kernel module 'closed'"),
        (("58x", "--os", "linux"), "is not a driver release"),
        (("470", "--module", "open", "--distribution", "ubuntu-22.04"), "470 has no open kernel module"),
        (("999", "--os", "linux"), "driver 999 does not exist: the newest branch is 6"),
        (("1000.10", "--os", "windows"), "driver 1000.10 does not exist"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", "driver", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("system", "branch", "said"),
    [
        ("debian-13", "470", "driver 470 ended by 2024-08. NVIDIA's packages for debian 13 on x86_64 never had it"),
        ("fedora-42", "470", "never had it"),
        ("rocky-10", "390", "never had it"),
        ("debian-12", "340", "never had it"),
        ("rhel-7", "580", "end with driver 550 and have no 580"),
        ("fedora-42", "610", "end with driver 590 and have no 610"),
    ],
)
def test_no_package_of_a_branch_that_a_repository_never_had(
    system: str, branch: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Red on the old code: it printed `cuda-drivers-470`, `nvidia-driver-branch-580` and the like."""
    assert execute(["install", "driver", branch, "--distribution", system]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("system", "branch"),
    [("debian-12", "470"), ("rocky-8", "470"), ("rhel-7", "550"), ("fedora-42", "580"), ("sles-15", "450")],
)
def test_a_branch_of_the_repositorys_time_is_planned(system: str, branch: str) -> None:
    assert execute(["install", "driver", branch, "--distribution", system]) == 0


def test_a_stack_does_not_end_in_a_driver_that_was_never_packaged(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", "stack", "torch", "--gpu", "Tesla K80", "--distribution", "fedora-42"]) == 2
    assert "never had it" in " ".join(capsys.readouterr().err.split())


def test_a_branch_that_is_another_by_now_is_not_installed() -> None:
    """nvidia-driver-470 of Ubuntu 24.04 brings 535's, and so 580's, which drives no Kepler."""
    facts = machine(gpus=seen((gpu("card 3.7", "3.7"),)))
    plan = driver_plan(DriverOrder("", ""), machines.UBUNTU, facts, MATRIX)
    assert not lines(plan)
    assert "has 580" in plan.steps[0].why
    older = driver_plan(DriverOrder("", ""), machines.UBUNTU._replace(distribution_version="22.04"), facts, MATRIX)
    assert "ubuntu-drivers install nvidia:470" in lines(older)
