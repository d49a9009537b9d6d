"""Healthy machines of kinds that tempt a doctor into false alarms."""

from __future__ import annotations

from tests.lab import cudnn_tree, stub
from tests.lab.case import Case
from tests.lab.cases.frameworks import TF
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    ELF_STUB,
    HOME,
    LIB,
    PYTHON,
    VENV,
    WHEELS,
    WORKSTATION,
    Part,
    Tree,
    at,
    card,
    cuda_wheels,
    cudnn_wheel,
    driver,
    driver_libraries,
    files,
    gcc,
    linux,
    loaded_module,
    module_bytes,
    package,
    ptxas,
    python_at,
    site_of,
    together,
    toolkit,
    torch,
    torch_libraries,
    venv,
    without,
)

SITE = site_of()
EMPTY = without(f"{SITE}/*")
NO_TOOLKIT = without("/usr/local/cuda*")
NO_KERNEL = without("/usr/lib/modules/*")
DOCKER = files({"/.dockerenv": ""})
ON_THE_BUS = "/sys/bus/pci/devices/0000:01:00.0"
ARCH = 'NAME="Arch Linux"\nPRETTY_NAME="Arch Linux"\nID=arch\n'
TRITON: Tree = {
    "triton/__init__.py": "",
    "triton/backends/nvidia/bin/ptxas": ptxas("12.8.93"),
    "triton/backends/nvidia/lib/libdevice.10.bc": b"BC",
}


def tensorflow(site: str = "") -> Part:
    """tensorflow[and-cuda] 2.18 as pip installs it."""
    extra = "; extra == 'and-cuda'"
    return package(
        "tensorflow",
        "2.18.0",
        {
            **TF,
            "tensorflow/libtensorflow_framework.so.2": elf_bytes(
                "libtensorflow_framework.so.2",
                runpath=WHEELS.replace("../../", "../"),
            ),
        },
        requires=(f"nvidia-cudnn-cu12==9.3.0.75{extra}", f"nvidia-cuda-runtime-cu12==12.5.82{extra}"),
        site=site,
    )


def in_container(*parts: Part) -> Part:
    """A container image of a cloud's, with the GPU."""
    return together(WORKSTATION, NO_KERNEL, DOCKER, without(VENV), *parts)


