"""A real image, healthy and broken, as every tool packs it: Debian, CTranslate2 and NVIDIA's cuBLAS from their wheels.

The oracle is `--root` on the tree, to which the layer above is applied by hand.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from doctor.commands.check.command import CheckSubject
from tests.image.pack import config_of, digest, in_folder, sif_header, squashfs, tar_with
from tests.image.test_agreement import said
from tests.image.test_real import SITE, applied, output_of, real_tree, run
from tests.image.test_tools import plain

pytestmark = [pytest.mark.slow, pytest.mark.system]
WHEELS = ("ctranslate2==4.6.0", "nvidia-cublas-cu12==12.1.3.1")
CUBLAS = f"{SITE}/nvidia/cublas/lib"
PATH = {"PATH": "/opt/venv/bin:/usr/bin:/bin"}


class Variant(NamedTuple):
    """A layer above the healthy image, and what must be found."""

    codes: tuple[str, ...]
    above: Mapping[str, bytes | str | None]


VARIANTS = {
    "healthy": Variant((), {"etc/motd": b"all is well"}),
    "broken": Variant(
        ("corrupted-install", "container-image-bakes-driver-libs"),
        {
            f"{CUBLAS}/.wh.libcublasLt.so.12": b"",
            f"{CUBLAS}/libcublas.so.12": b"\x7fELF",
            "usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14": b"",
        },
    ),
}


class Made(NamedTuple):
    """The image below the variants."""

    folder: Path
    tree: Path
    layers: Mapping[str, Path]  # its one layer, by how it is packed


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("encodings")
    tree = real_tree(folder, "ctranslate2", WHEELS)
    (tree / "etc/ld.so.conf.d/cublas.conf").write_text(f"/{CUBLAS}\n")  # CTranslate2 opens it by its name alone
    run("ldconfig", "-r", tree)
    run("tar", "-C", tree, "-cf", folder / "tar", ".")
    run("bash", "-c", f"gzip -1 < {folder}/tar > {folder}/gzip; zstd -q1 < {folder}/tar > {folder}/zstd")
    yield Made(folder, tree, {name: folder / name for name in ("tar", "gzip", "zstd")})
    shutil.rmtree(folder)


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> Variant:
    return VARIANTS[request.param]


@pytest.fixture
def tree(made: Made, variant: Variant, tmp_path: Path) -> Iterator[Path]:
    """The variant's, of hard links."""
    run("cp", "-al", made.tree, tmp_path / "tree")
    applied(tmp_path / "tree", variant.above)
    yield tmp_path / "tree"
    shutil.rmtree(tmp_path)


def sum_of(file: Path) -> str:
    total = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            total.update(chunk)
    return total.hexdigest()


def layout(made: Made, above: bytes, packing: str, folder: Path) -> Path:
    """An OCI layout of two layers; the large one is a hard link."""
    kind = "tar" if packing == "tar" else f"tar+{packing}"
    name = sum_of(made.layers[packing])
    config = config_of([b"", above], PATH)
    if packing == "gzip":  # tools look
        known = json.loads(config)
        known["rootfs"]["diff_ids"] = [f"sha256:{sum_of(made.layers['tar'])}", digest(above)]
        config = json.dumps(known).encode()
    files: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}

    def put(content: bytes, media: str) -> dict[str, Any]:
        files[f"blobs/sha256/{digest(content)[7:]}"] = content
        return {"mediaType": f"application/vnd.oci.image.{media}", "digest": digest(content), "size": len(content)}

    size = made.layers[packing].stat().st_size
    below = {"mediaType": f"application/vnd.oci.image.layer.v1.{kind}", "digest": f"sha256:{name}", "size": size}
    layers = [below, put(above, "layer.v1.tar")]
    manifest = {"schemaVersion": 2, "config": put(config, "config.v1+json"), "layers": layers}
    listed = put(json.dumps({**manifest, "mediaType": "application/vnd.oci.image.manifest.v1+json"}).encode(),
                 "manifest.v1+json")  # fmt: skip
    listed["annotations"] = {"org.opencontainers.image.ref.name": "app"}
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [listed]}).encode()
    in_folder(files, folder)
    os.link(made.layers[packing], folder / "blobs/sha256" / name)
    return folder


def saved(made: Made, above: bytes, folder: Path, *, is_old: bool) -> Path:
    """What `docker save` wrote before it had layouts, and what it writes since."""
    config = config_of([b"", above], PATH)
    if is_old:
        files = {"1.json": config, "a/VERSION": b"1.0", "b/VERSION": b"1.0", "b/layer.tar": above}
        names = ["a/layer.tar", "b/layer.tar"]
        in_folder(files, folder / "saved")
        os.link(made.layers["tar"], folder / "saved/a/layer.tar")
    else:
        layout(made, above, "tar", folder / "saved")
        index = json.loads((folder / "saved/index.json").read_bytes())["manifests"][0]["digest"]
        manifest = json.loads((folder / "saved/blobs/sha256" / index[7:]).read_bytes())
        names = [f"blobs/sha256/{one['digest'][7:]}" for one in manifest["layers"]]
        files = {"1.json": (folder / "saved/blobs/sha256" / manifest["config"]["digest"][7:]).read_bytes()}
    files["manifest.json"] = json.dumps([{"Config": "1.json", "RepoTags": ["app:v1"], "Layers": names}]).encode()
    in_folder(files, folder / "saved")
    run("tar", "-C", folder / "saved", "-cf", folder / "saved.tar", *sorted(os.listdir(folder / "saved")))
    return folder / "saved.tar"


