"""Plans for GPUs that are only described, on the real cuDNN of several years; and what stands in for a libcuda."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from compat.version import ComputeCapability
from doctor.binaries.elf import Elf
from doctor.commands.verify.cudnn_trial.described import described
from doctor.commands.verify.cudnn_trial.stub_libcuda import LIBCUDA, shared_object
from tests.commands.verify.cudnn_trial import stub
from tests.wheels import fetch, unpack

# The oldest that plans without a GPU, those between which it wanted more, and the newest.
RELEASES = {
    "9.8.0": "nvidia-cudnn-cu12==9.8.0.87",
    "9.10.2": "nvidia-cudnn-cu12==9.10.2.21",
    "9.14.0": "nvidia-cudnn-cu13==9.14.0.64",
    "9.19.0": "nvidia-cudnn-cu13==9.19.0.56",
    "9.28.1": "nvidia-cudnn-cu13==9.28.1.4",
}
CAPABILITIES = ("7.5", "8.0", "8.9", "9.0", "10.0", "12.0")
# Both end in SIGSEGV when they are to plan for 10.0; tried without NVRTC, which may be the reason.
UP_TO = {"9.8.0": 4, "9.10.2": 4}
# In a process of its own: the library may abort. Everything that `verify` computes at level full.
PROGRAM = """
import json, sys
from compat.version import ComputeCapability
from doctor.commands.verify.cudnn_trial.convolution import DIRECTIONS
from doctor.commands.verify.cudnn_trial.described import described
from doctor.commands.verify.cudnn_trial.events import EventWriter
from doctor.commands.verify.cudnn_trial.graph import GraphConvolution
from doctor.commands.verify.cudnn_trial.outcome import Order
from doctor.commands.verify.cudnn_trial.stages.convolving import problems
from doctor.commands.verify.cudnn_trial.stages.library import load
from doctor.commands.verify.cudnn_trial.trial import Trial
trial, without = Trial(Order(sys.argv[1]), EventWriter(sys.stderr)), {}
load(trial)
assert not trial.cudnn.preload_errors, trial.cudnn.preload_errors
for text in sys.argv[2:]:
    capability = ComputeCapability.parse(text)
    card = described(capability).text(capability)
    for problem in problems(9):
        for direction in DIRECTIONS:
            with GraphConvolution(trial.cudnn, problem, card) as convolution:
                if not convolution.plans(direction, at_most=1):
                    without.setdefault(text, []).append(problem.dtype)
print(json.dumps(without))
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("release", list(RELEASES))
def test_the_whole_matrix_has_engines(release: str, tmp_path: Path) -> None:
    """Of every GPU that the release knows; Turing (7.5) has no bfloat16."""
    unpack(fetch(RELEASES[release]), tmp_path, ["nvidia/cudnn/lib/"])
    library = tmp_path / "nvidia/cudnn/lib/libcudnn.so.9"
    stub.cublas(tmp_path, 12 if "cu12" in RELEASES[release] else 13)
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(library), *CAPABILITIES[: UP_TO.get(release)]],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    without = json.loads(ran.stdout)
    assert {text: set(dtypes) for text, dtypes in without.items()} == {"7.5": {"bf16"}}


@pytest.mark.parametrize(
    ("capability", "name"),
    [("6.1", "Tesla T4"), ("7.5", "Tesla T4"), ("8.6", "NVIDIA A100-SXM4-40GB"), ("12.1", "NVIDIA GeForce RTX 5090")],
)
def test_a_gpu_is_described_by_the_nearest_card(capability: str, name: str) -> None:
    asked = ComputeCapability.parse(capability)
    found = json.loads(described(asked).text(asked))
    assert (found["deviceName"], found["deviceVer"]) == (name, asked.major * 100 + asked.minor * 10)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_what_stands_in_for_libcuda_is_a_library_of_these_functions(machine: str) -> None:
    elf = Elf(BytesIO(shared_object(["cuInit", "cuModuleLoadData", "cuInit"], machine)))
    assert (elf.soname, elf.machine) == (LIBCUDA, machine)
    assert elf.names("cu") == ("cuInit", "cuModuleLoadData")
    assert not elf.is_truncated


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the other architecture's code does not run here")
def test_its_functions_answer_that_there_is_no_gpu(tmp_path: Path) -> None:
    library = tmp_path / "stand_in.so"
    library.write_bytes(shared_object(["cuInit"], "x86_64"))
    opened = ctypes.CDLL(str(library))
    assert opened.cuInit(0) == 100
    assert not hasattr(opened, "cuModuleLoadData")