COLAB_SITE = f"/usr/local/lib/{PYTHON}/dist-packages"
CASES = (
    Case(
        "tensorflow-wheels",
        "TensorFlow with its CUDA wheels, no toolkit",
        together(
            WORKSTATION,
            EMPTY,
            NO_TOOLKIT,
            tensorflow(),
            cudnn_wheel("9.3.0.75"),
            cuda_wheels("12.5"),
        ),
    ),
    Case(
        "torch-and-tensorflow",
        "torch and TensorFlow share one cuDNN wheel, newer than TensorFlow asks for",
        together(WORKSTATION, NO_TOOLKIT, tensorflow(), cuda_wheels()),
    ),
    Case(
        "inference-server",
        "torch with vLLM, xformers, flash-attn and Triton",
        together(
            WORKSTATION,
            package("vllm", "0.12.0", {"vllm/__init__.py": ""}, requires=("torch==2.9.1",)),
            package("xformers", "0.0.33.post2", {"xformers/__init__.py": ""}, requires=("torch==2.9.1",)),
            package("flash-attn", "2.8.3", {"flash_attn/__init__.py": ""}, requires=("torch",)),
            package("triton", "3.5.1", TRITON),
        ),
    ),
    Case(
        "colab",
        "a notebook in the cloud: driver in /usr/lib64-nvidia, system cuDNN of another release",
        in_container(
            without(f"{LIB}/libcuda*", f"{LIB}/libnvidia*"),
            driver_libraries("580.95.05", "/usr/lib64-nvidia"),
            at("/", cudnn_tree.debian_of, "9.2.1.18-1"),
            python_at("/usr/local"),
            torch(site=COLAB_SITE),
            cudnn_wheel(site=COLAB_SITE),
            tensorflow(COLAB_SITE),
            cuda_wheels(site=COLAB_SITE),
        ),
        environ={
            "VIRTUAL_ENV": "",
            "PATH": "/usr/local/bin:/usr/local/cuda/bin:/usr/bin:/bin",
            "LD_LIBRARY_PATH": "/usr/lib64-nvidia",
            "NVIDIA_VISIBLE_DEVICES": "all",
        },
    ),
    Case(
        "kubernetes",
        "a pod whose driver libraries are mounted into /usr/local/nvidia",
        in_container(
            without(f"{LIB}/libcuda*", f"{LIB}/libnvidia*"),
            driver_libraries("580.95.05", "/usr/local/nvidia/lib64"),
            venv(),
        ),
        environ={"LD_LIBRARY_PATH": "/usr/local/nvidia/lib64", "KUBERNETES_SERVICE_HOST": "10.0.0.1"},
    ),
    Case(
        "apptainer",
        "Apptainer with --nv",
        in_container(
            without("/.dockerenv", f"{LIB}/libcuda*", f"{LIB}/libnvidia*"),
            driver_libraries("580.95.05", "/.singularity.d/libs"),
            venv(),
            torch(),
            cudnn_wheel(),
        ),
        environ={"LD_LIBRARY_PATH": "/.singularity.d/libs", "APPTAINER_CONTAINER": "/images/torch.sif"},
    ),
    Case(
        "cluster",
        "environment modules: a toolkit and the very cuDNN that torch brings along, on LD_LIBRARY_PATH",
        together(
            WORKSTATION,
            NO_TOOLKIT,
            toolkit("12.8.1", usual=False, path="/apps/cuda/12.8"),
            at(
                "/apps/cudnn/9.10.2/lib",
                cudnn_tree.copy_of,
                "9.10.2",
                chain=True,
            ),
            at("/apps/cudnn/9.10.2/include", cudnn_tree.header_of, "9.10.2"),
        ),
        environ={
            "PATH": f"{VENV}/bin:/apps/cuda/12.8/bin:/usr/bin:/bin",
            "CUDA_HOME": "/apps/cuda/12.8",
            "LD_LIBRARY_PATH": "/apps/cuda/12.8/lib64:/apps/cudnn/9.10.2/lib",
        },
    ),
    Case(
        "arch",
        "Arch Linux: no multiarch, a packed module, the toolkit in /opt/cuda",
        together(
            linux(ARCH, "6.11.5-arch1-1"),
            card(),
            loaded_module("580.95.05"),
            files(
                {
                    "/usr/lib/modules/6.11.5-arch1-1/extramodules/nvidia.ko": module_bytes(
                        "580.95.05", "Dual MIT/GPL", signed=False
                    )
                }
            ),
            without(f"{LIB}/*"),
            driver_libraries("580.95.05", "/usr/lib"),
            files({"/usr/lib/libc.so.6": elf_bytes("libc.so.6")}),
            toolkit("13.0.2", usual=False, path="/opt/cuda"),
            gcc("15.1.1"),
            venv(),
            torch(),
            cudnn_wheel(),
        ),
        environ={"CUDA_PATH": "/opt/cuda", "PATH": f"{VENV}/bin:/opt/cuda/bin:/usr/bin:/bin"},
        where="pretended",
    ),
    Case(
        "laptop",
        "a laptop with an Intel GPU beside the NVIDIA one, Secure Boot on, module signed",
        together(
            WORKSTATION,
            files(
                {
                    "/sys/bus/pci/devices/0000:00:02.0/vendor": "0x8086\n",
                    "/sys/bus/pci/devices/0000:00:02.0/class": "0x030000\n",
                    "/sys/bus/pci/devices/0000:00:02.0/device": "0xa7a0\n",
                    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c": b"\6\0\0\0\1",
                    "/var/lib/dkms/nvidia/580.95.05/6.8.0-87-generic/x86_64/module/": "",
                    "/var/lib/dkms/nvidia/kernel-6.8.0-87-generic-x86_64": "-> 580.95.05/6.8.0-87-generic/x86_64",
                }
            ),
        ),
        nvml=stub.machine_env(stub.card(link_width="8", link_width_max="8", persistence="0")),
    ),
    Case(
        "laptop-asleep",
        "a laptop whose NVIDIA card is switched off while nobody uses it (D3cold), and that was suspended",
        together(
            WORKSTATION,
            files(
                {
                    f"{ON_THE_BUS}/power/runtime_status": "suspended\n",
                    f"{ON_THE_BUS}/power/control": "auto\n",
                    f"{ON_THE_BUS}/power_state": "D3cold\n",
                    f"{ON_THE_BUS}/d3cold_allowed": "1\n",
                    "/sys/power/suspend_stats/success": "12\n",
                }
            ),
        ),
        nvml=stub.machine_env(stub.card(link_width="8", link_width_max="8", link_generation="1", persistence="0")),
    ),
    Case(
        "old-kernels",
        "kernels kept for going back have no module, the running one has",
        together(
            WORKSTATION,
            files({"/usr/lib/modules/6.8.0-79-generic/modules.dep": "", "/usr/lib/modules/6.8.0-71-generic/x": ""}),
        ),
    ),
    Case("no-toolkit", "no toolkit at all: torch needs none", together(WORKSTATION, NO_TOOLKIT)),
    Case(
        "two-toolkits",
        "two toolkits, every name leads to one of them",
        together(WORKSTATION, toolkit("11.8.0", usual=False)),
        environ={"CUDA_HOME": "/usr/local/cuda"},
    ),
    Case(
        "cudnn-archive",
        "the archive of cuDNN copied into the toolkit, as NVIDIA's guide says, an older release than torch's",
        together(
            WORKSTATION,
            at("/usr/local/cuda-12.8/lib64", cudnn_tree.copy_of, "9.5.1", chain=True),
            at("/usr/local/cuda-12.8/include", cudnn_tree.header_of, "9.5.1"),
        ),
    ),
    Case(
        "cudnn-two-majors-packaged",
        "Ubuntu's packages of cuDNN 8 and 9 side by side",
        together(WORKSTATION, at("/", cudnn_tree.debian_of, "8.9.7.29-1"), at("/", cudnn_tree.debian_of)),
    ),
    Case(
        "conda-pytorch",
        "conda's own pytorch, CUDA and cuDNN",
        together(
            WORKSTATION,
            NO_TOOLKIT,
            python_at(f"{HOME}/miniforge3/envs/ml"),
            at(f"{HOME}/miniforge3/envs/ml", cudnn_tree.conda_of, "9.1.0.70"),
            files(
                {
                    f"{HOME}/miniforge3/envs/ml/conda-meta/"
                    f"pytorch-2.5.1-py{PYTHON[6:]}_cuda12.4_cudnn9.1.0_0.json": "{}",
                    f"{HOME}/miniforge3/envs/ml/bin/{PYTHON}": ELF_STUB,
                    f"{HOME}/miniforge3/envs/ml/lib/libcudart.so.12": elf_bytes("libcudart.so.12"),
                }
            ),
            package(
                "torch",
                "2.5.1",
                {
                    "torch/__init__.py": "",
                    "torch/version.py": "__version__ = '2.5.1'\ncuda = '12.4'\nhip = None\n",
                    **torch_libraries(rpath="$ORIGIN/../../../.."),
                },
                site=site_of(f"{HOME}/miniforge3/envs/ml"),
            ),
        ),
        environ={
            "VIRTUAL_ENV": "",
            "CONDA_PREFIX": f"{HOME}/miniforge3/envs/ml",
            "PATH": f"{HOME}/miniforge3/envs/ml/bin:/usr/bin:/bin",
        },
    ),
    Case(
        "hidden-on-purpose",
        "CUDA_VISIBLE_DEVICES names the one GPU by its UUID",
        WORKSTATION,
        environ={"CUDA_VISIBLE_DEVICES": "GPU-00000000-0000-0000-0000-000000000000"},
    ),
    Case(
        "mig",
        "an A100 in instances, one of them named",
        together(WORKSTATION, card(0x20B0)),
        nvml=stub.machine_env(
            stub.card(name="NVIDIA A100-SXM4-40GB", cc="8.0", mig="1", mig_uuids="MIG-a,MIG-b", ecc="1")
        ),
        environ={"CUDA_VISIBLE_DEVICES": "MIG-a"},
    ),
    Case(
        "new-driver",
        "a driver newer than every row",
        together(WORKSTATION, driver("999.10.02")),
        nvml=stub.machine_env(stub.card(), driver="999.10.02", cuda="14.0"),
    ),
    Case("no-framework", "a GPU machine on which nothing is installed yet", together(WORKSTATION, EMPTY)),
)
