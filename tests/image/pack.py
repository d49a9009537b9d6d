"""A directory tree packed as each tool packs it, by hand: the oracle is `--root` on the tree itself."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import struct
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Lay = Callable[[tarfile.TarFile], None]


def tar_of(tree: Path) -> bytes:
    """The tree as `tar -C TREE -c .` writes it."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(tree, arcname=".")
    return file.getvalue()


def tar_with(entries: Mapping[str, bytes | str | None], kinds: Mapping[str, bytes] = {}) -> bytes:
    """A tar by hand: bytes are a file, None a directory, a text a symbolic link or what `kinds` says."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in entries.items():
            info = tarfile.TarInfo(name)
            info.mode = 0o755
            if content is None:
                info.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                info.type, info.linkname = kinds.get(name, tarfile.SYMTYPE), content
            else:
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return file.getvalue()


def zstd(content: bytes) -> bytes:
    return subprocess.run(["zstd", "-qc"], input=content, capture_output=True, check=True).stdout


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    "gzip": lambda content: gzip.compress(content, 1),
    "xz": lambda content: lzma.compress(content, preset=0),
    "zstd": zstd,
}
_MEDIA = {"": "tar", "gzip": "tar+gzip", "zstd": "tar+zstd"}


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def config_of(layers: list[bytes], env: Mapping[str, str] = {}, lines: tuple[str, ...] = (), **more: Any) -> bytes:
    """An image's configuration, with a line of history for each layer, then those that change only it."""
    history = [{"created_by": f"COPY layer {number}"} for number in range(1, len(layers) + 1)]
    variables = [{"created_by": f"ENV {name}={value}", "empty_layer": True} for name, value in env.items()]
    said = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Env": [f"{name}={value}" for name, value in env.items()], **more},
        "rootfs": {"type": "layers", "diff_ids": [digest(one) for one in layers]},
        "history": [*history, *variables, *({"created_by": one, "empty_layer": True} for one in lines)],
    }
    return json.dumps(said).encode()


def oci(layers: list[bytes], config: bytes, packing: str = "gzip", name: str = "latest") -> dict[str, bytes]:
    """An OCI layout: its files by name."""
    blobs: dict[str, bytes] = {}

    def put(content: bytes, media: str) -> dict[str, Any]:
        blobs[f"blobs/sha256/{digest(content)[7:]}"] = content
        return {"mediaType": f"application/vnd.oci.image.{media}", "digest": digest(content), "size": len(content)}

    manifest = {
        "schemaVersion": 2,
        "config": put(config, "config.v1+json"),
        "layers": [put(PACKED[packing](one), f"layer.v1.{_MEDIA[packing]}") for one in layers],
    }
    listed = put(json.dumps(manifest).encode(), "manifest.v1+json")
    listed["annotations"] = {"org.opencontainers.image.ref.name": name}
    listed["platform"] = {"os": "linux", "architecture": "amd64"}
    blobs["oci-layout"] = b'{"imageLayoutVersion": "1.0.0"}'
    blobs["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [listed]}).encode()
    return blobs


def docker(layers: list[bytes], config: bytes, tags: tuple[str, ...] = ("app:latest",)) -> dict[str, bytes]:
    """What `docker save` wrote before it had OCI layouts: VERSION, json and layer.tar by layer, manifest.json last."""
    files: dict[str, bytes] = {}
    for layer in layers:
        files[f"{digest(layer)[7:]}/VERSION"] = b"1.0"
        files[f"{digest(layer)[7:]}/layer.tar"] = layer
    name = f"{digest(config)[7:]}.json"
    files[name] = config
    names = [f"{digest(layer)[7:]}/layer.tar" for layer in layers]
    files["manifest.json"] = json.dumps([{"Config": name, "RepoTags": list(tags), "Layers": names}]).encode()
    return files


def in_folder(files: Mapping[str, bytes], folder: Path) -> Path:
    """The files in a directory."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def encodings(layers: list[bytes], config: bytes, folder: Path) -> dict[str, Path]:
    """The image in every encoding that takes several layers."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {
        f"layout {packing or 'plain'}": in_folder(oci(layers, config, packing), folder / f"layout-{packing}")
        for packing in ("", "gzip")
    }
    for name, content in {
        "archive": tar_with(oci(layers, config)),
        "archive plain": tar_with(oci(layers, config, "")),
        "archive packed": gzip.compress(tar_with(oci(layers, config)), 1),
        "docker": tar_with(docker(layers, config)),
        "docker packed": gzip.compress(tar_with(docker(layers, config)), 1),
    }.items():
        found[name] = folder / name.replace(" ", "-")
        found[name].write_bytes(content)
    return found


def squashfs(tree: Path, file: Path, *options: str) -> Path:
    """The tree as mksquashfs packs it; Enroot gives it `-comp lzo -noD`."""
    argv = ["mksquashfs", str(tree), str(file), "-noappend", "-quiet", "-no-progress", "-all-root", *options]
    subprocess.run(argv, check=True, capture_output=True)
    return file


def sif(system: bytes, kind: int = 1, total: int = 2, size: int = 0) -> bytes:
    """A SIF: its header, then the system."""
    return sif_header(size or len(system), kind, total) + system


