"""The archives of a toolkit's components: from a manifest to a plan that names them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.refresh.components import component_rows
from doctor.commands.refresh.index import Connection
from doctor.commands.refresh.web import Unreachable, Web

RELEASE = "13.98.1"


def part(name: str, version: str, licence: str = "CUDA Toolkit", platforms: str = "linux-x86_64") -> dict[str, Any]:
    """One component, in the form of NVIDIA's manifests."""
    found: dict[str, Any] = {"name": name.upper(), "license": licence, "version": version}
    for at, platform in enumerate(platforms.split()):
        found[platform] = {
            "relative_path": f"{name}/{platform}/{name}-{platform}-{version}-archive"
            + (".zip" if platform.startswith("windows") else ".tar.xz"),
            "sha256": f"{at}a" * 32,
            "md5": "00",
            "size": str(1000 + at),
        }
    return found


def manifest(**changed: Any) -> dict[str, Any]:
    """A toolkit of three components, with what is no part of one."""
    everywhere = "linux-x86_64 linux-sbsa windows-x86_64"
    parts = {
        "cuda_cudart": part("cuda_cudart", "13.98.7", platforms=everywhere),
        "cuda_nvcc": part("cuda_nvcc", "13.98.9", platforms=everywhere),
        "libcufile": part("libcufile", "1.99.0", platforms="linux-x86_64 linux-sbsa"),
        "nvidia_driver": part("nvidia_driver", "999.10", "NVIDIA Driver"),
        "nsight_compute": part("nsight_compute", "2030.1", "NVIDIA SLA"),
        "cuda_documentation": part("cuda_documentation", "13.98.7"),
        "cuda_only_jetson": part("cuda_only_jetson", "1", platforms="linux-aarch64"),
    }
    said = {"release_date": "2030-01-01", "release_label": RELEASE, "release_product": "cuda"}
    return {**said, **parts, **changed}


def lay(folder: Path, content: Any, release: str = RELEASE) -> Path:
    path = folder / f"redistrib_{release}.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def rows_of(path: Path, release: str = RELEASE) -> list[Any]:
    return component_rows(release, path.as_uri(), Matrix(), Web(Connection((), has_default=True, timeout_s=5)), "today")


def test_the_rows_of_a_manifest(tmp_path: Path) -> None:
    rows = rows_of(lay(tmp_path, manifest()))
    assert [(row.id, row.version) for row in rows] == [
        ("13.98.1-cuda_cudart", "13.98.7"),
        ("13.98.1-cuda_nvcc", "13.98.9"),
        ("13.98.1-libcufile", "1.99.0"),
    ]
    assert rows[0].sha256 == {"linux-x86_64": "0a" * 32, "linux-sbsa": "1a" * 32, "windows-x86_64": "2a" * 32}
    assert rows[2].size_bytes == {"linux-x86_64": 1000, "linux-sbsa": 1001}
    assert {(row.confidence, bool(row.note)) for row in rows} == {("medium", True)}


def evil(**fields: str) -> dict[str, Any]:
    cudart = part("cuda_cudart", "13.98.7")
    cudart["linux-x86_64"].update(fields)
    return {"release_label": RELEASE, "release_product": "cuda", "cuda_cudart": cudart}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "<html>log in</html>",
        "[" * 99999,
        {"release_product": "cuda", "nvidia_driver": part("nvidia_driver", "999.10", "NVIDIA Driver")},
        {"release_product": "cuda", "cuda_cudart": {"name": "x"}},
        evil(relative_path="../../../etc/passwd"),
        evil(relative_path="cuda_cudart/linux-x86_64/cuda_cudart-linux-x86_64-13.98.8-archive.tar.xz"),
        evil(sha256="short"),
        evil(sha256="z" * 64),
        evil(size="many"),
        evil(size="-5"),
        evil(size="0"),
    ],
)
def test_what_is_no_such_manifest(tmp_path: Path, content: Any) -> None:
    path = lay(tmp_path, content)
    with pytest.raises(Unreachable):
        rows_of(path)


def test_a_manifest_whose_digest_is_known_must_be_that_one(tmp_path: Path) -> None:
    """13.3.0 is pinned; somebody else's file of that name is not it."""
    with pytest.raises(Unreachable, match=r"its SHA-256 is [0-9a-f]{64}, NVIDIA's .* 13\.3\.0 has 507eddaab136"):
        rows_of(lay(tmp_path, manifest(release_label="13.3.0"), "13.3.0"), "13.3.0")


def test_a_manifest_that_cannot_be_read_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_MATRIX_OVERLAY", str(tmp_path / "own"))
    (tmp_path / "redistrib_13.98.1.json").write_text("{")
    assert execute(["matrix", "refresh", "--manifests", str(tmp_path)]) == 4


def test_a_manifest_makes_an_archive_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the refusal advises brings the release."""
    monkeypatch.setenv("GPUDOCTOR_MATRIX_OVERLAY", str(tmp_path / "own"))
    order = ["install", "cuda", "13.98.1", "--method", "archive", "--os", "linux", "--arch", "x86_64"]
    assert execute(order) == 2
    path = lay(tmp_path, manifest())
    assert execute(["matrix", "refresh", "redist-component", "--manifests", str(path)]) == 0
    assert "new: 13.98.1, archives of 3 components" in capsys.readouterr().out
    assert execute(order) == 0
    printed = capsys.readouterr().out
    url = "https://developer.download.nvidia.com/compute/cuda/redist/libcufile/linux-x86_64/"
    assert f"{url}libcufile-linux-x86_64-1.99.0-archive.tar.xz" in printed
    assert "0a" * 32 in printed


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("13.3", "NVIDIA lists its archives in redistrib_13.3.1.json; to use it: gpudoctor matrix refresh --manifests"),
        (
            "13.3.0",
            "redistrib_13.3.0.json (https://developer.download.nvidia.com/compute/cuda/redist/redistrib_13.3.0.json)",
        ),
        ("12.8.7", "known are 12.8.0, 12.8.1, 12.8.2. Choose"),
        ("13.9", "13.1, 13.2. Choose"),
    ],
)
def test_a_release_without_rows_says_how_it_is_had(
    version: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["install", "cuda", version, "--method", "archive", "--os", "linux"]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
