"""Machines of other years and systems: healthy ones, and the faults that were typical of them."""

from __future__ import annotations

from typing import Any

from tests.lab import cudnn_tree, stub
from tests.lab.case import Case
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    DEBIAN_12,
    DISK,
    ELF_STUB,
    HOME,
    JAXLIB,
    LIB,
    PYTHON,
    ROCKY_9,
    UBUNTU_14,
    UBUNTU_18,
    UBUNTU_20,
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
    mode,
    module_file,
    package,
    python_at,
    site_of,
    together,
    toolkit,
    torch,
    torch_libraries,
    venv,
    without,
)
from tests.lab.pe_file import pe_bytes

SITE = site_of()
EMPTY = without(f"{SITE}/*")
NO_KERNEL = without("/usr/lib/modules/*")
DOCKER = files({"/.dockerenv": ""})


def tensorflow(version: str, cuda: str, cudnn: str, name: str = "tensorflow-gpu", site: str = "") -> Part:
    """TensorFlow as it was until 2.11: CUDA and cuDNN come from the system."""
    info = f'build_info = dict([("cuda_version", "{cuda}"), ("cudnn_version", "{cudnn}"), ("is_cuda_build", True)])\n'
    tree: Tree = {
        "tensorflow/__init__.py": "",
        "tensorflow/python/platform/build_info.py": info,
        "tensorflow/libtensorflow_framework.so.2": elf_bytes("libtensorflow_framework.so.2"),
    }
    return package(name, version, tree, site=site)


def nvml_of(name: str, capability: str, device: int, release: str = "580.95.05", cuda: str = "13.0") -> dict[str, str]:
    """The stub's words for one card."""
    return stub.machine_env(stub.card(name=name, cc=capability, pci_id=f"{device:#06x}10de"), driver=release, cuda=cuda)


def theano(rc: str, cudnn: str = "5.1.10", *more: Part) -> Part:
    """Ubuntu 14.04, GTX 980, CUDA 7.5, Theano 0.8.2 on Python 2.7."""
    return together(
        linux(UBUNTU_14, "4.4.0-31-generic"),
        card(0x13C0),
        driver("352.93", flavour="proprietary", kernel="4.4.0-31-generic"),
        gcc("4.8.4"),
        toolkit("7.5.18"),
        at("/usr/local/cuda-7.5/lib64", cudnn_tree.copy_of, cudnn, chain=True),
        at("/usr/local/cuda-7.5/include", cudnn_tree.header_of, cudnn, name="cudnn.h"),
        venv(python="python2.7"),
        package("Theano", "0.8.2", {"theano/__init__.py": ""}, site=site_of(VENV, "python2.7")),
        files({f"{HOME}/.theanorc": rc}),
        *more,
    )


