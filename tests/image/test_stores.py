"""Images of a store: which tool is asked, in which words, and what helps where it finds nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from doctor.image import ImageError
from doctor.image.host import ImageHost
from doctor.image.opened import ImageRequest, open_image
from tests.image.pack import config_of, docker, oci, tar_with

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in for a client is a shell script")
LAYER = tar_with({"etc/os-release": b"ID=debian\n"})


def client(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only one whose programs are found first; with an image, saved.tar."""
    (tmp_path / "saved.tar").write_bytes(tar_with(docker([LAYER], config_of([LAYER]))))
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def answers(folder: Path, name: str, words: str) -> None:
    """A tool that gives the image to these words, and fails for all others."""
    image = folder.parent / "saved.tar"
    client(folder, name, f'if test "$*" = "{words}"; then exec /bin/cat {image}; fi; echo "no: $*" >&2; exit 1')


@pytest.mark.parametrize(
    ("reference", "source"),
    [
        ("docker:app", "docker-daemon:app:latest"),
        ("docker:me/app:2", "docker-daemon:me/app:2"),
        ("docker:host:5000/app", "docker-daemon:host:5000/app:latest"),
        (f"docker:sha256:{'a' * 64}", f"docker-daemon:sha256:{'a' * 64}"),
        ("podman:localhost/app", "containers-storage:localhost/app"),
    ],
)
def test_skopeo_where_the_store_has_no_tool(folder: Path, reference: str, source: str) -> None:
    answers(folder, "skopeo", f"copy --quiet {source} docker-archive:/dev/stdout")
    assert ImageHost(open_image(ImageRequest(reference))).read_bytes("/etc/os-release") == b"ID=debian\n"


def test_a_stores_own_tool_is_asked_first(folder: Path) -> None:
    answers(folder, "docker", "save app")
    client(folder, "skopeo", "exit 1")
    assert open_image(ImageRequest("docker:app")).format == "container archive"


def test_without_any_tool(folder: Path) -> None:
    with pytest.raises(ImageError, match=r"^podman and skopeo are not here. Where it is: podman save app > image.tar"):
        open_image(ImageRequest("podman:app"))
    with pytest.raises(ImageError, match=r"^ctr is not here. .* --platform linux/arm64 /dev/stdout app > image.tar"):
        open_image(ImageRequest("containerd:app", "linux/arm64"))


def test_containerd_exports_the_platform_that_is_asked_for(folder: Path) -> None:
    arm = config_of([LAYER]).replace(b'"amd64"', b'"arm64"', 1)
    (folder.parent / "saved.tar").write_bytes(tar_with(docker([LAYER], arm)))
    answers(folder, "ctr", "images export --platform linux/arm64 - docker.io/library/app:1")
    image = open_image(ImageRequest("containerd:docker.io/library/app:1", "linux/arm64"))
    assert image.config.machine == "arm64"


@pytest.mark.parametrize(
    ("reference", "said", "helps"),
    [
        ("containerd:app", 'ctr: image "app": not found', "such as docker.io/library/app:latest"),
        ("containerd:me/app:1", 'ctr: image "me/app:1": not found', "such as docker.io/me/app:1"),
        ("containerd:docker.io/library/app:1", 'ctr: image "x": not found', "CONTAINERD_NAMESPACE=k8s.io"),
        ("podman:app", 'time="1" level=fatal msg="a does not resolve to an image ID: b"', "ID: b. skopeo takes whole"),
        ("podman:localhost/app", 'time="1" level=fatal msg="c"', "docker-archive:/dev/stdout: c$"),
    ],
)
def test_what_helps_where_no_such_image_is(folder: Path, reference: str, said: str, helps: str) -> None:
    for name in ("ctr", "skopeo"):
        client(folder, name, f"echo '{said}' >&2; exit 1")
    with pytest.raises(ImageError, match=helps):
        open_image(ImageRequest(reference))


def test_an_image_of_several_platforms_is_listed_once(tmp_path: Path) -> None:
    files, listed = {}, []
    for arch in ("amd64", "arm64"):
        made = oci([LAYER], config_of([LAYER]).replace(b'"amd64"', f'"{arch}"'.encode(), 1))
        one = json.loads(made.pop("index.json"))["manifests"][0]
        notes = {"org.opencontainers.image.ref.name": "app:1"}
        listed.append({**one, "annotations": notes, "platform": {"os": "linux", "architecture": arch}})
        files.update(made)
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": listed}).encode()
    (tmp_path / "several.tar").write_bytes(tar_with(files))
    with pytest.raises(ImageError, match=r"holds no image other; it has app:1$"):
        open_image(ImageRequest(f"{tmp_path}/several.tar:other"))
