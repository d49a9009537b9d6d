"""A copy of cuDNN of our own, compiled on the spot: it convolves on the host, and fails where a test tells it to.

folder = stub.build(tmp_path, "9.10.2")        # libcudnn.so.9 and its parts
environ = {"STUB_CUDNN_FAULT": "abort@cudnnCreate"}   # see stub_cudnn.c
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.lab.stub import compiled

SOURCE = Path(__file__).with_name("stub_cudnn.c")
# By major; the version symbol that a part exports (doctor/loader/cudnn_library.py), "" for none.
PARTS: dict[int, dict[str, str]] = {
    8: {
        "ops_infer": "cudnn_ops_infer_version",
        "ops_train": "cudnn_ops_train_version",
        "cnn_infer": "cudnn_cnn_infer_version",
        "cnn_train": "",
        "adv_infer": "cudnn_adv_infer_version",
        "adv_train": "",
    },
    9: {
        "graph": "cudnn_graph_version",
        "ops": "cudnn_ops_infer_version",
        "cnn": "cudnn_cnn_infer_version",
        "adv": "cudnn_adv_infer_version",
        "heuristic": "",
        "engines_precompiled": "",
        "engines_runtime_compiled": "",
    },
}
_CUBLAS = ("Create", "Destroy", "GetProperty", "GetVersion", "Matmul", "MatmulAlgoGetHeuristic", "MatrixTransform")
_CUDART = {5: 7050, 6: 8000, 7: 10010, 8: 12020, 9: 12090}  # what the last release of each was built with, about


def build(folder: Path, version: str = "9.10.2", *, without: Iterable[str] = (), has_cublas: bool = False) -> Path:
    """The copy's directory: main library and parts, by the names that they are asked for; `without` some of those.

    `has_cublas` puts something beside them that is called as the cuBLAS which cuDNN needs to plan.
    """
    major = int(version.partition(".")[0])
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("", *PARTS.get(major, {})):
        name = f"libcudnn{'_' if part else ''}{part}.so.{major}"
        if part not in without:
            shutil.copy(compiled(SOURCE, *options(version, part)), folder / name)
    if has_cublas:
        shutil.copy(compiled(SOURCE, *options(version, "ops")), folder / f"libcublasLt.so.{_CUDART[major] // 1000}")
    return folder


def cublas(folder: Path, cuda_major: int) -> Path:
    """A stand-in for cuBLAS (half a gigabyte) in a directory: cuDNN binds these names when it makes plans."""
    whats = ("Create", "Destroy", "GetAttribute", "SetAttribute", "Init_internal")
    things = ("MatmulDesc", "MatrixLayout", "MatrixTransformDesc", "MatmulPreference")
    names = [*_CUBLAS, *(f"{thing}{what}" for thing in things for what in whats)]
    source = folder / "cublas.c"
    source.write_text(
        "".join(
            f"int cublasLt{name}(void **made) {{ {'*made = (void *)1; ' if name.endswith('Create') else ''}"
            f"return {0 if name.endswith(('Create', 'Destroy')) else 15}; }}\n"  # 15: NOT_SUPPORTED
            for name in names
        )
    )
    name = f"libcublasLt.so.{cuda_major}"
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu.2.17", "-shared", "-fPIC"]
    subprocess.run([*compiler, f"-Wl,-soname,{name}", "-o", str(folder / name), str(source)], check=True)
    source.unlink()
    return folder


def encoded(version: str) -> int:
    """What cudnnGetVersion answers: 91002 for 9.10.2, 8907 for 8.9.7."""
    major, minor, patch = map(int, version.split("."))
    return major * (10000 if major >= 9 else 1000) + minor * 100 + patch


def options(version: str, part: str) -> list[str]:
    """What makes the one source that release's library, or that part of it."""
    major = int(version.partition(".")[0])
    text = version.replace(".", "_") + "_0_c0_m0_e0"
    found = [f"-DRELEASE={encoded(version)}", f"-DSTUB_CUDART={_CUDART[major]}", f"-DSTUB_TEXT={text}"]
    symbol = PARTS.get(major, {}).get(part, "")
    found += ["-DPART"] if part else []
    found += [f"-DSYMBOL={symbol}"] if symbol else []
    return [*found, f"-Wl,-soname,libcudnn{'_' if part else ''}{part}.so.{major}", "-Wl,-rpath,$ORIGIN"]
