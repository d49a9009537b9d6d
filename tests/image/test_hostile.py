"""Hostile and damaged images: nothing is written outside, nothing hangs, and each ends with one clear line."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import struct
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from doctor.host import Missing
from doctor.image import Damaged, ImageError
from doctor.image.host import ImageHost
from doctor.image.opened import ImageRequest, open_image
from tests.image.pack import config_of, digest, docker, encodings, in_folder, oci, tar_with, zstd


def host_of(content: bytes, folder: Path, name: str = "image.tar") -> ImageHost:
    path = folder / name
    path.write_bytes(content)
    return ImageHost(open_image(ImageRequest(str(path))))


def layered(*layers: bytes, folder: Path) -> ImageHost:
    return host_of(tar_with(oci([*layers], config_of([*layers]))), folder)


@pytest.fixture(autouse=True)
def _nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """No file appears beside the image, nor where the temporary files of this process lie."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    yield
    assert not list(scratch.iterdir())
    assert not (tmp_path.parent / "evil").exists()


def test_names_never_leave_the_root(tmp_path: Path) -> None:
    content = tar_with({"../../evil": b"1", "/etc/evil": b"2", "a/../../b": b"3", "out": "/", "out/c": b"4"})
    host = host_of(content, tmp_path)
    assert [host.read_bytes(path) for path in ("/evil", "/etc/evil", "/b", "/c", "/out/c")] == [
        *(b"1", b"2", b"3", b"4", b"4")
    ]
    assert host.real_path("/out/../../../c") == "/c"


def test_a_hard_link_to_nothing_is_damage(tmp_path: Path) -> None:
    content = tar_with({"passwd": "../../etc/passwd"}, {"passwd": tarfile.LNKTYPE})
    with pytest.raises(Damaged, match="hard link"):
        host_of(content, tmp_path)


def test_another_name_of_a_file_below_is_of_its_own_layer(tmp_path: Path) -> None:
    """umoci and containerd make the link before the whiteouts of its layer take away what is below."""
    below = tar_with({"lib/a": b"a", "new/b": b"b"})
    above = tar_with({"new/c": "lib/a", "new/.wh..wh..opq": b"", ".wh.lib": b""}, {"new/c": tarfile.LNKTYPE})
    host = layered(below, above, folder=tmp_path)
    assert (host.names("/new"), host.names("/"), host.read_bytes("/new/c")) == (("c",), ("new",), b"a")


