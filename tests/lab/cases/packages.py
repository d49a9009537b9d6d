"""Packages that are not whole, and libraries of the system that they need.

The lists are those of real wheels: RECORD of torch-2.9.1 names torch/lib/libc10.so and torch/_C.cpython-312-*.so;
conda-forge's pytorch keeps that list and has the libraries in the environment's lib; libtriton.so of triton 2 and
cuDNN 8 ask for libz.so.1, libpaddle.so and older wheels of torch for libgomp.so.1 (`readelf -d`).
"""

from __future__ import annotations

from pathlib import Path

from tests.lab.case import Case, fault
from tests.lab.cases.frameworks import EMPTY
from tests.lab.cases.libraries import AND_CUDA, CUBLAS, FINDING, JAX, LONELY
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    LIB,
    ROCKY_9,
    WORKSTATION,
    Part,
    cuda_wheels,
    cudnn_wheel,
    files,
    package,
    site_of,
    together,
    torch,
    without,
)

SITE = site_of()
TORCH_LIB = f"{SITE}/torch/lib"
TORCH_INFO = f"{SITE}/torch-2.9.1+cu128.dist-info"
TF_WHOLE = together(
    LONELY,
    package("tensorflow", "2.18.0", FINDING, requires=AND_CUDA),
    cuda_wheels("12.5"),
    cudnn_wheel("9.3.0.75"),
)
CUFFT = f"{SITE}/nvidia/cufft/lib/libcufft.so.11"


def sized(info: str, **sizes: int) -> Part:
    """RECORD with sizes, as every installer writes them; `sizes` by the file's stem, for files that differ."""

    def lay(root: Path) -> None:
        record = root / info.lstrip("/") / "RECORD"
        site = record.parent.parent
        lines = []
        for line in record.read_text().splitlines():
            path = line.partition(",")[0]
            size = sizes.get(Path(path).name.partition(".")[0], (site / path).stat().st_size)
            lines.append(f"{path},sha256=x,{size}\n")
        record.write_text("".join(lines))

    return lay


def asks(name: str, *needed: str) -> Part:
    """torch's libtorch_cpu.so with more that it needs."""
    content = elf_bytes(name, needed=("libc10.so", *needed), rpath="$ORIGIN")
    return files({f"{TORCH_LIB}/{name}": content})


GOMP = asks("libtorch_cpu.so", "libgomp.so.1")
ZLIB = asks("libtorch_cpu.so", "libz.so.1")
OTHER = "/opt/arm/lib"

