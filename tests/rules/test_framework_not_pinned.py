"""framework-not-pinned: today's release, the driver that it needs, and when that is a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.matrix import Matrix
from compat.need import Advice
from compat.newest import Where, newest
from compat.spec import parse_spec
from doctor.model.finding import Severity, Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer

CODE, PYTHON = "framework-not-pinned", "FROM python:3.12\n"
OLD_IMAGE = "FROM nvidia/cuda:12.4.1-base-ubuntu24.04\nRUN apt-get install -y python3-pip\n"
CU124 = "-i https://download.pytorch.org/whl/cu124"
NONE, INFO, WARNING = None, Severity.INFO, Severity.WARNING


@pytest.mark.parametrize(
    ("text", "assumed", "severity"),
    [
        ("RUN pip install torch==2.9.1", {}, NONE),
        ("RUN pip install torch", {}, INFO),
        ("RUN pip install 'torch<2.9'", {}, INFO),
        ("RUN pip install torch", {"assume_driver": "580.65.06"}, WARNING),
        ("RUN pip install torch", {"assume_gpus": ("RTX 4090",)}, WARNING),
        (f"RUN pip install torch {CU124}", {"assume_driver": "580.65.06"}, INFO),  # that index keeps to its CUDA
        ("RUN pip install onnxruntime-gpu", {}, INFO),
        ("RUN pip install accelerate", {}, INFO),
        ("RUN pip install vllm", {}, INFO),
    ],
)
def test_severity(text: str, assumed: dict[str, Any], severity: Severity | None, tmp_path: Path) -> None:
    found = answer(CODE, facts(tmp_path, f"{PYTHON}{text}\n", **assumed))
    assert (found.kind, found.severity if severity else None) == (Status.BAD if severity else Status.OK, severity)


def test_it_is_a_warning_on_the_image_of_an_older_cuda(tmp_path: Path) -> None:
    found = answer(CODE, facts(tmp_path, f"{OLD_IMAGE}RUN pip install torch torchvision\n"))
    assert (found.severity, [str(one.source) for one in found.evidence]) == (WARNING, ["Dockerfile:3"])


def test_it_names_the_release_of_the_day(tmp_path: Path) -> None:
    found, taken = answer(CODE, facts(tmp_path, f"{PYTHON}RUN pip install torch\n")), newest_torch()
    assert taken in found.why
    assert "needs driver" in found.why
    assert found.needs == (Advice(f"Dockerfile:2: write torch=={taken.partition('+')[0]}"),)


def newest_torch() -> str:
    taken = newest(parse_spec("torch"), ("",), Where("linux", "x86_64", "3.12"), Matrix())
    assert taken is not None
    return f"{taken.version}+{taken.build}"


def test_a_cpu_build_is_named(tmp_path: Path) -> None:
    found = answer(CODE, facts(tmp_path, f"{PYTHON}RUN pip install 'torch<2.11'\n", platform="linux/arm64"))
    assert "torch 2.10.0+cpu, a CPU build" in found.why


def test_the_index_stays_in_the_pin(tmp_path: Path) -> None:
    found = answer(CODE, facts(tmp_path, f"{PYTHON}RUN pip install torch {CU124}\n"))
    pin = "torch==2.6.0 --index-url https://download.pytorch.org/whl/cu124"
    assert found.needs == (Advice(f"Dockerfile:2: write {pin}"),)


def test_a_package_for_the_cpu_is_left_alone(tmp_path: Path) -> None:
    found = answer(CODE, facts(tmp_path, f"{PYTHON}RUN pip install faster-whisper==1.2.1\n"))
    assert found.kind is Status.NOT_APPLICABLE
