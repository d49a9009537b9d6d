"""The reader of GPU code: against cuobjdump on real libraries, against tiny ones, against damage; and what it reads."""

from __future__ import annotations

import io
import random
import re
import struct
import subprocess
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from compat.version import CodeTarget
from doctor.binaries import elf, fatbin
from doctor.binaries.elf import Elf, ElfError
from doctor.binaries.fatbin import FatbinError, FatbinNotRead, GpuCode, Piece, read_gpu_code
from doctor.binaries.pe import Pe, PeError
from tests.lab.elf_file import elf_bytes
from tests.lab.fatbin_file import container, wrapper
from tests.lab.pe_file import pe_bytes
from tests.wheels import WINDOWS, fetch, unpack

_TORCH = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")


class CountedFile(io.RawIOBase):
    """A file in memory of `size_bytes`, zeros behind its content, that counts what is read of it."""

    def __init__(self, content: bytes, size_bytes: int = 0) -> None:
        self.content = content
        self.size_bytes = max(size_bytes, len(content))
        self.place = 0
        self.read_bytes = 0

    def seek(self, place: int, whence: int = 0) -> int:
        self.place = place + (self.size_bytes if whence == 2 else 0)
        return self.place

    def read(self, size: int = -1) -> bytes:
        assert self.place < 1 << 63  # as a real file demands
        size = max(min(size, self.size_bytes - self.place), 0)
        found = self.content[self.place : self.place + size].ljust(size, b"\0")
        self.place += size
        self.read_bytes += size
        return found


def library(*containers: bytes, section: str = ".nv_fatbin") -> bytes:
    """An ELF library with these containers in a section."""
    return elf_bytes("libx.so", needed=("libcudart.so.12",), rodata=b"".join(containers), rodata_name=section)


def found(content: bytes) -> dict[str, int]:
    """How many entries there are by architecture."""
    return {str(piece.target): piece.entries for piece in read_gpu_code(io.BytesIO(content)).pieces}


@pytest.mark.parametrize("section", [".nv_fatbin", "__nv_relfatbin"])
def test_every_kind_of_code_in_every_section(section: str) -> None:
    targets = ("sm_20", "sm_52", "compute_52", "sm_90a", "compute_90a", "sm_100f", "compute_120f", "sm_120", "sm_121")
    content = library(container(*targets), container("sm_52", header_bytes=112), section=section)
    assert found(content) == dict.fromkeys(targets, 1) | {"sm_52": 2}


@pytest.mark.parametrize("section", [b".nv_fatb", b"__nv_rel"])
def test_a_windows_library(section: bytes) -> None:
    """The second is __nv_relfatbin, in which the PTX stands of what nvcc links itself: bitsandbytes."""
    content = pe_bytes(gpu_code=container("sm_80", "compute_90") + bytes(512), gpu_section=section)
    assert found(content) == {"sm_80": 1, "compute_90": 1}


def test_the_order_is_that_of_the_architectures_with_ptx_behind() -> None:
    code = read_gpu_code(io.BytesIO(library(container("sm_120", "compute_90", "sm_100f", "sm_90a", "sm_90", "sm_80"))))
    assert list(map(str, code.targets)) == ["sm_80", "sm_90", "sm_90a", "compute_90", "sm_100f", "sm_120"]


def test_what_most_of_the_code_was_built_for() -> None:
    code = read_gpu_code(io.BytesIO(library(*[container("sm_80", "sm_90")] * 5, container("sm_80", "sm_89", "sm_90a"))))
    assert list(map(str, code.main_targets)) == ["sm_80", "sm_90"]
    assert read_gpu_code(io.BytesIO(elf_bytes())) == GpuCode(())
    assert GpuCode(()).main_targets == ()


def test_lto_ir_is_neither() -> None:
    code = read_gpu_code(io.BytesIO(library(container("sm_80", "lto_90"))))
    assert (list(map(str, code.targets)), code.others, code.damage) == (["sm_80"], 1, "")


def test_zeros_between_containers_are_searched() -> None:
    gap = bytes((1 << 20) - 3)  # the next one lies across two blocks
    assert found(library(container("sm_80"), gap, container("sm_90"))) == {"sm_80": 1, "sm_90": 1}