@pytest.mark.parametrize("size", ["-1", "-512", "-1024", "-99999999"])
@pytest.mark.parametrize("packing", ["", "gzip"])
def test_a_size_below_nothing_leads_nobody_back(size: str, packing: str, tmp_path: Path) -> None:
    """tarfile takes it from a pax header, and would read the same header again and again."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("etc/x")
        info.size, info.pax_headers = 3, {"size": size}
        tar.addfile(info, io.BytesIO(b"abc"))
    content = file.getvalue()
    with pytest.raises(Damaged, match=r"^blobs/sha256/\w+: a damaged tar header"):
        host_of(tar_with(oci([content], config_of([content]), packing)), tmp_path)


def test_devices_are_no_files(tmp_path: Path) -> None:
    content = tar_with(
        {"dev/watchdog": "", "dev/pipe": ""}, {"dev/watchdog": tarfile.CHRTYPE, "dev/pipe": tarfile.FIFOTYPE}
    )
    host = host_of(content, tmp_path)
    assert host.status("/dev/watchdog").kind == "other"
    assert not host.is_file("/dev/pipe")


@pytest.mark.parametrize("packing", ["", "gzip"])
def test_layers_lie_over_one_another(packing: str, tmp_path: Path) -> None:
    below = tar_with({"lib/a": b"a", "lib/b": b"b", "old/x": b"x", "dir/f": b"f", "link": "dir", "app/one": b"1"})
    above = tar_with(
        {
            "lib/.wh.a": b"", "lib/.wh...": b"", "lib/c": b"c", "old/y": b"y", "old/.wh..wh..opq": b"",
            "link/g": b"g", "dir/f": "../lib/b", "app": "dir", ".wh.app": b"",
        }
    )  # fmt: skip
    top = tar_with({"again": "lib/b", "dir": b"now a file"}, {"again": tarfile.LNKTYPE})
    files = oci([below, above, top], config_of([below, above, top]), packing)
    host = ImageHost(open_image(ImageRequest(str(in_folder(files, tmp_path / "layout")))))
    assert host.names("/lib") == ("b", "c")
    assert host.names("/old") == ("y",)
    assert host.read_bytes("/again") == b"b"
    assert host.status("/again").inode == host.status("/lib/b").inode
    assert host.read_bytes("/dir") == b"now a file"
    assert host.link_target("/app") == "dir"
    assert host.layer_of("/lib/c") == 2
    with pytest.raises(Missing):
        host.status("/lib/a")


def test_a_whiteout_spares_its_own_layer(tmp_path: Path) -> None:
    above = tar_with({"d/new": b"new", ".wh.d": b"", "e": b"mine", ".wh.e": b""})
    host = layered(tar_with({"d/old": b"old", "e": b"theirs"}), above, folder=tmp_path)
    assert host.names("/d") == ("new",)
    assert host.read_bytes("/e") == b"mine"


def test_a_root_tar_has_no_whiteouts(tmp_path: Path) -> None:
    assert host_of(tar_with({"a": b"a", ".wh.a": b""}), tmp_path).names("/") == (".wh.a", "a")


LAYER = tar_with({"etc/os-release": b"ID=debian\n", "big": os.urandom(200_000)})
GOOD = oci([LAYER], config_of([LAYER]))
BLOB = next(name for name, content in GOOD.items() if content[:2] == b"\x1f\x8b")


def spoiled(change: Callable[[dict[str, bytes]], object]) -> bytes:
    files = dict(GOOD)
    change(files)
    return tar_with(files)


def _manifest(files: dict[str, bytes], change: Callable[[dict[str, object]], None]) -> None:
    """Change the manifest, and what leads to it."""
    index = json.loads(files["index.json"])
    name = f"blobs/sha256/{index['manifests'][0]['digest'][7:]}"
    said = json.loads(files.pop(name))
    change(said)
    content = json.dumps(said).encode()
    files[f"blobs/sha256/{digest(content)[7:]}"] = content
    index["manifests"][0]["digest"] = digest(content)
    files["index.json"] = json.dumps(index).encode()


def _cyclic(files: dict[str, bytes]) -> None:
    """An index whose blob is an index that leads on and on; a true circle of digests nobody can make."""
    inner = json.loads(files["index.json"])
    for _ in range(20):
        content = json.dumps(inner).encode()
        files[f"blobs/sha256/{digest(content)[7:]}"] = content
        inner = {"manifests": [{"digest": digest(content)}]}
    files["index.json"] = json.dumps(inner).encode()


def _config(files: dict[str, bytes]) -> str:
    return next(name for name, content in files.items() if b'"rootfs"' in content)


DAMAGED = {
    "cut short": spoiled(lambda files: files.update({BLOB: files[BLOB][:-100]})),
    "wrong CRC": spoiled(lambda files: files.update({BLOB: files[BLOB][:-8] + b"12345678"})),
    "other bytes": spoiled(lambda files: files.update({BLOB: gzip.compress(tar_with({"x": b""}))})),
    "no layer": spoiled(lambda files: files.pop(BLOB)),
    "config of another digest": spoiled(lambda files: files.update({_config(files): b"{}"})),
    "no JSON": spoiled(lambda files: files.update({"index.json": b"[" * 100_000})),
    "a list": spoiled(lambda files: files.update({"index.json": b"[]"})),
    "a digest that is a path": spoiled(
        lambda files: files.update({"index.json": b'{"manifests": [{"digest": "sha256:../../../etc/passwd"}]}'})
    ),
    "deep indexes": spoiled(_cyclic),
    "many layers": spoiled(lambda files: _manifest(files, lambda said: said.update(layers=said["layers"] * 1000))),  # type: ignore[operator]
    "layers that are no list": spoiled(lambda files: _manifest(files, lambda said: said.update(layers={"a": 1}))),
    "tar cut short": tar_with({"a": b"x" * 5000})[:3000],
    "gzip cut short": gzip.compress(LAYER)[:-50_000],
    "gzip of no tar": gzip.compress(b"hello" * 1000),
    ": that is not an image": b"MZ" + b"\0" * 5000,
    "empty": b"",
    "squashfs": b"hsqs" + b"\0" * 2000,
    "SIF": b"#!/usr/bin/env run-singularity\n\0" + b"SIF_MAGIC\0" + b"\0" * 2000,
    "ext4": b"\0" * 1080 + b"\x53\xef" + b"\0" * 2000,
    "qcow2": b"QFI\xfb" + b"\0" * 2000,
    "manifest of docker that lists numbers": tar_with({"manifest.json": b"[1, 2]"}),
    "docker without its layer": tar_with(
        {name: content for name, content in docker([LAYER], config_of([LAYER])).items() if "layer.tar" not in name}
    ),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_damage_is_one_line(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(ImageError) as raised:
        host_of(content, tmp_path)
    assert 10 < len(str(raised.value)) < 500


@pytest.mark.system
def test_damage_in_zstd(tmp_path: Path) -> None:
    content = zstd(LAYER)
    for spoilt in (content[:-50_000], content[:100_000] + b"\0" + content[100_001:]):
        with pytest.raises(Damaged, match=r"zstd data is (damaged|cut short)"):
            host_of(spoilt, tmp_path)


def test_the_good_one_is_read(tmp_path: Path) -> None:
    assert host_of(tar_with(GOOD), tmp_path).read_bytes("/etc/os-release") == b"ID=debian\n"


def test_several_images_are_listed(tmp_path: Path) -> None:
    first, second = (config_of([LAYER], {"A": letter}) for letter in "ab")
    files = {**docker([LAYER], first), **docker([LAYER], second)}
    both = [
        json.loads(docker([LAYER], config, (name,))["manifest.json"])[0]
        for config, name in ((first, "a:1"), (second, "b:2"))
    ]
    path = tmp_path / "both.tar"
    path.write_bytes(tar_with({**files, "manifest.json": json.dumps(both).encode()}))
    with pytest.raises(ImageError, match="a:1; b:2"):
        open_image(ImageRequest(str(path)))
    assert open_image(ImageRequest(f"{path}:b:2")).config.environ["A"] == "b"
    with pytest.raises(ImageError, match="holds no image c"):
        open_image(ImageRequest(f"{path}:c"))


def _client(folder: Path, name: str, script: str) -> None:
    """A command line client of a store; the daemon behind it is no part of what is tested."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for a client is a shell script")
