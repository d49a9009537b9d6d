"""`gpudoctor install NAME`: the build that is asked for is the one that is installed, or it is refused."""

from __future__ import annotations

import pytest

from compat.matrix import Matrix
from doctor.installing.package_choice import WrongPackage, package_plan
from installers.plan import ByHand, Command, Target
from tests.installers import target as machines

MATRIX = Matrix()
BARE = machines.UBUNTU._replace(python="python3", installed=frozenset(), cuda_major=0)
CU12 = BARE._replace(cuda_major=12)
SERVED = f"--index-url {MATRIX.wheel_index('torch', 'cu128').url.rpartition('/')[0]}"


@pytest.mark.parametrize(
    ("name", "version", "cuda", "target", "expected"),
    [
        ("torch", "2.9.1", "12.8", BARE, f"torch==2.9.1 {SERVED}/cu128"),
        ("torch", "2.9.1", "12.8.1", BARE, f"torch==2.9.1 {SERVED}/cu128"),
        ("torch", "2.9.1+cu126", "", BARE, f"torch==2.9.1 {SERVED}/cu126"),
        ("torch", "2.9.1", "12", BARE, f"torch==2.9.1 {SERVED}/cu128"),
        ("torch", "2.9.1", "", BARE, "torch==2.9.1"),
        ("torch", "99.9", "", BARE, "torch==99.9"),
        ("jax", "0.7.2", "12.8", BARE, "jax[cuda12]==0.7.2"),
        ("jax", "", "13.0", BARE, "jax[cuda13]"),
        ("tensorflow", "2.20.0", "12.5", BARE, "tensorflow[and-cuda]==2.20.0"),
        ("cupy", "", "12.8", BARE, "cupy-cuda12x"),
        ("cupy", "13.6.0", "", CU12, "cupy-cuda12x==13.6.0"),
        ("paddlepaddle-gpu", "3.0.0", "12.6", BARE, "packages/stable/cu126/"),
        ("anything", "", "", BARE, "pip install anything"),
    ],
)
def test_what_is_asked_for_is_installed(name: str, version: str, cuda: str, target: Target, expected: str) -> None:
    plan, need = package_plan(name, version, cuda, target, MATRIX)
    (command,) = [" ".join(step.argv) for step in plan.steps if isinstance(step, Command)]
    assert command.endswith(expected)
    assert f"install {need.product}" in command
    assert "+" not in need.spec


@pytest.mark.parametrize(
    ("name", "version", "cuda", "said"),
    [
        ("torch", "2.9.1", "11.8", "torch 2.9.1 is not built for CUDA 11.8, but for 12.6, 12.8, 13.0"),
        ("torch", "2.9.1+cu118", "", "is not built for CUDA 11.8"),
        ("torch", "", "99.9", "torch is not built for CUDA 99.9, but for 8.0, 9.0"),
        ("torch", "99.9", "12.8", "no row knows for which CUDA torch 99.9 is built"),
        ("tensorflow", "2.20.0", "11.8", "is not built for CUDA 11.8, but for >=12.5,<13"),
        ("tensorflow", "", "12.5", "name a known release"),
        ("jax", "0.4.30", "13.0", "jax 0.4.30 is not built for CUDA 13.0, but for 12"),
        ("cupy", "", "", "name a wheel, cupy-cuda12x or cupy-cuda13x"),
        ("numpy", "", "12.8", "no row knows for which CUDA numpy is built"),
        ("torch", "abc", "", "'abc' is not a release"),
        ("torch==2.9.1", "", "", "as in gpudoctor install torch 2.9.1"),
        ("tor;ch", "", "", "is not the name of a distribution"),
        ("", "", "", "is not the name of a distribution"),
        ("by-hand", "", "", "is not the name of a distribution"),
        ("restart", "", "", "is not the name of a distribution"),
    ],
)
def test_what_nobody_built_is_refused(name: str, version: str, cuda: str, said: str) -> None:
    with pytest.raises(WrongPackage) as caught:
        package_plan(name, version, cuda, BARE, MATRIX)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "version", "cuda", "is_told"),
    [
        ("tensorflow", "2.11.0", "", True),
        ("tensorflow", "2.10.1", "", False),
        ("torch", "2.9.1", "", True),
        ("torch", "2.9.1", "13.0", False),
    ],
)
def test_a_build_without_cuda_is_told(name: str, version: str, cuda: str, is_told: bool) -> None:
    plan, _ = package_plan(name, version, cuda, machines.WINDOWS, MATRIX)
    texts = [step.text for step in plan.steps if isinstance(step, ByHand)]
    assert any("has no CUDA on windows" in text for text in texts) is is_told
