"""torch with all of NVIDIA's wheels in Debian, healthy and in eleven broken variants.

The wheels are real, and their code is holes (`tests.real.distil`): a sparse tar of them is small. The oracle is
`--root` on the tree, to which each layer above is applied by hand. `test_real` has whole wheels of TensorFlow and JAX.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from doctor.commands.check.command import CheckSubject
from tests.commands.install.roots import root_of
from tests.image.pack import config_of, digest, in_folder, tar_with
from tests.image.test_agreement import said
from tests.image.test_real import CUDNN, ENV, LIBRARIES, SITE, Broken, applied, run
from tests.image.test_tools import plain
from tests.lab.cudnn_tree import copy_of
from tests.real.distil import lay
from tests.real.recorded import recorded

pytestmark = [pytest.mark.slow, pytest.mark.system]
STACKS = ("torch-2.9.1",)
OTHER_CUDNN = {".8": "8.9.7", ".9": "9.1.0"}
PACKINGS = {"tar": "cat", "tar+zstd": "zstd -q1"}


class Made(NamedTuple):
    """The healthy image."""

    tree: Path
    layers: Mapping[str, tuple[Path, Path]]  # Debian, and the environment, by packing


def tree_of(site: Path, tree: Path) -> Path:
    """Debian with a virtual environment that has this site directory."""
    run("cp", "-a", root_of("bookworm", "python3-minimal"), tree)
    (tree / SITE).parent.mkdir(parents=True)
    site.rename(tree / SITE)
    (tree / "opt/venv/bin").mkdir()
    (tree / "opt/venv/bin/python3").symlink_to("/usr/bin/python3")
    (tree / "opt/venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    return tree


def packed(tree: Path, folder: Path, packings: tuple[str, ...]) -> Made:
    """Its two layers in each packing, by the names of their digests."""
    layers: dict[str, tuple[Path, Path]] = {}
    for packing in packings:
        both = []
        for number, options in enumerate(("--exclude=./opt .", "./opt")):
            blob = folder / f"{number}"
            # 1: a test beside this one gave a file another hard link meanwhile
            read = f"{{ tar -S -C {tree} -c {options} || test $? = 1; }}"
            run("bash", "-c", f"set -o pipefail; {read} | {PACKINGS[packing]} > {blob}")
            total = hashlib.sha256()
            with blob.open("rb") as stream:
                while chunk := stream.read(1 << 20):
                    total.update(chunk)
            both.append(blob.rename(folder / total.hexdigest()))
        layers[packing] = (both[0], both[1])
    return Made(tree, layers)


def ops_of(tree: Path) -> Path:
    """A part of its cuDNN."""
    return min((tree / CUDNN).glob("libcudnn_ops*.so.*"))


def broken(tree: Path) -> dict[str, Broken]:
    """What may be wrong with it, in the names of its own libraries."""
    part = ops_of(tree).name
    shadows = {"LD_LIBRARY_PATH": "/opt/cudnn/lib"}
    elsewhere: dict[str, bytes | str | None] = {
        "opt/other/bin/python3": "/usr/bin/python3",
        "opt/other/pyvenv.cfg": b"home = /usr/bin\n",
    }
    return {
        "a whiteout hides a library": Broken("cudnn-sublibrary-missing", {f"{CUDNN}/.wh.{part}": b""}),
        "an opaque directory": Broken("corrupted-install", {f"{SITE}/nvidia/cublas/lib/.wh..wh..opq": b""}),
        "a library cut short": Broken("cudnn-install-incomplete", {f"{CUDNN}/{part}": b"\x7fELF"}),
        "another cuDNN in its place": Broken("", cudnn_at=CUDNN),
        "a variable that shadows": Broken("ld-library-path-shadowing", env=shadows, cudnn_at="opt/cudnn/lib"),
        "driver files": Broken("container-image-bakes-driver-libs", {f"{LIBRARIES}/libcuda.so.550.54.14": b"\x7fELF"}),
        "empty driver files": Broken("container-image-bakes-driver-libs", {f"{LIBRARIES}/libcuda.so.550.54.14": b""}),
        "a requirement that is unmet": Broken("container-requirement-unmet", env={"NVIDIA_REQUIRE_CUDA": "cuda>=13.0"},
                                              driver="550.54.14"),
        "no compute": Broken("container-without-compute", env={"NVIDIA_DRIVER_CAPABILITIES": "video"}),
        "another python by PATH": Broken("", elsewhere, env={"PATH": "/opt/other/bin:/usr/bin"}),
        "a driver that is too old": Broken("driver-too-old-for-runtime", driver="450.36.06"),
    }  # fmt: skip


def layout(blobs: tuple[Path, ...], packing: str, above: bytes, config: bytes, folder: Path) -> Path:
    """An OCI layout; the large layers are hard links."""
    files: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "config.json": config}

    def put(content: bytes, media: str) -> dict[str, Any]:
        files[f"blobs/sha256/{digest(content)[7:]}"] = content
        return {"mediaType": f"application/vnd.oci.image.{media}", "digest": digest(content), "size": len(content)}

    kind = f"application/vnd.oci.image.layer.v1.{packing}"
    layers = [{"mediaType": kind, "digest": f"sha256:{one.name}", "size": one.stat().st_size} for one in blobs]
    layers += [put(above, "layer.v1.tar")] if above else []
    manifest = {"schemaVersion": 2, "config": put(config, "config.v1+json"), "layers": layers}
    listed = put(json.dumps(manifest).encode(), "manifest.v1+json")
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [listed]}).encode()
    in_folder(files, folder)
    for one in blobs:
        os.link(one, folder / "blobs/sha256" / one.name)
    return folder


def saved(blobs: tuple[Path, ...], above: bytes, config: bytes, folder: Path) -> Path:
    """What `docker save` writes of it."""
    names = [f"{one.name}/layer.tar" for one in blobs] + (["above/layer.tar"] if above else [])
    listed = json.dumps([{"Config": "1.json", "RepoTags": ["app:v1"], "Layers": names}]).encode()
    files = {"1.json": config, "manifest.json": listed, **({"above/layer.tar": above} if above else {})}
    in_folder(files, folder)
    for one in blobs:
        (folder / one.name).mkdir()
        os.link(one, folder / one.name / "layer.tar")
    run("tar", "-C", folder, "-cf", folder.with_suffix(".tar"), *sorted(os.listdir(folder)))
    return folder.with_suffix(".tar")


def held_against(made: Made, one: Broken, packings: Mapping[str, bool], folder: Path) -> list[str]:
    """The codes that are found, the same as in the tree; a packing, and whether it is saved by docker, too."""
    folder.mkdir()
    above = dict(one.above)
    if one.cudnn_at:
        copy_of(folder / "cudnn", OTHER_CUDNN[ops_of(made.tree).suffix])
        above |= {f"{one.cudnn_at}/{file.name}": file.read_bytes() for file in (folder / "cudnn").iterdir()}
    top = tar_with(above) if above else b""
    config = config_of([b""] * (3 if above else 2), {**ENV, **one.env})
    (folder / "config").write_bytes(config)
    tree = folder / "tree"
    run("cp", "-al", made.tree, tree)
    applied(tree, above)
    asked: dict[str, Any] = {"assume_driver": one.driver}
    expected = said(CheckSubject(root=str(tree), config=str(folder / "config"), **asked), str(tree))
    shutil.rmtree(tree)
    for packing, is_saved in packings.items():
        images = [layout(made.layers[packing], packing, top, config, folder / packing)]
        images += [saved(made.layers[packing], top, config, folder / f"{packing}-saved")] if is_saved else []
        for image in images:
            found = said(CheckSubject(image=str(image), **asked), str(image))
            assert plain(found) == plain(expected), (packing, image.name)
    return [each["code"] for each in expected["findings"]]


@pytest.fixture(scope="module", params=STACKS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("frameworks")
    one = next(each for each in recorded() if each.name == request.param)
    lay(one.wheels, folder / "site", one.python)
    yield packed(tree_of(folder / "site", folder / "tree"), folder, tuple(PACKINGS))
    shutil.rmtree(folder)


def test_healthy_and_broken(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_CACHE", str(tmp_path / "cache"))  # a packed layer is read once
    everywhere = {"tar": True, "tar+zstd": False}
    assert held_against(made, Broken(""), everywhere, made.tree.parent / "healthy") == []
    for number, (name, one) in enumerate(broken(made.tree).items()):
        packing = [*PACKINGS][number % len(PACKINGS)]
        codes = held_against(made, one, {packing: False}, made.tree.parent / name)
        assert not one.code or one.code in codes, (name, codes)