CASES = (
    fault(
        "torch-library-gone",
        "torch without libc10.so, which its list of files has",
        without(f"{TORCH_LIB}/libc10.so"),
        codes=("corrupted-install", "needed-library-missing"),
        first="corrupted-install",
    ),
    fault(
        "torch-library-cut-short",
        "the disk was full when libtorch_cuda.so was written",
        files({f"{TORCH_LIB}/libtorch_cuda.so": elf_bytes("libtorch_cuda.so")[:100]}),
        sized(TORCH_INFO, libtorch_cuda=870_000),
        codes=("corrupted-install",),
        first="corrupted-install",
    ),
    fault(
        "torch-extension-gone",
        "torch without its extension module",
        without(f"{SITE}/torch/_C.*"),
        codes=("corrupted-install",),
        first="corrupted-install",
    ),
    fault(
        "torch-library-empty",
        "libtorch_python.so is there, and empty",
        files({f"{TORCH_LIB}/libtorch_python.so": b""}),
        sized(TORCH_INFO, libtorch_python=27_000),
        codes=("corrupted-install",),
        first="corrupted-install",
    ),
    fault(
        "tensorflow-module-gone",
        "TensorFlow without one of the modules that its list of files has",
        LONELY,
        package(
            "tensorflow",
            "2.18.0",
            {**FINDING, "tensorflow/python/__init__.py": "", "tensorflow/python/pywrap_tensorflow.py": ""},
            requires=AND_CUDA,
        ),
        cuda_wheels("12.5"),
        cudnn_wheel("9.3.0.75"),
        without(f"{SITE}/tensorflow/python/pywrap_tensorflow.py"),
        codes=("corrupted-install",),
        first="corrupted-install",
    ),
    Case(
        "tensorflow-compiled-modules",
        "the same where only the compiled form of a module is there, and no test is",
        together(
            WORKSTATION,
            LONELY,
            package(
                "tensorflow",
                "2.18.0",
                {
                    **FINDING,
                    "tensorflow/python/__init__.py": "",
                    "tensorflow/python/pywrap_tensorflow.py": "",
                    "tensorflow/tests/test_it.py": "",
                },
                requires=AND_CUDA,
            ),
            cuda_wheels("12.5"),
            cudnn_wheel("9.3.0.75"),
            without(f"{SITE}/tensorflow/python/pywrap_tensorflow.py", f"{SITE}/tensorflow/tests"),
            files({f"{SITE}/tensorflow/python/pywrap_tensorflow.pyc": b"x"}),
        ),
    ),
    Case(
        "torch-stripped",
        "somebody stripped torch's libraries: smaller than RECORD says, and whole",
        together(WORKSTATION, sized(TORCH_INFO, libtorch_cuda=870_000, libtorch_cpu=420_000)),
    ),
    Case(
        "torch-of-conda-forge",
        "conda's pytorch keeps the wheel's list of files, and has one of them elsewhere",
        together(
            WORKSTATION,
            without(f"{TORCH_LIB}/libc10.so"),
            files({f"{TORCH_INFO}/INSTALLER": "conda\n", f"{LIB}/libc10.so": elf_bytes("libc10.so")}),
        ),
    ),
    fault(
        "cufft-wheel-gone",
        "TensorFlow whose cuFFT wheel is listed, its library gone",
        TF_WHOLE,
        without(CUFFT),
        codes=("corrupted-install", "tf-cannot-dlopen-gpu-libs"),
        first="corrupted-install",
    ),
    fault(
        "two-wheels-gone",
        "cuBLAS and cuFFT were taken out of the directories of their wheels",
        TF_WHOLE,
        without(CUFFT, f"{CUBLAS}*"),
        codes=("corrupted-install",),
        first="corrupted-install",
    ),
    fault(
        "jax-plugin-library-gone",
        "JAX's plugin without its library",
        LONELY,
        JAX,
        cuda_wheels(),
        without(f"{SITE}/jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
        codes=("corrupted-install",),
        first="corrupted-install",
    ),
    fault(
        "no-libgomp",
        "a slim system without libgomp1",
        GOMP,
        codes=("needed-library-missing",),
        first="needed-library-missing",
    ),
    Case(
        "with-libgomp",
        "the same with libgomp1",
        together(WORKSTATION, GOMP, files({f"{LIB}/libgomp.so.1": elf_bytes("libgomp.so.1")})),
    ),
    fault(
        "no-libz-rocky",
        "Rocky Linux without zlib",
        ZLIB,
        files({"/etc/os-release": ROCKY_9}),
        codes=("needed-library-missing",),
        first="needed-library-missing",
        where="pretended",  # the tests' Python needs zlib itself
    ),
    fault(
        "libz-of-another-machine",
        "the only libz.so.1 is for ARM",
        ZLIB,
        files({f"{OTHER}/libz.so.1": elf_bytes("libz.so.1", machine="aarch64")}),
        environ={"LD_LIBRARY_PATH": OTHER},
        codes=("needed-library-missing",),
        first="needed-library-missing",
        where="pretended",  # the tests' Python needs zlib itself
    ),
    Case(
        "libz-of-two-machines",
        "a libz.so.1 for ARM in LD_LIBRARY_PATH, before the system's",
        together(
            WORKSTATION,
            ZLIB,
            files(
                {
                    f"{OTHER}/libz.so.1": elf_bytes("libz.so.1", machine="aarch64"),
                    f"{LIB}/libz.so.1": elf_bytes("libz.so.1"),
                }
            ),
        ),
        environ={"LD_LIBRARY_PATH": OTHER},
    ),
    fault(
        "libz-damaged-in-variable",
        "half a libz.so.1 in LD_LIBRARY_PATH, before the system's",
        ZLIB,
        files({f"{OTHER}/libz.so.1": elf_bytes("libz.so.1")[:90], f"{LIB}/libz.so.1": elf_bytes("libz.so.1")}),
        environ={"LD_LIBRARY_PATH": OTHER},
        codes=("needed-library-missing",),
        first="needed-library-missing",
    ),
    fault(
        "cudnn-needs-libz",
        "cuDNN 8 asks for libz.so.1, and nobody installed it",
        EMPTY,
        torch("2.2.0+cu121", "8.9.2.26"),
        cudnn_wheel("8.9.2.26"),
        files(
            {
                f"{SITE}/nvidia/cudnn/lib/libcudnn.so.8": elf_bytes(
                    "libcudnn.so.8", needed=("libz.so.1",), values={"cudnn_version": 8902}, runpath="$ORIGIN"
                )
            }
        ),
        sized(f"{SITE}/nvidia_cudnn_cu12-8.9.2.26.dist-info"),
        codes=("needed-library-missing",),
        first="needed-library-missing",
        where="pretended",  # the tests' Python needs zlib itself
    ),
    fault(
        "cublas-link-loop",
        "the links of cuBLAS lead to each other",
        TF_WHOLE,
        files({CUBLAS: "-> libcublas.so.12.5", f"{CUBLAS}.5": "-> libcublas.so.12"}),
        codes=("cuda-library-damaged",),
        first="cuda-library-damaged",
    ),
    fault(
        "cublas-of-another-machine",
        "the wheel of cuBLAS was unpacked for ARM",
        TF_WHOLE,
        files({CUBLAS: elf_bytes("libcublas.so.12", machine="aarch64")}),
        codes=("wrong-machine-library",),
        first="wrong-machine-library",
    ),
    Case(
        "cublas-of-two-machines",
        "a toolkit for ARM, to cross-compile with, in LD_LIBRARY_PATH before the wheels",
        together(
            WORKSTATION, TF_WHOLE, files({f"{OTHER}/libcublas.so.12": elf_bytes("libcublas.so.12", machine="aarch64")})
        ),
        environ={"LD_LIBRARY_PATH": OTHER},
    ),
    fault(
        "torch-of-another-machine",
        "torch's own libraries were unpacked for ARM",
        files({f"{TORCH_LIB}/libtorch_cuda.so": elf_bytes("libtorch_cuda.so", machine="aarch64")}),
        codes=("wrong-machine-library",),
        first="wrong-machine-library",
    ),
)
