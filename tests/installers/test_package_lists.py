"""apt reads its package lists before it is told to install: an image mostly has none."""

from __future__ import annotations

import pytest

from compat.matrix import Matrix
from installers.plan import Plan
from installers.steps.command import Command
from tests.installers import target as machines
from tests.installers.needs import ANYWHERE, LINUX_ONLY, plans_for


def without_lists(plan: Plan) -> bool:
    told = [step.argv[:2] for step in plan.steps if isinstance(step, Command) and step.argv[0] == "apt-get"]
    return told[:1] == [("apt-get", "install")]


@pytest.mark.parametrize("name", ["ubuntu", "debian", "docker", "jetson", "wsl"])
def test_they_are_read_first(name: str) -> None:
    plans = plans_for((*ANYWHERE, *LINUX_ONLY), machines.LINUX[name], Matrix())
    assert [need for need, plan in plans if without_lists(plan)] == []
