"""wheel-does-not-fit: what the name of a wheel says, against the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer

PYTHON = "FROM python:3.12\n"
TORCH = f"{PYTHON}RUN pip install torch==2.8.0\n"


@pytest.mark.parametrize(
    ("base", "platform", "wheel", "kind"),
    [
        (PYTHON, "amd64", "a-1-cp312-cp312-linux_x86_64.whl", Status.OK),
        (PYTHON, "amd64", "a-1-py3-none-any.whl", Status.OK),
        (PYTHON, "amd64", "a-1-cp39-abi3-manylinux_2_17_x86_64.whl", Status.OK),
        (PYTHON, "amd64", "a-1-cp311-cp311-linux_x86_64.whl", Status.BAD),
        (PYTHON, "arm64", "a-1-cp312-cp312-linux_x86_64.whl", Status.BAD),
        (PYTHON, "amd64", "not-a-wheel.whl", Status.UNKNOWN),
        ("FROM ubuntu:20.04\n", "amd64", "a-1-cp38-cp38-manylinux_2_31_x86_64.whl", Status.OK),
        ("FROM ubuntu:20.04\n", "amd64", "a-1-cp38-cp38-manylinux_2_32_x86_64.whl", Status.BAD),
        ("FROM ubuntu:20.04\n", "amd64", "a-1-cp38-cp38-manylinux_2_17_x86_64.manylinux_2_35_x86_64.whl", Status.OK),
        (
            f"{PYTHON}RUN pip install torch==2.8.0\n",
            "amd64",
            "a-1+cu128torch2.8-cp312-cp312-linux_x86_64.whl",
            Status.OK,
        ),
        (
            f"{PYTHON}RUN pip install torch==2.8.0\n",
            "amd64",
            "a-1+cu128torch2.9-cp312-cp312-linux_x86_64.whl",
            Status.BAD,
        ),
        (
            f"{PYTHON}RUN pip install torch==2.8.0\n",
            "amd64",
            "a-1+cu130torch2.8-cp312-cp312-linux_x86_64.whl",
            Status.BAD,
        ),
        (TORCH, "amd64", "a-1+pt28cu129-cp312-cp312-linux_x86_64.whl", Status.OK),
    ],
)
def test_names(base: str, platform: str, wheel: str, kind: Status, tmp_path: Path) -> None:
    text = f"{base}RUN pip install https://example.org/{wheel.replace('+', '%2B')}\n"
    found = answer("wheel-does-not-fit", facts(tmp_path, text, platform=f"linux/{platform}"))
    assert found.kind is kind
    assert kind is not Status.BAD or wheel in found.why


def test_no_wheel(tmp_path: Path) -> None:
    assert answer("wheel-does-not-fit", facts(tmp_path, PYTHON)).kind is Status.NOT_APPLICABLE
