"""NCCL and TensorRT for another CUDA than the framework that loads them.

NCCL says its CUDA in a text, as nvidia-nccl-cu12 2.18.1 to 2.32.3 do; torch's libtorch_cuda.so names libnccl.so.2 and
the wheel's directory. TensorRT's wheel opens its libraries by path (tensorrt-cu13-bindings 11.4.0).
"""

from __future__ import annotations

from tests.lab import stub
from tests.lab.case import Case, fault
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import WORKSTATION, Part, Tree, driver, files, package, site_of, together

CODE = "library-for-other-cuda"
PATHS = "$ORIGIN:$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN/../../nvidia/nccl/lib"
DRIVER_570 = stub.machine_env(stub.card(), driver="570.195.03", cuda="12.8")
MODULE = "/opt/apps/nccl/2.28.3/lib"


def nccl(cuda: str) -> bytes:
    """NCCL as its wheels have it, with the two texts before the one that counts."""
    text = f"Prints NCCL version information only.\0NCCL version information\0NCCL version 2.28.3+cuda{cuda}\0"
    return elf_bytes("libnccl.so.2", rodata=text.encode())


def asks_for_nccl(major: int, cuda: str) -> Part:
    """torch that requires NCCL's wheel, and a wheel that holds a build for that CUDA."""
    needed = ("libtorch_cpu.so", "libcudnn.so.9", "libnccl.so.2")
    return together(
        files({f"{site_of()}/torch/lib/libtorch_cuda.so": elf_bytes("libtorch_cuda.so", needed=needed, runpath=PATHS)}),
        package(f"nvidia-nccl-cu{major}", "2.28.3", {"nvidia/nccl/lib/libnccl.so.2": nccl(cuda)}),
    )


def tensorrt(major: int) -> Part:
    """The three wheels of TensorRT 11.4."""
    parts = ("libnvinfer.so.11", "libnvinfer_plugin.so.11", "libnvonnxparser.so.11")
    bindings: Tree = {
        "tensorrt_bindings/__init__.py": "",
        "tensorrt_bindings/tensorrt.so": elf_bytes("tensorrt.so", needed=("libnvinfer.so.11",), rpath="$ORIGIN"),
    }
    return together(
        package(f"tensorrt-cu{major}", "11.4.0.106", {"tensorrt/__init__.py": ""}),
        package(f"tensorrt-cu{major}-bindings", "11.4.0.106", bindings),
        package(
            f"tensorrt-cu{major}-libs",
            "11.4.0.106",
            {f"tensorrt_libs/{name}": elf_bytes(name) for name in parts},
        ),
    )


CASES = (
    fault(
        "nccl-for-cuda-13-old-driver",
        "a module of the cluster brings NCCL for CUDA 13 before torch's own, on driver 570",
        driver("570.195.03"),
        asks_for_nccl(12, "12.9"),
        files({f"{MODULE}/libnccl.so.2": nccl("13.0")}),
        codes=(CODE,),
        first=CODE,
        environ={"LD_LIBRARY_PATH": MODULE},
        nvml=DRIVER_570,
    ),
    fault(
        "nccl-for-cuda-13",
        "torch for CUDA 12 with NCCL's wheel for CUDA 13 in place of its own",
        asks_for_nccl(13, "13.0"),
        codes=(CODE,),
    ),
    Case(
        "nccl-for-cuda-12",
        "a module of the cluster brings NCCL for torch's own CUDA",
        together(WORKSTATION, asks_for_nccl(12, "12.9"), files({f"{MODULE}/libnccl.so.2": nccl("12.4")})),
        environ={"LD_LIBRARY_PATH": MODULE},
    ),
    fault(
        "tensorrt-for-cuda-13",
        "TensorRT for CUDA 13, as pip installs it where nobody says which, on driver 570",
        driver("570.195.03"),
        tensorrt(13),
        codes=(CODE,),
        first=CODE,
        nvml=DRIVER_570,
    ),
    Case(
        "tensorrt-for-cuda-12",
        "TensorRT for CUDA 12 on driver 570",
        together(WORKSTATION, driver("570.195.03"), tensorrt(12)),
        nvml=DRIVER_570,
        besides=("driver-branch-ended",),
    ),
)
