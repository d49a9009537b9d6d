"""Where an image shall run: each rule about drivers answers for what is assumed, both ways; without it none does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import pytest

from doctor.commands.check.command import CheckSubject, report_of
from tests.image.pack import config_of, in_folder, oci, tar_of
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import DISK, files, together, toolkit

COMPAT = "/usr/local/cuda-12.8/compat"


class Where(NamedTuple):
    """A driver and GPUs."""

    driver: str
    gpus: tuple[str, ...] = ()


# code: where it is found, where it is not
ASSUMED = {
    "driver-too-old-for-runtime": (Where("450.80.02"), Where("580.95.05")),
    "driver-too-old-for-toolkit": (Where("450.80.02"), Where("580.95.05")),
    "driver-branch-ended": (Where("470.57.02"), Where("580.95.05")),
    "driver-does-not-support-gpu": (Where("550.54.14", ("RTX 5090",)), Where("580.95.05", ("RTX 5090",))),
    "forward-compat-mistake": (Where("535.183.01", ("RTX 4090",)), Where("535.183.01", ("H100 PCIe",))),
    "gpu-too-old-dropped": (Where("580.95.05", ("GTX 980",)), Where("580.95.05", ("RTX 4090", "H100 PCIe"))),
}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """torch with a toolkit and its cuda-compat, which one of two images has first on the loader's path."""
    folder = tmp_path_factory.mktemp("assumed")
    compat: dict[str, str | bytes] = {f"{COMPAT}/libcuda.so.1": "-> libcuda.so.570.86.10"}
    compat[f"{COMPAT}/libcuda.so.570.86.10"] = elf_bytes("libcuda.so.1")
    (folder / "tree").mkdir()
    together(DISK, toolkit("12.8.1"), files(compat))(folder / "tree")
    layers = [tar_of(folder / "tree")]
    for name, path in (("plain", ""), ("compat", COMPAT)):
        env = {"PATH": "/home/user/project/.venv/bin:/usr/bin", "LD_LIBRARY_PATH": path}
        in_folder(oci(layers, config_of(layers, env)), folder / name)
    return folder


def found(image: Path, code: str, where: Where) -> list[str]:
    image /= "compat" if code.startswith("forward") else "plain"
    options = CheckSubject(
        image=str(image), assume_driver=where.driver, assume_gpus=where.gpus, only=(code,), policy=""
    )
    return [one.code for one in report_of(options, time.perf_counter()).findings]


@pytest.mark.parametrize("code", ASSUMED)
def test_each_rule_answers_for_what_is_assumed(code: str, image: Path) -> None:
    there, not_there = ASSUMED[code]
    assert found(image, code, there) == [code]
    assert found(image, code, not_there) == []
    assert found(image, code, Where("")) == []


def test_cuda_compat_that_is_older_than_the_driver(image: Path) -> None:
    assert found(image, "forward-compat-mistake", Where("580.95.05", ("H100 PCIe",))) == ["forward-compat-mistake"]
