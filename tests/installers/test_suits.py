"""A library for another processor and a directory of another CUDA are refused before anything changes."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from installers.apply import apply
from installers.compatibility import WrongMachine, WrongToolkit, machine_of, require_machine
from installers.errors import InstallError
from installers.journal import State
from installers.steps.copy_tree import CopyTree
from tests.installers import trees


def elf(machine: int) -> bytes:
    return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 3, machine) + bytes(100)


def pe(machine: int) -> bytes:
    return b"MZ" + bytes(58) + struct.pack("<I", 128) + bytes(64) + b"PE\0\0" + struct.pack("<H", machine) + bytes(64)


@pytest.mark.parametrize(
    ("content", "machine", "runs_on"),
    [
        (elf(62), "x86_64", {"x86_64"}),
        (elf(183), "64-bit ARM", {"sbsa", "jetson"}),
        (elf(999), "processor 999", set()),
        (pe(0x8664), "x86_64", {"x86_64"}),
        (pe(0xAA64), "64-bit ARM", {"sbsa", "jetson"}),
        (b"// a header", "", {"x86_64", "sbsa", "jetson"}),
        (b"MZ" + bytes(8), "", {"x86_64", "sbsa", "jetson"}),
        (b"", "", {"x86_64", "sbsa", "jetson"}),
        (b"\x7fELF", "processor 0", set()),
    ],
)
def test_the_processor_of_a_file(tmp_path: Path, content: bytes, machine: str, runs_on: set[str]) -> None:
    (tmp_path / "x").write_bytes(content)
    assert machine_of(str(tmp_path / "x")) == machine
    for arch in ("x86_64", "sbsa", "jetson"):
        if arch in runs_on:
            require_machine(str(tmp_path / "x"), arch)
        else:
            with pytest.raises(WrongMachine):
                require_machine(str(tmp_path / "x"), arch)


def test_a_real_program() -> None:
    if sys.platform == "linux":
        assert machine_of(sys.executable) in {"x86_64", "64-bit ARM"}


@pytest.mark.parametrize(
    ("cuda_h", "arch", "error"),
    [
        ("#define CUDA_VERSION 11080\n", "x86_64", WrongToolkit),
        ("#define CUDA_VERSION 12080\n", "x86_64", None),
        ("/* damaged */", "x86_64", None),
        ("#define CUDA_VERSION 12080\n", "sbsa", WrongMachine),
    ],
)
def test_what_does_not_suit_changes_nothing(
    tmp_path: Path, cuda_h: str, arch: str, error: type[InstallError] | None
) -> None:
    cuda, packed = trees.toolkit(tmp_path), trees.archive(tmp_path, library=elf(62))
    (cuda / "include/cuda.h").write_text(cuda_h)
    before = trees.digest_of(cuda)
    plan = trees.plan(cuda, packed)
    steps = tuple(
        step._replace(arch=arch, cuda_major=12, is_new=True) if isinstance(step, CopyTree) else step
        for step in plan.steps
    )
    if error is None:
        apply(plan._replace(steps=steps), State(str(tmp_path / "state")))
        return
    with pytest.raises(error) as caught:
        apply(plan._replace(steps=steps), State(str(tmp_path / "state")))
    assert caught.value.hint
    assert trees.digest_of(cuda) == before