def sif_header(size: int, kind: int = 1, total: int = 2) -> bytes:
    """As sylabs/sif, pkg/sif lays it: header, objects (labels, and the main partition), their data up to the system."""
    at, each = 4096, 585
    objects = [
        (0x4003, at, 2, b"labels", b""),
        (0x4004, at + 4096, size, b"fs", struct.pack("<ii", kind, 2)),
    ]
    listed = b"".join(
        struct.pack("<i?IIIqqqqqqq128s384s", what, True, number, 1, 0, place, length, length, 0, 0, 0, 0, name, extra)
        for number, (what, place, length, name, extra) in enumerate(objects, start=1)
    )
    header = (
        b"#!/usr/bin/env run-singularity\n",
        b"SIF_MAGIC",
        b"01",
        b"02",
        b"",
        0,
        0,
        46,
        total,
        128,
        each * 48,
        at,
        0,
    )
    content = struct.pack("<32s10s3s3s16sqqqqqqqq", *header) + listed
    return content.ljust(at, b"\0") + b"{}".ljust(4096, b"\0")


def ext(files: Mapping[str, bytes | str], features: int = 0x42) -> bytes:
    """A small ext4 by hand, of one group: bytes are a file of one extent, a text a short link."""
    folders = dict.fromkeys(
        ["", *("/".join(name.split("/")[:n]) for name in files for n in range(1, name.count("/") + 1))]
    )
    numbers = {name: number for number, name in enumerate([*folders, *files], start=11)} | {"": 2}
    blocks: list[bytes] = [bytes(1024)] * 12  # nothing, superblock, groups, 8 of inodes, one more
    inodes = bytearray(64 * 128)
    for name, number in numbers.items():
        said = files.get(name)
        if said is None:
            below = [one for one in numbers if one and one.rpartition("/")[0] == name]
            listed = [(numbers[one], one.rpartition("/")[2].encode()) for one in below]
            content, mode = _directory([(number, b"."), (2, b".."), *listed]), 0o40755
        else:
            content, mode = (said, 0o100644) if isinstance(said, bytes) else (said.encode(), 0o120777)
        needed = [content[at : at + 1024].ljust(1024, b"\0") for at in range(0, len(content), 1024)]
        where = struct.pack("<HHHHI", 0xF30A, 1, 4, 0, 0) + struct.pack("<IHHI", 0, len(needed), 0, len(blocks))
        blocks += [] if isinstance(said, str) else needed
        head = struct.pack(
            "<HHIIIIIHHIII", mode, 0, len(content), 0, 0, 7, 0, 0, 1, 2, 0 if isinstance(said, str) else 0x80000, 0
        )
        inodes[(number - 1) * 128 : number * 128] = (head + (content if isinstance(said, str) else where)).ljust(
            128, b"\0"
        )
    blocks[3:11] = [bytes(inodes[at : at + 1024]) for at in range(0, len(inodes), 1024)]
    blocks[2] = struct.pack("<III", 12, 13, 3).ljust(1024, b"\0")
    start = struct.pack(
        "<IIIIIIIIIIIIIHHHHHHIIII",
        64,
        len(blocks),
        0,
        0,
        0,
        1,
        0,
        0,
        8192,
        8192,
        64,
        0,
        0,
        0,
        0,
        0xEF53,
        1,
        1,
        0,
        0,
        0,
        0,
        1,
    )
    blocks[1] = (start.ljust(88, b"\0") + struct.pack("<HHIII", 128, 0, 0, features, 0)).ljust(1024, b"\0")
    return b"".join(blocks)


def _directory(listed: list[tuple[int, bytes]]) -> bytes:
    entries = [
        struct.pack("<IHBB", number, 8 + (len(name) + 3) // 4 * 4, len(name), 0) + name for number, name in listed
    ]
    padded = [one.ljust((len(one) + 3) // 4 * 4, b"\0") for one in entries]
    content = b"".join(padded)
    return content + struct.pack("<IHBB", 0, 1024 - len(content), 0, 0).ljust(1024 - len(content), b"\0")


_MIB = 1 << 20


def mbr(*systems: bytes) -> bytes:
    """A disk of these partitions, one after the other from the first MiB on."""
    start, table, content = _MIB // 512, b"", b""
    for system in systems:
        sectors = -(-len(system) // 512)
        table += struct.pack("<4xB3xII", 0x83, start + len(content) // 512, sectors)
        content += system.ljust(sectors * 512, b"\0")
    return (bytes(446) + table.ljust(64, b"\0") + b"\x55\xaa").ljust(_MIB, b"\0") + content


def gpt(*systems: bytes, sector: int = 512) -> bytes:
    """The same with a GUID partition table; the first of its entries is empty."""
    start, table, content = _MIB // sector, bytes(128), b""
    for system in systems:
        sectors = -(-len(system) // sector)
        first = start + len(content) // sector
        table += struct.pack("<16s16sQQ", b"kind", b"one", first, first + sectors - 1).ljust(128, b"\0")
        content += system.ljust(sectors * sector, b"\0")
    protective = bytes(446) + struct.pack("<4xB3xII", 0xEE, 1, 1).ljust(64, b"\0") + b"\x55\xaa"
    header = b"EFI PART".ljust(72, b"\0") + struct.pack("<QII", 2, len(table) // 128, 128)
    start_of = protective.ljust(sector, b"\0") + header.ljust(sector, b"\0") + table
    return start_of.ljust(_MIB, b"\0") + content
