"""cuDNN and the toolkit: from wheels, and from manifests as NVIDIA serves them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from compat.load import DATA
from compat.matrix import Matrix
from doctor.commands.refresh import nvidia
from doctor.commands.refresh.index import Connection, Index
from doctor.commands.refresh.run import Source, refresh
from doctor.commands.refresh.web import Unreachable, Web
from doctor.model.encode import encode
from tests.commands.refresh.server import serving, wheel

TODAY = "2030-01-02"
PARTS = ("libcudnn.so.9", "libcudnn_ops.so.9", "libcudnn_graph.so.9")


def cudnn_manifest(version: str) -> dict[str, Any]:
    """The form of NVIDIA's cuDNN manifests from 9.0 on."""
    archive = {"relative_path": "cudnn/x.tar.xz", "sha256": "00", "md5": "00", "size": "1"}
    return {
        "release_date": "2030-01-01",
        "release_label": ".".join(version.split(".")[:3]),
        "release_product": "cudnn",
        "cudnn": {
            "name": "NVIDIA CUDA Deep Neural Network library",
            "license": "cudnn",
            "version": version,
            "linux-x86_64": {"cuda13": archive, "cuda14": archive},
            "cuda_variant": ["13", "14"],
        },
    }


def cuda_manifest(release: str, driver: str | None) -> dict[str, Any]:
    """The form of NVIDIA's CUDA manifests."""
    found: dict[str, Any] = {"release_date": "2030-01-01", "release_label": release, "release_product": "cuda"}
    return {**found, "nvidia_driver": {"name": "NVIDIA Linux Driver", "version": driver}} if driver else found


def lay(root: Path, product: str, manifests: dict[str, Any]) -> None:
    folder = root / product / "redist"
    folder.mkdir(parents=True)
    for name, content in manifests.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    links = "".join(f'<a href="{name}">{name}</a>\n' for name in (*manifests, "redistrib.txt", "../"))
    (folder / "index.html").write_text(f"<html><body>{links}</body></html>")


def matrix_at(folder: Path, url: str) -> Matrix:
    """The shipped tables, with manifests that are served at this URL."""
    data = folder / "data"
    data.mkdir()
    for path in Path(DATA).glob("*.json"):
        (data / path.name).write_text(re.sub(r"https://[^/\"]+/compute(?=/)", url, path.read_text()))
    return Matrix(str(data))


def source(matrix: Matrix, *indexes: Index) -> Source:
    connection = Connection(indexes, has_default=True, timeout_s=5)
    return Source(connection, Web(connection), matrix, TODAY)


def test_a_toolkit_from_its_manifest(tmp_path: Path) -> None:
    lay(tmp_path, "cuda", {"redistrib_13.98.1.json": cuda_manifest("13.98.1", "999.10.02"),
                           "redistrib_13.0.2.json": cuda_manifest("13.0.2", "580.95.05")})  # fmt: skip
    with serving(tmp_path) as server:
        [outcome] = refresh(["cuda"], source(matrix_at(tmp_path, server.url)), str(tmp_path / "own"))
    [change] = outcome.changes
    row = encode(change.row)
    assert (change.kind, row["id"], row["cuda"]) == ("new", "cuda-13.98.1", "13.98")
    assert (row["driver_floor_linux"], row["toolkit_driver_linux"]) == ("580", "999.10.02")
    assert row["source"] == f"{server.url}/cuda/redist/redistrib_13.98.1.json"
    own = Matrix(overlay=str(tmp_path / "own"))
    assert str(own.driver_floor(change.row.cuda, "linux")) == "580"


def test_a_toolkit_of_a_new_major_has_no_known_floor(tmp_path: Path) -> None:
    row = nvidia._toolkit_of(cuda_manifest("99.0.0", None), "test", Matrix(), TODAY)
    assert (row.driver_floor_linux, row.toolkit_driver_linux) == (None, None)


