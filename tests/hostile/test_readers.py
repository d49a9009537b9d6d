"""Mutants of what the readers read; SECURITY.md has the figures of the long run."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor.commands.refresh.requirements import Platform, needs_of
from doctor.host import HostError
from doctor.host.root import RootHost
from doctor.host.snapshot import Snapshot
from doctor.probes import kernel_module
from tests.hostile.mutants import failed_of
from tests.hostile.readers import Readers, of_texts, readers
from tests.hostile.texts import TEXTS
from tests.hostile.watch import functions_that_read

_MANY = int(os.environ.get("GPUDOCTOR_MUTANTS", "30000"))
_WORDS_OF_OTHERS = "the word is a function of its own there, which reads no file"
_OWN = "reads what gpudoctor itself wrote or ships"
_RPC = "messages of a client: tests/commands/mcp"
_NOT_YET = "its files are not among the mutants yet"
ELSEWHERE = {
    ("doctor.commands.bench.measure", "cpu_name"): "/proc/cpuinfo of the machine that is measured",
    ("doctor.commands.bench.pictures", "_ask"): _OWN,
    ("doctor.commands.policy.form", "schema"): _OWN,
    ("doctor.commands.matrix.columns", ""): _WORDS_OF_OTHERS,
    ("doctor.commands.matrix.columns", "_column"): _WORDS_OF_OTHERS,
    ("doctor.commands.matrix.columns", "_parts"): _WORDS_OF_OTHERS,
    ("doctor.commands.matrix.columns", "span"): _WORDS_OF_OTHERS,
    ("doctor.commands.matrix.view_document", "rows"): _WORDS_OF_OTHERS,
    ("doctor.commands.refresh.shipped", "refresh_shipped"): _WORDS_OF_OTHERS,
    ("doctor.commands.refresh.table", "write"): _WORDS_OF_OTHERS,
    ("doctor.commands.explain.from_file", "_of_nodes"): _WORDS_OF_OTHERS,
    ("doctor.commands.install.configure", "keras"): "hands the text to installers.configuration.keras_plan",
    ("doctor.probes.cuda_start", "_start"): "what a child of ours says: tests/probes/test_cuda_start.py",
    ("doctor.commands.verify.child", "main"): _OWN,
    ("doctor.commands.verify.encode", "_plain"): _OWN,
    ("doctor.commands.which.live", "_on_linux"): "what the kernel says of a process",
    ("doctor.cli.mcp", "mcp"): _RPC,
    ("doctor.commands.mcp.server", "_parsed"): _RPC,
    ("doctor.commands.mcp.tools", "tools"): _OWN,
    ("doctor.commands.verify.cudnn_trial.graph", ""): _OWN,
    ("doctor.commands.verify.cudnn_trial.status", ""): _OWN,
    ("doctor.commands.verify.needs", ""): _OWN,
    ("doctor.messages.cause", ""): _OWN,
    ("doctor.output.private_commands", ""): _OWN,
    ("doctor.loader.cards.triton", "_is_nameless"): _NOT_YET,
    ("doctor.prescribe.dependents", "_is_of"): _NOT_YET,
    ("doctor.probes.changes", "_text_lines"): _NOT_YET,
    ("doctor.probes.changes.boots", "_read"): _NOT_YET,
    ("doctor.probes.changes.driver_files", "_read"): _NOT_YET,
    ("doctor.probes.changes.wheels", "_installed"): _NOT_YET,
    ("doctor.probes.independent.container_setup", "_specification"): _NOT_YET,
    ("doctor.probes.interpreter", "_is_beside"): _NOT_YET,
    ("doctor.pyenv.pipenv", "pipenv_environments"): _NOT_YET,
}

posix = pytest.mark.skipif(os.name != "posix", reason="machines of the lab")


@pytest.fixture(scope="module")
def every() -> Iterator[Readers]:
    with readers() as found:
        yield found


@posix
@pytest.mark.slow
def test_every_reader_is_among_them(every: Readers) -> None:
    reading = set(functions_that_read())
    assert len(reading) > 100, "the sources are no longer understood"
    assert reading - every.seen - set(ELSEWHERE) == set()
    assert set(ELSEWHERE) <= reading - every.seen, "no longer elsewhere"


@posix
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_mutants_are_read_or_refused(every: Readers) -> None:
    assert list(failed_of(every.all, 1, _MANY)) == []


@pytest.mark.no_cover  # other tests run the same lines
@posix
def test_mutants_of_texts() -> None:
    assert list(failed_of(of_texts(), 1, 1500)) == []


DEEP = b"[" * 200_000


def before_its_start() -> bytes:
    """An archive whose directory places the members before the file's first byte."""
    found = bytearray(TEXTS["remote wheel"][1])
    place = found.index(b"PK\5\6") + 16
    struct.pack_into("<I", found, place, struct.unpack_from("<I", found, place)[0] + 40)
    return bytes(found)


def nameless() -> bytes:
    """An archive with a member that has no name."""
    found: bytes = TEXTS["remote wheel"][1]
    start = found.index(b"PK\1\2")
    (size,) = struct.unpack_from("<H", found, start + 28)
    directory = bytearray(found[start:])
    struct.pack_into("<H", directory, 28, 0)
    del directory[46 : 46 + size]
    end = directory.index(b"PK\5\6")
    struct.pack_into("<I", directory, end + 12, end)
    return found[:start] + bytes(directory)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("NVML's child", b'{"init": ' + DEEP + b"\n"),
        ("remote wheel", before_its_start()),
        ("remote wheel", nameless()),
        ("journal", b'{"what": ["begin"]}\n'),
        ("index directory", b"torch-" + b"9" * 5000 + b"-py3-none-any.whl"),
    ],
)
def test_what_mutants_found(name: str, content: bytes) -> None:
    next(one for one in of_texts() if one.name == name).read(content)


@posix
def test_what_mutants_found_of_files(tmp_path: Path) -> None:
    """A path of 1,900 parts, and a module that ends in its magic number."""
    host = Snapshot(RootHost(str(tmp_path)))
    with pytest.raises(HostError):
        host.real_path("/a" * 1900)
    with pytest.raises(ValueError, match="not a 64-bit ELF file"):
        kernel_module._information(io.BytesIO(b"\x7fELF\x02"))


@pytest.mark.parametrize("line", ["a==9; python_version > '{}'", "a>=1.{}"])
def test_numbers_that_python_refuses(line: str) -> None:
    header = f"Name: torch\nVersion: 2\nRequires-Dist: {line.format('9' * 5000)}\n"
    assert needs_of(header, Platform("linux", "x86_64"), ("3.12",)).pins == {}
