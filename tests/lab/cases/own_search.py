"""Frameworks that look for CUDA in a way of their own: MXNet, PaddlePaddle, and a cuBLAS of another environment.

Names and search paths are those of the wheels: libmxnet.so of mxnet-cu112 1.9.1 needs NCCL and NVTX and has ${ORIGIN}
alone as its search path; libphi.so of paddlepaddle-gpu 2.6.2 opens libcublas.so and its like, names for linkers.
"""

from __future__ import annotations

from tests.lab import cudnn_tree
from tests.lab.case import Case, fault
from tests.lab.cases.eras import tensorflow
from tests.lab.cases.frameworks import EMPTY
from tests.lab.cases.libraries import LONELY
from tests.lab.cases.python_advice import TF_18
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import WORKSTATION, Part, at, cudnn_wheel, files, gcc, package, together, toolkit, without

_OF_MXNET = (
    *("libcudnn.so.8", "libnccl.so.2", "libcudart.so.11.0", "libcufft.so.10", "libcublas.so.11", "libcusolver.so.11"),
    *("libcurand.so.10", "libnvrtc.so.11.2", "libnvToolsExt.so.1"),
)
NO_TOOLKIT = without("/usr/local/cuda*")
MXNET = together(
    EMPTY,
    NO_TOOLKIT,
    package(
        "mxnet-cu112",
        "1.9.1",
        {
            "mxnet/__init__.py": "",
            "mxnet/libmxnet.so": elf_bytes("libmxnet.so", needed=_OF_MXNET, runpath="${ORIGIN}"),
        },
        requires=("numpy<2.0.0,>1.16.0",),
    ),
    package("numpy", "1.23.5", {"numpy/__init__.py": ""}),
)
_VERSION = "cuda_version = '11.8'\ncudnn_version = '8.6.0'\n"


def paddle() -> Part:
    """As the package index has it: libphi.so opens CUDA's libraries."""
    return together(
        EMPTY,
        NO_TOOLKIT,
        package(
            "paddlepaddle-gpu",
            "2.6.2",
            {
                "paddle/__init__.py": "",
                "paddle/version/__init__.py": _VERSION,
                "paddle/base/libpaddle.so": elf_bytes(
                    "libpaddle.so", needed=("libphi.so",), runpath="$ORIGIN/../libs/"
                ),
                "paddle/libs/libphi.so": elf_bytes("libphi.so", runpath="$ORIGIN"),
            },
            requires=("numpy>=1.13",),
        ),
        package("numpy", "1.26.4", {"numpy/__init__.py": ""}),
        package("setuptools", "80.9.0", {"setuptools/__init__.py": ""}),
    )


LINKED = together(gcc("11.4.0"), at("/usr/local/cuda-11.8/lib64", cudnn_tree.copy_of, "8.9.7", chain=True))
OTHER = "/opt/other/lib/python3.12/site-packages"


def cublas(release: str) -> Part:
    """The wheel in another environment."""
    names = ("libcublas.so.12", "libcublasLt.so.12")
    metadata = f"Name: nvidia-cublas-cu12\nVersion: {release}\n"
    return files(
        {
            **{f"{OTHER}/nvidia/cublas/lib/{name}": elf_bytes(name) for name in names},
            f"{OTHER}/nvidia_cublas_cu12-{release}.dist-info/METADATA": metadata,
        }
    )


TF_WHOLE = (LONELY, TF_18, cudnn_wheel("9.3.0.75"))
FIRST = {"LD_LIBRARY_PATH": f"{OTHER}/nvidia/cublas/lib"}

CASES = (
    fault(
        "mxnet-cu112-without-cuda",
        "MXNet for CUDA 11.2 on a machine without CUDA: it needs NCCL and NVTX as well",
        MXNET,
        codes=("framework-wants-other-cuda",),
        first="framework-wants-other-cuda",
    ),
    fault(
        "paddle-without-cuda",
        "PaddlePaddle 2.6 on a machine without CUDA: wheels have no names for linkers",
        paddle(),
        codes=("framework-wants-other-cuda",),
        first="framework-wants-other-cuda",
    ),
    fault(
        "paddle-beside-cuda-12",
        "PaddlePaddle 2.6, which is for CUDA 11.8, finds the libcublas.so of CUDA 12.8",
        paddle(),
        toolkit("12.8.1"),
        environ={"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
        codes=("framework-wants-other-cuda",),
        first="framework-wants-other-cuda",
    ),
    fault(
        "paddle-finds-no-toolkit",
        "CUDA 11.8 with cuDNN 8 is there, and the loader does not look into it",
        paddle(),
        toolkit("11.8.0"),
        LINKED,
        codes=("cudart-soname-missing",),
        first="cudart-soname-missing",
    ),
    Case(
        "paddle-with-cuda",
        "the same where LD_LIBRARY_PATH leads to it",
        together(WORKSTATION, paddle(), toolkit("11.8.0"), LINKED),
        environ={"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
    ),
    fault(
        "tensorflow-2.1-beside-cuda-10.2",
        "TensorFlow 2.1 needs CUDA 10.1, of which Ubuntu 24.04 has no package; 10.2 is there",
        EMPTY,
        NO_TOOLKIT,
        tensorflow("2.1.0", "10.1", "7.6", "tensorflow"),
        toolkit("10.2.89"),
        codes=("framework-wants-other-cuda",),
        first="framework-wants-other-cuda",
    ),
    fault(
        "tensorflow-behind-an-older-cublas",
        "LD_LIBRARY_PATH leads to the cuBLAS 12.1 of another environment, TensorFlow's own is newer",
        *TF_WHOLE,
        cublas("12.1.3.1"),
        environ=FIRST,
        codes=("ld-library-path-shadowing",),
        first="ld-library-path-shadowing",
    ),
    Case(
        "tensorflow-behind-a-newer-cublas",
        "the same with a cuBLAS that is newer",
        together(WORKSTATION, *TF_WHOLE, cublas("12.9.3.13")),
        environ=FIRST,
    ),
)