def test_a_gap_behind_every_container_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in onnxruntime-gpu 1.31 for ARM and Windows, half of whose code was not read: a block for each."""
    monkeypatch.setattr(fatbin, "_SEARCHED_AT_MOST_BYTES", 64 << 10)
    pieces = [part for _ in range(100) for part in (container("sm_80"), bytes(120))]
    code = read_gpu_code(io.BytesIO(library(*pieces, container("sm_90"))))
    assert ([piece.entries for piece in code.pieces], code.gap) == ([100, 1], "")


def without_section_headers(content: bytes) -> bytes:
    """As sstrip leaves it: e_shoff, e_shnum and e_shstrndx are 0."""
    return content[:0x28] + bytes(8) + content[0x30:0x3C] + bytes(4) + content[0x40:]


def test_a_library_without_section_headers() -> None:
    content = without_section_headers(library(container("sm_80"), container("sm_90")))
    assert Elf(io.BytesIO(content)).sections() == ()
    assert found(content) == {"sm_80": 1, "sm_90": 1}


def test_containers_outside_of_the_known_sections_are_found_by_their_wrappers() -> None:
    code = container("sm_80", "compute_80")
    content = library(wrapper(0xAAAA), wrapper(0), code, section=".nvFatBinSegment")
    assert found(content) == {}
    place = content.index(code)  # in this library a place in the file is its address
    assert found(content.replace(wrapper(0xAAAA), wrapper(place))) == {"sm_80": 1, "compute_80": 1}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "ends after 0 bytes"),
        (b"#!/bin/sh\nexit 0 # a script that is long enough\n", "not an ELF file"),
        (b"MZ" + bytes(100), "no PE header"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "ends after 16 bytes"),
    ],
)
def test_what_is_no_library_is_an_error(content: bytes, why: str) -> None:
    with pytest.raises(FatbinError, match=why):
        read_gpu_code(io.BytesIO(content))


def _cut(content: bytes) -> bytes:
    return content[: content.index(struct.pack("<I", 0xBA55ED50)) + 100]


def _too_large_entry(content: bytes) -> bytes:
    place = content.index(struct.pack("<I", 0xBA55ED50)) + 16 + 8
    return content[:place] + struct.pack("<Q", 1 << 63) + content[place + 8 :]


def _too_large_container(content: bytes) -> bytes:
    place = content.index(struct.pack("<I", 0xBA55ED50)) + 8
    return content[:place] + struct.pack("<Q", 1 << 63) + content[place + 8 :]


def _no_entry(content: bytes) -> bytes:
    place = content.index(struct.pack("<I", 0xBA55ED50)) + 16
    return content[:place] + bytes(2) + content[place + 2 :]


@pytest.mark.parametrize("damage", [_cut, _too_large_entry, _too_large_container, _no_entry])
def test_damaged_code_is_said(damage: Callable[[bytes], bytes]) -> None:
    whole = without_section_headers(library(container("sm_80")))
    assert read_gpu_code(io.BytesIO(damage(whole))).damage


def test_only_headers_are_read() -> None:
    """A library of 1 GiB whose code is never touched; reading it through a buffer would cost 8 KiB for each header."""
    code_bytes = 19 << 20
    head = container(*_TORCH, code_bytes=0)
    entries = b"".join(
        head[16 + 64 * number : 16 + 64 * number + 8] + struct.pack("<Q", code_bytes) + head[32 + 64 * number :][:48]
        for number in range(len(_TORCH))
    )
    whole = elf_bytes(rodata=bytes(8 << 20), rodata_name=".nv_fatbin")
    place = whole.index(bytes(8 << 20))
    sparse = _Sparse(whole, place, [entries[64 * number :][:64] for number in range(len(_TORCH))], code_bytes)
    code = read_gpu_code(cast("BinaryIO", sparse))
    assert tuple(map(str, code.targets)) == _TORCH
    assert code.gap == ""
    assert sparse.read_bytes < 8192


class _Sparse(CountedFile):
    """An ELF library whose one container has a header every `code_bytes` and nothing else."""

    def __init__(self, whole: bytes, place: int, heads: list[bytes], code_bytes: int) -> None:
        size = len(heads) * (64 + code_bytes)
        super().__init__(b"", place + 16 + size)
        table = self.size_bytes
        names = b"\0.nv_fatbin\0.shstrtab\0"
        sections = bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, 2, place, place, 16 + size, 0, 0, 8, 0)
        sections += struct.pack("<IIQQQQIIQQ", 12, 3, 0, 0, table + 192, len(names), 0, 0, 1, 0)
        self.size_bytes += len(sections) + len(names)
        start = whole[:0x28] + struct.pack("<Q", table) + whole[0x30:place]
        self.pieces = {0: start, place: struct.pack("<IHHQ", 0xBA55ED50, 1, 16, size), table: sections + names}
        self.pieces |= {place + 16 + number * (64 + code_bytes): head for number, head in enumerate(heads)}

    def read(self, size: int = -1) -> bytes:
        answer = bytearray(size)
        for at, piece in self.pieces.items():
            low, high = max(at, self.place), min(at + len(piece), self.place + size)
            if low < high:
                answer[low - self.place : high - self.place] = piece[low - at : high - at]
        self.place += size
        self.read_bytes += size
        return bytes(answer)


def test_a_hostile_number_of_entries_ends() -> None:
    many = container(*["sm_80"] * 300, code_bytes=0, header_bytes=48)
    code = read_gpu_code(io.BytesIO(library(*[many] * 700)))
    assert (code.damage, "more than" in code.unread) == ("", True)
    assert sum(piece.entries for piece in code.pieces) == 200_000


def test_a_hostile_search_ends() -> None:
    content = without_section_headers(elf_bytes(rodata=bytes(64)))
    size_in_file = 64 + 32  # of the first segment: its header stands behind the file's
    file = CountedFile(content[:size_in_file] + struct.pack("<Q", 1 << 30) + content[size_in_file + 8 :], 1 << 30)
    code = read_gpu_code(cast("BinaryIO", file))
    assert (code.damage, "searched" in code.unread) == ("", True)
    assert file.read_bytes < 80 << 20


@pytest.mark.parametrize(
    ("bound", "value"),
    [
        ("_STRETCHES_AT_MOST", 0),
        ("_CONTAINERS_AT_MOST", 1),
        ("_ENTRIES_AT_MOST", 1),
        ("_WRAPPERS_AT_MOST_BYTES", 23),
        ("_SEARCHED_AT_MOST_BYTES", 0),
    ],
)
def test_what_goes_beyond_a_bound_is_not_read_and_not_damaged(
    bound: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = library(container("sm_80", "sm_90"), bytes(64), container("sm_80"))
    if bound == "_WRAPPERS_AT_MOST_BYTES":
        content = library(wrapper(0xAAAA), wrapper(0), section=".nvFatBinSegment")
    assert read_gpu_code(io.BytesIO(content)).gap == ""
    monkeypatch.setattr(fatbin, bound, value)
    code = read_gpu_code(io.BytesIO(content))
    assert (code.damage, code.gap) == ("", code.unread)
    assert "no more of it is read" in code.unread


@pytest.mark.parametrize(
    ("reader", "bound", "content"),
    [(elf, "_SEGMENTS_AT_MOST", library(container("sm_80"))), (elf, "_SECTIONS_AT_MOST", library(container("sm_80")))],
)
def test_headers_beyond_a_bound_are_no_damage(
    reader: object, bound: str, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, bound, 1)
    with pytest.raises(FatbinNotRead):
        read_gpu_code(io.BytesIO(content))


# Damage: real headers and tiny ones, mutated.

Question = Callable[[BinaryIO], object]


def _ask_elf(stream: BinaryIO) -> None:
    elf = Elf(stream)
    questions: tuple[Callable[[], object], ...] = (
        lambda: (elf.soname, elf.needed, elf.rpath, elf.runpath, elf.is_truncated),
        lambda: elf.needed_versions,
        lambda: elf.value("cudnn_graph_version"),
        elf.sections,
        elf.segments,
        lambda: elf.offset_of(0x1000),
    )
    for question in questions:
        try:
            question()
        except ElfError:
            pass


def _ask_pe(stream: BinaryIO) -> None:
    library = Pe(stream)
    assert library.is_truncated in {True, False}
    for question in (lambda: library.value("cudnn_graph_version"), lambda: (library.imports, library.delayed_imports)):
        try:
            question()
        except PeError:
            pass


_READERS: dict[str, tuple[Question, type[Exception]]] = {
    "fatbin": (read_gpu_code, FatbinError),
    "elf": (_ask_elf, ElfError),
    "pe": (_ask_pe, PeError),
}


def _seeds() -> list[bytes]:
    code = container("sm_80", "sm_90a", "compute_90") + bytes(24) + container("lto_90", "sm_120")
    return [
        elf_bytes("liba.so", needed=("libc.so.6",), values={"cudnn_graph_version": 1}, rodata=code,
                  rodata_name=".nv_fatbin"),
        without_section_headers(library(code)),
        library(wrapper(0x400), code, section=".nvFatBinSegment"),
        library(code, section="__nv_relfatbin"),
        elf_bytes(bits=32, rodata=code, rodata_name=".nv_fatbin"),
        pe_bytes(values={"cudnn_graph_version": 0x90A02}, gpu_code=code),
    ]  # fmt: skip


def _mutants(seeds: list[bytes], how_many: int, chance: random.Random) -> Iterator[bytes]:
    for _ in range(how_many):
        damaged = bytearray(chance.choice(seeds))
        for _ in range(chance.randint(1, 8)):
            place = chance.randrange(len(damaged) if chance.random() < 0.5 else min(len(damaged), 2048))
            if chance.random() < 0.3:  # whole numbers: sizes and places
                number = chance.choice((0, 1, 0xFFFF, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 64) - 1, len(damaged)))
                damaged[place : place + 8] = number.to_bytes(8, "little")
            else:
                damaged[place] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        yield bytes(damaged if chance.random() < 0.8 else damaged[: chance.randrange(len(damaged))])


def _fuzz(seeds: list[bytes], how_many: int, seed: object) -> int:
    """Give mutated libraries to every reader; returns the most bytes that one of them read of one file."""
    chance = random.Random(str(seed))
    most = 0
    for content in _mutants(seeds, how_many, chance):
        for question, error in _READERS.values():
            file = CountedFile(content)
            try:
                question(cast("BinaryIO", file))
            except error:
                pass
            most = max(most, file.read_bytes)
    return most


def test_damage_raises_nothing_but_its_own_error() -> None:
    assert _fuzz(_seeds(), 3000, "fast") < 64 << 20


def _fuzz_one_process(number: int, how_many: int, seeds: list[bytes]) -> tuple[int, int]:
    most = _fuzz(seeds, how_many, number)
    with open("/proc/self/status", encoding="ascii") as status:  # not ru_maxrss: a child inherits its parent's
        peak_kib = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    return most, peak_kib * 1024


def _real_seeds() -> list[bytes]:
    """Real headers: a module of Python's own, pip's launcher for Windows, and the GPU code of a wheel."""
    wheel = fetch("bitsandbytes==0.45.5")
    member = "bitsandbytes/libbitsandbytes_cuda118.so"
    content = (unpack(wheel, wheel.parent / "unpacked", [member]) / member).read_bytes()
    section = next(one for one in Elf(io.BytesIO(content)).sections() if one.name == ".nv_fatbin")
    code = _headers_alone(content[section.offset : section.offset + section.size])
    modules = Path(sysconfig.get_path("platstdlib"), "lib-dynload").glob("*.so")
    launchers = Path(sysconfig.get_path("purelib")).glob("pip/_vendor/distlib/*64.exe")
    smallest = [min(found, key=lambda path: path.stat().st_size) for found in map(list, (modules, launchers)) if found]
    assert smallest
    return [library(code), pe_bytes(gpu_code=code), *(path.read_bytes() for path in smallest)]


def _headers_alone(section: bytes) -> bytes:
    """The real headers of the first container's entries, each with 16 bytes of its code."""
    (size,) = struct.unpack_from("<Q", section, 8)
    place, entries = 16, b""
    while place < 16 + size:
        header, code = struct.unpack_from("<IQ", section, place + 4)
        entry = section[place : place + header + 16]
        entries += entry[:8] + struct.pack("<Q", 16) + entry[16:]
        place += header + code
    return section[:8] + struct.pack("<Q", len(entries)) + entries


