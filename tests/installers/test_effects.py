"""Every plan of every method says what is true after it."""

from __future__ import annotations

import pytest

from compat.matrix import Matrix
from compat.need import (
    ChangePackages,
    DropFromPath,
    InstallCudnn,
    InstallDriver,
    InstallPackage,
    InstallToolkit,
    Need,
    PutOnPath,
    RemovePackage,
)
from installers.choose import plan_for
from installers.effect import (
    CudnnInstalled,
    DistributionsInstalled,
    DistributionsRemoved,
    DriverInstalled,
    Effect,
    EntryAdded,
    EntryRemoved,
    EnvironmentMade,
    Restarted,
    ToolkitInstalled,
)
from installers.plan import Target
from tests.installers import target as machines
from tests.installers.needs import ANYWHERE, LINUX_ONLY, plans_for

MATRIX = Matrix()
UBUNTU = machines.LINUX["ubuntu"]._replace(python="/w/bin/python", installed=frozenset({"torch", "pip"}))


@pytest.mark.parametrize("name", machines.LINUX)
def test_every_plan_says_its_effects(name: str) -> None:
    for need, plan in plans_for((*ANYWHERE, *LINUX_ONLY), machines.LINUX[name], MATRIX):
        assert plan.effects is not None, need


def test_every_plan_for_windows_says_its_effects() -> None:
    for need in ANYWHERE:
        assert plan_for(need, machines.WINDOWS, MATRIX).effects is not None, need


@pytest.mark.parametrize(
    ("need", "target", "effects"),
    [
        (RemovePackage("torch"), UBUNTU, (DistributionsRemoved("/w/bin/python", ("torch",)),)),
        (
            InstallPackage("torch", "==2.9.1", reinstall=True),
            UBUNTU,
            (DistributionsInstalled("/w/bin/python", ("torch==2.9.1",), anew=True, alone=True),),
        ),
        (
            InstallPackage("torch", "==2.9.1", build="cu128"),
            UBUNTU,
            (
                DistributionsRemoved("/w/bin/python", ("torch",)),
                DistributionsInstalled("/w/bin/python", ("torch==2.9.1+cu128",)),
            ),
        ),
        (
            ChangePackages(("jax[cuda12]==0.7.2", "numpy"), remove=("torch",)),
            UBUNTU,
            (
                DistributionsRemoved("/w/bin/python", ("torch",)),
                DistributionsInstalled("/w/bin/python", ("jax[cuda12]==0.7.2", "numpy")),
            ),
        ),
        (
            InstallPackage("numpy"),
            UBUNTU._replace(externally_managed=True),
            (
                EnvironmentMade(".venv", ".venv/bin/python"),
                DistributionsInstalled(".venv/bin/python", ("numpy",)),
            ),
        ),
        (
            DropFromPath("LD_LIBRARY_PATH", "/opt/cudnn/lib", "~/.bashrc, line 3"),
            UBUNTU,
            (EntryRemoved("LD_LIBRARY_PATH", "/opt/cudnn/lib", "~/.bashrc, line 3"),),
        ),
        (
            PutOnPath(("C:/one", "C:/two")),
            machines.WINDOWS,
            (EntryAdded("PATH", "C:/one"), EntryAdded("PATH", "C:/two")),
        ),
        (InstallDriver(">=580"), UBUNTU, (DriverInstalled("==580.*"), Restarted())),
        (
            InstallToolkit("==12.8.*"),
            UBUNTU,
            (ToolkitInstalled("==12.8.*", "", linked=True, searched=True),),
        ),
        (
            InstallCudnn("==9.10.2", "/usr/local/cuda-12.8/lib64", "12"),
            UBUNTU,
            (CudnnInstalled("==9.10.2.21", 12, "/usr/local/cuda-12.8/lib64"),),
        ),
    ],
)
def test_effects(need: Need, target: Target, effects: tuple[Effect, ...]) -> None:
    assert plan_for(need, target, MATRIX).effects == effects
