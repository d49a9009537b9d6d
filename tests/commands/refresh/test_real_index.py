"""The package index that this machine is configured for: what is read there is what the shipped rows say."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from compat import overlay
from compat.matrix import Matrix
from compat.row import FrameworkRow
from doctor import cli
from doctor.commands.refresh.compare import Change, compare
from doctor.commands.refresh.configuration import connection_of
from doctor.commands.refresh.framework import NotTold, chosen, joined, read, releases_of
from doctor.commands.refresh.listing import wheels_of
from doctor.commands.refresh.requirements import Platform
from doctor.commands.refresh.run import _custom
from doctor.commands.refresh.web import Web
from doctor.commands.refresh.wheel_host import WheelHost
from doctor.host.live import LiveHost

pytestmark = pytest.mark.slow
SHIPPED = Matrix()


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(connection_of(LiveHost(), (), os.getcwd()))


def test_refresh_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest release, from the command line; on Linux x86_64 it equals the shipped row wherever both know."""
    monkeypatch.setenv(overlay.VARIABLE, str(tmp_path))
    assert cli.execute(["matrix", "refresh", "torch", "--releases", "1", "--format", "json"]) == 0
    [product] = json.loads(capsys.readouterr().out)["products"]
    assert product["written"] == str(tmp_path / "torch.json")
    items: list[dict[str, Any]] = overlay.load("torch", str(tmp_path))["tables"]["builds"]
    assert {item["versions"] for item in items} == {f"=={product['newest_served']}"}
    if product["newest_served"] != product["newest_known"]:
        pytest.skip(f"torch {product['newest_served']} is newer than the shipped rows")
    [item] = [item for item in items if item["os"] == ["linux"] and item["arch"] == ["x86_64"]]
    [shipped] = [one for one in SHIPPED._file("torch")["tables"]["builds"] if one["id"] == item["id"]]
    provenance = {"source", "read_on", "confidence", "note"}
    assert {name: item[name] for name in item if name not in provenance} == {
        name: shipped[name] for name in shipped if name not in provenance
    }
    assert not [row for row in product["rows"] if row["kind"] == "differs"]


# What is known to differ, and why.
EXPECTED = {
    # from the versions that CuPy's documentation names; the wheel says which one it was compiled against
    ("cupy-cuda12x", "cudnn_accepts"),
    ("cupy-cuda112", "cudnn_accepts"),
    # one row for both machines: the ARM wheel does not require xformers, and asks for a newer glibc
    ("vllm", "pins"),
    ("vllm", "glibc"),
    # build_info of TensorFlow writes "9"; the shipped 9.3 is from the table of tested builds
    ("tensorflow", "cudnn_accepts"),
    # the tag of the first wheels; the shipped row has what their libraries ask for
    ("torch", "glibc"),
    # the plugin for CUDA 12 refuses cuDNN 9.10.0 by its code, which its requirements do not say
    ("jax-cuda12-plugin", "cudnn_accepts"),
    # one wheel for every Python; the shipped row has those for which the torch that it pins has a wheel
    ("xformers", "python"),
}


def changes(web: Web, package: str, version: str) -> list[Change]:
    """What the Linux wheels of one release say beside the shipped rows."""
    wheels, _ = wheels_of(package, web._connection.indexes, web)
    releases = [
        release
        for release in releases_of(package, wheels)
        if release.public == version and release.version == version and release.platform.os_family == "linux"
    ]
    rows = [read(release, web, "2030-01-02", _custom(package, SHIPPED)) for release in releases]
    # for ARM, TensorFlow 2.10 to 2.15 is an empty package that names another one
    assert not [row for row in rows if isinstance(row, NotTold) and row.release.platform.arch == "x86_64"]
    assert rows, f"the index serves no {package} {version}"
    return [compare(row, SHIPPED) for row in joined(row for row in rows if isinstance(row, FrameworkRow))]


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("torch", "1.13.1"),
        ("torch", "2.0.1"),
        ("torch", "2.4.1"),
        ("torch", "2.6.0"),
        ("torch", "2.9.1"),
        ("torch", "2.11.0"),
        ("tensorflow", "2.15.1"),
        ("tensorflow", "2.18.0"),
        ("tensorflow", "2.21.0"),
        ("jax-cuda12-plugin", "0.4.35"),
        ("jax-cuda12-plugin", "0.7.2"),
        ("jax-cuda13-plugin", "0.8.0"),
        ("cupy-cuda12x", "13.6.0"),
        ("cupy-cuda112", "10.6.0"),
        ("onnxruntime-gpu", "1.19.2"),
        ("onnxruntime-gpu", "1.22.0"),
        ("xformers", "0.0.31"),
        ("vllm", "0.11.0"),
        ("triton", "3.5.1"),
        ("bitsandbytes", "0.48.2"),
    ],
)
def test_shipped_rows_say_what_the_wheels_say(web: Web, package: str, version: str) -> None:
    found = changes(web, package, version)
    assert any(change.shipped for change in found), "no shipped row is of this build"
    odd = {
        (change.row.id, one.column): (one.shipped, one.read)
        for change in found
        for one in change.differences
        if one.shipped is not None and (package, one.column) not in EXPECTED
    }
    assert not odd


def test_a_large_wheel_is_read_in_a_few_small_pieces(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its directory and version.py are fetched, of 900 MB."""
    wheels, _ = wheels_of("torch", web._connection.indexes, web)
    [release] = [
        one
        for one in releases_of("torch", wheels)
        if one.version == "2.9.1" and one.platform == Platform("linux", "x86_64")
    ]
    taken: list[int] = []
    original = web.part

    def part(url: str, start: int, stop: int) -> bytes:
        taken.append(stop - start)
        return original(url, start, stop)

    monkeypatch.setattr(web, "part", part)
    with closing(WheelHost(chosen(release.wheels), web, "linux", "x86_64", "3.12")) as host:
        assert "12.8" in host.read_text(f"{host.site}/torch/version.py")
    assert sum(taken) < 3_000_000
    assert len(taken) < 6
