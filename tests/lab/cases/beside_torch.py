"""Frameworks of another CUDA or cuDNN in torch's environment, whose wheels they would share."""

from __future__ import annotations

from tests.lab.case import Case, fault
from tests.lab.cases.frameworks import BUILD_INFO
from tests.lab.cases.libraries import BESIDE, LONELY
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import Part, cuda_wheels, cudnn_wheel, package, together, torch

BASE = together(LONELY, torch("2.8.0+cu128"), cuda_wheels(), cudnn_wheel())


def tensorflow_2_17() -> Part:
    """Built for cuDNN 8, with a RUNPATH to the wheels, as its own wheel."""
    return package(
        "tensorflow",
        "2.17.0",
        {
            "tensorflow/__init__.py": "",
            "tensorflow/python/platform/build_info.py": BUILD_INFO.replace("12.5.1", "12.3").replace('"9"', '"8"'),
            "tensorflow/libtensorflow_framework.so.2": elf_bytes("libtensorflow_framework.so.2", runpath=BESIDE),
        },
        requires=("nvidia-cudnn-cu12==8.9.7.29; extra == 'and-cuda'",),
    )


def onnxruntime_1_31() -> Part:
    """Built for CUDA 13."""
    needed = ("libcublasLt.so.13", "libcudart.so.13")
    return package(
        "onnxruntime-gpu",
        "1.31.1",
        {
            "onnxruntime/__init__.py": "",
            "onnxruntime/capi/build_and_package_info.py": "cuda_version = '13.0'\n",
            "onnxruntime/capi/libonnxruntime_providers_shared.so": "",
            "onnxruntime/capi/libonnxruntime_providers_cuda.so": elf_bytes(
                "libonnxruntime_providers_cuda.so", needed=needed
            ),
        },
    )


CASES: tuple[Case, ...] = (
    fault(
        "tensorflow-2.17-beside-torch",
        "TensorFlow 2.17, for cuDNN 8, beside a torch that brings cuDNN 9",
        BASE,
        tensorflow_2_17(),
        codes=("cudnn-wrong-major",),
        first="cudnn-wrong-major",
    ),
    fault(
        "onnxruntime-cuda-13-beside-torch",
        "ONNX Runtime for CUDA 13 beside a torch for CUDA 12",
        BASE,
        onnxruntime_1_31(),
        codes=("framework-wants-other-cuda",),
        first="framework-wants-other-cuda",
    ),
)
