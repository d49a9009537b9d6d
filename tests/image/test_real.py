"""Real images: a debootstrapped root with the real wheels of TensorFlow, JAX and NVIDIA, healthy and broken.

The oracle is `--root` on the tree, to which each layer above is applied by hand. The 7 GB are packed once, and read
once: every variant but the first has its layers from the cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from doctor.commands.check.command import CheckSubject
from doctor.image.disk import _SETTLED_S
from tests.commands.install.roots import root_of
from tests.image.pack import config_of, digest, squashfs, tar_with, zstd
from tests.image.test_agreement import said
from tests.image.test_tools import plain
from tests.lab.cudnn_tree import copy_of
from tests.wheels import CACHE, installed

pytestmark = [pytest.mark.slow, pytest.mark.system]
PYTHON = f"python3.{sys.version_info.minor}"
SITE = f"opt/venv/lib/{PYTHON}/site-packages"
CUDNN = f"{SITE}/nvidia/cudnn/lib"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
WHEELS = ("tensorflow[and-cuda]==2.20.0", "jax[cuda12]==0.7.2")
ENV = {"PATH": "/opt/venv/bin:/usr/bin:/bin"}
TEMPORARY_AT_MOST_BYTES, MEMORY_AT_MOST_KIB = 512 << 20, 300 << 10


class Broken(NamedTuple):
    """A layer above the healthy image, or another configuration; and what must be found."""

    code: str
    above: Mapping[str, bytes | str | None] = {}
    env: Mapping[str, str] = {}
    driver: str = ""
    cudnn_at: str = ""  # where another cuDNN lies above


BROKEN = {
    "healthy": Broken(""),
    "a whiteout hides a library": Broken("cudnn-sublibrary-missing", {f"{CUDNN}/.wh.libcudnn_ops.so.9": b""}),
    "an opaque directory": Broken("corrupted-install", {f"{SITE}/nvidia/cublas/lib/.wh..wh..opq": b""}),
    "a library cut short": Broken("corrupted-install", {f"{SITE}/nvidia/cufft/lib/libcufft.so.11": b"\x7fELF"}),
    "a directory that is a link": Broken("", {f"{SITE}/nvidia/.wh.cusolver": b"", f"{SITE}/nvidia/cusolver": "cudnn"}),
    "another cuDNN in its place": Broken("", cudnn_at=CUDNN),
    "a variable that shadows": Broken("ld-library-path-shadowing", env={"LD_LIBRARY_PATH": "/opt/cudnn/lib"},
                                      cudnn_at="opt/cudnn/lib"),
    "driver files": Broken("container-image-bakes-driver-libs", {f"{LIBRARIES}/libcuda.so.550.54.14": b"\x7fELF"}),
    "empty driver files": Broken("container-image-bakes-driver-libs", {f"{LIBRARIES}/libnvidia-ml.so.550.54.14": b""}),
    "a requirement that is unmet": Broken("container-requirement-unmet", env={"NVIDIA_REQUIRE_CUDA": "cuda>=13.0"},
                                          driver="550.54.14"),
    "no compute": Broken("container-without-compute", env={"NVIDIA_DRIVER_CAPABILITIES": "video"}),
    "hidden GPUs": Broken("container-gpus-hidden", env={"NVIDIA_VISIBLE_DEVICES": "void"}),
    "another python by PATH": Broken("", {"opt/other/bin/python3": "/usr/bin/python3",
                                          "opt/other/pyvenv.cfg": b"home = /usr/bin\nversion = 3.11\n"},
                                     env={"PATH": "/opt/other/bin:/usr/bin"}),
    "a driver that is too old": Broken("driver-too-old-for-runtime", driver="450.80.02"),
}  # fmt: skip


def run(*argv: object) -> None:
    output_of(*argv)


def output_of(*argv: object) -> str:
    done = subprocess.run([str(one) for one in argv], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


class Made(NamedTuple):
    """The healthy image."""

    tree: Path
    layout: Path
    blobs: tuple[Path, ...]  # its layers, by the names of their digests


def real_tree(folder: Path, name: str, wheels: Sequence[str]) -> Path:
    """Debian with a virtual environment of these wheels, which the cache keeps under the name."""
    site = CACHE / "sites" / "-".join((name, PYTHON))
    if not (site / "made").exists():
        installed(wheels[0], site / "site", *wheels[1:])
        (site / "made").touch()
    tree = folder / "tree"
    run("cp", "-a", root_of("bookworm", "python3-minimal"), tree)
    (tree / SITE).parent.mkdir(parents=True)
    run("cp", "-al" if site.stat().st_dev == folder.stat().st_dev else "-a", site / "site", tree / SITE)
    (tree / "opt/venv/bin").mkdir()
    (tree / "opt/venv/bin/python3").symlink_to("/usr/bin/python3")
    version = f"{sys.version_info.major}.{sys.version_info.minor}.1"
    (tree / "opt/venv/pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
    return tree


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("real")
    tree = real_tree(folder, "tensorflow-jax", WHEELS)
    blobs = [_packed(tree, folder, options) for options in ("--exclude=./opt .", "./opt")]
    time.sleep(_SETTLED_S)  # what was written a moment ago is summed at the second look
    yield Made(tree, folder / "layout", tuple(blobs))
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _layers_are_remembered(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_CACHE", str(made.layout.parent / "cache"))


def _packed(tree: Path, folder: Path, options: str) -> Path:
    """A layer as tar and zstd make it, by the name of its digest."""
    pipe = f"set -o pipefail; tar -C {tree} -c {options} | zstd -q1 > {folder / 'layer'}"
    run("bash", "-c", pipe)
    where = folder / "layout" / "blobs" / "sha256"
    where.mkdir(parents=True, exist_ok=True)
    with (folder / "layer").open("rb") as layer:
        return (folder / "layer").rename(where / _sum(layer))


def _sum(file: Any) -> str:
    total = hashlib.sha256()
    while chunk := file.read(1 << 20):
        total.update(chunk)
    return total.hexdigest()


def layout(made: Made, above: bytes, env: Mapping[str, str]) -> Path:
    """The layout with an index anew: the blobs below stay as they are, or they would be summed again."""
    where = made.layout / "blobs" / "sha256"

    def put(content: bytes, kind: str) -> dict[str, Any]:
        (where / digest(content)[7:]).write_bytes(content)
        media = f"application/vnd.oci.image.{kind}"
        return {"mediaType": media, "digest": digest(content), "size": len(content)}

    media = "layer.v1.tar+zstd"
    layers = [{"mediaType": media, "digest": f"sha256:{one.name}", "size": one.stat().st_size} for one in made.blobs]
    layers += [put(above, media)] if above else []
    config = config_of([b""] * len(layers), {**ENV, **env})
    (made.layout / "config.json").write_bytes(config)
    manifest = {"schemaVersion": 2, "config": put(config, "config.v1+json"), "layers": layers}
    listed = put(json.dumps(manifest).encode(), "manifest.v1+json")
    (made.layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (made.layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [listed]}))
    return made.layout


def applied(tree: Path, entries: Mapping[str, bytes | str | None]) -> None:
    """A layer laid over a tree of hard links: what is there is unlinked first, never written to."""
    for name in sorted(entries, key=lambda one: ".wh." not in one):
        path, content = tree / name, entries[name]
        gone = (
            [*path.parent.iterdir()] if path.name == ".wh..wh..opq" else [path.parent / path.name.removeprefix(".wh.")]
        )
        for one in gone:
            shutil.rmtree(one) if one.is_dir() and not one.is_symlink() else one.unlink(missing_ok=True)
        if path.name.startswith(".wh."):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
            path.chmod(0o755)
        elif content is not None:
            path.symlink_to(content)


class Cost(NamedTuple):
    """What a run took at its highest."""

    temporary_bytes: int
    memory_kib: int
    cpu_s: float


def costs(image: Path) -> tuple[dict[str, Any], Cost]:
    argv = [sys.executable, "-m", "gpudoctor", "check", "--image", str(image), "--format", "json"]
    child = subprocess.Popen(argv, stdout=subprocess.PIPE)
    temporary, memory = [0], [0]

    def watch() -> None:
        while child.returncode is None:
            temporary[0] = max(temporary[0], _unnamed_bytes(child.pid))
            memory[0] = max(memory[0], _memory_kib(child.pid))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert child.stdout is not None
    text = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    watcher.join()
    child.stdout.close()
    report: dict[str, Any] = json.loads(text)
    report["facts"]["image"] = report["facts"]["image"].get("value", report["facts"]["image"])
    return report, Cost(temporary[0], memory[0], used.ru_utime + used.ru_stime)


def _memory_kib(process: int) -> int:
    """Its highest since it was started; not ru_maxrss: a child inherits its parent's."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)  # a process that has ended shows none
    return int(found[1]) if found else 0


