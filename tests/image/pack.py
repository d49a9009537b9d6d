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
    """A SIF as sylabs/sif, pkg/sif lays it: header, objects (here labels, and the main partition), then their data."""
    at, each = 4096, 585
    objects = [
        (0x4003, at, 2, b"labels", b""),
        (0x4004, at + 4096, size or len(system), b"fs", struct.pack("<ii", kind, 2)),
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
    return content.ljust(at, b"\0") + b"{}".ljust(4096, b"\0") + system
