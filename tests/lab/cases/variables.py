"""Variables that name files, tools and values: what they lead to."""

from __future__ import annotations

from tests.lab import stub
from tests.lab.case import Case, fault
from tests.lab.cases.libraries import LONELY
from tests.lab.cases.python_advice import JAX_12
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import HOME, WORKSTATION, card, cuda_wheels, cudnn_wheel, files, together

CODE = "variable-leads-astray"
JEMALLOC = "/opt/jemalloc/lib/libjemalloc.so.2"
TWO = stub.machine_env(stub.card(), stub.card(uuid="GPU-1", pci="0000:41:00.0"))
SECOND = card(0x2684, "0000:41:00.0")
# name, title, variable and value; codes are the same for all
GONE = (
    ("preload-gone", "a preloaded allocator that was uninstalled", "LD_PRELOAD", JEMALLOC),
    ("topology-gone", "NCCL's topology file lies on another machine", "NCCL_TOPO_FILE", "/etc/nccl/topo.xml"),
    ("net-plugin-gone", "NCCL's network plugin was removed", "NCCL_NET_PLUGIN", "/opt/aws-ofi/lib/libnccl-net.so"),
    ("triton-ptxas-gone", "Triton is told to take a ptxas that is gone", "TRITON_PTXAS_PATH", "/opt/cuda/bin/ptxas"),
    ("cudacxx-gone", "CMake is told to take an nvcc that is gone", "CUDACXX", "/usr/local/cuda-11.8/bin/nvcc"),
    ("ccbin-gone", "nvcc is told to take a compiler that is not installed", "NVCC_CCBIN", "g++-10"),
    ("numba-driver-gone", "Numba is told of a libcuda that is gone", "NUMBA_CUDA_DRIVER", "/opt/old/libcuda.so.1"),
    ("cudnn-path-gone", "CUDNN_PATH names a directory of another machine", "CUDNN_PATH", "/opt/cudnn"),
    ("module-loading", "a value of CUDA_MODULE_LOADING that CUDA does not know", "CUDA_MODULE_LOADING", "ON_DEMAND"),
    ("alloc-conf", "a key that torch's allocator does not have", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segment:True"),
    ("nccl-flag", "NCCL reads a word as 0, so that it keeps P2P on", "NCCL_P2P_DISABLE", "true"),
    ("arch-list", "extensions would be built for another card", "TORCH_CUDA_ARCH_LIST", "7.0;7.5"),
)

CASES = (
    *(fault(f"variable-{name}", title, environ={key: value}, codes=(CODE,)) for name, title, key, value in GONE),
    fault(
        "jax-told-to-take-the-cpu",
        "~/.bashrc tells JAX to compute on the CPU",
        LONELY,
        JAX_12,
        cuda_wheels("12.8"),
        cudnn_wheel("9.10.2.21"),
        files({f"{HOME}/.bashrc": "# for the tests\nexport JAX_PLATFORMS=cpu\n"}),
        environ={"JAX_PLATFORMS": "cpu"},
        codes=("gpu-switched-off-by-variable",),
        first="gpu-switched-off-by-variable",
    ),
    Case(
        "jax-told-to-take-cuda",
        "the same where it tells JAX to compute on the GPU",
        together(
            WORKSTATION,
            LONELY,
            JAX_12,
            cuda_wheels("12.8"),
            cudnn_wheel("9.10.2.21"),
            files({f"{HOME}/.bashrc": "export JAX_PLATFORMS=cuda,cpu\n"}),
        ),
        environ={"JAX_PLATFORMS": "cuda,cpu"},
    ),
    fault(
        "variable-preload-cut-short",
        "half of a preloaded library, before a good one",
        files({JEMALLOC: elf_bytes("libjemalloc.so.2")[:90], "/opt/good.so": elf_bytes("good.so")}),
        environ={"LD_PRELOAD": f"{JEMALLOC}:/opt/good.so"},
        codes=(CODE,),
        where="pretended",  # no real program shall load the lab's libraries
    ),
    fault(
        "variable-plugin-of-another-machine",
        "NCCL's network plugin is built for ARM",
        files({"/opt/ofi/libnccl-net.so": elf_bytes("libnccl-net.so", machine="aarch64")}),
        environ={"NCCL_NET_PLUGIN": "/opt/ofi/libnccl-net.so"},
        codes=(CODE,),
    ),
    fault(
        "variable-cudnn-path-empty",
        "CUDNN_PATH names a directory without cuDNN",
        files({"/opt/cudnn/include/cudnn.h": "", "/opt/cudnn/lib/": ""}),
        environ={"CUDNN_PATH": "/opt/cudnn"},
        codes=(CODE,),
    ),
    fault(
        "variable-device-order",
        "two cards, and an order that CUDA does not know: it counts the fastest first",
        SECOND,
        environ={"CUDA_DEVICE_ORDER": "PCI_BUS"},
        codes=(CODE,),
        nvml=TWO,
    ),
    fault(
        "variable-one-letter-off",
        "CUDA_VISIBLE_DEVICE is set, which no program reads",
        environ={"CUDA_VISIBLE_DEVICE": "0"},
        codes=("variable-misspelled",),
        first="variable-misspelled",
    ),
    Case(
        "variables-that-lead-somewhere",
        "every variable names what is there",
        together(
            WORKSTATION,
            SECOND,
            files(
                {
                    JEMALLOC: elf_bytes("libjemalloc.so.2"),
                    "/opt/steam/ubuntu12_32/overlay.so": elf_bytes("overlay.so", machine="i386", bits=32),
                    "/etc/nccl/topo.xml": "<system/>",
                    "/opt/aws-ofi/lib/libnccl-net.so": elf_bytes("libnccl-net.so"),
                }
            ),
        ),
        environ={
            "LD_PRELOAD": f"{JEMALLOC}:/opt/steam/ubuntu12_32/overlay.so",  # Steam preloads for both widths
            "NCCL_TOPO_FILE": "/etc/nccl/topo.xml",
            "NCCL_NET_PLUGIN": "/opt/aws-ofi/lib/libnccl-net.so",
            "NCCL_TUNER_PLUGIN": "none",
            "CUDACXX": "/usr/local/cuda/bin/nvcc",
            "NVCC_CCBIN": "gcc-13",
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            "CUDA_MODULE_LOADING": "LAZY",
            "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:512",
            "NCCL_P2P_DISABLE": "1",
            "NCCL_DEBUG": "INFO",
            "NCCL_SOCKET_IFNAME": "^docker,lo",
            "TF_FORCE_GPU_ALLOW_GROWTH": "True",  # without TensorFlow, nobody reads it
            "OLLAMA_KEEP_ALIVE": "-1",
            "TORCH_CUDA_ARCH_LIST": "7.5 8.0 8.6 9.0+PTX",
        },
        nvml=TWO,
        where="pretended",
    ),
)
