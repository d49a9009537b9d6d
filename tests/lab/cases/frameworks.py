"""Faults of Python environments and the frameworks in them."""

from __future__ import annotations

from tests.lab import cudnn_tree, stub
from tests.lab.case import Case, fault, on_disk
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    JAXLIB,
    VENV,
    WHEELS,
    Tree,
    at,
    card,
    cuda_wheels,
    cudnn_wheel,
    driver,
    files,
    package,
    site_of,
    together,
    toolkit,
    torch,
    without,
)

EMPTY = without(f"{site_of()}/*")
CUPY = {"cupy/__init__.py": "", "cupy/_core/core.so": "x"}
PLUGIN: Tree = {
    "jax_cuda12_plugin/__init__.py": "",
    "jax_plugins/xla_cuda12/__init__.py": '_load("cudnn", [])\n',
    "jax_plugins/xla_cuda12/xla_cuda_plugin.so": elf_bytes("xla_cuda_plugin.so", runpath=WHEELS),
}
BUILD_INFO = """build_info = collections.OrderedDict([
  ("cpu_compiler", "/usr/lib/llvm-17/bin/clang"), ("cuda_version", "12.5.1"), ("cudnn_version", "9"),
  ("is_cuda_build", True), ("is_rocm_build", False)])
"""
OWN_BUILD = BUILD_INFO.replace("12.5.1", "12.8.0").replace(
    '("is_cuda', '("cuda_compute_capabilities", ["sm_75", "sm_120"]), ("is_cuda'
)
TF: Tree = {
    "tensorflow/__init__.py": "",
    "tensorflow/python/platform/build_info.py": BUILD_INFO,
    "tensorflow/libtensorflow_framework.so.2": elf_bytes("libtensorflow_framework.so.2"),
}
FAKE_ONNX: Tree = {
    "onnxruntime/__init__.py": "",
    "onnxruntime/capi/libonnxruntime_providers_shared.so": "",
    "onnxruntime/capi/libonnxruntime_providers_cuda.so": elf_bytes(
        "libonnxruntime_providers_cuda.so", needed=("libcudnn.so.9", "libcudart.so.12")
    ),
}


PASCAL = stub.machine_env(stub.card(name="NVIDIA GeForce GTX 1080 Ti", cc="6.1", pci_id="0x1b0610de"))
V100 = stub.machine_env(stub.card(name="Tesla V100-SXM2-16GB", cc="7.0", pci_id="0x1db110de"))