@pytest.mark.slow
def test_200_000_damaged_libraries_and_bounded_memory() -> None:
    """Every one is given to each of the three readers."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    real = _real_seeds()
    assert found(real[0]) == found(real[1]) != {}
    seeds = [*_seeds(), *real]
    share = 200_000 // 8
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        asked = [pool.submit(_fuzz_one_process, number, share, seeds) for number in range(8)]
        results = [one.result() for one in asked]
    assert max(read for read, _ in results) < 64 << 20
    assert max(memory for _, memory in results) < 200 << 20


# cuobjdump, the second opinion.

_REAL = [
    ("nvidia-cudnn-cu12==9.10.2.21", "nvidia/cudnn/lib/libcudnn_ops.so.9"),
    ("nvidia-cudnn-cu12==9.10.2.21", "nvidia/cudnn/lib/libcudnn_adv.so.9"),
    ("nvidia-cudnn-cu12==9.10.2.21", "nvidia/cudnn/lib/libcudnn_engines_precompiled.so.9"),
    ("nvidia-cudnn-cu12==9.10.2.21", "nvidia/cudnn/lib/libcudnn_engines_runtime_compiled.so.9"),
    ("nvidia-nccl-cu12==2.27.5", "nvidia/nccl/lib/libnccl.so.2"),
    ("bitsandbytes==0.48.2", "bitsandbytes/libbitsandbytes_cuda128.so"),
    ("xformers==0.0.31", "xformers/_C.so"),
]


def cuobjdump(library: Path, scratch: Path) -> Counter[str]:
    """Entries by architecture as cuobjdump lists them; it writes no suffix "f" for machine code."""
    wheel = fetch("nvidia-cuda-cuobjdump==13.5.37")
    program = unpack(wheel, scratch / "cuobjdump") / "nvidia/cu13/bin/cuobjdump"
    program.chmod(0o755)
    listed: Counter[str] = Counter()
    for option, kind in (("--list-elf", "sm"), ("--list-ptx", "compute")):
        done = subprocess.run([program, "-all", option, library], capture_output=True, text=True, check=True)
        listed.update(f"{kind}_{one}" for one in re.findall(r"\.sm_(\w+)\.(?:cubin|ptx)$", done.stdout, re.MULTILINE))
    return listed


def _as_cuobjdump_says(code: GpuCode) -> Counter[str]:
    said: Counter[str] = Counter()
    for piece in code.pieces:
        name = str(piece.target)
        said[name.removesuffix("f") if name.startswith("sm") else name] += piece.entries
    return said


@pytest.mark.slow
@pytest.mark.parametrize(("requirement", "member"), _REAL)
def test_it_agrees_with_cuobjdump(requirement: str, member: str, tmp_path: Path) -> None:
    path = unpack(fetch(requirement), tmp_path, [member]) / member
    with _CountedReal(str(path)) as file:
        code = read_gpu_code(cast("BinaryIO", file))
        read_bytes = file.read_bytes
    assert code.gap == ""
    assert _as_cuobjdump_says(code) == cuobjdump(path, tmp_path)
    entries = sum(piece.entries for piece in code.pieces) + code.others
    assert read_bytes < 200 * entries + (64 << 10)  # headers of 64 bytes, section names, program headers


class _CountedReal(io.FileIO):
    """A real file that counts what is read of it."""

    read_bytes = 0

    def fileno(self) -> int:
        raise io.UnsupportedOperation  # so that every read comes by here

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size) or b""
        self.read_bytes += len(content)
        return content


@pytest.mark.slow
def test_a_real_windows_library_has_the_code_of_its_linux_twin(tmp_path: Path) -> None:
    """cuobjdump refuses it."""
    windows = unpack(fetch("nvidia-cudnn-cu12==9.10.2.21", platforms=WINDOWS), tmp_path, ["nvidia/cudnn/bin/cudnn_ops"])
    linux = unpack(fetch("nvidia-cudnn-cu12==9.10.2.21"), tmp_path, ["nvidia/cudnn/lib/libcudnn_ops"])
    pair = (next(windows.rglob("cudnn_ops64_9.dll")), linux / "nvidia/cudnn/lib/libcudnn_ops.so.9")
    codes = []
    for path in pair:
        with path.open("rb") as stream:
            codes.append(read_gpu_code(stream))
    assert codes[0] == codes[1]
    assert codes[0].pieces


@pytest.mark.slow
def test_code_of_cuda_10_is_read(tmp_path: Path) -> None:
    member = "cupy/.data/lib/libcudnn.so.7"
    path = unpack(fetch("cupy-cuda101==7.8.0", python="3.7"), tmp_path, [member]) / member
    with path.open("rb") as stream:
        code = read_gpu_code(stream)
    assert {"sm_30", "sm_35", "sm_70", "compute_70", "sm_75"} <= set(map(str, code.targets))
    assert code.gap == ""


def test_containers_of_ptx_alone_do_not_outvote_machine_code() -> None:
    """libtensorflow_framework.so.2 of TensorFlow 2.20: 36 containers of machine code and PTX, 130 of PTX alone."""
    pieces = (("sm_60", 36), ("sm_89", 36), ("sm_90", 3), ("compute_90", 166))
    code = GpuCode(tuple(Piece(CodeTarget.parse(name), number, number) for name, number in pieces))
    assert [str(one) for one in code.main_targets] == ["sm_60", "sm_89", "compute_90"]
    ptx = GpuCode((Piece(CodeTarget.parse("compute_50"), 2, 2),))
    assert [str(one) for one in ptx.main_targets] == ["compute_50"]
