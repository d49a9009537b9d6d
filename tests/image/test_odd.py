"""Images that are whole and cannot be judged end with one line that says why; odd ones that can be are read."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import struct
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from doctor.image import ImageError
from doctor.image.host import ImageHost
from doctor.image.opened import ImageRequest, open_image
from tests.image.pack import config_of, digest, docker, in_folder, oci, tar_with

LAYER = tar_with({"etc/os-release": b"ID=debian\n", "opt/a": b"a" * 5000})
Spoil = Callable[[dict[str, Any], dict[str, bytes]], None]


def blob(content: bytes) -> str:
    return f"blobs/sha256/{digest(content)[7:]}"


def changed(spoil: Spoil, folder: Path, config: bytes = b"") -> Path:
    """A layout whose manifest, and what it leads to, is changed."""
    files = oci([LAYER], config or config_of([LAYER]))
    index = json.loads(files["index.json"])
    manifest = json.loads(files.pop(f"blobs/sha256/{index['manifests'][0]['digest'][7:]}"))
    spoil(manifest, files)
    content = json.dumps(manifest).encode()
    index["manifests"][0].update(digest=digest(content), size=len(content))
    return in_folder({**files, blob(content): content, "index.json": json.dumps(index).encode()}, folder)


def replaced(content: bytes, media: str, **more: Any) -> Spoil:
    """Another blob as the only layer; none of it where it is empty."""

    def spoil(manifest: dict[str, Any], files: dict[str, bytes]) -> None:
        (layer,) = manifest["layers"]
        del files[f"blobs/sha256/{layer['digest'][7:]}"]
        layer.update(mediaType=media, digest=digest(content), size=len(content), **more)
        if content:
            files[blob(content)] = content

    return spoil


DOCKER, OCI = "application/vnd.docker.image.rootfs", "application/vnd.oci.image.layer"
REFUSED: dict[str, tuple[Spoil, str]] = {
    "foreign": (
        replaced(b"", f"{DOCKER}.foreign.diff.tar.gzip", urls=["https://example.org/layer"]),
        "not in the image, but at 'https://example.org/layer'",
    ),
    "encrypted": (replaced(b"\x8a\x01" * 4000, f"{OCI}.v1.tar+gzip+encrypted"), "is encrypted"),
    "weights of a model": (replaced(b"GGUF" + bytes(5000), "application/vnd.ollama.image.model"), "no layer of a"),
    "a SIF that a registry holds": (replaced(b"SIF", "application/vnd.sylabs.sif.layer.v1.sif"), "no layer of a"),
    "absurd": (replaced(b"x", "\x1b[2J\n" * 5000), "no layer of a"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_line_says_why(name: str, tmp_path: Path) -> None:
    spoil, says = REFUSED[name]
    with pytest.raises(ImageError, match=says) as error:
        open_image(ImageRequest(str(changed(spoil, tmp_path))))
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 400


def test_schema_1(tmp_path: Path) -> None:
    said = {"schemaVersion": 1, "fsLayers": [{"blobSum": f"sha256:{'a' * 64}"}], "history": [], "signatures": []}
    with pytest.raises(ImageError, match="schema 1"):
        open_image(ImageRequest(str(in_folder({"manifest.json": json.dumps(said).encode()}, tmp_path))))


def test_windows(tmp_path: Path) -> None:
    """Its layers have a folder Files beside their hives: read as they lie, there would be nothing wrong with it."""
    config = json.dumps({**json.loads(config_of([LAYER])), "os": "windows"}).encode()
    with pytest.raises(ImageError, match="of Windows is not read"):
        open_image(ImageRequest(str(changed(lambda _manifest, _files: None, tmp_path, config))))


def test_another_platform_and_an_attestation_are_passed_over(tmp_path: Path) -> None:
    """As BuildKit pushes: an index in the index, with Windows beside Linux."""
    files: dict[str, bytes] = {}
    listed = []
    for system, notes in (("linux", {}), ("unknown", {"vnd.docker.reference.type": "attestation-manifest"}),
                          ("windows", {})):  # fmt: skip
        made = oci([LAYER], json.dumps({**json.loads(config_of([LAYER])), "os": system}).encode())
        (one,) = json.loads(made["index.json"])["manifests"]
        machine = "unknown" if notes else "amd64"
        listed.append({**one, "annotations": notes, "platform": {"os": system, "architecture": machine}})
        files |= made
    inner = json.dumps({"schemaVersion": 2, "manifests": listed}).encode()
    outer = {"digest": digest(inner), "annotations": {"io.containerd.image.name": "docker.io/library/app:v1"}}
    files |= {blob(inner): inner, "index.json": json.dumps({"schemaVersion": 2, "manifests": [outer]}).encode()}
    in_folder(files, tmp_path)
    for name in ("", ":v1", ":app:v1"):
        image = open_image(ImageRequest(f"{tmp_path}{name}", platform="linux/amd64"))
        assert ImageHost(image).read_bytes("/opt/a") == b"a" * 5000
    with pytest.raises(ImageError, match="of Windows"):
        open_image(ImageRequest(str(tmp_path), platform="windows/amd64"))


def test_several_tags_of_one_image(tmp_path: Path) -> None:
    files: Mapping[str, bytes] = docker([LAYER], config_of([LAYER]), ("app:v1", "app:latest", "host:5000/team/app:v1"))
    (tmp_path / "x.tar").write_bytes(tar_with(files))
    for name in ("", ":app:v1", ":latest", ":host:5000/team/app:v1", ":team/app:v1"):
        assert len(open_image(ImageRequest(f"{tmp_path}/x.tar{name}")).names) == 3


def test_estargz(tmp_path: Path) -> None:
    """A member of gzip for each entry, the table of contents, and a footer that unpacks to nothing.

    Source: containerd/stargz-snapshotter, docs/estargz.md.
    """
    entries = [LAYER[at : at + 1024] for at in range(0, len(LAYER.rstrip(b"\0")), 1024)]
    table = io.BytesIO()
    with tarfile.open(fileobj=table, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("stargz.index.json"))
    body = b"".join(map(gzip.compress, entries))
    extra = b"SG" + struct.pack("<H", 22) + b"%016xSTARGZ" % len(body)
    footer = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + struct.pack("<H", len(extra)) + extra + b"\x01\0\0\xff\xff" + bytes(8)
    packed = body + gzip.compress(table.getvalue()) + footer
    image = open_image(ImageRequest(str(changed(replaced(packed, f"{OCI}.v1.tar+gzip"), tmp_path))))
    assert ImageHost(image).read_bytes("/opt/a") == b"a" * 5000


HELM = "application/vnd.cncf.helm.config.v1+json"


def of_type(media: str) -> Spoil:
    return lambda manifest, _: manifest["config"].update(mediaType=media)


@pytest.mark.parametrize("platform", ["", "linux/amd64"])
def test_what_is_no_image_is_called_so(tmp_path: Path, platform: str) -> None:
    """Helm's configuration says nothing of a platform."""
    path = changed(of_type(HELM), tmp_path, b'{"name": "demo", "version": "0.1.0", "apiVersion": "v2"}')
    with pytest.raises(ImageError, match=r"holds no container image \(config media type 'application/vnd\.cncf\.helm"):
        open_image(ImageRequest(str(path), platform=platform))


@pytest.mark.parametrize("media", ["application/vnd.docker.container.image.v1+json", "application/octet-stream", ""])
def test_an_image_beside_it_is_read(tmp_path: Path, media: str) -> None:
    """Docker 1.10 pushed configurations as octet streams."""
    folders = [changed(of_type(one), tmp_path / str(at)) for at, one in enumerate((HELM, media))]
    listed = [one for each in folders for one in json.loads((each / "index.json").read_text())["manifests"]]
    shutil.copytree(folders[0], folders[1], dirs_exist_ok=True)
    (folders[1] / "index.json").write_text(json.dumps({"manifests": listed}))
    assert open_image(ImageRequest(str(folders[1]))).config.machine == "amd64"
