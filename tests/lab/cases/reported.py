"""Machines of public reports of 2025 and 2026, each beside a healthy one of its kind.

The expected answer of each was written before it was run. The title names the report.
"""

from __future__ import annotations

from tests.lab import stub
from tests.lab.case import Case, fault
from tests.lab.cases.cuda_start import slept
from tests.lab.cases.extensions import BUILDING, HEADERS
from tests.lab.cases.frameworks import EMPTY
from tests.lab.cases.known import ONNX, ONNX_GPU
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import WORKSTATION, card, cudnn_wheel, driver, files, package, together, torch, without

BLACKWELL = stub.machine_env(
    stub.card(name="NVIDIA GeForce RTX 5090", cc="12.0", pci_id="0x2b8510de"), driver="590.48.01", cuda="13.1"
)
PASCAL = stub.machine_env(stub.card(name="NVIDIA GeForce GTX 1080", cc="6.1", pci_id="0x1b8010de"))
ONE_INTERFACE = files({"/sys/class/net/ens1/address": "", "/sys/class/net/lo/address": ""})
NCCL = "nvidia/nccl/lib/libnccl.so.2"
CRI = '[plugins."io.containerd.grpc.v1.cri".containerd'
CONTAINERD = (
    f'version = 2\n{CRI}]\ndefault_runtime_name = "nvidia"\n{CRI}.runtimes.nvidia.options]\n'
    'BinaryName = "/usr/bin/nvidia-container-runtime"\n'
)
RUNTIME = files({"/usr/bin/nvidia-container-runtime": elf_bytes()})
VARIABLE, TOOLS = "variable-leads-astray", "jit-tools-missing"
HMM_ON = files({"/sys/module/nvidia_uvm/parameters/uvm_disable_hmm": "N\n"})

