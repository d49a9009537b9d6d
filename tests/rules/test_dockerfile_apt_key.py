"""dockerfile-apt-key: images of before NVIDIA's change of keys, and what makes them work."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer

DEVEL, GPU = "FROM pytorch/pytorch:{}-cuda11.3-cudnn8-{}\n", "FROM tensorflow/tensorflow:{}\n"
UPDATE = "RUN apt-get update && apt-get install -y git\n"
KEY = "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu1804/x86_64/3bf863cc.pub"
BAD, OK, NONE = Status.BAD, Status.OK, Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (DEVEL.format("1.11.0", "devel") + UPDATE, BAD),
        (GPU.format("2.6.0rc1-gpu") + UPDATE, BAD),
        (GPU.format("2.8.0-gpu-jupyter") + UPDATE, BAD),
        (f"{DEVEL.format('1.11.0', 'devel')}RUN rm /etc/apt/sources.list.d/cuda.list\n{UPDATE}", OK),
        (f"{GPU.format('2.6.0-gpu')}RUN apt-key adv --fetch-keys {KEY}\n{UPDATE}", OK),
        (GPU.format("2.6.0-gpu") + "RUN apt-get update || true\n", OK),
        (GPU.format("2.6.0-gpu") + "RUN apt-get update; apt-get install -y git\n", OK),  # the lists of others are there
        (GPU.format("2.6.0-gpu") + "RUN pip install numpy\n", OK),
        (DEVEL.format("1.11.0", "runtime") + UPDATE, NONE),  # it starts from plain Ubuntu
        (DEVEL.format("1.12.1", "devel") + UPDATE, NONE),
        (GPU.format("2.6.0") + UPDATE, NONE),
        (GPU.format("2.11.0-gpu") + UPDATE, NONE),
        (f"FROM nvidia/cuda:11.3.1-devel-ubuntu20.04\n{UPDATE}", NONE),
    ],
)
def test_kinds(text: str, kind: Status, tmp_path: Path) -> None:
    found = answer("dockerfile-apt-key", facts(tmp_path, text))
    assert found.kind is kind, found
    if kind is BAD:
        assert [one.line for one in found.evidence] == [2, 1]


def test_a_stage_that_starts_from_an_earlier_one_has_its_source(tmp_path: Path) -> None:
    text = f"{GPU.format('2.6.0-gpu')[:-1]} AS base\nFROM base\n{UPDATE}"
    assert answer("dockerfile-apt-key", facts(tmp_path, text)).evidence[0].line == 3