def _unnamed_bytes(process: int) -> int:
    """Of the temporary files without a name that a process has open."""
    found = 0
    try:
        for one in Path(f"/proc/{process}/fd").iterdir():
            if "(deleted)" in os.readlink(one):
                found += one.stat().st_blocks * 512
    except OSError:
        pass
    return found


def test_it_stays_within_the_promise(made: Made, tmp_path: Path) -> None:
    """Little memory, little temporary space; and no second look. It comes first: nothing is in the cache."""
    image = layout(made, b"", {})
    first, cost = costs(image)
    assert (first["findings"], first["verdict"]) == ([], "healthy")
    assert first["facts"]["image"]["unpacked_bytes"] > 5 << 30
    assert cost.temporary_bytes <= TEMPORARY_AT_MOST_BYTES
    assert 10 << 10 < cost.memory_kib <= MEMORY_AT_MOST_KIB
    second, again = costs(image)
    assert (second["findings"], second["facts"]["image"]["unpacked_bytes"]) == ([], 0)
    assert again.cpu_s < cost.cpu_s / 4  # a twentieth where nothing else runs


@pytest.mark.parametrize("name", BROKEN)
def test_the_findings_are_those_of_the_tree(name: str, made: Made, tmp_path: Path) -> None:
    one = BROKEN[name]
    above = dict(one.above)
    if one.cudnn_at:
        copy_of(tmp_path / "cudnn", "9.1.0")
        above |= {f"{one.cudnn_at}/{file.name}": file.read_bytes() for file in (tmp_path / "cudnn").iterdir()}
    image = layout(made, zstd(tar_with(above)) if above else b"", one.env)
    tree = tmp_path / "tree"
    run("cp", "-al", made.tree, tree)
    applied(tree, above)
    asked: dict[str, Any] = {"assume_driver": one.driver}
    expected = said(CheckSubject(root=str(tree), config=str(image / "config.json"), **asked), str(tree))
    found = said(CheckSubject(image=str(image), **asked), str(image))
    shutil.rmtree(tree)
    assert plain(found) == plain(expected)
    codes = [each["code"] for each in found["findings"]]
    assert (one.code in codes) if one.code else (name != "healthy" or not codes), codes
    if name == "healthy":
        assert found["verdict"] == "healthy"


def test_squashfs(made: Made, tmp_path: Path) -> None:
    """Without a configuration, as `--root` without one."""
    expected = said(CheckSubject(root=str(made.tree)), str(made.tree))
    assert expected["findings"] == []
    image = squashfs(made.tree, tmp_path / "image.sqsh", "-comp", "zstd", "-Xcompression-level", "1")
    assert said(CheckSubject(image=str(image)), str(image)) == expected
    image.unlink()