def test_a_store_streams_its_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "saved.tar").write_bytes(tar_with(docker([LAYER], config_of([LAYER]))))
    _client(folder, "docker", f'test "$1 $2" = "save app:latest" && cat {tmp_path}/saved.tar')
    _client(folder, "podman", "echo 'no such image' >&2; exit 125")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    host = ImageHost(open_image(ImageRequest("docker:app:latest")))
    assert host.read_bytes("/etc/os-release") == b"ID=debian\n"
    with pytest.raises(ImageError, match="podman save app: no such image"):
        open_image(ImageRequest("podman:app"))
    with pytest.raises(ImageError, match="no image has such a name"):
        open_image(ImageRequest("docker:--help"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageError, match="docker save app > image"):
        open_image(ImageRequest("docker:app"))
    with pytest.raises(ImageError, match="ctr images export /dev/stdout app"):
        open_image(ImageRequest("containerd:app"))


def test_platforms(tmp_path: Path) -> None:
    files, listed = {}, []
    for arch in ("amd64", "arm64", "unknown"):
        config = config_of([LAYER], {"ARCH": arch}).replace(b'"amd64"', f'"{arch}"'.encode(), 1)
        made = oci([LAYER], config)
        one = json.loads(made.pop("index.json"))["manifests"][0]
        listed.append(
            {**one, "annotations": {}, "platform": {"os": "linux" if arch != "unknown" else arch, "architecture": arch}}
        )
        files.update(made)
    path = in_folder({**files, "index.json": json.dumps({"manifests": listed}).encode()}, tmp_path / "layout")
    assert open_image(ImageRequest(str(path), "linux/arm64")).config.environ["ARCH"] == "arm64"
    with pytest.raises(ImageError, match="--platform"):
        open_image(ImageRequest(str(path), "linux/riscv64"))


VARIANTS = ("arm/v6", "arm/v7", "amd64", "amd64/v3", "arm64/v8", "s390x/v" + "9" * 5000)


@pytest.mark.parametrize(
    ("there", "asked", "chosen"),
    [
        (VARIANTS, "arm/v7", "arm/v7"),
        (VARIANTS, "arm/v6", "arm/v6"),
        (VARIANTS, "arm", "arm/v7"),
        (VARIANTS, "arm/v8", "arm/v7"),  # the best that runs there
        (VARIANTS, "arm/v5", ""),
        (VARIANTS, "amd64", "amd64"),
        (VARIANTS, "amd64/v2", "amd64"),
        (VARIANTS, "x86_64/v3", "amd64/v3"),
        (VARIANTS, "arm64", "arm64/v8"),
        (VARIANTS, "aarch64/v8", "arm64/v8"),
        (VARIANTS, "s390x", VARIANTS[-1]),
        (("arm64", "arm/v7"), "arm64/v8", "arm64"),
        (("amd64/v2", "arm64"), "amd64", "amd64/v2"),
    ],
)
def test_variants_of_a_machine(there: tuple[str, ...], asked: str, chosen: str, tmp_path: Path) -> None:
    files, listed = {}, []
    for one in there:
        made = oci([LAYER], config_of([LAYER], {"MADE_FOR": one}))
        [entry] = json.loads(made.pop("index.json"))["manifests"]
        machine, _, variant = one.partition("/")
        told = {"os": "linux", "architecture": machine, **({"variant": variant} if variant else {})}
        listed.append({**entry, "annotations": {}, "platform": told})
        files.update(made)
    path = in_folder({**files, "index.json": json.dumps({"manifests": listed}).encode()}, tmp_path / "layout")
    request = ImageRequest(str(path), f"linux/{asked}")
    if chosen:
        assert open_image(request).config.environ["MADE_FOR"] == chosen
        return
    with pytest.raises(ImageError, match=r"no image for linux/arm/v5; it has .*linux/arm/v6, linux/arm/v7"):
        open_image(request)


def test_members_of_gzip_follow_one_another(tmp_path: Path) -> None:
    content = gzip.compress(LAYER[:700]) + gzip.compress(LAYER[700:]) + b"\0" * 512
    assert host_of(content, tmp_path).status("/big").size_bytes == 200_000


def zeros() -> bytes:
    info = tarfile.TarInfo("zeros")
    info.size = 64 << 20
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        file.write(info.tobuf())
        for _ in range(64):
            file.write(bytes(1 << 20))
        file.write(bytes(1024))
    return packed.getvalue()


def test_zeros_are_read_and_not_kept(tmp_path: Path) -> None:
    """64 MiB of zeros: neither memory nor temporary space holds it."""
    started = time.monotonic()
    image = open_image(ImageRequest(str(_file(tmp_path, zeros()))))
    assert image.spool.size_bytes < 1 << 20
    assert ImageHost(image).status("/zeros").size_bytes == 64 << 20
    assert time.monotonic() - started < 60


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "zeros.tar.gz"
    path.write_bytes(content)
    return path


def test_absurd_headers(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 10 << 30
    with pytest.raises(ImageError, match="header"):
        host_of(info.tobuf(tarfile.USTAR_FORMAT if info.size < 8 << 30 else tarfile.GNU_FORMAT) + bytes(2048), tmp_path)


def test_strange_names(tmp_path: Path) -> None:
    names = ["a\nb", "\x1b[31mred", "\udcff", "x" * 3000]
    host = host_of(tar_with({f"d/{name}": b"" for name in names}), tmp_path)
    assert len(host.names("/d")) == 4
    with pytest.raises(Damaged, match="name"):
        host_of(tar_with({"y/" * 3000: b""}), tmp_path)


def test_many_files(tmp_path: Path) -> None:
    started = time.monotonic()
    host = host_of(gzip.compress(tar_with({f"d/{number:06}": b"" for number in range(3_000)}), 1), tmp_path)
    assert len(host.names("/d")) == 3_000
    assert time.monotonic() - started < 30


def test_windows_of_an_encoding(tmp_path: Path) -> None:
    """What streams by is kept where it is asked for later, and what is not is said so."""
    content = tar_with({"etc/x": b"x" * 100_000, "code.py": b"y" * 100_000})
    images = encodings([content], config_of([content]), tmp_path / "images")
    for kind, path in images.items():
        host = ImageHost(open_image(ImageRequest(str(path))))
        assert len(host.read_bytes("/etc/x")) == 100_000, kind
        assert host.status("/code.py").size_bytes == 100_000


@pytest.mark.parametrize("packing", ["", "gzip"])
def test_a_last_file_that_is_not_filled_up(packing: str, tmp_path: Path) -> None:
    """As `umoci insert` writes a layer; Go's reader takes it, too."""
    content = tar_with({"etc/a": b"abc"})[:515]

    def host(layer: bytes) -> ImageHost:
        return host_of(tar_with(oci([layer], config_of([layer]), packing)), tmp_path)

    assert host(content).read_bytes("/etc/a") == b"abc"
    with pytest.raises(Damaged):
        host(content[:-1])


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_root_tar_that_is_cut_short_between_two_files(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """No digest speaks of it: what a full disk or a killed `docker export` leaves was a smaller image, and healthy."""
    content = tar_with({"etc/a": b"abc", "etc/b": b"abc"})
    assert host_of(pack(content[: 4 * 512 + 512]), tmp_path).names("/etc") == ("a", "b")
    for size in (2 * 512, 2 * 512 - 100, 4 * 512):
        with pytest.raises(Damaged, match="cut short"):
            host_of(pack(content[:size]), tmp_path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("zeros", [1, 2, 8])
def test_zeros_in_the_place_of_a_header(zeros: int, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """What a bad sector leaves hides nothing; what is no header may stand behind the end."""
    content = tar_with({"etc/a": b"abc", "etc/b": b"b" * 512 * zeros, "etc/c": b"abc"})
    spoilt = content[: 2 * 512] + bytes(zeros * 512) + content[(2 + zeros) * 512 :]
    with pytest.raises(Damaged, match=r"behind (the zeros|them)"):
        host_of(pack(spoilt), tmp_path)
    assert host_of(pack(content + b"x" * 1024), tmp_path).names("/etc") == ("a", "b", "c")


@pytest.mark.parametrize("number", [b"0000_000003", b"+0000000003", b"-0000000003", b"0o000000003", b"00000000 3"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_number_that_docker_refuses(number: bytes, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """Python's int() takes them; GNU's tar and Go's archive/tar take digits."""
    content = bytearray(tar_with({"a": b"abc"}))
    content[124:136] = number.ljust(12, b"\0")
    content[148:156] = b"%06o\0 " % (sum(content[:148]) + sum(content[156:512]) + 256)
    with pytest.raises(Damaged, match="header"):
        host_of(pack(bytes(content)), tmp_path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_device_of_any_size(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """Of base 256 a size may be larger than any place in a file."""
    content = bytearray(tar_with({"dev": "", "etc/a": b"abc"}, {"dev": b"9"}))
    content[124:136] = b"\x80" + b"\x7f" * 11
    content[148:156] = b"%06o\0 " % (sum(content[:148]) + sum(content[156:512]) + 256)
    with pytest.raises(Damaged, match=r"header|ends in the middle"):
        host_of(pack(bytes(content)), tmp_path)


RECORDS = {
    "good": b"16 path=etc/new\n",
    "no length": b"x path=etc/new\n",
    "no end": b"16 path=etc/new ",
    "too long": b"99 path=etc/new\n",
    "too short": b"3 path=etc/new\n",
    "behind another": b"16 path=etc/new\n15 uid_5000000\n",
    "a line in it": b"18 path=etc/new\nx\n",
}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_pax_records_that_make_no_sense(name: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """tarfile passes over them, and the file would have its short name; GNU's tar and Go's reader refuse."""
    records, header = RECORDS[name], tarfile.TarInfo("PaxHeaders/x")
    header.type, header.size = tarfile.XHDTYPE, len(records)
    content = pack(header.tobuf(tarfile.USTAR_FORMAT) + records.ljust(512, b"\0") + tar_with({"etc/old": b"abc"}))
    if name in {"good", "a line in it"}:
        assert [one.startswith("new") for one in host_of(content, tmp_path).names("/etc")] == [True]
        return
    with pytest.raises(Damaged, match="pax record"):
        host_of(content, tmp_path)


@pytest.mark.parametrize(
    "empty",
    [gzip.compress(b"", mtime=0), lzma.compress(b""), struct.pack("<II", 0x184D2A50, 0)],
    ids=["gzip", "xz", "zstd"],
)
def test_streams_without_content_have_an_end(empty: bytes, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(empty * 20_000)
    with pytest.raises(ImageError, match="empty streams"):
        open_image(ImageRequest(str(tmp_path / "empty"), uses_cache=False))
