"""Look-ups: what a row answers, and what no row covers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from compat.matrix import Matrix, Uncovered, known
from compat.version import ComputeCapability, CudaVersion, CudnnVersion, DriverRelease

MATRIX = Matrix()
cuda, cudnn, driver, gpu = CudaVersion.parse, CudnnVersion.parse, DriverRelease.parse, ComputeCapability.parse
Ask = Callable[[Matrix], Any]


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda m: m.toolkit(cuda("12.4")).release, "12.4.0"),
        (lambda m: str(m.driver_floor(cuda("12.8"), "linux")), "525.60.13"),
        (lambda m: str(m.driver_floor(cuda("12.8"), "windows")), "527.41"),
        (lambda m: str(m.driver_floor(cuda("11.0"), "linux")), "450.36.06"),
        (lambda m: str(m.driver_floor(cuda("11.8"), "windows")), "452.39"),
        (lambda m: str(m.driver_floor(cuda("13.2"), "linux")), "580"),
        (lambda m: str(m.driver_floor(cuda("10.1"), "linux")), "418.39"),
        (lambda m: str(m.branch(driver("580.95.05")).cuda_max), "13.0"),
        (lambda m: str(m.branch(driver("430.26")).cuda_max), "10.1"),
        (lambda m: m.branch(driver("572.16"), "windows").branch, 570),
        (lambda m: m.branch(driver("581.57"), "windows").branch, 580),
        (lambda m: m.branch(driver("591.44"), "windows").branch, 590),
        (lambda m: m.branch(driver("475.14"), "windows").branch, 470),
        (lambda m: m.branch(driver("427.60"), "windows").branch, 418),
        (lambda m: m.branch(driver("457.51"), "windows").branch, 455),
        (lambda m: str(m.targets(cuda("13.0")).capability_min), "7.5"),
        (lambda m: str(m.first_cuda_for(gpu("8.6"))), "11.1"),
        (lambda m: str(m.first_cuda_for(gpu("12.0"))), "12.8"),
        (lambda m: m.generation(gpu("8.9")).name, "Ada Lovelace"),
        (lambda m: m.generation(gpu("12.0")).open_module, "only"),
        (lambda m: m.generation(gpu("6.1")).driver_last, 580),
        (lambda m: m.gpu("NVIDIA GeForce RTX 4090").id, "geforce-rtx-4090"),
        (lambda m: m.gpu("geforce rtx 4090").id, "geforce-rtx-4090"),
        (lambda m: m.gpu("RTX 4090").id, "geforce-rtx-4090"),
        (lambda m: m.gpu("NVIDIA H100 80GB HBM3").id, "h100-80gb-hbm3"),
        (lambda m: m.gpu("Tesla V100-SXM2-16GB").capabilities, (gpu("7.0"),)),
        (lambda m: m.gpu("NVIDIA GeForce GT 730").capabilities, (gpu("2.1"), gpu("3.0"), gpu("3.5"))),
        (lambda m: m.compilers("12.2.0").clang_max, 15),
        (lambda m: m.compilers("12.2.1").clang_max, 16),
        (lambda m: m.compilers("12.2").clang_max, 15),
        (lambda m: m.compilers("13.0.2").gcc_max, 15),
        (lambda m: m.compilers("12.4.131").msc_max, 1949),
        (lambda m: m.cudnn(cudnn("9.10.2.21")).soname, "libcudnn.so.9"),
        (lambda m: m.cudnn(cudnn("8.9.7")).header, "cudnn_version.h"),
        (lambda m: m.cudnn(cudnn("7.6.5")).parts_linux, ()),
        (lambda m: "libcudnn_engines_tensor_ir.so.9" in m.cudnn(cudnn("9.20.0")).parts_linux, False),
        (lambda m: "libcudnn_engines_tensor_ir.so.9" in m.cudnn(cudnn("9.21.0")).parts_linux, True),
        (lambda m: "cudnn_ext64_9.dll" in m.cudnn(cudnn("9.28.0")).parts_windows, True),
        (lambda m: str(m.cudnn(cudnn("5.1")).version), "5.1.10"),
        (lambda m: str(m.cudnn_build(cudnn("9.10.2"), 12).cuda_max), "12.9"),
        (lambda m: str(m.cudnn_build(cudnn("9.11.0"), 12).capability_min), "7.5"),
        (lambda m: str(m.framework("torch", "2.9.1+cu128", "cu128").cudnn), "9.10.2.21"),
        (lambda m: m.framework("torch", "2.9.1").build, "cu128"),
        (lambda m: m.framework("torch", "2.9.1", "cpu").cuda, ""),
        (lambda m: m.framework("torch", "2.6.0", "cu126", "linux").id, "torch-2.6.0-cu126"),
        (lambda m: str(m.framework("tensorflow", "2.15.0", "cu122").cudnn), "8.9"),
        (lambda m: m.framework("tensorflow", "2.10.1", os_family="windows").cuda, ">=11.2,<12"),
        (lambda m: m.framework("tensorflow", "2.15.0", os_family="windows").cuda, ""),
        (lambda m: m.framework("jax-cuda12-plugin", "0.7.2", "cuda").cudnn_accepts, "!=9.10.0.*,<10.0,>=9.8"),
        (lambda m: m.framework("cupy-cuda12x", "13.6.0").cudnn_accepts, ">=8.8,<9"),
        (lambda m: m.framework("onnxruntime-gpu", "1.20.2").cuda, "==12.*"),
        (lambda m: m.framework("theano", "1.0.5").cudnn_accepts, ">=5,<7.2"),
        (lambda m: len(m.framework_rows("torch", "2.9.1")) >= 4, True),
        (lambda m: m.framework_rows("no-such-package", "1.0"), ()),
        (lambda m: m.has("torch"), True),
        (lambda m: m.has("no-such-package"), False),
        (lambda m: m.as_of(), "2026-11-27"),
    ],
)
def test_covered(ask: Ask, answer: Any) -> None:
    assert ask(MATRIX) == answer


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda m: m.toolkit(cuda("12.7")), "CUDA 12.7; the nearest is 12.6"),
        (lambda m: m.toolkit(cuda("99.0")), "CUDA 99.0; the nearest is 13.5"),
        (lambda m: m.toolkit(cuda("1.0")), "CUDA 1.0; the nearest is 7.0"),
        (lambda m: m.branch(driver("431.36")), "driver branch 431; the nearest is 430"),
        (lambda m: m.branch(driver("479.01"), "windows"), "driver branch 479; the nearest is 470"),
        (lambda m: m.targets(cuda("12.7")), "the targets of CUDA 12.7; the nearest is 12.6"),
        (lambda m: m.generation(gpu("99.0")), "compute capability 99.0"),
        (lambda m: m.gpu("Voodoo 2"), "the GPU 'Voodoo 2'"),
        (lambda m: m.compilers("6.5.0"), "the host compilers of CUDA 6.5.0; the nearest is 7.5.0"),
        (lambda m: m.cudnn(cudnn("9.10.9")), "cuDNN 9.10.9; the nearest is 9.10.2"),
        (lambda m: m.cudnn_build(cudnn("9.11.0"), 11), "cuDNN 9.11.0 for CUDA 11"),
        (lambda m: m.framework("torch", "99.0"), "torch 99.0 on linux x86_64; the nearest is 2.15.0"),
        (lambda m: m.framework("no-such-package", "1"), "no-such-package 1 on linux x86_64"),
        (lambda m: known(m.toolkit(cuda("13.5")), "toolkit_driver_linux"), "toolkit driver linux of cuda-13.5"),
        (lambda m: m.driver_floor(cuda("12.7"), "linux"), "CUDA 12.7"),
    ],
)
def test_uncovered(ask: Ask, says: str) -> None:
    with pytest.raises(Uncovered, match=f"^no matrix row covers {says}"):
        ask(MATRIX)


def test_a_build_without_a_row_is_not_called_an_unknown_release() -> None:
    with pytest.raises(Uncovered, match=r"^torch 2\.9\.1 is known, but its cu99 build on linux x86_64 is not$"):
        MATRIX.framework("torch", "2.9.1", "cu99")


def test_only_files_asked_for_are_read() -> None:
    matrix = Matrix()
    matrix.driver_floor(cuda("12.8"), "linux")
    assert matrix.files_read == ("cuda",)
