"""Disk images say what `--root` says of the tree; damaged ones end with one line, others with what to type."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from pathlib import Path
from random import Random

import pytest

from doctor.commands.check.command import CheckSubject
from doctor.image import Damaged, ImageError
from doctor.image.crc32c import START, crc32c
from doctor.image.disk import Disk
from doctor.image.ext import read_ext
from doctor.image.host import ImageHost
from doctor.image.opened import ImageRequest, open_image
from doctor.image.stream import Tally
from tests.image.pack import ext, gpt, mbr, sif
from tests.image.test_agreement import OFFLINE, said
from tests.lab.case import Case

SYSTEM: dict[str, bytes | str] = {"etc/os-release": b"ID=debian\n", "usr/lib/x": b"x" * 5000, "lib": "usr/lib"}
KINDS = ("-t ext4", "-t ext2 -b 1024", "-t ext3", "-t ext4 -O ^64bit,^extents", "-t ext4 -O casefold -I 512 -b 1024")


def opened(path: Path, name: str = "") -> ImageHost:
    return ImageHost(open_image(ImageRequest(f"{path}:{name}" if name else str(path))))


def made(tree: Path, file: Path, options: str, mib: int = 16) -> Path:
    """As mke2fs packs a directory, and e2fsck makes trees of its large directories."""
    subprocess.run(["mke2fs", "-q", "-F", *options.split(), "-d", str(tree), str(file), f"{mib}M"], check=True)
    subprocess.run(["e2fsck", "-fyD", str(file)], check=False, capture_output=True)
    return file


@pytest.mark.system
@pytest.mark.parametrize("case", OFFLINE[::12], ids=lambda case: case.name)
@pytest.mark.parametrize("options", KINDS[:3])
def test_the_findings_are_those_of_the_tree(case: Case, options: str, tmp_path: Path) -> None:
    tree = case.build(tmp_path / "tree")
    expected = said(CheckSubject(root=str(tree)), str(tree))
    file = made(tree, tmp_path / "disk.img", options, 200)
    assert said(CheckSubject(image=str(file)), str(file)) == expected


@pytest.mark.parametrize(
    ("content", "total"), [(bytes(32), 0x8A9136AA), (bytes(range(32)), 0x46DD794E), (b"123456789", 0xE3069283)]
)
def test_the_sum_is_crc32c(content: bytes, total: int) -> None:
    """The vectors of RFC 3720, appendix B.4."""
    assert crc32c(START, content) ^ START == total
    assert crc32c(crc32c(START, content[:5]), content[5:]) ^ START == total


@pytest.mark.system
@pytest.mark.parametrize("options", ["-t ext4 -b 1024", "-t ext4 -b 1024 -O ^64bit,metadata_csum_seed -I 128"])
def test_no_bit_of_what_is_read_changes_unseen(options: str, tmp_path: Path) -> None:
    """It is refused, or what was said of the files is the same: the content of files is what has no checksum."""
    tree = tmp_path / "tree"
    (tree / "many").mkdir(parents=True)
    for number in range(60):
        (tree / "many" / f"a long name, number {number}").write_bytes(b"%d" % number)
    (tree / "short").symlink_to("many")
    with (tree / "pieces").open("wb") as stream:
        for number in range(8):  # more than an inode has room for
            stream.seek(number * 8192)
            stream.write(b"x" * 1024)
    file = made(tree, tmp_path / "disk.img", options, 1)
    whole = file.read_bytes()
    before = read_ext(Disk(str(file)), "disk", 0, Tally()).entries
    random = Random(18)
    seen = 0
    for place in random.sample([at for at, byte in enumerate(whole) if byte], 400):
        changed = bytearray(whole)
        changed[place] ^= 1 << random.randrange(8)
        file.write_bytes(changed)
        try:
            assert read_ext(Disk(str(file)), "disk", 0, Tally()).entries == before, place
        except (Damaged, ImageError):
            seen += 1
    assert seen > 50


@pytest.mark.system
@pytest.mark.parametrize("options", KINDS)
def test_files_are_those_of_the_tree(options: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    many = {f"a long name, number {number}": b"%d" % number for number in range(400)}
    odd = ["new\nline", "back\\slash", "x" * 255]
    (tree / "many").mkdir(parents=True)
    for name, content in {**many, **dict.fromkeys(odd, b"odd")}.items():
        (tree / "many" / name).write_bytes(content)
    (tree / os.fsdecode(b"\xff\x01")).write_bytes(b"no text")
    (tree / "big").write_bytes(os.urandom(2 << 20))
    with (tree / "sparse").open("wb") as file:
        file.write(b"begin")
        file.seek(2 << 20)
        file.write(b"end")
        file.truncate(3 << 20)
    os.link(tree / "big", tree / "again")
    (tree / "short").symlink_to("many/../big")
    (tree / "long").symlink_to("a/" * 300)
    os.mkfifo(tree / "pipe")
    (tree / "big").chmod(0o4711)
    host = opened(made(tree, tmp_path / "disk.img", options))
    assert set(host.names("/many")) == {*many, *odd}
    assert all(host.read_bytes(f"/many/{name}") == content for name, content in many.items())
    for name in ("big", "sparse", "again", os.fsdecode(b"\xff\x01"), "short"):
        assert host.read_bytes(f"/{name}") == (tree / name).read_bytes(), name
    assert host.status("/again").inode == host.status("/big").inode
    assert (host.status("/big").mode, host.status("/big").mtime) == (0o4711, int((tree / "big").stat().st_mtime))
    assert (host.link_target("/short"), host.link_target("/long")) == ("many/../big", "a/" * 300)
    assert host.status("/pipe").kind == "other"


@pytest.mark.parametrize("pack", [bytes, mbr, gpt, lambda one: gpt(one, sector=4096), lambda one: sif(one, kind=2)])
def test_where_it_lies(pack: object, tmp_path: Path) -> None:
    (tmp_path / "disk").write_bytes(pack(ext(SYSTEM)))  # type: ignore[operator]
    host = opened(tmp_path / "disk")
    assert host.read_bytes("/etc/os-release") == b"ID=debian\n"
    assert host.read_bytes("/lib/x") == b"x" * 5000
    assert host.image.tally.unpacked_bytes == host.image.spool.size_bytes == 0


def test_the_system_is_found_among_partitions(tmp_path: Path) -> None:
    boot, swap = ext({"grub/grub.cfg": b""}), bytes(4086) + b"SWAPSPACE2"
    path = tmp_path / "disk.img"
    path.write_bytes(mbr(boot, ext(SYSTEM), swap))
    assert opened(path).is_file("/etc/os-release")
    assert opened(path, "1").is_file("/grub/grub.cfg")
    with pytest.raises(ImageError, match=r"no ext4 partition 3 \(1 ext4, 2 ext4, 3 swap\)"):
        opened(path, "3")
    path.write_bytes(gpt(ext(SYSTEM), ext(SYSTEM)))
    with pytest.raises(ImageError, match=r"several systems; name a partition, .*disk.img:NUMBER: 2 ext4, 3 ext4"):
        opened(path)
    path.write_bytes(gpt(b"XFSB".ljust(4096, b"\0")))
    with pytest.raises(ImageError, match=r"\(2 XFS\)\. Mount XFS of partition 2 read-only: sudo .*&& gpudoctor check"):
        opened(path)


FILE_SYSTEMS = {
    "XFS": b"XFSB".ljust(8192, b"\0"),
    "btrfs": bytes(0x10040) + b"_BHRfS_M" + bytes(4096),
    "NTFS": b"\xeb\x52\x90NTFS    ".ljust(510, b"\0") + b"\x55\xaa" + bytes(4096),
    "LVM": bytes(512) + b"LABELONE" + bytes(4096),
    "LUKS": b"LUKS\xba\xbe" + bytes(4096),
}


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_what_is_not_read_names_the_commands_that_mount_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The offset leads to the file system; every command leaves the image as it is."""
    monkeypatch.setenv("PATH", str(tmp_path))  # without libguestfs
    path = tmp_path / "a disk.img"
    for content in (FILE_SYSTEMS[kind], gpt(FILE_SYSTEMS[kind])):
        path.write_bytes(content)
        with pytest.raises(ImageError) as raised:
            opened(path)
        text = str(raised.value)
        assert f"'{path}'" in text
        assert text.endswith(("gpudoctor check --root /mnt", "(Fedora: --root /mnt/root)"))
        assert "-o ro" in text or "--read-only" in text
        if found := re.search(r"offset=(\d+),sizelimit=(\d+)", text):
            begin = content[int(found[1]) :][: int(found[2])]
            assert begin.startswith(FILE_SYSTEMS[kind][:512])


