"""The PE reader, against pefile, against what a real linker writes, and against damage."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pefile
import pytest

from doctor.binaries import pe
from doctor.binaries.pe import Pe, PeError, PeNotRead
from tests.lab.pe_file import pe_bytes
from tests.wheels import WINDOWS, fetch

_VALUES = {"cudnn_graph_version": 0x90A02, "aaa": 1, "zzz": 0xFFFFFFFF, "mmm": 5}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "i386"])
def test_machine_and_exported_numbers(machine: str) -> None:
    content = pe_bytes("cudnn_graph64_9.dll", _VALUES, machine)
    library = Pe(io.BytesIO(content))
    assert library.machine == machine
    assert {name: library.value(name) for name in _VALUES} == _VALUES
    assert library.value("absent") is None
    assert not library.is_truncated
    exports = pefile.PE(data=content).DIRECTORY_ENTRY_EXPORT.symbols
    assert [one.name.decode() for one in exports] == sorted(_VALUES)


def test_imports() -> None:
    needs, delayed = ("cudart64_12.dll", "KERNEL32.dll"), ("cudnn64_9.dll",)
    content = pe_bytes("a.dll", _VALUES, needs=needs, delayed=delayed)
    library = Pe(io.BytesIO(content))
    assert (library.imports, library.delayed_imports) == (needs, delayed)
    assert library.value("aaa") == 1
    second = pefile.PE(data=content)
    assert [one.dll.decode() for one in second.DIRECTORY_ENTRY_IMPORT] == list(needs)
    assert [one.dll.decode() for one in second.DIRECTORY_ENTRY_DELAY_IMPORT] == list(delayed)
    without = Pe(io.BytesIO(pe_bytes()))
    assert (without.imports, without.delayed_imports) == ((), ())


def test_the_version_resource() -> None:
    content = pe_bytes("cudnn64_8.dll", _VALUES, needs=("KERNEL32.dll",), version=(8, 9, 7, 29))
    library = Pe(io.BytesIO(content))
    assert (library.file_version, library.imports) == ((8, 9, 7, 29), ("KERNEL32.dll",))
    [fixed] = pefile.PE(data=content).VS_FIXEDFILEINFO
    assert (fixed.FileVersionMS, fixed.FileVersionLS) == (8 << 16 | 9, 7 << 16 | 29)
    assert Pe(io.BytesIO(pe_bytes())).file_version is None


@pytest.mark.slow
def test_the_version_resource_of_a_real_library() -> None:
    with zipfile.ZipFile(fetch("nvidia-cuda-runtime-cu12==12.4.127", platforms=WINDOWS)) as wheel:
        content = wheel.read("nvidia/cuda_runtime/bin/cudart64_12.dll")
    assert Pe(io.BytesIO(content)).file_version == (6, 14, 11, 12040)  # as its properties show it


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_version_raises_nothing_else(seed: int) -> None:
    chance = random.Random(seed)
    content = pe_bytes("a.dll", version=(8, 9, 7, 29))
    for _ in range(250):
        damaged = bytearray(content)
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            assert len(Pe(io.BytesIO(bytes(damaged))).file_version or ()) in {0, 4}
        except PeError:
            continue


@pytest.mark.parametrize("seed", range(4))
def test_damaged_imports_raise_nothing_else(seed: int) -> None:
    chance = random.Random(seed)
    content = pe_bytes("a.dll", _VALUES, needs=("cudart64_12.dll", "b.dll"), delayed=("c.dll",))
    for _ in range(250):
        damaged = bytearray(content)
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            library = Pe(io.BytesIO(bytes(damaged)))
            assert len(library.imports) + len(library.delayed_imports) < 2000
        except PeError:
            continue


def test_a_library_without_exports_says_nothing() -> None:
    assert Pe(io.BytesIO(pe_bytes())).value("cudnn_graph_version") is None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "ends after 0 bytes"),
        (b"\x7fELF" + bytes(100), "not a Windows library"),
        (b"MZ" + bytes(100), "no PE header"),
        (pe_bytes()[:100], "ends after 100 bytes"),
    ],
)
def test_what_is_no_library_is_an_error(content: bytes, why: str) -> None:
    with pytest.raises(PeError, match=why):
        Pe(io.BytesIO(content))


@pytest.mark.parametrize(
    ("bound", "value", "ask"),
    [
        ("_IMPORTS_AT_MOST", 1, lambda library: library.imports),
        ("_NAMES_AT_MOST", 3, lambda library: library.value("aaa")),
        ("_NAME_AT_MOST_BYTES", 2, lambda library: library.value("aaa")),
    ],
)
def test_what_goes_beyond_a_bound_is_not_read_and_not_damaged(
    bound: str, value: int, ask: Callable[[Pe], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Pe(io.BytesIO(pe_bytes("a.dll", _VALUES, needs=("cudart64_12.dll",))))
    ask(library)
    monkeypatch.setattr(pe, bound, value)
    with pytest.raises(PeNotRead):
        ask(library)


def test_a_cut_library_is_truncated() -> None:
    assert Pe(io.BytesIO(pe_bytes(values=_VALUES)[:-1])).is_truncated


def test_damage_raises_nothing_but_its_own_error() -> None:
    whole = pe_bytes(values=_VALUES)
    chance = random.Random(0)
    for _ in range(3000):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.choice((0, 1, 0x80, 0xFF, chance.randrange(256)))
        try:
            library = Pe(io.BytesIO(damaged))
            assert library.is_truncated in {True, False}
            library.value("cudnn_graph_version")
            library.value("absent")
        except PeError:
            pass


@pytest.mark.slow
def test_what_a_real_linker_writes(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("__declspec(dllexport) unsigned cudnn_graph_version = 0x90a02;\nint _DllMainCRTStartup(void)"
                      " { return 1; }\n")  # fmt: skip
    library = tmp_path / "cudnn_graph64_9.dll"
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-shared", "-nostdlib", "-g0"]
    subprocess.run([*command, "-o", str(library), str(source)], check=True)
    with library.open("rb") as stream:
        found = Pe(stream)
        assert (found.machine, found.value("cudnn_graph_version")) == ("x86_64", 0x90A02)
        assert not found.is_truncated
