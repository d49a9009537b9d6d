"""Files that two wheels both own: who has them now."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.model.facts.environment import Distribution, Overlap
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.probes import environment
from doctor.pyenv import overlaps
from tests import wheels
from tests.probes.tree import Tree, offline

SITE = "/venv/lib/python3.12/site-packages"


def wheel(name: str, version: str = "1.0") -> Distribution:
    return Distribution(name, version, SITE, f"{SITE}/{name}.dist-info", "wheel", "")


def line(path: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"


def look(root: Path, *names: str, **records: str) -> Fact[tuple[Overlap, ...]]:
    """Wheels with these RECORDs, over a site that the last one wrote."""
    tree: Tree = {f"{SITE}/{name}.dist-info/RECORD": records[name.replace("-", "_")] for name in names}
    return overlaps.overlaps_among(offline(root, tree), tuple(map(wheel, names)))


LIB = "nvidia/cudnn/lib/libcudnn.so.9"


@pytest.mark.parametrize(
    ("on_disk", "first", "second", "winner"),
    [
        (b"new", b"older", b"new", "nvidia-cudnn-cu13 1.0"),
        (b"older", b"older", b"new", "nvidia-cudnn-cu12 1.0"),
        (b"bbb", b"aaa", b"bbb", "nvidia-cudnn-cu13 1.0"),
        (b"aaa", b"aaa", b"bbb", "nvidia-cudnn-cu12 1.0"),
        (b"ccc", b"aaa", b"bbb", None),
        (None, b"aaa", b"bbb", None),
    ],
)
def test_the_winner_is_whose_file_it_is(
    tmp_path: Path, on_disk: bytes | None, first: bytes, second: bytes, winner: str | None
) -> None:
    tree: Tree = {f"{SITE}/{LIB}": on_disk} if on_disk is not None else {}
    offline(tmp_path, tree)
    names = ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13")
    (found,) = look(tmp_path, *names, nvidia_cudnn_cu12=line(LIB, first), nvidia_cudnn_cu13=line(LIB, second)).get()
    assert found.path == LIB
    assert set(found.owners) == {"nvidia-cudnn-cu12 1.0", "nvidia-cudnn-cu13 1.0"}
    assert (found.winner.value if isinstance(found.winner, Seen) else None) == winner
    assert winner in {None, found.owners[-1]}


def test_a_large_file_is_not_hashed(tmp_path: Path) -> None:
    path = tmp_path / SITE.lstrip("/") / LIB
    path.parent.mkdir(parents=True)
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    records = {
        "nvidia_cudnn_cu12": f"{LIB},sha256=a,{1 << 30}\n",
        "nvidia_cudnn_cu13": f"{LIB},sha256=b,{1 << 30}\n",
    }
    (found,) = look(tmp_path, "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", **records).get()
    assert isinstance(found.winner, Unseen)
    assert "too large to hash" in found.winner.why


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (line(LIB, b"same"), line(LIB, b"same")),
        (
            "nvidia/cudnn/__pycache__/__init__.cpython-312.pyc,,\n",
            "nvidia/cudnn/__pycache__/__init__.cpython-312.pyc,,\n",
        ),
        (line("nvidia/cudnn/lib/a.so", b"a"), line("nvidia/cu13/lib/a.so", b"a")),
        ("../../../bin/tool,sha256=a,1\n", "../../../bin/tool,sha256=b,2\n"),
        ("", "\n\n,,\n"),
        ("no commas at all", "none here either"),
    ],
)
def test_what_is_no_overlap(tmp_path: Path, first: str, second: str) -> None:
    names = ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13")
    assert look(tmp_path, *names, nvidia_cudnn_cu12=first, nvidia_cudnn_cu13=second).get() == ()


def test_many_files_are_cut_short_libraries_first(tmp_path: Path) -> None:
    mine, theirs = (
        "".join(line(f"onnxruntime/module_{number}.py", text) for number in range(500))
        + line("onnxruntime/capi/onnxruntime_pybind11_state.so", text)
        for text in (b"one", b"three")
    )
    found = look(tmp_path, "onnxruntime", "onnxruntime-gpu", onnxruntime=mine, onnxruntime_gpu=theirs).get()
    assert len(found) == 64
    assert found[0].path.endswith("_state.so")


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("nvidia-cudnn-cu12", "nvidia-cudnn"),
        ("nvidia-cudnn-cu13", "nvidia-cudnn"),
        ("nvidia-cublas", ""),
        ("nvidia-cudnn-cublas", ""),
        ("onnxruntime", "onnxruntime"),
        ("onnxruntime-gpu", "onnxruntime"),
        ("onnxruntime-extensions", ""),
        ("cupy-cuda12x", "cupy"),
        ("cupy-xarray", ""),
        ("opencv-python-headless", "opencv"),
        ("opencv-stubs", ""),
        ("tensorflow-cpu", "tensorflow"),
        ("tensorflow-estimator", ""),
        ("tf-nightly", "tensorflow"),
        ("mxnet-cu112", "mxnet"),
        ("pytorch-triton", "triton"),
        ("torch", ""),
    ],
)
def test_families(name: str, family: str) -> None:
    assert overlaps.family_of(name) == family


def test_records_are_read_only_where_packages_may_clash(tmp_path: Path) -> None:
    """A sound environment has no RECORD opened: here there is none to open."""
    names = ("torch", "triton", "nvidia-cudnn-cu12", "nvidia-nccl-cu12", "onnxruntime-gpu", "numpy")
    assert overlaps.overlaps_among(offline(tmp_path, {}), tuple(map(wheel, names))).get() == ()


def test_a_record_that_is_gone_is_unseen(tmp_path: Path) -> None:
    found = overlaps.overlaps_among(offline(tmp_path, {}), (wheel("onnxruntime"), wheel("onnxruntime-gpu")))
    assert isinstance(found, Unseen)
    assert "RECORD" in found.why


@pytest.mark.parametrize("record", [b"\xff" * 10_000, b"\0,\0,\0\n" * 1000, b'"a,b",c,d\n"'])
def test_damaged_records_never_raise(tmp_path: Path, record: bytes) -> None:
    tree: Tree = {f"{SITE}/{name}.dist-info/RECORD": record for name in ("cupy", "cupy-cuda12x")}
    overlaps.overlaps_among(offline(tmp_path, tree), (wheel("cupy"), wheel("cupy-cuda12x")))


# Real wheels


def install(python: Path, wheel: Path) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", str(wheel)], check=True)


@pytest.mark.slow
def test_two_real_cudnn_wheels_in_one_environment(tmp_path: Path) -> None:
    """nvidia-cudnn-cu12 and -cu13, installed by pip one after the other: the later one has every library."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv/bin/python"
    for requirement in ("nvidia-cudnn-cu12==9.10.2.21", "nvidia-cudnn-cu13==9.13.0.50"):
        install(python, wheels.fetch(requirement))
    (found,) = environment.look(LiveHost(), (str(python),)).get()
    clashes = {one.path: one for one in found.overlaps.get()}
    main = clashes["nvidia/cudnn/lib/libcudnn.so.9"]
    assert main.owners == ("nvidia-cudnn-cu12 9.10.2.21", "nvidia-cudnn-cu13 9.13.0.50")
    assert main.winner.get() == "nvidia-cudnn-cu13 9.13.0.50"
    libraries = [one for path, one in clashes.items() if ".so" in path]
    assert len(libraries) >= 8
    assert {one.winner.get() for one in libraries} == {"nvidia-cudnn-cu13 9.13.0.50"}


@pytest.mark.slow
def test_two_real_onnxruntimes(tmp_path: Path) -> None:
    for requirement in ("onnxruntime-gpu==1.22.0", "onnxruntime==1.20.1"):
        with zipfile.ZipFile(wheels.fetch(requirement)) as archive:
            archive.extractall(tmp_path / "site")
    infos = {"onnxruntime": "onnxruntime-1.20.1", "onnxruntime-gpu": "onnxruntime_gpu-1.22.0"}
    both = tuple(
        Distribution(name, info.rpartition("-")[2], "/site", f"/site/{info}.dist-info", "wheel", "")
        for name, info in infos.items()
    )
    found = overlaps.overlaps_among(RootHost(str(tmp_path)), both).get()
    state = next(one for one in found if "onnxruntime_pybind11_state" in one.path)
    assert state.winner.get() == "onnxruntime 1.20.1"
