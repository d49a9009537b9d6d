"""The binding and the stand-in beside NVIDIA's real headers: types of functions, sizes of structures, numbers."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.commands.verify.cudnn_trial import cudnn_prototypes as c
from doctor.commands.verify.cudnn_trial import status
from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS
from tests.commands.verify.cudnn_trial import headers, stub

pytestmark = pytest.mark.slow
ZIG = [sys.executable, "-m", "ziglang", "cc", "-Wno-deprecated-declarations"]
ALGORITHM_NAMES = {
    "forward": "CONVOLUTION_FWD_ALGO_",
    "backward-data": "CONVOLUTION_BWD_DATA_ALGO_",
    "backward-filter": "CONVOLUTION_BWD_FILTER_ALGO_",
}


@pytest.mark.parametrize("release", headers.RELEASES)
def test_the_stand_in_has_the_prototypes_of_the_real_headers(release: str, tmp_path: Path) -> None:
    """A parameter of another type than the header's is an error of the compiler: conflicting types."""
    options = [*headers.include(release, tmp_path), "-DREAL_HEADERS", *stub.options(release, "")[:3]]
    target = str(tmp_path / "stub.o")
    command = [*ZIG, "-c", "-Wall", "-Wextra", "-Werror", *options, "-o", target, str(stub.SOURCE)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_compiler_would_notice_another_type(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.c"
    declared = "cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)"
    text = stub.SOURCE.read_text()
    assert declared in text
    wrong.write_text(text.replace(declared, declared.replace("cudaStream_t stream", "int stream")))
    options = [*headers.include("9.10.2", tmp_path), "-DREAL_HEADERS", *stub.options("9.10.2", "")[:3]]
    command = [*ZIG, "-c", *options, "-o", str(tmp_path / "wrong.o"), str(wrong)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert "conflicting types for 'cudnnSetStream'" in ran.stderr


@pytest.mark.parametrize("release", headers.RELEASES)
def test_structures_have_the_size_and_the_places_of_the_real_ones(release: str, tmp_path: Path) -> None:
    struct = c.perf_struct(int(release[0]))
    real = {"algorithm": "algo", "workspace_bytes": "memory", "time_ms": "time", "math_type": "mathType"}
    members = [name for name, *_ in struct._fields_]
    for kind in ("Fwd", "BwdData", "BwdFilter"):
        one = f"cudnnConvolution{kind}AlgoPerf_t"
        places = ", ".join(f"(long)offsetof({one}, {real.get(name, name)})" for name in members)
        source = tmp_path / f"{kind}.c"
        source.write_text(
            "#include <stdio.h>\n#include <stddef.h>\n#include <cudnn.h>\n"
            f"int main(void) {{ long all[] = {{sizeof({one}), {places}}};\n"
            'for (unsigned i = 0; i < sizeof all / sizeof *all; i++) printf("%s%ld", i ? "," : "[", all[i]);\n'
            'printf("]"); return 0; }\n'
        )
        folder = tmp_path / kind
        folder.mkdir()
        program = folder / "program"
        subprocess.run([*ZIG, *headers.include(release, folder), "-o", str(program), str(source)], check=True)
        said = json.loads(subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout)
        assert said == [ctypes.sizeof(struct), *(getattr(struct, name).offset for name in members)]


@pytest.mark.parametrize("release", headers.RELEASES)
def test_numbers_are_those_of_the_real_headers(release: str, tmp_path: Path) -> None:
    known, major = headers.numbers(headers.text(release, tmp_path)), int(release[0])
    expected = {
        "DATA_FLOAT": c.DATA_FLOAT,
        "DATA_DOUBLE": c.DATA_DOUBLE,
        "DATA_HALF": c.DATA_HALF,
        "TENSOR_NCHW": c.TENSOR_NCHW,
        "TENSOR_NHWC": c.TENSOR_NHWC,
        "CONVOLUTION": c.CONVOLUTION,
        "CROSS_CORRELATION": c.CROSS_CORRELATION,
        "DEFAULT_MATH": c.DEFAULT_MATH,
        "TENSOR_OP_MATH": c.TENSOR_OP_MATH,
        "TENSOR_OP_MATH_ALLOW_CONVERSION": c.TENSOR_OP_MATH_ALLOW_CONVERSION,
        **({"DATA_BFLOAT16": c.DATA_BFLOAT16, "FMA_MATH": c.FMA_MATH} if major >= 8 else {}),
    }
    assert {name: known.get(name) for name in expected} == expected
    for direction, names in ALGORITHMS.items():
        prefix = ALGORITHM_NAMES[direction]
        assert {name: known.get(f"{prefix}{name.removeprefix('ALGO_')}") for name in names} == {
            name: value for value, name in enumerate(names)
        }
        assert known[f"{prefix}COUNT"] == len(names)


@pytest.mark.parametrize("release", headers.RELEASES)
def test_statuses_have_the_names_of_the_real_headers(release: str, tmp_path: Path) -> None:
    known = headers.numbers(headers.text(release, tmp_path))
    names: dict[int, set[str]] = {}  # 9 keeps some names of 8 as aliases of its own
    for name, value in known.items():
        if name.startswith("STATUS_"):
            names.setdefault(value, set()).add(f"CUDNN_{name}")
    assert len(names) > 10
    assert {value for value, said in names.items() if status.status_name(value, int(release[0])) not in said} == set()