def test_cudnn_from_its_manifest(tmp_path: Path) -> None:
    lay(tmp_path, "cudnn", {"redistrib_9.98.1.json": cudnn_manifest("9.98.1.7")})
    with serving(tmp_path) as server:
        [outcome] = refresh(["cudnn"], source(matrix_at(tmp_path, server.url)), "", dry_run=True)
    rows = [encode(change.row) for change in outcome.changes]
    assert [row["id"] for row in rows] == ["cudnn-9.98.1", "cudnn-9.98.1-cuda13", "cudnn-9.98.1-cuda14"]
    assert (rows[0]["full_versions"], rows[0]["soname"]) == (["9.98.1.7"], "libcudnn.so.9")
    assert (rows[0]["parts_linux"], rows[0]["confidence"]) == (None, "medium")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"cudnn": []}',
        '{"cudnn": {"version": "nine"}}',
        '{"cudnn": {"version": "99.0.0.1"}}',
        '{"cudnn": {"version": "9.98.1.1", "cuda_variant": "13"}}',
        '{"cudnn": {"version": "9.98.1.1", "cuda_variant": {"13": 1}}}',
        '{"cudnn": {"version": "9.98.1.1", "cuda_variant": ["-1"]}}',
        '{"cudnn": {"version": "9.98.1.1", "cuda_variant": ["0"]}}',
        '{"cudnn": {"version": "9.98.1.1", "cuda_variant": ["13", "999999999999"]}}',
        '{"cudnn": {"version": "9.98.1.1", "cuda_variant": ["../../13"]}}',
        "[" * 99999,
    ],
)
def test_what_is_no_manifest(tmp_path: Path, content: str) -> None:
    lay(tmp_path, "cudnn", {"redistrib_9.98.1.json": content})
    with serving(tmp_path) as server:
        [outcome] = refresh(["cudnn"], source(matrix_at(tmp_path, server.url)), "", dry_run=True)
    assert outcome.changes == ()
    assert len(outcome.problems) == 1
    assert not outcome.is_read


def test_manifests_out_of_reach(tmp_path: Path) -> None:
    cudnn_wheels(tmp_path / "wheels", "13", "9.98.0.1")
    index = Index.of(str(tmp_path / "wheels"), "test", is_flat=True)
    found = refresh(["cuda", "cudnn"], source(matrix_at(tmp_path, "http://127.0.0.1:9"), index), "", dry_run=True)
    assert [(one.product, one.is_read) for one in found] == [("cuda", False), ("cudnn", True)]
    assert all("no connection" in one.problems[0] for one in found)
    assert [change.row.id for change in found[1].changes] == [
        "cudnn-9.98.0",
        "cudnn-9.98.0-cuda13",
        "nvidia-cudnn-cu13",
    ]


def cudnn_wheels(folder: Path, major: str, *versions: str) -> None:
    for version in versions:
        linux = {f"nvidia/cudnn/lib/{name}": "" for name in PARTS} | {"nvidia/cudnn/include/cudnn_version.h": ""}
        windows = {"nvidia/cudnn/bin/cudnn64_9.dll": "", "nvidia/cudnn/bin/cudnn_ops64_9.dll": ""}
        wheel(folder, f"nvidia_cudnn_cu{major}-{version}-py3-none-manylinux_2_27_x86_64.whl", linux)
        wheel(folder, f"nvidia_cudnn_cu{major}-{version}-py3-none-win_amd64.whl", windows)


def test_cudnn_from_its_wheels(tmp_path: Path) -> None:
    cudnn_wheels(tmp_path, "12", "9.98.0.11", "9.98.0.12.dev1")
    cudnn_wheels(tmp_path, "13", "9.98.0.12")
    index = Index.of(str(tmp_path), "test", is_flat=True)
    matrix = matrix_at(tmp_path, "http://127.0.0.1:9")
    [outcome] = refresh(["cudnn"], source(matrix, index), "", dry_run=True)
    rows = [encode(change.row) for change in outcome.changes]
    assert [row["id"] for row in rows] == [
        "cudnn-9.98.0",
        "cudnn-9.98.0-cuda12",
        "cudnn-9.98.0-cuda13",
        "nvidia-cudnn-cu12",
        "nvidia-cudnn-cu13",
    ]
    known = {row.id: row.releases for row in Matrix().rows("cudnn", "wheels")}
    assert rows[3]["releases"] == [*map(str, known["nvidia-cudnn-cu12"]), "9.98.0.11"]
    assert rows[0]["full_versions"] == ["9.98.0.11", "9.98.0.12"]
    assert rows[0]["parts_linux"] == ["libcudnn_graph.so.9", "libcudnn_ops.so.9"]
    assert rows[0]["parts_windows"] == ["cudnn_ops64_9.dll"]
    assert rows[0]["header"] == "cudnn_version.h"
    assert rows[0]["source"].count(".whl") == 2