CASES: tuple[Case, ...] = (
    fault(
        "reported-alloc-conf-without-value",
        "pytorch#186453 (2026-06): a key of the allocator without a value ends the import of torch",
        environ={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments"},
        codes=(VARIABLE,),
        first=VARIABLE,
    ),
    fault(
        "reported-alloc-conf-new-name",
        "pytorch#183387 (2026-05): torch 2.9.1 does not use PYTORCH_ALLOC_CONF for CUDA",
        environ={"PYTORCH_ALLOC_CONF": "expandable_segments:True"},
        codes=(VARIABLE,),
        first=VARIABLE,
    ),
    fault(
        "reported-nccl-interface",
        "nccl#1837 (2025-09): NCCL_SOCKET_IFNAME names an interface that the machine does not have",
        ONE_INTERFACE,
        environ={"NCCL_SOCKET_IFNAME": "eth2"},
        codes=(VARIABLE,),
        first=VARIABLE,
        where="pretended",
    ),
    fault(
        "reported-gloo-interface",
        "DeepResearch#107 (2025-09): a script sets GLOO_SOCKET_IFNAME to eth0",
        ONE_INTERFACE,
        environ={"GLOO_SOCKET_IFNAME": "eth0"},
        codes=(VARIABLE,),
        first=VARIABLE,
        where="pretended",
    ),
    Case(
        "reported-interfaces-there",
        "both name an interface of the machine",
        together(WORKSTATION, ONE_INTERFACE),
        environ={"NCCL_SOCKET_IFNAME": "ens", "GLOO_SOCKET_IFNAME": "ens1"},
        where="pretended",
    ),
    fault(
        "reported-triton-compiler",
        "vllm#15329 (2025-03): Triton finds no C compiler",
        BUILDING,
        package("liger-kernel", "0.6.2"),
        HEADERS,
        without("/usr/bin/gcc*"),
        codes=(TOOLS,),
        first=TOOLS,
        where="pretended",
    ),
    fault(
        "reported-python-headers",
        "tabbyAPI#456 (2026-08): the image has gcc and no python3.12-dev",
        BUILDING,
        package("liger-kernel", "0.6.2"),
        codes=(TOOLS,),
        first=TOOLS,
    ),
    fault(
        "reported-flashinfer-nvcc",
        "vllm#49497 (2026-07): flashinfer compiles its sampler, and there is no nvcc",
        package("vllm", "0.11.0"),
        package("flashinfer-python", "0.6.15"),
        without("/usr/local/cuda*"),
        codes=(TOOLS,),
    ),
    fault(
        "reported-containerd-without-cri",
        "gpu-operator#1323: containerd's settings turn off what Kubernetes needs",
        RUNTIME,
        files({"/etc/containerd/config.toml": f'disabled_plugins = ["cri"]\n{CONTAINERD}'}),
        codes=("container-setup-broken",),
        first="container-setup-broken",
    ),
    Case(
        "reported-containerd",
        "the same settings without that line",
        together(WORKSTATION, RUNTIME, files({"/etc/containerd/config.toml": CONTAINERD})),
    ),
    fault(
        "reported-two-nccls",
        "scientific-computing-examples#157 (2026-08): NCCL for CUDA 12 over that for CUDA 13: ncclCommResume",
        EMPTY,
        torch("2.13.0+cu130", "9.14.0.64"),
        cudnn_wheel("9.14.0.64", 13),
        package("nvidia-nccl-cu13", "2.29.3", {NCCL: elf_bytes("libnccl.so.2", rodata=b"29")}),
        package("nvidia-nccl-cu12", "2.21.5", {NCCL: elf_bytes("libnccl.so.2", rodata=b"2.21.5")}),
        codes=("wheel-files-overwritten",),
    ),
    fault(
        "reported-blackwell-cu121",
        "berkeley-humanoid-lite#49 (2026-03): torch 2.5.1 for CUDA 12.1 on an RTX 5090",
        card(0x2B85),
        driver("590.48.01"),
        without("/usr/local/cuda*"),
        EMPTY,
        torch("2.5.1+cu121", "9.1.0.70"),
        cudnn_wheel("9.1.0.70"),
        codes=("gpu-too-new-for-cuda",),  # no build for CUDA 12.1 has code for the card
        nvml=BLACKWELL,
    ),
    fault(
        "reported-pascal-cu130",
        "ComfyUI#16438 (2026-09): torch for CUDA 13.0 on a GTX 1080",
        EMPTY,
        card(0x1B80),
        driver("580.95.05", flavour="proprietary"),
        without("/usr/local/cuda*"),
        torch("2.9.1+cu130", "9.13.0.50"),
        cudnn_wheel("9.13.0.50", 13),
        codes=("gpu-too-old-dropped",),
        nvml=PASCAL,
    ),
    fault(
        "reported-two-onnxruntimes",
        "onnxruntime#23833 (2025-02): uv add onnxruntime-gpu onnxruntime",
        package("onnxruntime-gpu", "1.20.1", ONNX_GPU),
        package("onnxruntime", "1.20.1", ONNX),
        codes=("two-onnxruntimes",),
    ),
    fault(
        "reported-cpu-build",
        "ComfyUI#8431 (2025-06): pip install -r requirements.txt --upgrade brought torch for the CPU",
        EMPTY,
        torch("2.7.1+cpu", ""),
        codes=("cpu-only-wheel",),
        first="cpu-only-wheel",
    ),
    fault(
        "reported-extension-of-another-torch",
        "deepconf#4 (2025-09): vllm was compiled for another torch: undefined symbol _ZN3c104cuda9SetDeviceEa",
        package(
            "vllm",
            "0.10.1",
            {
                "vllm/__init__.py": "",
                "vllm/_C.abi3.so": elf_bytes(
                    needed=("libtorch_cuda.so", "libc10_cuda.so"), undefined=("_ZN3c104cuda9SetDeviceEa",)
                ),
            },
        ),
        codes=("extension-built-for-other-torch",),
    ),
    fault(
        "reported-hmm",
        "open-gpu-kernel-modules#901 (2025-07): CUDA returns 3 on EL9 while HMM of nvidia_uvm is on",
        slept(1),
        HMM_ON,
        environ={"STUB_CUDA_INIT": "3"},
        codes=("cuda-call-failed",),
        first="cuda-call-failed",
    ),
    Case(
        "reported-hmm-works",
        "HMM is on and CUDA starts",
        together(WORKSTATION, slept(1), HMM_ON),
    ),
)
