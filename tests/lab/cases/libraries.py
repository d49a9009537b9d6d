"""Faults of CUDA's own libraries, and of the tools that frameworks compile with."""

from __future__ import annotations

from tests.lab import cudnn_tree, stub
from tests.lab.case import Case, fault
from tests.lab.cases.frameworks import EMPTY, FAKE_ONNX, TF
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    JAXLIB,
    WHEELS,
    WORKSTATION,
    at,
    cuda_wheels,
    cudnn_wheel,
    files,
    package,
    ptxas,
    site_of,
    together,
    toolkit,
    without,
)

NO_TOOLKIT = without("/usr/local/cuda*")
LONELY = together(EMPTY, NO_TOOLKIT)
FRAMEWORK = "tensorflow/libtensorflow_framework.so.2"
BESIDE = WHEELS.replace("../../", "../")
FINDING: dict[str, str | bytes] = {
    **TF,
    FRAMEWORK: elf_bytes("libtensorflow_framework.so.2", runpath=BESIDE),
}
AND_CUDA = ("nvidia-cudnn-cu12==9.3.0.75; extra == 'and-cuda'",)
JAX = together(
    package("jax", "0.7.2", {"jax/__init__.py": ""}, requires=("jaxlib<=0.7.2,>=0.7.2",)),
    JAXLIB,
    package(
        "jax-cuda12-pjrt",
        "0.7.2",
        {
            "jax_plugins/xla_cuda12/__init__.py": "",
            "jax_plugins/xla_cuda12/xla_cuda_plugin.so": elf_bytes("xla_cuda_plugin.so", runpath=WHEELS),
        },
    ),
    package("jax-cuda12-plugin", "0.7.2", {"jax_cuda12_plugin/__init__.py": ""}, requires=("jax-cuda12-pjrt==0.7.2",)),
    cudnn_wheel(),
)
OLD = "/opt/cuda-12.4/lib64"
CUBLAS = f"{site_of()}/nvidia/cublas/lib/libcublas.so.12"
ASKS_FOR_LT = elf_bytes("libcublas.so.12", needed=("libcublasLt.so.12",), runpath="$ORIGIN")
OLD_LT: dict[str, str | bytes] = {
    f"{OLD}/libcublasLt.so.12.4.5.8": elf_bytes("libcublasLt.so.12"),
    f"{OLD}/libcublasLt.so.12": "-> libcublasLt.so.12.4.5.8",
}
RTX_5090 = stub.machine_env(stub.card(name="NVIDIA GeForce RTX 5090", cc="12.0", pci_id="0x2b8510de"))

CASES = (
    fault(
        "onnxruntime-no-cuda",
        "ONNX Runtime, and no CUDA 12 anywhere",
        LONELY,
        toolkit("11.8.0"),
        package("onnxruntime-gpu", "1.22.0", FAKE_ONNX),
        cudnn_wheel(),
        codes=("cudart-soname-missing",),
    ),
    fault(
        "onnxruntime-wheels",
        "ONNX Runtime beside wheels in which it does not look",
        LONELY,
        package("onnxruntime-gpu", "1.22.0", FAKE_ONNX),
        cuda_wheels(),
        cudnn_wheel(),
        codes=("wheel-libs-not-on-loader-path",),
    ),
    fault(
        "tensorflow-bare",
        "TensorFlow without its CUDA wheels",
        LONELY,
        package("tensorflow", "2.18.0", TF, requires=AND_CUDA),
        codes=("tf-cannot-dlopen-gpu-libs",),
    ),
    Case(
        "tensorflow-and-cuda",
        "TensorFlow with them",
        together(
            WORKSTATION,
            LONELY,
            package("tensorflow", "2.18.0", FINDING, requires=AND_CUDA),
            cuda_wheels("12.5"),
            cudnn_wheel("9.3.0.75"),
        ),
    ),
    fault(
        "cudnn-for-cuda-13",
        "TensorFlow for CUDA 12 finds the system's cuDNN for CUDA 13, as NVIDIA's package cudnn brings it",
        LONELY,
        package("tensorflow", "2.18.0", FINDING, requires=AND_CUDA),
        cuda_wheels("12.5"),
        at("/", cudnn_tree.debian_of, "9.13.0.50-1", 13),
        codes=("cudnn-for-other-cuda",),
        first="cudnn-for-other-cuda",
    ),
    Case(
        "cudnn-for-cuda-12",
        "the same with the package for CUDA 12",
        together(
            WORKSTATION,
            LONELY,
            package("tensorflow", "2.18.0", FINDING, requires=AND_CUDA),
            cuda_wheels("12.5"),
            at("/", cudnn_tree.debian_of, "9.13.0.50-1", 12),
        ),
    ),
    fault(
        "cublas-cut-short",
        "TensorFlow with a cuBLAS of which only the beginning was written",
        LONELY,
        package("tensorflow", "2.18.0", FINDING, requires=AND_CUDA),
        cuda_wheels("12.5"),
        cudnn_wheel("9.3.0.75"),
        files({CUBLAS: ASKS_FOR_LT[:100]}),
        codes=("cuda-library-damaged",),
    ),
    fault(
        "jax-no-nvcc-wheel",
        "JAX without the wheel that has ptxas and libdevice",
        LONELY,
        JAX,
        cuda_wheels(nvcc=False),
        codes=("libdevice-not-found", "ptxas-missing"),
    ),
    fault(
        "old-ptxas-on-path",
        "an RTX 5090, and on PATH a ptxas of CUDA 12.4, which TensorFlow takes before its wheel's",
        LONELY,
        package("tensorflow", "2.18.0", FINDING, requires=AND_CUDA),
        cuda_wheels("12.8"),
        cudnn_wheel("9.3.0.75"),
        files({"/opt/cuda-12.4/bin/ptxas": ptxas("12.4.131")}),
        codes=("ptxas-too-old",),
        environ={"PATH": "/opt/cuda-12.4/bin:/usr/bin"},
        nvml=RTX_5090,
    ),
    fault(
        "cupy-no-nvrtc",
        "CuPy on a machine without NVRTC",
        LONELY,
        package("cupy-cuda12x", "13.6.0", {"cupy/__init__.py": "", "cupy/.data/_wheel.json": '{"cuda": "12.x"}'}),
        codes=("nvrtc-missing",),
    ),
    fault(
        "old-cublaslt",
        "an older cuBLASLt in LD_LIBRARY_PATH, which the wheel's cuBLAS takes",
        LONELY,
        package("tensorflow", "2.18.0", FINDING, requires=(*AND_CUDA, "nvidia-cublas-cu12; extra == 'and-cuda'")),
        cuda_wheels("12.5"),
        cudnn_wheel("9.3.0.75"),
        files({CUBLAS: ASKS_FOR_LT, **OLD_LT}),
        codes=("ld-library-path-shadowing", "cublas-mismatch"),
        environ={"LD_LIBRARY_PATH": OLD},
    ),
    fault(
        "ninja-other-cuda",
        "extensions for torch 2.9.1+cu128 would be built with CUDA 11.8",
        without("/usr/local/cuda*"),
        toolkit("11.8.0"),
        package("ninja", "1.13.0", {"ninja/__init__.py": ""}),
        codes=("wrong-nvcc-vs-torch-cuda",),
    ),
)
