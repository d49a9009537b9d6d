"""The same plan as an Ansible playbook."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from compat.matrix import Matrix
from doctor.commands.install.install import InstallOrder, prepare
from installers.render import ansible

MATRIX = Matrix()
KEYWORDS = {"name", "become", "when", "loop", "register", "changed_when", "failed_when"}


def play_of(order: InstallOrder) -> dict[str, Any]:
    prepared = prepare(order, MATRIX)
    [play] = yaml.safe_load(ansible.playbook(prepared.plan, prepared.target))
    assert isinstance(play, dict)
    return play


def flat(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for task in tasks for one in (flat(task["block"]) if "block" in task else [task])]


@pytest.mark.parametrize(
    ("order", "modules"),
    [
        (InstallOrder("driver", distribution="debian-12"), ("apt", "get_url", "apt", "apt", "debug", "reboot")),
        (InstallOrder("cuda", "12.8", distribution="rocky-9"), ("dnf", "get_url", "dnf")),
        (InstallOrder("cuda", "12.8", method="runfile", distribution="ubuntu-24.04"), ("get_url", "command", "copy")),
        (
            InstallOrder("cudnn", "9.10.2", cuda="12", distribution="ubuntu-24.04"),
            ("get_url", "unarchive", "shell", "shell"),
        ),
        (InstallOrder("", framework="torch", gpus=("RTX 4090",), distribution="opensuse-15.6"), ("zypper", "reboot")),
        (InstallOrder("driver", distribution="arch"), ("pacman", "reboot")),
    ],
)
def test_a_step_is_its_module(order: InstallOrder, modules: tuple[str, ...]) -> None:
    tasks = flat(play_of(order)["tasks"])
    found = [next(key for key in task if key not in KEYWORDS).rpartition(".")[2] for task in tasks]
    at = 0
    for one in modules:
        at = found.index(one, at) + 1
    assert all(task["name"] for task in tasks)
    assert "sudo" not in str([task for task in tasks if "ansible.builtin.debug" not in task])


def test_a_file_is_fetched_with_its_checksum() -> None:
    tasks = flat(play_of(InstallOrder("cudnn", "9.10.2", cuda="12", distribution="ubuntu-24.04"))["tasks"])
    [fetched] = [task["ansible.builtin.get_url"] for task in tasks if "ansible.builtin.get_url" in task]
    assert fetched["checksum"] == "sha256:d0defcbc4c6dad711ff4cb66d254036a300c9071b07c7b64199aacab534313c1"


def test_what_is_there_is_passed_over() -> None:
    tasks = play_of(InstallOrder("", framework="torch", gpus=("RTX 4090",), distribution="debian-12"))["tasks"]
    blocks = [task for task in tasks if "block" in task]
    assert [task["name"] for task in blocks] == ["the NVIDIA driver", "the environment"]
    assert blocks[0]["when"].startswith("found_1.rc != 0 or ")
    assert blocks[1]["when"] == "not found_2.stat.exists"
