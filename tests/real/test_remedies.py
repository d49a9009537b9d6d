"""Remedies pasted into real environments: the real uv or pip carries them out, and the next check is silent.

Those that fetch gigabytes, or whose wheels are not of the other tests, are left to `python -m tests.real.remedies`.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from tests.real.remedies import SCENARIOS, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="wheels for x86-64"),
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the wheels are those of Python 3.11"),
]
BY_HAND = {
    "torch-jax-cpu": "NVIDIA's wheels anew, 3 GB",
    "jax-cpu": "NVIDIA's wheels anew, 3 GB",
    "cupy-no-cuda": "NVIDIA's wheels anew, 2 GB",
    "onnxruntime-no-cuda": "NVIDIA's wheels anew, 2 GB",
    "onnxruntime-cpu": "NVIDIA's wheels anew, 2 GB",
    "jax-old-cudnn-by-a-module": "as the lab's case, but for the wheels",
    "jax-cudnn-files-lost": "as that of torch",
    "jax-cudnn-part-lost": "as that of torch",
    "jax-plugin-old": "a plugin of its own",
    "two-cupys": "a CuPy for CUDA 11",
}


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in BY_HAND])
def test_the_first_remedy_mends_a_real_environment(name: str, tmp_path: Path) -> None:
    outcome = run(name, tmp_path)
    assert outcome.commands
    assert outcome.wrong == ""


def test_what_is_left_to_a_person_is_there() -> None:
    assert set(BY_HAND) < set(SCENARIOS)
