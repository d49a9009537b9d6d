"""Archives that nobody trusts: what is good is unpacked as it is, everything else is refused with one line."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import random
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from installers.archive import BadArchive, UnsafeArchive, clean_name
from installers.digest import LoginPage
from installers.errors import InstallError
from installers.progress import Progress
from installers.unpack import Bounds, unpack
from tests.installers import trees

ROOT = Path(__file__).resolve().parents[2]


def entry(name: str, content: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def link(name: str, text: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=kind, linkname=text)


def tar(path: Path, *entries: tuple[tarfile.TarInfo, bytes], how: str = "gz") -> Path:
    with tarfile.open(path, f"w:{how}") as archive:  # type: ignore[call-overload]
        for info, content in entries:
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize("how", ["gz", "xz"])
def test_a_tar_is_unpacked_as_it_is(tmp_path: Path, how: str) -> None:
    packed = tar(
        tmp_path / "x",
        entry("./a", type=tarfile.DIRTYPE, mode=0o750, mtime=trees.NOON),
        entry("a/run", b"x" * 3_000_000, mode=0o755, mtime=trees.NOON + 1),
        entry("a/empty", mode=0o444),
        entry("a/set-user-id", b"x", mode=0o4755),
        link("a/lib.so", "../b/c/lib.so.9"),
        link("a/same", "a/run", tarfile.LNKTYPE),
        entry("b/c/lib.so.9", b"library"),
        how=how,
    )
    unpack(str(packed), str(tmp_path / "to"))
    a = tmp_path / "to/a"
    assert (a / "run").read_bytes() == b"x" * 3_000_000
    assert (stat.S_IMODE(a.stat().st_mode), a.stat().st_mtime) == (0o750, trees.NOON)
    assert (stat.S_IMODE((a / "run").stat().st_mode), (a / "run").stat().st_mtime) == (0o755, trees.NOON + 1)
    assert stat.S_IMODE((a / "set-user-id").stat().st_mode) == 0o755, "nothing runs as somebody else"
    assert os.readlink(a / "lib.so") == "../b/c/lib.so.9"
    assert (a / "lib.so").read_bytes() == b"library"
    assert (a / "same").samefile(a / "run")
    assert (a / "empty").read_bytes() == b""


def test_tar_itself_unpacks_the_same(tmp_path: Path) -> None:
    packed = trees.archive(tmp_path)
    unpack(str(packed), str(tmp_path / "ours"))
    (tmp_path / "theirs").mkdir()
    with tarfile.open(packed) as archive:
        told: dict[str, Any] = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}  # from 3.10.12, 3.11.4 on
        archive.extractall(tmp_path / "theirs", **told)
    files = [
        {str(path.relative_to(root)): (path.lstat().st_mode & 0o777, path.read_bytes()) for path in root.rglob("*.*")
         if path.is_file()}
        for root in (tmp_path / "ours", tmp_path / "theirs")
    ]  # fmt: skip
    assert files[0] == files[1]


def test_a_zip_is_unpacked_as_it_is(tmp_path: Path) -> None:
    packed = tmp_path / "x.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cuda/bin/cudnn64_9.dll", b"dll" * 500_000)
        archive.writestr("cuda/include/", b"")
        shared = zipfile.ZipInfo("cuda/link", (2024, 5, 6, 7, 8, 10))
        shared.create_system, shared.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(shared, "bin/cudnn64_9.dll")
    unpack(str(packed), str(tmp_path / "to"))
    assert (tmp_path / "to/cuda/bin/cudnn64_9.dll").read_bytes() == b"dll" * 500_000
    assert (tmp_path / "to/cuda/include").is_dir()
    assert os.readlink(tmp_path / "to/cuda/link") == "bin/cudnn64_9.dll"


@pytest.mark.parametrize("how", ["gz", "xz", "zip"])
def test_how_far_it_is_told_in_bytes_of_the_archive(tmp_path: Path, how: str) -> None:
    """What came out of it cannot be compared with its size: zeros pack to a thousandth."""
    packed = tmp_path / "x"
    noise = random.Random(1).randbytes(3 << 20)
    if how == "zip":
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros", bytes(20 << 20))
            archive.writestr("noise", noise)
    else:
        tar(packed, entry("zeros", bytes(20 << 20)), entry("noise", noise), how=how)
    told: list[Progress] = []
    unpack(str(packed), str(tmp_path / "to"), told.append)
    size_bytes = packed.stat().st_size
    assert {(one.what, one.name, one.total_bytes) for one in told} == {("extract", str(packed), size_bytes)}
    done = [one.done_bytes for one in told]
    assert done == sorted(done)
    assert 0 < done[0] < size_bytes // 2
    assert size_bytes * 9 // 10 < done[-1] <= size_bytes


HOSTILE: dict[str, tuple[tuple[tarfile.TarInfo, bytes], ...]] = {
    "climbs out": (entry("a/../../evil", b"x"),),
    "climbs and comes back": (entry("a/../b", b"x"),),
    "absolute": (entry("/tmp/evil", b"x"),),
    "drive": (entry("C:/evil", b"x"),),
    "backslash": (entry("..\\evil", b"x"),),
    "hidden stream": (entry("a:b", b"x"),),
    "control character": (entry("a\x1b[2Jb", b"x"),),
    "deep": (entry("d/" * 200 + "x", b"x"),),
    "link to the outside": (link("a", "../evil"),),
    "absolute link": (link("a", "/etc/passwd"),),
    "empty link": (link("a", ""),),
    "file through a link": (entry("d", type=tarfile.DIRTYPE), link("a", "d"), entry("a/evil", b"x")),
    "directory over a link": (entry("d", type=tarfile.DIRTYPE), link("a", "d"), entry("a", type=tarfile.DIRTYPE)),
    "chain of links": (entry("d/e", type=tarfile.DIRTYPE), link("d/e/up", "."), link("out", "d/e/up/../../../evil")),
    "chain through another link": (link("b", "d/e"), entry("d/e/f", b"x"), link("c", "b/../../x"), link("d/x", "..")),
    "link of links": (entry("1/2/3/x", b"x"), link("s", "1/2/3"), link("1/t", "../s/../../../../evil")),
    "hard link to the outside": (link("a", "../evil", tarfile.LNKTYPE),),
    "hard link to what is not there": (link("a", "b", tarfile.LNKTYPE),),
    "hard link to a link": (entry("f", b"x"), link("l", "f"), link("a", "l", tarfile.LNKTYPE)),
    "device": (entry("null", type=tarfile.CHRTYPE, devmajor=1, devminor=3),),
    "block device": (entry("disk", type=tarfile.BLKTYPE),),
    "pipe": (entry("pipe", type=tarfile.FIFOTYPE),),
    "twice": (entry("a", b"x"), entry("./a", b"y")),
    "file over a directory": (entry("a", type=tarfile.DIRTYPE), entry("a", b"x")),
    "below a file": (entry("a", b"x"), entry("a/b", b"x")),
    "the root as a file": (entry(".", b"x"),),
    "the root as a link": (link("./", ".."),),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tars_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "in/some").mkdir(parents=True)
    packed = tar(tmp_path / "x.tar.gz", *HOSTILE[name])
    with pytest.raises(UnsafeArchive) as caught:
        unpack(str(packed), str(tmp_path / "in/some/to"))
    assert "\n" not in str(caught.value)
    assert str(caught.value).isprintable()
    assert not list(tmp_path.rglob("evil"))
    assert sorted(os.listdir(tmp_path / "in")) == ["some"]


@pytest.mark.parametrize("name", ["../evil", "/evil", "a\\..\\..\\evil", "C:evil", "a/../../evil", "a\0b"])
def test_hostile_zips_are_refused(tmp_path: Path, name: str) -> None:
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = name
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(info, b"x")
    with pytest.raises((UnsafeArchive, BadArchive)):
        unpack(str(tmp_path / "x.zip"), str(tmp_path / "to"))
    assert not list(tmp_path.rglob("evil"))


@pytest.mark.parametrize(("kind", "error"), [(stat.S_IFCHR, UnsafeArchive), (stat.S_IFLNK, UnsafeArchive)])
def test_odd_things_in_a_zip_are_refused(tmp_path: Path, kind: int, error: type[Exception]) -> None:
    info = zipfile.ZipInfo("x")
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(info, b"/etc/passwd")
    with pytest.raises(error):
        unpack(str(tmp_path / "x.zip"), str(tmp_path / "to"))


def page(path: Path) -> Path:
    path.write_bytes(b"\n<!DOCTYPE html><html><title>Log in</title>")
    return path


def cut(path: Path) -> Path:
    whole = trees.archive(path.parent).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def cut_gzip(path: Path) -> Path:
    whole = tar(path, entry("a", os.urandom(100_000))).read_bytes()
    path.write_bytes(whole[:50_000])
    return path


def flipped(path: Path) -> Path:
    whole = bytearray(tar(path, entry("a", os.urandom(100_000))).read_bytes())
    whole[50_000] ^= 16
    path.write_bytes(whole)
    return path


def other(path: Path) -> Path:
    path.write_bytes(b"\x7fELF" + bytes(100))
    return path


def empty(path: Path) -> Path:
    path.write_bytes(b"")
    return path


def not_a_tar(path: Path) -> Path:
    path.write_bytes(gzip.compress(b"plain text, much longer than a header " * 100))
    return path


def greedy_header(path: Path) -> Path:
    """A long name that claims 1 GiB."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20)))
    return path


