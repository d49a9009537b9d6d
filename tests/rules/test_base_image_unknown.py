"""base-image-unknown: the form of a tag, and the releases of CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.need import Advice
from doctor.model.finding import Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer


@pytest.mark.parametrize(
    ("tag", "kind"),
    [
        (":12.4.1-runtime-ubuntu22.04", Status.OK),
        (":12.4.1-cudnn-runtime-ubuntu22.04", Status.OK),
        (":12.3.2-cudnn9-devel-ubuntu22.04", Status.OK),
        (":11.8.0-cudnn8-runtime-ubi8", Status.OK),
        (":11.1-base", Status.UNKNOWN),  # tags of that age had two parts, and NVIDIA deletes old ones
        (":11.6.0-base-ubuntu20.04", Status.BAD),
        (":11.0-devel-ubuntu20.04", Status.BAD),
        (":11.4.0-base", Status.BAD),
        (":10.2-cudnn7-devel-ubuntu18.04", Status.BAD),
        (":10.2.89-base-ubuntu18.04", Status.BAD),
        (":11.0.3-base-ubuntu20.04", Status.OK),
        (":11.4.3-base-ubuntu20.04", Status.OK),
        (":12.2.2-cudnn8-runtime-ubuntu22.04@sha256:2d913b09e6be", Status.OK),
        (":11.6.2-base-ubuntu20.04", Status.OK),
        (":11.3.0-base-ubuntu20.04", Status.UNKNOWN),
        (":12.4-runtime-ubuntu22.04", Status.BAD),
        (":12.4.9-runtime-ubuntu22.04", Status.BAD),
        (":99.4.1-runtime-ubuntu22.04", Status.BAD),
        (":12.4.1-ubuntu22.04", Status.BAD),
        (":12.6.3-cudnn9-runtime-ubuntu22.04", Status.BAD),
        (":latest", Status.BAD),
        ("", Status.BAD),
        (":14.0.0-runtime-ubuntu24.04", Status.UNKNOWN),
        (":12.4.1-runtime-ubuntu22.04-of-mine", Status.UNKNOWN),
    ],
)
def test_tags(tag: str, kind: Status, tmp_path: Path) -> None:
    assert answer("base-image-unknown", facts(tmp_path, f"FROM nvidia/cuda{tag}\n")).kind is kind


def test_other_images_are_left_alone(tmp_path: Path) -> None:
    for name in ("python:3.12", "ubuntu", "example/cuda:99.4.1-runtime", "nvidia/cuda:$V"):
        found = answer(
            "base-image-unknown", facts(tmp_path, f"FROM {name}\n" if "$" not in name else f"ARG V\nFROM {name}\n")
        )
        assert found.kind is Status.NOT_APPLICABLE, name


def test_a_tag_of_the_same_cuda_is_named(tmp_path: Path) -> None:
    found = answer("base-image-unknown", facts(tmp_path, "FROM nvidia/cuda:12.4-runtime-ubuntu22.04 AS a\n"))
    [need] = found.needs
    assert isinstance(need, Advice)
    assert need.text.startswith("instead of Dockerfile:1, for example FROM nvidia/cuda:12.4.1-")


def test_the_release_that_remains_is_named(tmp_path: Path) -> None:
    found = answer("base-image-unknown", facts(tmp_path, "FROM nvidia/cuda:11.6.0-base-ubuntu20.04\n"))
    assert found.needs == (Advice("instead of Dockerfile:1, for example FROM nvidia/cuda:11.6.2-base-ubuntu20.04"),)
    assert answer("base-image-unknown", facts(tmp_path, "FROM nvcr.io/nvidia/cuda:11.6.0-base-ubuntu20.04\n")).kind is (
        Status.UNKNOWN
    )


@pytest.mark.parametrize(
    ("tag", "kind"), [("23.12", Status.BAD), ("24.04", Status.NOT_APPLICABLE), ("noble", Status.NOT_APPLICABLE)]
)
def test_tags_of_ubuntu(tag: str, kind: Status, tmp_path: Path) -> None:
    assert answer("base-image-unknown", facts(tmp_path, f"FROM ubuntu:{tag}\n")).kind is kind
