"""Sets that are installed and then fail at import: limits that no metadata has, as rows that one solver reads."""

from __future__ import annotations

import pytest

from compat.matrix import Matrix
from compat.platform import usual_python
from compat.solve.search import solve
from compat.spec import parse_spec
from compat.target import TargetMachine
from doctor.cli import execute
from tests.compat.test_solve import labels, problem

MATRIX = Matrix()


@pytest.mark.parametrize(
    ("asked", "gpu", "pins", "python"),
    [
        ("tensorflow-gpu==2.4", "RTX 2070", ("protobuf<4",), "3.8"),  # TypeError: Descriptors cannot be created
        ("tensorflow==2.8.0", "RTX 2070", ("protobuf<4", "numpy<2"), "3.9"),
        ("tensorflow==2.8.4", "RTX 2070", ("numpy<2",), "3.9"),  # asks for protobuf<3.20 itself
        ("paddlepaddle-gpu==2.6.2", "A100", ("setuptools",), "3.12"),
        ("gpflow tensorflow==2.17.0", "V100", ("tensorflow-probability<0.25",), "3.12"),  # which pip would take newer
        ("super-gradients", "A100", ("setuptools<82",), "3.10"),  # pkg_resources
        ("mxnet", "V100", ("numpy<1.24",), "3.11"),  # of which numpy 1.23 has the last wheels
        ("mxnet-cu90==1.4.0.post0", "V100", (), "3.6"),  # asks for numpy<1.15 itself
    ],
)
def test_what_is_proposed_can_be_imported(asked: str, gpu: str, pins: tuple[str, ...], python: str) -> None:
    solution = solve(problem(asked, gpu))
    assert solution is not None
    assert set(solution.pins) == set(pins)
    assert solution.python == python


def test_an_older_python_has_what_a_newer_one_lacks() -> None:
    solution = solve(problem("paddlepaddle-gpu==2.6.2", "A100", python="3.11"))
    assert solution is not None
    assert solution.pins == ()


@pytest.mark.parametrize(
    ("ask", "status", "says"),
    [
        ("mxnet --python 3.12 --gpu V100", 1, "needs Python<3.12"),
        ("mxnet --python 3.11 --gpu V100", 4, "is unknown"),
        ("vllm==0.33.0 --glibc 2.28 --gpu H100", 1, "needs glibc>=2.31"),
        ("vllm==0.33.0 --glibc 2.31 --gpu H100", 0, ""),
        ("jax==0.5.0 --os macos --arch x86_64", 1, "0.4.38 was the last with wheels for Intel Macs"),
        ("jax==0.4.38 --os macos --arch x86_64", 0, ""),
        ("jax==0.5.0 --os macos --arch arm64", 0, ""),
        ("ctranslate2==4.5.0 torch==2.5.0+cu121 --gpu sm_86", 1, "does not find the cuDNN"),
        ("ctranslate2==4.5.0 torch==2.5.0+cu124 --gpu sm_86", 0, ""),
    ],
)
def test_can_reads_the_same_rows(ask: str, status: int, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "can", *ask.split()]) == status
    assert says in " ".join(capsys.readouterr().out.split())


def test_the_glibc_of_a_requirement_counts() -> None:
    solution = solve(problem("vllm", "H100", "580.65", glibc="2.28"))
    assert labels(solution)[0] == "vllm 0.21.0"


@pytest.mark.parametrize(
    ("where", "pythons", "python"),
    [
        (TargetMachine(), ("3.15", "3.14", "3.13", "3.12"), "3.12"),  # Ubuntu 24.04 and RHEL have it
        (TargetMachine(glibc="2.41"), ("3.15", "3.13", "3.12"), "3.13"),  # Debian 13
        (TargetMachine(glibc="2.36"), ("3.12", "3.11"), "3.11"),  # Debian 12
        (TargetMachine(os_family="windows"), ("3.15", "3.14", "3.13"), "3.14"),  # winget
        (TargetMachine(os_family="macos"), ("3.15", "3.14"), "3.14"),
        (TargetMachine(), ("3.13t",), "3.13t"),
        (TargetMachine(), (), ""),
    ],
)
def test_a_python_that_the_machine_has(where: TargetMachine, pythons: tuple[str, ...], python: str) -> None:
    assert usual_python(pythons, where, MATRIX) == python


def test_every_limit_is_of_a_package_that_has_builds() -> None:
    for row in MATRIX.rows("conflicts", "abi"):
        assert row.needs, row.id
        assert all(parse_spec(f"{name}{limit}") for name, limit in row.needs.items()), row.id
