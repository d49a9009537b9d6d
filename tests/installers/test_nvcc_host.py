"""Which C++ compiler an installed nvcc calls is said where the system's own may be too new."""

from __future__ import annotations

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from installers.nvcc_host import accepted_compiler
from installers.plan import Target
from tests.installers.target import UBUNTU

MATRIX = Matrix()


def said(cuda: str, target: Target) -> str:
    return " ".join(f"{one.text} {one.why}" for one in accepted_compiler(cuda, target, MATRIX))


@pytest.mark.parametrize(
    ("cuda", "distribution", "version", "words"),
    [
        ("12.8", "ubuntu", "24.04", ""),  # its newest package is accepted
        (
            "12.5",
            "ubuntu",
            "24.04",
            "up to 13: `g++ --version` tells yours if it is newer: `sudo apt-get install -y g++-13`",
        ),
        ("12.0", "debian", "13", "g++-12"),
        ("9.0", "ubuntu", "18.04", "up to 6"),
        ("7.5", "ubuntu", "16.04", "up to 4"),
        ("10.0", "debian", "13", "up to 7"),  # none of its packages is as old
        ("11.8", "rocky", "9", "up to 11"),
        ("13.5", "fedora", "43", ""),
        ("99.0", "ubuntu", "24.04", ""),  # no row
    ],
)
def test_linux(cuda: str, distribution: str, version: str, words: str) -> None:
    found = said(cuda, UBUNTU._replace(distribution=distribution, distribution_version=version))
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("cuda", "studios"),
    [("7.5", "2010, 2012 or 2013"), ("10.2", "2012, 2013, 2015, 2017 or 2019"), ("12.8", "2017, 2019 or 2022")],
)
def test_windows(cuda: str, studios: str) -> None:
    found = said(cuda, UBUNTU._replace(os_family="windows", distribution="", distribution_version=""))
    assert f"Visual Studio {studios} " in found
    assert ("Desktop development" in found) == (cuda != "7.5")


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        (["9.0", "--method", "runfile", "--distribution", "ubuntu-18.04"], True),
        (["12.8", "--os", "windows"], True),
        (["12.8", "--distribution", "ubuntu-24.04"], False),
        (["12.8", "--method", "wheel", "--os", "linux"], False),  # no nvcc
    ],
)
def test_a_plan_says_it(order: list[str], shown: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", "cuda", *order]) == 0
    assert ("nvcc of CUDA" in capsys.readouterr().out) == shown