def held_against(images: Mapping[str, Path], expected: Any, variant: Variant) -> None:
    codes = {one["code"] for one in expected["findings"]}
    assert codes >= set(variant.codes)
    assert bool(codes) == bool(variant.codes)
    for name, image in images.items():
        found = said(CheckSubject(image=str(image)), str(image))
        assert plain(found) == plain(expected), name


def test_layers(made: Made, variant: Variant, tree: Path, tmp_path: Path) -> None:
    """By hand, and what skopeo makes of it."""
    above = tar_with(variant.above)
    images = {packing: layout(made, above, packing, tmp_path / packing) for packing in made.layers}
    images["docker save"] = saved(made, above, tmp_path / "new", is_old=False)
    images["docker save, old"] = saved(made, above, tmp_path / "old", is_old=True)
    run("tar", "-C", images["gzip"], "-cf", tmp_path / "archive", "oci-layout", "index.json", "blobs")
    images["OCI archive"] = tmp_path / "archive"
    copy = ("skopeo", "--insecure-policy", "copy", "-q")
    for kind in ("dir:{}", "oci-archive:{}:app", "docker-archive:{}:app:v1"):
        name = f"skopeo-{kind.partition(':')[0]}"
        run(*copy, f"oci:{images['gzip']}:app", kind.format(tmp_path / name))
        images[name] = tmp_path / name
    given = tmp_path / "config.json"
    given.write_bytes(config_of([b"", above], PATH))
    held_against(images, said(CheckSubject(root=str(tree), config=str(given)), str(tree)), variant)


def test_trees(variant: Variant, tree: Path, tmp_path: Path) -> None:
    """What has no configuration."""
    images: dict[str, Path] = {}
    packers = {"gzip": "gzip -1", "zstd": "zstd -q1", "zstd frames": "split -b 3M --filter='zstd -q1'"}
    if variant.codes:  # the others are slow, if large
        packers |= {"xz": "xz -0 -T2", "gzip members": "split -b 100K --filter='gzip -1'"}
    pipes = " ".join(f">({command} > '{tmp_path}/root.{name}')" for name, command in packers.items())
    run("bash", "-c", f"tar -C {tree} -c . | tee {pipes} > {tmp_path}/root.tar; wait")
    images["tar"] = tmp_path / "root.tar"
    images |= {name: tmp_path / f"root.{name}" for name in packers}
    images["squashfs"] = squashfs(tree, tmp_path / "sqsh", "-comp", "zstd", "-Xcompression-level", "1")
    for kind in ("gzip", "lzo", "lz4") if variant.codes else ():
        images[f"squashfs {kind}"] = squashfs(tree, tmp_path / f"sqsh-{kind}", "-comp", kind)
    with (tmp_path / "sif").open("wb") as file:
        file.write(sif_header(images["squashfs"].stat().st_size))
        with images["squashfs"].open("rb") as system:
            shutil.copyfileobj(system, file, 1 << 20)
    images["SIF"] = tmp_path / "sif"
    run("mkfs.ext4", "-q", "-O", "^has_journal", "-d", tree, tmp_path / "ext4", "1500M")
    images["ext4"] = tmp_path / "ext4"
    held_against(images, said(CheckSubject(root=str(tree)), str(tree)), variant)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="umoci unpacks and buildah builds as root")
@pytest.mark.parametrize("builder", ["umoci", "buildah"])
@pytest.mark.parametrize("variant", [VARIANTS["broken"]], ids=["broken"])  # a healthy one costs as much, and shows less
def test_built_above(builder: str, made: Made, variant: Variant, tree: Path, tmp_path: Path) -> None:
    """The tool makes the layer above, with its own whiteouts."""
    below = layout(made, tar_with({"etc/below": b""}), "gzip", tmp_path / "below")
    image = _BUILDERS[builder](below, variant, tmp_path)
    given = tmp_path / "config.json"
    given.write_bytes(config_of([], PATH))
    held_against({builder: image}, said(CheckSubject(root=str(tree), config=str(given)), str(tree)), variant)


def _by_umoci(below: Path, variant: Variant, folder: Path) -> Path:
    run("umoci", "unpack", "--image", f"{below}:app", folder / "bundle")
    applied(folder / "bundle/rootfs", variant.above)
    run("umoci", "repack", "--image", f"{below}:app", folder / "bundle")
    run("umoci", "gc", "--layout", below)
    shutil.rmtree(folder / "bundle")
    return below


def _by_buildah(below: Path, variant: Variant, folder: Path) -> Path:
    policy = folder / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
    store = ("buildah", "--root", folder / "s", "--runroot", folder / "r", "--storage-driver", "vfs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))  # /var/tmp may be small
        patch.chdir(below.parent)  # buildah takes the path for the image's name, and a name has no capitals
        run(*store, "from", "--signature-policy", policy, "--name", "above", "--pull", f"oci:{below.name}:app")
        applied(Path(output_of(*store, "mount", "above")), variant.above)
        run(*store, "commit", "--signature-policy", policy, "--format", "docker", "above", f"oci:{folder}/built:app")
        run(*store, "rm", "above")
        run(*store, "rmi", "-a", "-f")
    return folder / "built"


_BUILDERS: Mapping[str, Callable[[Path, Variant, Path], Path]] = {"umoci": _by_umoci, "buildah": _by_buildah}