CASES = (
    fault(
        "two-cupys",
        "cupy-cuda11x and cupy-cuda12x in one environment",
        package("cupy-cuda11x", "13.6.0", CUPY),
        package("cupy-cuda12x", "13.6.0", CUPY),
        codes=("multiple-cupy",),
        first="multiple-cupy",
    ),
    fault(
        "two-cupys-one-cuda",
        "cupy-cuda12x and cupy-cuda13x where only CUDA 12 is",
        EMPTY,
        package("cupy-cuda12x", "13.6.0", CUPY),
        package("cupy-cuda13x", "13.6.0", CUPY),
        codes=("multiple-cupy",),
        first="multiple-cupy",
        environ={"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
    ),
    fault(
        "jax-plugin",
        "the CUDA plugin is not of jaxlib's release",
        EMPTY,
        package("jax", "0.7.2", {"jax/__init__.py": ""}, requires=("jaxlib<=0.7.2,>=0.7.2",)),
        JAXLIB,
        package("jax-cuda12-plugin", "0.6.2", PLUGIN, requires=("jax-cuda12-pjrt==0.6.2",)),
        package("jax-cuda12-pjrt", "0.6.2"),
        cuda_wheels(),
        cudnn_wheel(),
        codes=("jax-plugin-version-mismatch",),
        first="jax-plugin-version-mismatch",
    ),
    fault(
        "two-cudnn-wheels",
        "the cuDNN wheel for CUDA 13 overwrote the one for CUDA 12",
        cudnn_wheel("9.13.0.50", 13),
        codes=("wheel-files-overwritten",),
        first="wheel-files-overwritten",
    ),
    fault(
        "pascal-cu128",
        "GTX 1080 Ti with torch for CUDA 12.8",
        card(0x1B06),
        driver("580.95.05", flavour="proprietary"),
        codes=("gpu-too-old-dropped",),
        first="gpu-too-old-dropped",
        nvml=PASCAL,
    ),
    fault(
        "volta-cu130",
        "Tesla V100 with torch for CUDA 13",
        card(0x1DB1),
        driver("580.95.05", flavour="proprietary"),
        without("/usr/local/cuda*"),
        EMPTY,
        torch("2.9.1+cu130", "9.13.0.50"),
        cudnn_wheel("9.13.0.50", 13),
        codes=("gpu-too-old-dropped",),
        first="gpu-too-old-dropped",
        nvml=V100,
    ),
    fault(
        "hopper-left-out",
        "H100 with a TensorFlow that was built for two other cards",
        EMPTY,
        card(0x2331),
        at("/", cudnn_tree.debian_of),
        package("tensorflow", "2.20.0", {**TF, "tensorflow/python/platform/build_info.py": OWN_BUILD}),
        codes=("gpu-arch-not-in-build",),
        first="gpu-arch-not-in-build",
        nvml=stub.machine_env(stub.card(name="NVIDIA H100 PCIe", cc="9.0", pci_id="0x233110de")),
    ),
    fault(
        "tensorflow-without-cuda",
        "tensorflow without its CUDA wheels, on a machine without toolkit",
        EMPTY,
        without("/usr/local/cuda*"),
        package("tensorflow", "2.18.0", TF, requires=("nvidia-cudnn-cu12==9.3.0.75; extra == 'and-cuda'",)),
        codes=("cudnn-missing",),
    ),
    fault(
        "tensorflow-cudnn-8",
        "TensorFlow 2.18 finds cuDNN 8 only",
        EMPTY,
        package("tensorflow", "2.18.0", TF, requires=("nvidia-cudnn-cu12==9.3.0.75; extra == 'and-cuda'",)),
        at("/usr/local/cuda-12.8/lib64", cudnn_tree.copy_of, "8.9.7", chain=True),
        at("/usr/local/cuda-12.8/include", cudnn_tree.header_of, "8.9.7"),
        environ={"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
        codes=("cudnn-wrong-major",),
        first="cudnn-wrong-major",
    ),
    fault(
        "onnxruntime-cuda-11",
        "onnxruntime-gpu for CUDA 12 on a machine with CUDA 11",
        EMPTY,
        without("/usr/local/cuda*"),
        toolkit("11.8.0"),
        files({"/usr/bin/gcc": "-> gcc-11", "/usr/bin/gcc-11": "#!/bin/sh\necho 11.4.0\n"}),
        package("onnxruntime-gpu", "1.20.1", FAKE_ONNX),
        codes=("framework-wants-other-cuda",),
    ),
    fault(
        "cudnn-wheel-removed",
        "torch's cuDNN wheel was uninstalled",
        without(f"{site_of()}/nvidia*"),
        codes=("cudnn-missing",),
        first="cudnn-missing",
    ),
    fault(
        "import-fails-late",
        "torch is damaged: its CUDA library is gone, and a plain CPU library is left",
        files({f"{site_of()}/torch/__init__.py": "import os\nos.abort()\n"}),
        codes=("framework-import-crash",),
        first="framework-import-crash",
        deep=True,
    ),
    on_disk(
        "two-onnxruntimes-on-disk",
        "onnxruntime and onnxruntime-gpu on an image",
        package("onnxruntime", "1.20.1", {"onnxruntime/__init__.py": ""}),
        package("onnxruntime-gpu", "1.20.1", FAKE_ONNX),
        codes=("two-onnxruntimes",),
    ),
    on_disk(
        "python-without-wheel",
        "torch 2.9.1 in an environment of Python 3.8",
        files({f"{VENV}/pyvenv.cfg": "home = /usr/bin\nversion = 3.8.10\n"}),
        without(f"{VENV}/lib", "/usr/bin/python*", "/usr/lib/python*"),
        files({"/usr/bin/python3.8": "x", f"{VENV}/bin/python": "-> /usr/bin/python3.8"}),
        torch("2.9.1+cu128", site=site_of(VENV, "python3.8")),
        cudnn_wheel(site=site_of(VENV, "python3.8")),
        codes=("python-version-no-wheel",),
    ),
    Case(
        "old-glibc",
        "torch 2.9.1 on Ubuntu 18.04",
        together(
            on_disk("", "").lay,
            files(
                {
                    "/usr/lib/x86_64-linux-gnu/libc.so.6": elf_bytes(
                        "libc.so.6",
                        rodata=b"\0GNU C Library (Ubuntu GLIBC 2.27-3ubuntu1.6) stable release version 2.27.\0",
                    )
                }
            ),
        ),
        ("glibc-too-old",),
        where="root",
    ),
)