@pytest.mark.parametrize(
    ("start", "kind"),
    [(b"QFI\xfb", "qcow2"), (b"vhdxfile", "VHDX"), (b"KDMV", "VMDK"), (b"# Disk DescriptorFile", "VMDK")],
)
def test_images_of_virtual_machines(start: bytes, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "disk"
    path.write_bytes(start.ljust(4096, b"\0"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageError, match=rf"is a {kind} image: .*qemu-nbd --read-only --connect=/dev/nbd0 {path}"):
        opened(path)
    tool = tmp_path / "guestmount"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    with pytest.raises(ImageError, match=rf"sudo guestmount -a {path} -i --ro /mnt && gpudoctor check --root /mnt$"):
        opened(path)


def spoilt(place: int, *values: int, form: str = "<I", content: bytes = b"") -> bytes:
    found = bytearray(content or ext(SYSTEM))
    struct.pack_into(form * 1, found, place, *values)
    return bytes(found)


ROOT = 3 * 1024 + 128  # its inode
DAMAGED = {
    "cut short": ext(SYSTEM)[:-1024],
    "blocks of no size": spoilt(1024 + 24, 40),
    "groups of nothing": spoilt(1024 + 40, 0),
    "inodes of nothing": spoilt(1024 + 88, 0),
    "a table elsewhere": spoilt(2048 + 8, 1 << 30),
    "a map elsewhere": spoilt(ROOT + 40 + 20, 1 << 30),
    "a map in itself": spoilt(ROOT + 40, 0xF30A, 1, 4, 5, form="<4H"),
    "a map of other numbers": spoilt(ROOT + 40, 0),
    "records of nothing": spoilt(12 * 1024 + 4, 0, form="<H"),
    "a name that leads up": ext({"a/b": b""}).replace(b"\1\0a", b"\1\0\0"),
    "a name with a slash": ext({"ab": b""}).replace(b"ab\0", b"a/\0"),
    "a directory in itself": spoilt(12 * 1024 + 24, 2, content=ext({"a/b": b""})),
    "an inode of none": spoilt(12 * 1024 + 24, 60),
    "an inode behind all": spoilt(12 * 1024 + 24, 65),
    "partitions elsewhere": mbr(ext(SYSTEM))[:-2048],
    "no GPT": gpt(ext(SYSTEM)).replace(b"EFI PART", b"EFI NONE"),
    "partitions without end": gpt(ext(SYSTEM)).replace(
        struct.pack("<QII", 2, 2, 128), struct.pack("<QII", 2, 1 << 30, 128)
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(DAMAGED[name])
    with pytest.raises(Damaged) as raised:
        opened(tmp_path / "disk.img")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("features", "says"),
    [(0x46, "its journal waits: mount it, then look: sudo mount -o ro,loop,noload "), (0x8042, r"not read \(0x8000\)")],
)
def test_what_is_not_read_is_mounted(features: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(ext(SYSTEM, features))
    with pytest.raises(ImageError, match=says):
        opened(tmp_path / "disk.img")


def test_a_disk_of_much_nothing(tmp_path: Path) -> None:
    """10 TB that nobody wrote, as a sparse file: only what is there is read."""
    (tmp_path / "disk.img").write_bytes(mbr(ext(SYSTEM)))
    os.truncate(tmp_path / "disk.img", 10 << 40)
    assert opened(tmp_path / "disk.img").image.tally.read_bytes < 1 << 20