@pytest.mark.parametrize("members", [{}, {"nvidia/cudnn/lib/libcudnn.so.9": ""}])
def test_a_cudnn_wheel_without_cudnn(tmp_path: Path, members: dict[str, str | bytes]) -> None:
    wheel(tmp_path, "nvidia_cudnn_cu13-9.98.0.1-py3-none-manylinux_2_27_x86_64.whl", members)
    index = Index.of(str(tmp_path), "test", is_flat=True)
    web = Web(Connection((index,), has_default=True))
    [(version, releases)] = nvidia.cudnn_releases([index], Matrix(), web)[0].items()
    with pytest.raises(Unreachable, match="has no libcudnn"):
        nvidia.cudnn_rows(version, releases, web, TODAY)


def test_projects_come_from_the_tables() -> None:
    projects = nvidia.cudnn_projects(Matrix())
    assert projects["nvidia-cudnn-cu12"] == 12
    assert len(projects) == len({row.cuda_major for row in Matrix().rows("cudnn", "builds")}) + 1


@pytest.mark.parametrize("place", ["mirror", "mirror/cuda/redist/redistrib_99.0.0.json"])
def test_manifests_that_lie_here(tmp_path: Path, place: str) -> None:
    """A mirror holds the manifests of all products; their content tells them apart, as their names do not."""
    lay(tmp_path / "mirror", "cuda", {"redistrib_99.0.0.json": cuda_manifest("99.0.0", "999.1")})
    lay(tmp_path / "mirror", "cudnn", {"redistrib_9.99.0.json": cudnn_manifest("9.99.0.1")})
    source = Source(Connection((), True), Web(Connection((), True)), Matrix(), TODAY, str(tmp_path / place))
    cuda, cudnn = refresh(("cuda", "cudnn"), source, str(tmp_path / "own"), dry_run=True)
    assert (cuda.newest_served, cuda.problems) == ("99.0.0", ())
    assert cudnn.newest_served == ("9.99.0" if place == "mirror" else "")


def test_no_manifest_lies_there(tmp_path: Path) -> None:
    source = Source(Connection((), True), Web(Connection((), True)), Matrix(), TODAY, str(tmp_path))
    [cuda] = refresh(("cuda",), source, str(tmp_path / "own"))
    assert not cuda.is_read
    assert "it has no NVIDIA manifest (such as redistrib_13.0.2.json)" in cuda.problems[0]


@pytest.mark.parametrize("turned", [False, True])
def test_one_broken_manifest_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turned: bool) -> None:
    """It is named, and the exit status says that something was not read; the others are read all the same.

    However the file system lists them: they are told by their names.
    """
    walk = os.walk
    listed = lambda place: ((at, below, sorted(names, reverse=turned)) for at, below, names in walk(place))  # noqa: E731
    monkeypatch.setattr(os, "walk", listed)
    sound = {"redistrib_99.0.0.json": cuda_manifest("99.0.0", "999.1")}
    lay(tmp_path / "mirror", "cuda", sound | {"redistrib_99.0.1.json": "[]", "redistrib_99.0.2.json": "{"})
    source = Source(Connection((), True), Web(Connection((), True)), Matrix(), TODAY, str(tmp_path / "mirror"))
    cuda, cudnn = refresh(("cuda", "cudnn"), source, str(tmp_path / "own"), dry_run=True)
    assert [change.row.id for change in cuda.changes] == ["cuda-99.0.0"]
    assert [one.rpartition("/")[2].partition(":")[0] for one in cuda.problems] == [
        "redistrib_99.0.1.json",
        "redistrib_99.0.2.json",
    ]
    assert (cuda.is_read, cudnn.is_read) == (False, False)


def test_a_manifest_under_another_releases_name(tmp_path: Path) -> None:
    lay(tmp_path / "mirror", "cuda", {"redistrib_13.9.0.json": cuda_manifest("99.0.0", "999.1")})
    source = Source(Connection((), True), Web(Connection((), True)), Matrix(), TODAY, str(tmp_path / "mirror"))
    [cuda] = refresh(("cuda",), source, str(tmp_path / "own"), dry_run=True)
    assert cuda.changes == ()
    assert "its version is '99.0.0', but its name has 13.9.0" in cuda.problems[0]


def test_a_major_of_which_nothing_is_known(tmp_path: Path) -> None:
    lay(tmp_path / "mirror", "cuda", {"redistrib_99.0.0.json": cuda_manifest("99.0.0", "999.1")})
    source = Source(Connection((), True), Web(Connection((), True)), Matrix(), TODAY, str(tmp_path / "mirror"))
    [cuda] = refresh(("cuda",), source, str(tmp_path / "own"), dry_run=True)
    row = encode(cuda.changes[0].row)
    assert (row["driver_floor_linux"], row["note"]) == (
        None,
        "no version of its major is known, so its floor is unknown",
    )