GTX_980 = nvml_of("GeForce GTX 980", "5.2", 0x13C0, "352.93", "7.5")
CUDA_ON_PATH = {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"}
THEANORC = "[global]\ndevice = gpu\nfloatX = float32\n\n[lib]\ncnmem = 0.8\n"


# As tensorflow-gpu 1.15.5, 2.0.0 and 2.1.0 lay it; CUDA 10.0 is written "10" there.
_CORE: Tree = {
    "tensorflow/__init__.py": "",
    "tensorflow_core/python/platform/build_info.py": "is_cuda_build = True\ncuda_version_number = '10'\n"
    "cudnn_version_number = '7'\n",
    "tensorflow_core/libtensorflow_framework.so.1": elf_bytes("libtensorflow_framework.so.1"),
    "tensorflow_core/python/_pywrap_tensorflow_internal.so": elf_bytes(
        "_pywrap_tensorflow_internal.so", needed=("libtensorflow_framework.so.1",), runpath="$ORIGIN/.."
    ),
}


def tf1(cuda: str, cudnn: str, python: str = "python3.7") -> Part:
    """Ubuntu 18.04, GTX 1080, tensorflow-gpu 1.15."""
    major = ".".join(cuda.split(".")[:2])
    return together(
        linux(UBUNTU_18, "5.4.0-150-generic"),
        card(0x1B80),
        driver("430.26", flavour="proprietary", kernel="5.4.0-150-generic"),
        gcc("7.5.0"),
        toolkit(cuda),
        at(f"/usr/local/cuda-{major}/lib64", cudnn_tree.copy_of, cudnn, chain=True),
        at(f"/usr/local/cuda-{major}/include", cudnn_tree.header_of, cudnn),
        venv(python=python),
        package("tensorflow-gpu", "1.15.0", _CORE, site=site_of(VENV, python)),
    )


def tf2_4(cuda: str) -> Part:
    """Ubuntu 20.04, RTX 2080, TensorFlow 2.4 with a CUDA 11 of the system's."""
    home = f"/usr/local/cuda-{cuda.rpartition('.')[0]}"
    return together(
        linux(UBUNTU_20, "5.15.0-91-generic"),
        card(0x1E87),
        driver("515.105.01", flavour="proprietary", kernel="5.15.0-91-generic"),
        gcc("9.4.0"),
        toolkit(cuda),
        at(f"{home}/lib64", cudnn_tree.copy_of, "8.0.5", chain=True),
        at(f"{home}/include", cudnn_tree.header_of, "8.0.5"),
        venv(python="python3.8"),
        tensorflow("2.4.4", "11.0", "8", "tensorflow", site_of(VENV, "python3.8")),
    )


_TF_2_4: dict[str, Any] = {
    "environ": CUDA_ON_PATH,
    "nvml": nvml_of("NVIDIA GeForce RTX 2080", "7.5", 0x1E87, "515.105.01", "11.7"),
    "where": "pretended",
    "besides": ("driver-branch-ended",),
}
GTX_1080 = nvml_of("GeForce GTX 1080", "6.1", 0x1B80, "430.26", "10.2")


def torch1(version: str, cudnn: str, *more: Part) -> Part:
    """Ubuntu 18.04, torch 1.x with everything inside its wheel, Python 3.7."""
    return together(
        linux(UBUNTU_18, "5.4.0-150-generic"),
        gcc("7.5.0"),
        venv(python="python3.7"),
        torch(version, cudnn, site=site_of(VENV, "python3.7"), pinned=False),
        *more,
    )


def conda(prefix: str = f"{HOME}/miniconda3/envs/ml") -> Part:
    """A conda environment with PyTorch and cuDNN of conda-forge."""
    return together(
        python_at(prefix),
        files({f"{prefix}/conda-meta/python-{PYTHON.removeprefix('python')}.9-h9e4cc4f_0_cpython.json": "{}"}),
        at(prefix, cudnn_tree.conda_of),
        torch("2.9.1+cu128", site=site_of(prefix)),
        cudnn_wheel(site=site_of(prefix)),
    )


DEBIAN_DRIVER = together(
    driver("550.163.01", flavour="proprietary", kernel="6.1.0-41-amd64"),
    without(f"{LIB}/libcuda*", f"{LIB}/libnvidia*"),
    driver_libraries("550.163.01", f"{LIB}/nvidia/current"),
    files(
        {
            "/etc/alternatives/glx--libcuda.so.1": f"-> {LIB}/nvidia/current/libcuda.so.1",
            f"{LIB}/libcuda.so.1": "-> /etc/alternatives/glx--libcuda.so.1",
            "/etc/alternatives/nvidia--libnvidia-ml.so.1": f"-> {LIB}/nvidia/current/libnvidia-ml.so.1",
            f"{LIB}/libnvidia-ml.so.1": "-> /etc/alternatives/nvidia--libnvidia-ml.so.1",
        }
    ),
)
OF_470 = f"{LIB}/nvidia/tesla-470"
TESLA_470 = together(
    driver_libraries("470.256.02", OF_470),
    files(
        {
            "/etc/alternatives/glx--libcuda.so.1": f"-> {OF_470}/libcuda.so.1",
            "/etc/alternatives/nvidia--libnvidia-ml.so.1": f"-> {OF_470}/libnvidia-ml.so.1",
        }
    ),
)
DEBIAN_TOOLKIT = files(
    {
        "/usr/bin/nvcc": '#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc "$@"\n',
        "/usr/lib/nvidia-cuda-toolkit/bin/nvcc": ELF_STUB,
        "/usr/lib/nvidia-cuda-toolkit/bin/gcc": "-> ../../../bin/gcc-11",
        "/usr/bin/gcc-11": "#!/bin/sh\necho 11.3.0\n",
        "/usr/include/cuda_runtime.h": "",
        "/usr/include/cuda.h": "#define CUDA_VERSION 11080\n",
        f"{LIB}/libcudart.so.11.0": elf_bytes("libcudart.so.11.0"),
        f"{LIB}/libcudart.so": "-> libcudart.so.11.0",
        "/var/lib/dpkg/status": "Package: base-files\nStatus: install ok installed\nVersion: 12.4\n\n"
        "Package: nvidia-cuda-toolkit\nStatus: install ok installed\nVersion: 11.8.89~11.8.0-5~deb12u1\n\n",
    }
)


def server(cards: int = 8, **attributes: str) -> dict[str, str]:
    """H100s joined by NVSwitch."""
    return stub.machine_env(
        *(
            stub.card(
                **{
                    "name": "NVIDIA H100 80GB HBM3",
                    "cc": "9.0",
                    "uuid": f"GPU-{number}",
                    "pci": f"0000:{number + 16:02x}:00.0",
                    "pci_id": "0x233010de",
                    "fabric": "3",
                    "ecc": "1",
                    "ecc_corrected": "0",
                    "ecc_uncorrected": "0",
                    "remapped_rows": "0,0,0,0",
                    "mig": "0",
                    **attributes,
                }
            )
            for number in range(cards)
        )
    )


SERVER = together(
    WORKSTATION,
    without("/sys/bus/pci/devices/*"),
    *(card(0x2330, f"0000:{number + 16:02x}:00.0") for number in range(8)),
    files({f"/dev/nvidia{number}": "" for number in range(8)}),
    mode(0o666, *(f"/dev/nvidia{number}" for number in range(8))),
    files(
        {
            "/usr/bin/nv-fabricmanager": "",
            "/sys/fs/cgroup/system.slice/nvidia-fabricmanager.service/cgroup.procs": "812\n",
        }
    ),
)

WINDOWS_SITE = "/Python311/Lib/site-packages"
WINDOWS = together(
    files(
        {
            "/Windows/System32/kernel32.dll": pe_bytes("kernel32.dll"),
            "/Python311/python.exe": b"MZ",
            "/Python311/python311.dll": b"MZ",
        }
    ),
    package(
        "torch",
        "2.9.1+cu128",
        {
            "torch/__init__.py": "",
            "torch/version.py": "__version__ = '2.9.1+cu128'\ncuda = '12.8'\nhip = None\n",
            "torch/lib/torch_cuda.dll": b"MZ",
        },
        site=WINDOWS_SITE,
        tags="cp311-cp311-win_amd64",
    ),
    at(f"{WINDOWS_SITE}/torch/lib", cudnn_tree.dlls_of, "9.10.2"),
)

ARM_LIB = "/usr/lib/aarch64-linux-gnu"
ORIN = stub.card(name="Orin (nvgpu)", cc="8.7", link_width=None, link_width_max=None, link_generation=None,
                 link_generation_max=None, memory=None, throttle=None, pci=None, pci_id=None)  # fmt: skip
JETSON = together(
    linux(),
    without("/usr/lib/modules/*", "/sys/bus/pci/devices/*"),
    files(
        {
            "/etc/nv_tegra_release": "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\n",
            "/dev/nvhost-gpu": "",
            f"{ARM_LIB}/nvidia/libcuda.so.1": "-> libcuda.so.1.1",
            f"{ARM_LIB}/nvidia/libcuda.so.1.1": elf_bytes("libcuda.so.1", machine="aarch64"),
            f"{ARM_LIB}/libc.so.6": elf_bytes("libc.so.6", machine="aarch64"),
            "/usr/lib/ld-linux-aarch64.so.1": elf_bytes(machine="aarch64"),
        }
    ),
    without("/usr/lib64/ld-linux-x86-64.so.2", f"{LIB}/libc.so.6"),
    gcc("11.4.0"),
    toolkit("12.6.11"),
    at(ARM_LIB, cudnn_tree.copy_of, "9.3.0", chain=True, machine="aarch64"),
    venv(python="python3.10"),
    files({"/usr/bin/python3.10": elf_bytes(machine="aarch64")}),
)
JETSON_SITE = site_of(VENV, "python3.10")
JETSON_TORCH = package(
    "torch",
    "2.5.0a0+872d972e41.nv24.8",
    {
        "torch/__init__.py": "",
        "torch/version.py": "__version__ = '2.5.0a0+872d972e41.nv24.08'\ncuda = '12.6'\nhip = None\n",
        **torch_libraries(machine="aarch64", python="python3.10"),
    },
    site=site_of(VENV, "python3.10"),
)

CASES = (
    Case(
        "ubuntu-cu130",
        "Ubuntu 24.04, open module, CUDA 13.0, torch 2.11 for CUDA 13",
        together(
            WORKSTATION,
            without("/usr/local/cuda*"),
            toolkit("13.0.2"),
            EMPTY,
            torch("2.11.0+cu130", "9.19.0.56"),
            cudnn_wheel("9.19.0.56", 13),
        ),
    ),
    Case(
        "debian",
        "Debian 12 with the distribution's driver and toolkit",
        together(
            linux(DEBIAN_12, "6.1.0-41-amd64"),
            card(),
            DEBIAN_DRIVER,
            gcc("12.2.0"),
            DEBIAN_TOOLKIT,
            venv(),
            torch("2.9.1+cu126"),
            cudnn_wheel(),
        ),
        nvml=stub.machine_env(stub.card(), driver="550.163.01", cuda="12.4"),
        besides=("driver-branch-ended",),
    ),
    Case(
        "debian-alternative",
        "the same where the alternative leads to the libraries of Tesla driver 470, which is installed beside it",
        together(
            linux(DEBIAN_12, "6.1.0-41-amd64"),
            card(),
            DEBIAN_DRIVER,
            TESLA_470,
            gcc("12.2.0"),
            DEBIAN_TOOLKIT,
            venv(),
            torch("2.9.1+cu126"),
            cudnn_wheel(),
        ),
        besides=("driver-branch-ended",),
        codes=("driver-library-mismatch",),
        first="driver-library-mismatch",
        nvml=stub.machine_env(stub.card(), init=18),
    ),
    Case(
        "conda",
        "a conda environment",
        together(WORKSTATION, without("/usr/local/cuda*"), conda()),
        environ={
            "CONDA_PREFIX": f"{HOME}/miniconda3/envs/ml",
            "VIRTUAL_ENV": "",
            "PATH": f"{HOME}/miniconda3/envs/ml/bin:/usr/bin:/bin",
        },
    ),
    Case("server", "eight H100 with NVSwitch", SERVER, nvml=server()),
    Case(
        "server-fabric-stopped",
        "the same, whose fabric manager stopped",
        together(SERVER, without("/sys/fs/cgroup")),
        ("fabric-manager-not-running",),
        "fabric-manager-not-running",
        nvml=server(fabric="1"),
    ),
    Case(
        "container",
        "a container with the GPU",
        together(WORKSTATION, NO_KERNEL, DOCKER),
        environ={"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"},
    ),
    Case(
        "ngc",
        "NVIDIA's own container of PyTorch, whose builds no table knows",
        together(
            WORKSTATION,
            NO_KERNEL,
            DOCKER,
            without(VENV),
            at("/", cudnn_tree.debian_of, "9.7.0.66-1"),
            python_at("/usr/local"),
            package(
                "torch",
                "2.6.0a0+ecf3bae40a.nv25.1",
                {
                    "torch/__init__.py": "",
                    "torch/version.py": "__version__ = '2.6.0a0+ecf3bae40a.nv25.01'\ncuda = '12.8'\nhip = None\n",
                    **torch_libraries(),
                },
                site=site_of("/usr/local"),
            ),
        ),
        environ={
            "VIRTUAL_ENV": "",
            "PATH": "/usr/local/bin:/usr/local/cuda/bin:/usr/bin:/bin",
            "NVIDIA_VISIBLE_DEVICES": "all",
        },
    ),
    Case(
        "rocky",
        "Rocky Linux 9 with lib64",
        together(
            linux(ROCKY_9, "5.14.0-427.el9.x86_64"),
            card(),
            driver("570.124.06", kernel="5.14.0-427.el9.x86_64"),
            without(f"{LIB}/*"),
            driver_libraries("570.124.06", "/usr/lib64"),
            files({"/usr/lib64/libc.so.6": elf_bytes("libc.so.6")}),
            toolkit(),
            venv(),
            torch(),
            cudnn_wheel(),
        ),
        nvml=stub.machine_env(stub.card(), driver="570.124.06", cuda="12.8"),
        where="pretended",
        besides=("driver-branch-ended",),
    ),
    Case(
        "torch-and-cupy",
        "torch and CuPy 13, which knows only cuDNN 8, in one environment",
        together(
            WORKSTATION,
            package(
                "cupy-cuda12x",
                "13.6.0",
                {
                    "cupy/__init__.py": "",
                    "cupy/.data/_wheel.json": '{"cuda": "12.x", "cudnn": {"version": "8.8.1", "filenames": []}}',
                },
            ),
        ),
        environ=CUDA_ON_PATH,
    ),
    Case(
        "jax",
        "JAX with its CUDA plugin and wheels",
        together(
            WORKSTATION,
            EMPTY,
            without("/usr/local/cuda*"),
            package("jax", "0.7.2", {"jax/__init__.py": ""}, requires=("jaxlib<=0.7.2,>=0.7.2",)),
            JAXLIB,
            package(
                "jax-cuda12-pjrt",
                "0.7.2",
                {
                    "jax_plugins/xla_cuda12/__init__.py": '_load("cudnn", [])\n',
                    "jax_plugins/xla_cuda12/xla_cuda_plugin.so": elf_bytes("xla_cuda_plugin.so", runpath=WHEELS),
                },
            ),
            package(
                "jax-cuda12-plugin",
                "0.7.2",
                {"jax_cuda12_plugin/__init__.py": ""},
                requires=("jax-cuda12-pjrt==0.7.2", "nvidia-cudnn-cu12<10.0,>=9.8; extra == 'with-cuda'"),
            ),
            cuda_wheels(),
            cudnn_wheel(),
        ),
    ),
    Case(
        "onnxruntime-debian-cudnn",
        "onnxruntime-gpu with the system's CUDA and cuDNN packages",
        together(
            WORKSTATION,
            EMPTY,
            at("/", cudnn_tree.debian_of),
            package(
                "onnxruntime-gpu",
                "1.22.0",
                {
                    "onnxruntime/__init__.py": "",
                    "onnxruntime/capi/build_and_package_info.py": "cuda_version = '12.8'\n",
                    "onnxruntime/capi/libonnxruntime_providers_shared.so": "",
                    "onnxruntime/capi/libonnxruntime_providers_cuda.so": elf_bytes(
                        "libonnxruntime_providers_cuda.so", needed=("libcudnn.so.9", "libcudart.so.12")
                    ),
                },
            ),
        ),
        environ=CUDA_ON_PATH,
    ),
    Case(
        "pascal-cu126",
        "GTX 1080 Ti with torch for CUDA 12.6",
        together(
            WORKSTATION,
            card(0x1B06),
            driver("580.95.05", flavour="proprietary"),
            EMPTY,
            torch("2.9.1+cu126"),
            cudnn_wheel(),
        ),
        nvml=nvml_of("NVIDIA GeForce GTX 1080 Ti", "6.1", 0x1B06),
    ),
    Case(
        "blackwell",
        "RTX 5090 with torch for CUDA 12.8",
        together(WORKSTATION, card(0x2B85)),
        nvml=nvml_of("NVIDIA GeForce RTX 5090", "12.0", 0x2B85),
    ),
    Case(
        "tensorflow-2.10",
        "Ubuntu 20.04, RTX 3090, CUDA 11.2, cuDNN 8.1, TensorFlow 2.10",
        together(
            linux(UBUNTU_20, "5.15.0-91-generic"),
            card(0x2204),
            driver("515.105.01", flavour="proprietary", kernel="5.15.0-91-generic"),
            gcc("9.4.0"),
            toolkit("11.2.2"),
            at("/usr/local/cuda-11.2/lib64", cudnn_tree.copy_of, "8.1.1", chain=True),
            at("/usr/local/cuda-11.2/include", cudnn_tree.header_of, "8.1.1"),
            venv(python="python3.8"),
            tensorflow("2.10.0", "11.2", "8", "tensorflow", site_of(VENV, "python3.8")),
        ),
        environ=CUDA_ON_PATH,
        nvml=nvml_of("NVIDIA GeForce RTX 3090", "8.6", 0x2204, "515.105.01", "11.7"),
        where="pretended",
        besides=("driver-branch-ended",),
    ),
    Case("tensorflow-2.4", "TensorFlow 2.4 and CUDA 11.0, which has libcusolver.so.10", tf2_4("11.0.3"), **_TF_2_4),
    Case(
        "tensorflow-2.4-cuda-11.2",
        "the same with CUDA 11.2, which has libcusolver.so.11",
        tf2_4("11.2.2"),
        ("framework-wants-other-cuda",),
        **_TF_2_4,
    ),
    Case(
        "tensorflow-1.15",
        "Ubuntu 18.04, GTX 1080, CUDA 10.0, cuDNN 7.6.5, TensorFlow 1.15",
        tf1("10.0.130", "7.6.5"),
        environ=CUDA_ON_PATH,
        nvml=GTX_1080,
        where="pretended",
        besides=("driver-branch-ended",),
    ),
    Case(
        "tensorflow-1.15-cuda-10.1",
        "the same with CUDA 10.1, which it cannot use",
        tf1("10.1.243", "7.6.5"),
        ("framework-wants-other-cuda",),
        environ=CUDA_ON_PATH,
        nvml=GTX_1080,
        where="pretended",
    ),
    Case(
        "tensorflow-1.15-cudnn-8",
        "the same with cuDNN 8",
        tf1("10.0.130", "8.0.5"),
        ("cudnn-wrong-major",),
        environ=CUDA_ON_PATH,
        nvml=GTX_1080,
        where="pretended",
    ),
    Case(
        "torch-1.4",
        "Ubuntu 18.04, GTX 1080, CUDA 10.1 with cuDNN 7.6.5, torch 1.4 with its own inside",
        torch1(
            "1.4.0+cu101",
            "7.6.3.30",
            card(0x1B80),
            driver("430.26", flavour="proprietary", kernel="5.4.0-150-generic"),
            toolkit("10.1.243"),
            at("/usr/local/cuda-10.1/lib64", cudnn_tree.copy_of, "7.6.5", chain=True),
            at("/usr/local/cuda-10.1/include", cudnn_tree.header_of, "7.6.5"),
        ),
        nvml=GTX_1080,
        where="pretended",
        besides=("driver-branch-ended",),
    ),
    Case(
        "torch-1.12-hopper",
        "torch 1.12 for CUDA 11.3 on an H100",
        together(
            WORKSTATION,
            without("/usr/local/cuda*", VENV),
            card(0x2331),
            venv(python="python3.10"),
            torch("1.12.1+cu113", "8.3.2", site=site_of(VENV, "python3.10"), pinned=False),
        ),
        ("gpu-too-new-for-cuda",),
        "gpu-too-new-for-cuda",
        nvml=nvml_of("NVIDIA H100 PCIe", "9.0", 0x2331),
        where="pretended",
    ),
    Case(
        "theano",
        "Ubuntu 14.04, GTX 980, CUDA 7.5, cuDNN 5.1, Theano 0.8.2 on Python 2.7",
        theano(THEANORC),
        environ=CUDA_ON_PATH,
        nvml=GTX_980,
        where="pretended",
        besides=("driver-branch-ended",),
    ),
    Case(
        "theano-float64",
        "the same without floatX: everything stays on the CPU",
        theano("[global]\ndevice = gpu\n"),
        ("theanorc-misconfigured",),
        "theanorc-misconfigured",
        environ=CUDA_ON_PATH,
        nvml=GTX_980,
        where="pretended",
    ),
    Case(
        "theano-other-cudnn",
        "the same with cuDNN 7, which Theano 0.8.2 does not know",
        theano(THEANORC, "7.6.5"),
        ("theano-cudnn-unfit",),
        "theano-cudnn-unfit",
        environ=CUDA_ON_PATH,
        nvml=GTX_980,
        where="pretended",
    ),
    Case(
        "theano-gcc-5",
        "the same with gcc 5, which nvcc 7.5 refuses",
        theano(THEANORC, "5.1.10", gcc("5.4.0")),
        ("host-compiler-unsupported",),
        environ=CUDA_ON_PATH,
        nvml=GTX_980,
        where="pretended",
    ),
    Case("windows", "a Windows disk with torch for CUDA 12.8", WINDOWS, where="root"),
    Case(
        "jetson",
        "a Jetson Orin with JetPack 6 and NVIDIA's own torch",
        together(JETSON, lambda root: stub.nvml(root / ARM_LIB.lstrip("/") / "nvidia", "540.4.0"), JETSON_TORCH),
        machine="aarch64",
        nvml=stub.machine_env(ORIN, driver="540.4.0", cuda="12.6"),
        where="pretended",
        environ={"LD_LIBRARY_PATH": f"{ARM_LIB}/nvidia"},
    ),
    Case(
        "jetson-5",
        "the same before NVML came to Jetsons",
        together(JETSON, JETSON_TORCH),
        machine="aarch64",
        nvml=stub.machine_env(init=12),
        where="pretended",
        environ={"LD_LIBRARY_PATH": f"{ARM_LIB}/nvidia"},
    ),
    Case(
        "jetson-newer-cuda",
        "a Jetson Orin with JetPack 6 and a torch for CUDA 13 of the package index",
        together(
            JETSON, JETSON_TORCH, files({f"{JETSON_SITE}/torch/version.py": "__version__ = '2.11.0'\ncuda = '13.0'\n"})
        ),
        ("jetson-wrong-wheel",),
        "jetson-wrong-wheel",
        machine="aarch64",
        nvml=stub.machine_env(init=12),
        where="pretended",
        environ={"LD_LIBRARY_PATH": f"{ARM_LIB}/nvidia"},
    ),
    Case(
        "jetson-cpu",
        "a Jetson Orin with the generic torch of the package index",
        together(JETSON, torch("2.5.1+cpu", site=site_of(VENV, "python3.10"))),
        ("jetson-wrong-wheel",),
        "jetson-wrong-wheel",
        machine="aarch64",
        nvml=stub.machine_env(init=12),
        where="pretended",
    ),
    Case("disk", "a workstation's disk", DISK, where="root"),
    Case(
        "image",
        "an image of PyTorch with conda under /opt",
        together(
            DISK,
            without("/home/user/*"),
            conda("/opt/conda"),
            files({"/.dockerenv": ""}),
        ),
        where="root",
    ),
    Case(
        "image-baked",
        "an image that carries the driver's libraries",
        together(DISK, driver_libraries("535.183.01")),
        ("container-image-bakes-driver-libs",),
        where="root",
    ),
    Case(
        "disk-dkms",
        "a disk whose newest kernel has no module",
        together(
            DISK,
            files({"/usr/lib/modules/6.8.0-87-generic/modules.dep": ""}),
            module_file("580.95.05", kernel="6.8.0-79-generic"),
        ),
        ("kernel-updated-dkms-missing",),
        where="root",
    ),
)
