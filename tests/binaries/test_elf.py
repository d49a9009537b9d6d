"""The ELF reader, against pyelftools on real libraries, against tiny ones, and against damage."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from doctor.binaries.elf import Elf, ElfError
from tests.lab.cudnn_tree import part_bytes
from tests.lab.elf_file import elf_bytes

_SYSTEM = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")


def _real_libraries() -> Iterator[Path]:
    """Python's own extension modules and its library, and what the system has."""
    folders = [sysconfig.get_path("platstdlib"), sysconfig.get_config_var("LIBDIR") or "", *_SYSTEM]
    seen: set[Path] = set()
    for folder in map(Path, folders):
        found = [*folder.glob("lib-dynload/*.so"), *folder.glob("lib*.so*")]
        for path in sorted(found):
            real = path.resolve()
            if real not in seen and _is_elf(real):
                seen.add(real)
                yield real


def _is_elf(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _second_opinion(path: Path) -> tuple[str, tuple[str, ...], tuple[str, ...], dict[str, int]]:
    """SONAME, NEEDED, search path, and up to 20 defined objects with their first bytes, by pyelftools."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        tags: list[Any] = list(next(one for one in elf.iter_sections() if isinstance(one, DynamicSection)).iter_tags())
        names = {kind: [tag for tag in tags if tag.entry.d_tag == kind] for kind in ("DT_SONAME", "DT_NEEDED")}
        search = [
            getattr(tag, kind[3:].lower())
            for kind in ("DT_RPATH", "DT_RUNPATH")
            for tag in tags
            if tag.entry.d_tag == kind
        ]
        values = dict(islice(_objects(elf), 20))
        return (
            "".join(tag.soname for tag in names["DT_SONAME"]),
            tuple(tag.needed for tag in names["DT_NEEDED"]),
            tuple(part for text in search for part in text.split(":") if part),
            values,
        )


def _needed_versions(path: Path) -> tuple[tuple[str, str], ...]:
    with path.open("rb") as stream:
        section: Any = ELFFile(stream).get_section_by_name(".gnu.version_r")
        pairs = section.iter_versions() if section else ()
        return tuple((library.name, version.name) for library, versions in pairs for version in versions)


def _objects(elf: Any) -> Iterator[tuple[str, int]]:
    loads = [one for one in elf.iter_segments() if one["p_type"] == "PT_LOAD"]
    symbols = elf.get_section_by_name(".dynsym")
    names = Counter(symbol.name for symbol in symbols.iter_symbols())
    for symbol in symbols.iter_symbols():
        is_object = symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_info"]["bind"] == "STB_GLOBAL"
        if not is_object or symbol["st_shndx"] == "SHN_UNDEF" or symbol["st_size"] not in (4, 8):
            continue
        for load in loads:
            inside = symbol["st_value"] - load["p_vaddr"]
            if 0 <= inside <= load["p_filesz"] - symbol["st_size"] and names[symbol.name] == 1:
                elf.stream.seek(load["p_offset"] + inside)
                order: Literal["little", "big"] = "little" if elf.little_endian else "big"
                yield symbol.name, int.from_bytes(elf.stream.read(symbol["st_size"]), order)


@pytest.mark.no_cover  # other tests run the same lines
def test_it_agrees_with_pyelftools_on_real_libraries() -> None:
    libraries = list(islice(_real_libraries(), 40))
    assert libraries
    for path in libraries:
        soname, needed, search, values = _second_opinion(path)
        with path.open("rb") as stream:
            elf = Elf(stream)
            assert (elf.soname, elf.needed, elf.rpath + elf.runpath) == (soname, needed, search), path
            assert {name: elf.value(name) for name in values} == values, path
            assert elf.value("no_such_symbol_anywhere") is None
            assert elf.needed_versions == _needed_versions(path), path
            assert not elf.is_truncated, path


@pytest.mark.parametrize("hash_kind", ["gnu", "sysv"])
@pytest.mark.parametrize(
    ("machine", "bits", "order", "read_as"),
    [
        ("x86_64", 64, "<", "x86_64"),
        ("aarch64", 64, "<", "aarch64"),
        ("ppc64", 64, "<", "ppc64le"),
        ("ppc64", 64, ">", "ppc64"),
        ("s390x", 64, ">", "s390x"),
        ("i386", 32, "<", "i386"),
        ("x86_64", 32, "<", "x32"),
    ],
)
def test_every_class_and_byte_order(machine: str, bits: int, order: str, read_as: str, hash_kind: str) -> None:
    content = elf_bytes(
        "libx.so.1",
        needed=("liba.so.2", "libb.so"),
        rpath="/opt/a:$ORIGIN",
        runpath="$ORIGIN/../lib::/x",
        values={"one": 1, "big": 0x90A02},
        undefined=("elsewhere",),
        rodata=b"....cudnn_version_7_6_5_32_\0",
        machine=machine,
        bits=bits,
        order=order,
        hash_kind=hash_kind,
    )
    elf = Elf(io.BytesIO(content))
    assert (elf.machine, elf.bits, elf.soname) == (read_as, bits, "libx.so.1")
    assert elf.needed == ("liba.so.2", "libb.so")
    assert (elf.rpath, elf.runpath) == (("/opt/a", "$ORIGIN"), ("$ORIGIN/../lib", "/x"))
    assert [elf.value(name) for name in ("one", "big", "elsewhere", "absent")] == [1, 0x90A02, None, None]
    assert elf.find_text(".rodata", b"cudnn_version_", 1 << 20) == "cudnn_version_7_6_5_32_"
    assert elf.find_text(".rodata", b"no such text", 1 << 20) == ""
    assert elf.find_text(".none", b"x", 1 << 20) == ""
    assert list(elf.asked()) == ["elsewhere"]
    assert [elf.defines(name) for name in ("one", "big", "elsewhere", "absent")] == [True, True, False, False]
    assert not elf.is_truncated


def test_what_is_asked_is_unknown_without_a_hash_table() -> None:
    with pytest.raises(ElfError, match="no entry"):
        list(Elf(io.BytesIO(elf_bytes(undefined=("elsewhere",), hash_kind="none"))).asked())


@pytest.mark.no_cover  # other tests run the same lines
def test_what_real_libraries_ask_and_define_is_what_pyelftools_says() -> None:
    paths = list(islice(_real_libraries(), 60))
    assert len(paths) > 20
    for path in paths:
        with path.open("rb") as stream, path.open("rb") as again:
            table: Any = ELFFile(stream).get_section_by_name(".dynsym")
            symbols = [one for one in table.iter_symbols() if one.name] if table else []
            if not symbols:
                continue
            elf, bound = Elf(again), "STB_GLOBAL"
            asked = {one.name for one in symbols if one["st_shndx"] == "SHN_UNDEF" and one["st_info"]["bind"] == bound}
            there = {one.name for one in symbols if one["st_shndx"] != "SHN_UNDEF" and one["st_info"]["bind"] == bound}
            assert set(elf.asked()) == asked, path
            assert all(map(elf.defines, sorted(there)[:200])), path
            assert not any(map(elf.defines, sorted(asked - there)[:200])), path


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "ends after 0 bytes"),
        (b"#!/bin/sh\nexit 0 # a script that is long enough\n", "not an ELF file"),
        (b"\x7fELF\x03\x01\x01" + bytes(60), "class or byte order of this ELF file is unknown"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "ends after 16 bytes"),
        (part_bytes("graph", "9.10.2")[:200], "ends after 200 bytes"),
    ],
)
def test_what_is_no_library_is_an_error(content: bytes, why: str) -> None:
    with pytest.raises(ElfError, match=why):
        Elf(io.BytesIO(content))


def test_a_cut_library_is_truncated_though_its_headers_can_be_read() -> None:
    content = part_bytes("graph", "9.10.2")
    elf = Elf(io.BytesIO(content[:-1]))
    assert elf.is_truncated
    assert elf.value("cudnn_graph_version") == 0x90A02


def test_a_text_across_two_blocks_is_found() -> None:
    rodata = bytes((1 << 20) - 5) + b"cudnn_version_8_0_1_"
    assert Elf(io.BytesIO(elf_bytes(rodata=rodata))).find_text(".rodata", b"cudnn_version_", 4 << 20)


def _ask_everything(content: bytes) -> None:
    elf = Elf(io.BytesIO(content))
    for question in (
        lambda: (elf.soname, elf.needed, elf.rpath, elf.runpath, elf.is_truncated),
        lambda: elf.needed_versions,
        lambda: elf.value("cudnn_graph_version"),
        lambda: elf.value("absent"),
        lambda: list(elf.asked()),
        lambda: elf.find_text(".rodata", b"cudnn", 1 << 20),
    ):
        try:
            question()
        except ElfError:
            pass


@pytest.mark.parametrize("hash_kind", ["gnu", "sysv"])
@pytest.mark.parametrize("bits", [32, 64])
def test_damage_raises_nothing_but_its_own_error(bits: int, hash_kind: str) -> None:
    whole = elf_bytes(
        "libcudnn_graph.so.9",
        needed=("libc.so.6",),
        runpath="$ORIGIN",
        values={"cudnn_graph_version": 0x90A02},
        bits=bits,
        hash_kind=hash_kind,
    )
    chance = random.Random(f"{bits} {hash_kind}")
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            value = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            damaged[chance.randrange(len(damaged))] = value
        try:
            _ask_everything(bytes(damaged[: chance.choice((len(damaged), chance.randrange(len(damaged))))]))
        except ElfError:
            pass


def test_a_hash_bucket_without_an_end_is_an_error() -> None:
    whole = elf_bytes(values={"v": 1}, hash_kind="sysv")
    place = whole.index(bytes([1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]))  # one bucket, two chain entries, first is 1
    looped = whole[: place + 16] + bytes([1, 0, 0, 0]) + whole[place + 20 :]
    with pytest.raises(ElfError, match="without an end"):
        Elf(io.BytesIO(looped)).value("w")


_SOURCE = "const unsigned cudnn_graph_version = 0x90a02; extern const unsigned cudnn_ops_infer_version;\n"


@pytest.mark.parametrize(
    ("flag", "rpath", "runpath"),
    [("--enable-new-dtags", (), ("$ORIGIN/../a", "/b")), ("--disable-new-dtags", ("$ORIGIN/../a", "/b"), ())],
)
@pytest.mark.parametrize("target", ["x86_64-linux-gnu", "aarch64-linux-gnu"])
@pytest.mark.slow
def test_what_a_real_linker_writes(
    tmp_path: Path, target: str, flag: str, rpath: tuple[str, ...], runpath: tuple[str, ...]
) -> None:
    (tmp_path / "a.c").write_text(_SOURCE)
    library = tmp_path / "libcudnn_graph.so.9"
    options = ["-Wl,-soname,libcudnn_graph.so.9", f"-Wl,{flag}", "-Wl,-rpath,$ORIGIN/../a:/b"]
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-shared", "-nostdlib", "-g0", *options]
    subprocess.run([*command, "-o", str(library), str(tmp_path / "a.c")], check=True)
    with library.open("rb") as stream:
        elf = Elf(stream)
        assert (elf.machine, elf.soname) == (target.partition("-")[0], "libcudnn_graph.so.9")
        assert (elf.rpath, elf.runpath) == (rpath, runpath)
        assert elf.value("cudnn_graph_version") == 0x90A02
        assert elf.value("cudnn_ops_infer_version") is None
        assert not elf.is_truncated