def greedy_xz(path: Path) -> Path:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    path.write_bytes(lzma.compress(bytes(100), filters=filters))
    return path


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (page, LoginPage),
        (cut, BadArchive),
        (cut_gzip, BadArchive),
        (flipped, BadArchive),
        (other, BadArchive),
        (empty, BadArchive),
        (not_a_tar, BadArchive),
        (greedy_header, UnsafeArchive),
        (greedy_xz, BadArchive),
    ],
)
def test_what_is_no_archive(tmp_path: Path, make: Callable[[Path], Path], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        unpack(str(make(tmp_path / "cudnn.tgz")), str(tmp_path / "to"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        (Bounds(total_bytes=1 << 20), "more than 1048576 bytes"),
        (Bounds(free_bytes=1 << 20, ratio=10), "bytes"),
        (Bounds(entries=10), "more than 10 entries"),
    ],
)
def test_bombs(tmp_path: Path, bounds: Bounds, says: str) -> None:
    packed = tar(tmp_path / "x", entry("zeros", bytes(30 << 20)), *(entry(f"d/{number}") for number in range(20)))
    with pytest.raises(UnsafeArchive, match=says):
        unpack(str(packed), str(tmp_path / "to"), bounds=bounds)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < 40 << 20


def test_a_zip_that_lies_about_its_size(tmp_path: Path) -> None:
    packed = tmp_path / "x.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(30 << 20))
    with pytest.raises(UnsafeArchive):
        unpack(str(packed), str(tmp_path / "to"), bounds=Bounds(free_bytes=1 << 20, ratio=10))


@pytest.mark.parametrize("how", ["gz", "xz"])
def test_memory_stays_small(tmp_path: Path, how: str) -> None:
    """96 MiB unpack in a process that has at most 64 MiB; VmHWM, as the other counts what forked it, too."""
    block = os.urandom(1 << 16)
    with tarfile.open(
        tmp_path / "x", f"w:{how}", **({"preset": 1} if how == "xz" else {"compresslevel": 1})
    ) as archive:  # type: ignore[call-overload]
        info = tarfile.TarInfo("big")
        info.size = 96 << 20
        archive.addfile(info, Repeated(block, info.size))
    script = (
        "import sys; from installers.unpack import unpack; unpack(*sys.argv[1:]);"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    arguments = [sys.executable, "-c", script, str(tmp_path / "x"), str(tmp_path / "to")]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 64 << 10, "KiB"
    assert (tmp_path / "to/big").stat().st_size == 96 << 20


class Repeated(io.RawIOBase):
    """A block again and again."""

    def __init__(self, block: bytes, size_bytes: int) -> None:
        self._block = block
        self._left_bytes = size_bytes

    def read(self, size: int = -1) -> bytes:
        part = (self._block * (size // len(self._block) + 1))[: min(size, self._left_bytes)]
        self._left_bytes -= len(part)
        return part


def damaged(data: bytes, chance: random.Random) -> bytes:
    """A few bytes overwritten, cut out or put in."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(found))
        what = chance.randrange(4)
        if what == 0:
            found[at] = chance.randrange(256)
        elif what == 1:
            found[at : at + chance.randrange(1, 64)] = b""
        elif what == 2:
            found[at:at] = chance.randbytes(chance.randrange(1, 64))
        else:
            found[at : at + 8] = chance.choice((b"\xff" * 8, b"7" * 8, bytes(8), b"../../x/", b"/etc/x/y"))
        if not found:
            break
    return bytes(found)


@pytest.mark.parametrize("kind", ["tar", "gz", "xz", "zip"])
def test_damaged_archives_end_in_one_line(tmp_path: Path, kind: str) -> None:
    """Random damage; for "tar" before it is packed, so that checksums of the compression do not hide it."""
    packed = trees.archive(tmp_path, library=b"x" * 3000)
    with tarfile.open(packed) as archive:
        entries = [(info, archive.extractfile(info)) for info in archive]
        contents = [(info, file.read() if file else b"") for info, file in entries]
    good = {"xz": packed.read_bytes, "gz": tar(tmp_path / "g", *contents).read_bytes}
    good["tar"] = tar(tmp_path / "t", *contents, how="").read_bytes
    with zipfile.ZipFile(tmp_path / "z", "w", zipfile.ZIP_DEFLATED) as zipped:
        for info, content in contents:
            zipped.writestr(info.name, content)
    good["zip"] = (tmp_path / "z").read_bytes
    whole, chance = good[kind](), random.Random(kind)
    (tmp_path / "in").mkdir()
    for number in range(150):
        data = damaged(whole, chance)
        (tmp_path / "x").write_bytes(gzip.compress(data, 1) if kind == "tar" else data)
        with contextlib.suppress(InstallError):  # damage may also lie where nobody looks
            unpack(str(tmp_path / "x"), str(tmp_path / "in" / str(number)))
    assert sorted(os.listdir(tmp_path)) == sorted(["in", "g", "t", "z", "x", packed.name])
    assert {path.name for path in (tmp_path / "in").iterdir()} <= {str(number) for number in range(150)}


def test_names_are_cleaned() -> None:
    assert clean_name("./a//b/./c/") == "a/b/c"
    assert clean_name("./") == ""
