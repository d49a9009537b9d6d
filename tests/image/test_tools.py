"""Images as real tools pack and unpack them: the oracle is `--root` on what umoci unpacks, and its configuration."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from doctor.commands.check.command import CheckSubject
from tests.image.pack import config_of, docker, in_folder, oci, sif, squashfs, tar_of, tar_with
from tests.image.test_agreement import said
from tests.lab.cudnn_tree import copy_of
from tests.lab.parts import DISK, at, python_at, together

SITE = "home/user/project/.venv/lib/python3.12/site-packages"
CUDNN = f"{SITE}/nvidia/cudnn/lib"
ABOVE = "usr/lib/x86_64-linux-gnu"


class Variant(NamedTuple):
    """What is done to the healthy image, and what must be found."""

    code: str
    above: Mapping[str, bytes | str | None] = {}  # files of one more layer
    env: Mapping[str, str] = {}
    driver: str = ""
    gpus: tuple[str, ...] = ()


VARIANTS = {
    "healthy": Variant(""),
    "whiteout of a library": Variant("cudnn-sublibrary-missing", {f"{CUDNN}/.wh.libcudnn_ops.so.9": b""}),
    "opaque directory": Variant("corrupted-install", {f"{SITE}/torch/lib/.wh..wh..opq": b""}),
    "link that leads nowhere": Variant("", {f"{CUDNN}/libcudnn_cnn.so.9": "libcudnn_cnn.so.9.0.0"}),
    "another cuDNN above": Variant("cudnn-version-mismatch-loaded-vs-compiled"),
    "variable that shadows": Variant("ld-library-path-shadowing", env={"LD_LIBRARY_PATH": "/opt/cudnn/lib"}),
    "driver files": Variant("container-image-bakes-driver-libs", {f"{ABOVE}/libcuda.so.550.54.14": b"\x7fELF"}),
    "empty driver files": Variant("container-image-bakes-driver-libs", {f"{ABOVE}/libcuda.so.550.54.14": b""}),
    "requirement unmet": Variant(
        "container-requirement-unmet", env={"NVIDIA_REQUIRE_CUDA": "cuda>=13.0"}, driver="550.54.14"
    ),
    "no compute": Variant("container-without-compute", env={"NVIDIA_DRIVER_CAPABILITIES": "video"}),
    "hidden GPUs": Variant("container-gpus-hidden", env={"NVIDIA_VISIBLE_DEVICES": "void"}),
    "another python": Variant("", env={"PATH": "/strange/place/bin:/usr/bin"}),
    "a GPU without code": Variant("gpu-too-old-dropped", gpus=("GTX 980",), driver="580.95.05"),
}


def run(*argv: str | Path) -> None:
    done = subprocess.run([str(one) for one in argv], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tools") / "tree"
    root.mkdir()
    together(DISK, at("/opt/cudnn/lib", copy_of, "9.5.1"), python_at("/strange/place"))(root)
    return root


def layout(layers: list[bytes], env: Mapping[str, str], folder: Path) -> Path:
    config = config_of(layers, {"PATH": "/home/user/project/.venv/bin:/usr/bin", **env})
    (folder / "config.json").parent.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_bytes(config)
    return in_folder(oci(layers, config), folder / "layout")


def unpacked(folder: Path) -> Path:
    """What umoci unpacks."""
    run("umoci", "raw", "unpack", "--rootless", "--image", f"{folder / 'layout'}:latest", folder / "root")
    return folder / "root"


def asked(one: Variant) -> dict[str, object]:
    return {"assume_driver": one.driver, "assume_gpus": one.gpus}


@pytest.mark.system
@pytest.mark.parametrize("name", VARIANTS)
def test_broken_in_a_layer_above(name: str, tree: Path, tmp_path: Path) -> None:
    one = VARIANTS[name]
    layers = [tar_of(tree), *([tar_with(one.above)] if one.above else [])]
    if name == "another cuDNN above":
        copy_of(tmp_path / "above" / CUDNN, "9.5.1")
        layers.append(tar_of(tmp_path / "above"))
    packed = layout(layers, one.env, tmp_path)
    root = unpacked(tmp_path)
    expected = said(CheckSubject(root=str(root), config=str(tmp_path / "config.json"), **asked(one)), str(root))  # type: ignore[arg-type]
    found = said(CheckSubject(image=str(packed), **asked(one)), str(packed))  # type: ignore[arg-type]
    assert plain(found) == plain(expected)
    codes = [each["code"] for each in found["findings"]]
    assert (one.code in codes) if one.code else name != "healthy" or not codes, codes


def plain(report: dict[str, object]) -> object:
    """Without the layer that evidence names, which a root does not know."""
    return json.loads(re.sub(r" \(layer \d+[^()\"]*(?:\([^()\"]*\)[^()\"]*)*\)", "", json.dumps(report)))


@pytest.mark.system
def test_every_tool_and_encoding(tree: Path, tmp_path: Path) -> None:
    layers = [tar_of(tree), tar_with({f"{CUDNN}/.wh.libcudnn_ops.so.9": b""})]
    packed = layout(layers, {}, tmp_path)
    root, source = unpacked(tmp_path), f"oci:{packed}:latest"
    expected = said(CheckSubject(root=str(root), config=str(tmp_path / "config.json")), str(root))
    assert "cudnn-sublibrary-missing" in json.dumps(expected["findings"])
    copy = ("skopeo", "--insecure-policy", "copy", "-q")
    for kind in ("oci-archive:{}:app", "docker-archive:{}:app:v1", "dir:{}"):
        run(*copy, source, kind.format(tmp_path / kind.partition(":")[0]))
    for form in ("gzip", "zstd", "zstd:chunked"):
        run(
            *copy, "--dest-compress-format", form, "--dest-compress", source, f"dir:{tmp_path / form.replace(':', '-')}"
        )
    old = tmp_path / "docker-old"
    old.write_bytes(tar_with(docker(layers, (tmp_path / "config.json").read_bytes())))
    shutil.copytree(packed, tmp_path / "umoci")
    (tmp_path / "note").write_text("x")
    run("umoci", "insert", "--rootless", "--image", f"{tmp_path / 'umoci'}:latest", tmp_path / "note", "/etc/note")
    for name in ("oci-archive", "docker-archive", "dir", "gzip", "zstd", "zstd-chunked", "docker-old", "umoci"):
        found = said(CheckSubject(image=str(tmp_path / name)), str(tmp_path / name))
        assert plain(found) == plain(expected), name
    bare = said(CheckSubject(root=str(root)), str(root))
    whole = tmp_path / "root.tar"
    whole.write_bytes(tar_of(root))
    squash = squashfs(root, tmp_path / "root.sqsh")
    (tmp_path / "root.sif").write_bytes(sif(squash.read_bytes()))
    for path in (whole, squash, tmp_path / "root.sif"):
        assert said(CheckSubject(image=str(path)), str(path)) == bare, path.name


@pytest.mark.system
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="buildah wants a user namespace, or root")
def test_what_buildah_builds(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(
        f"FROM scratch\nCOPY tree /\nCOPY none /{CUDNN}/libcudnn_ops.so.9\nENV PATH=/home/user/project/.venv/bin\n"
    )
    shutil.copytree(tree, tmp_path / "tree", symlinks=True)
    (tmp_path / "none").write_bytes(b"")
    store = ("--root", str(tmp_path / "s"), "--runroot", str(tmp_path / "r"), "--storage-driver", "vfs")
    run("buildah", *store, "bud", "--isolation", "chroot", "--layers", "-t", "app", tmp_path)
    run("buildah", *store, "push", "app", f"oci:{tmp_path / 'built'}:app")
    report = said(CheckSubject(image=str(tmp_path / "built")), str(tmp_path / "built"))
    assert "libcudnn_ops.so.9" in json.dumps(report["findings"])
