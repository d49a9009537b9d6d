"""Archives of CUDA's components as NVIDIA packs them, from small trees or wheels, and the rows of their manifest."""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

from compat.load import DATA
from compat.matrix import Matrix
from tests.lab.elf_file import elf_bytes

PLATFORM = "linux-x86_64"
REDIST = "compute/cuda/redist"


def tree(folder: Path, component: str, release: str) -> Path:
    """What NVIDIA's archive of a component holds, as far as programs look at it."""
    major, minor, _ = release.split(".")
    (folder / "LICENSE").parent.mkdir(parents=True)
    (folder / "LICENSE").write_text(f"licence of {component}\n")
    if component == "cuda_cudart":
        (folder / "include").mkdir()
        (folder / "include/cuda.h").write_text(f"#define CUDA_VERSION {int(major) * 1000 + int(minor) * 10}\n")
        (folder / "include/cuda_runtime.h").write_text("// runtime\n")
        _library(folder / "lib", f"libcudart.so.{major}", f"libcudart.so.{major}.{minor}.90")
        (folder / "lib/stubs").mkdir()
        (folder / "lib/stubs/libcuda.so").write_bytes(elf_bytes("libcuda.so.1"))
    elif component == "cuda_nvcc":
        (folder / "bin").mkdir()
        (folder / "bin/nvcc").write_text("#!/bin/sh\necho nvcc\n")
        (folder / "bin/nvcc").chmod(0o755)
        (folder / "nvvm/libdevice").mkdir(parents=True)
        (folder / "nvvm/libdevice/libdevice.10.bc").write_bytes(b"BC")
    else:
        _library(folder / "lib", f"{component}.so.{major}", f"{component}.so.{major}.4.1")
    return folder


def _library(folder: Path, soname: str, name: str) -> None:
    folder.mkdir()
    (folder / name).write_bytes(elf_bytes(soname))
    (folder / soname).symlink_to(name)
    (folder / soname.rpartition(".")[0]).symlink_to(soname)


def pack(content: Path, component: str, version: str, root: Path, *, quickly: bool = False) -> dict[str, Any]:
    """The archive below a served directory; what the manifest says of it."""
    stem = f"{component}-{PLATFORM}-{version}-archive"
    path = root / REDIST / component / PLATFORM / f"{stem}.tar.xz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz" if quickly else "w:xz") as archive:  # it is known by its content
        archive.add(content, stem)
    data = path.read_bytes()
    name = str(path.relative_to(root / REDIST))
    entry = {"relative_path": name, "sha256": hashlib.sha256(data).hexdigest(), "size": str(len(data))}
    return {"name": component, "license": "CUDA Toolkit", "version": version, PLATFORM: entry}


def manifest(root: Path, release: str, components: dict[str, dict[str, Any]]) -> Path:
    """NVIDIA's manifest of a release."""
    path = root / REDIST / f"redistrib_{release}.json"
    path.write_text(json.dumps({"release_date": "2030-01-01", "release_label": release, **components}))
    return path


def matrix_of(manifests: list[Path], url: str, folder: Path) -> Matrix:
    """The shipped tables, with components from manifests that are served at an address in place of NVIDIA's."""
    shutil.copytree(DATA, folder)
    common = {"source": "test", "read_on": "2030-01-01", "confidence": "high", "note": ""}
    files, rows = [], []
    for path in manifests:
        told = json.loads(path.read_text())
        release = told["release_label"]
        files.append(
            {
                "id": f"cuda-{release}",
                "product": "cuda",
                "release": release,
                "url": f"{url}/{REDIST}/{path.name}",
                "sha256": "0" * 64,
                "digest_from": "one",
                "released": None,
                **common,
            }
        )
        for name, one in told.items():
            if isinstance(one, dict):
                row = {"id": f"{release}-{name}", "release": release, "component": name, "version": one["version"]}
                digest, size = {PLATFORM: one[PLATFORM]["sha256"]}, {PLATFORM: int(one[PLATFORM]["size"])}
                rows.append({**row, "title": one["name"], "sha256": digest, "size_bytes": size, **common})
    _replace(folder, "redist", "manifests", files)
    _replace(folder, "redist-component", "components", rows)
    return Matrix(data=str(folder))


def _replace(folder: Path, product: str, table: str, rows: list[dict[str, Any]]) -> None:
    path = folder / f"{product}.json"
    content = json.loads(path.read_text())
    content["tables"][table] = rows
    path.write_text(json.dumps(content))
