"""What is around the stack: containers, WSL, variables, toolkits, compilers."""

from __future__ import annotations

from tests.lab import stub
from tests.lab.case import Case, fault
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    ELF_STUB,
    HOME,
    LIB,
    UNLOADED,
    WORKSTATION,
    card,
    cudnn_wheel,
    driver_libraries,
    files,
    gcc,
    linux,
    together,
    toolkit,
    torch,
    venv,
    without,
)

NO_LIBRARY = stub.machine_env(init=12)
DOCKER = files({"/.dockerenv": ""})
NO_LIBRARIES = without(f"{LIB}/libcuda*", f"{LIB}/libnvidia*", "/usr/lib/modules/*", "/usr/bin/nvidia-smi")
TWO_CARDS = stub.machine_env(stub.card(), stub.card(uuid="GPU-1", pci="0000:41:00.0"))
WSL_KERNEL = files(
    {
        "/proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n",
        "/dev/dxg": "",
        "/usr/lib/wsl/lib/libcuda.so.1": elf_bytes("libcuda.so.1"),
        "/usr/lib/wsl/lib/libcuda.so": "-> libcuda.so.1",
        "/usr/lib/wsl/lib/libnvidia-ml.so.1": b"",
    }
)
WSL = together(
    linux(),
    without("/usr/lib/modules/*", "/sys/bus/pci/devices"),
    WSL_KERNEL,
    lambda root: stub.nvml(root / "usr/lib/wsl/lib", "580.95.05"),
    gcc(),
    toolkit(),
    venv(),
    torch(),
    cudnn_wheel(),
)
WSL_PATH = {"LD_LIBRARY_PATH": "/usr/lib/wsl/lib"}

RECORDS = f"{HOME}/.local/state/gpudoctor/journal/20261122-101500-00"
BEGUN = '{"what": "begin", "summary": "install cuDNN 9.10.2", "when": "2026-11-22T10:15:00Z"}\n'
CHANGED = '{"what": "change", "kind": "put", "path": "/usr/local/cuda/include/cudnn.h"}\n'
HALF_DONE = files({f"{RECORDS}/journal.jsonl": BEGUN + CHANGED})

VALIDATED = "/run/nvidia/validations"

RUNTIME = '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime", "args": []}}, "default-runtime": "nvidia"}'
CDI = f"""cdiVersion: 0.5.0
kind: nvidia.com/gpu
containerEdits:
  mounts:
  - containerPath: {LIB}/libcuda.so.{{release}}
    hostPath: {LIB}/libcuda.so.{{release}}
"""

CASES = (
    fault(
        "operator-half-way",
        "a node of a cluster whose GPU operator has validated the driver and nothing else",
        files({f"{VALIDATED}/driver-ready": "", f"{VALIDATED}/.driver-ctr-ready": ""}),
        codes=("gpu-operator-not-ready",),
    ),
    fault(
        "operator-done",
        "the same when all is validated",
        files({f"{VALIDATED}/{one}-ready": "" for one in ("driver", "toolkit", "cuda", "plugin")}),
        codes=(),
    ),
    fault(
        "installation-killed",
        "an installation of cuDNN that was killed half way",
        HALF_DONE,
        codes=("install-unfinished",),
        first="install-unfinished",
    ),
    fault(
        "container-without-gpu",
        "a container that was started without --gpus",
        UNLOADED,
        NO_LIBRARIES,
        DOCKER,
        codes=("container-without-gpu-runtime",),
        first="container-without-gpu-runtime",
        nvml=NO_LIBRARY,
    ),
    fault(
        "container-utility-only",
        "a container whose runtime brought in nvidia-smi only",
        without(f"{LIB}/libcuda*", "/usr/lib/modules/*"),
        DOCKER,
        environ={"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "utility"},
        codes=("container-without-gpu-runtime",),
        first="container-without-gpu-runtime",
    ),
    fault(
        "container-lost-gpu",
        "a container that lost its GPU to a daemon-reload",
        without("/usr/lib/modules/*"),
        DOCKER,
        codes=("container-lost-gpu-cgroup",),
        first="container-lost-gpu-cgroup",
        nvml=stub.machine_env(stub.card(), init=999),
    ),
    fault(
        "container-baked",
        "an image with driver libraries of its own beside the injected ones",
        without("/usr/lib/modules/*"),
        DOCKER,
        files({f"{LIB}/libcuda.so.535.183.01": elf_bytes("libcuda.so.1")}),
        codes=("container-image-bakes-driver-libs",),
    ),
    fault(
        "small-shm",
        "two GPUs in a container with 64 MiB of shared memory",
        without("/usr/lib/modules/*"),
        DOCKER,
        card(address="0000:41:00.0"),
        codes=("nccl-shm-too-small",),
        nvml=TWO_CARDS,
        shm_bytes=64 << 20,
    ),
    Case(
        "wsl1",
        "WSL 1",
        together(
            linux(),
            without("/usr/lib/modules/*", "/sys/bus/pci/devices"),
            files({"/proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft\n"}),
            venv(),
            torch(),
            cudnn_wheel(),
        ),
        ("wsl1-no-gpu",),
        "wsl1-no-gpu",
        nvml=NO_LIBRARY,
    ),
    Case(
        "wsl2-not-searched",
        "WSL 2 whose loader does not look in /usr/lib/wsl/lib",
        WSL,
        ("wsl-libcuda-missing",),
        "wsl-libcuda-missing",
        nvml=NO_LIBRARY,
    ),
    Case(
        "wsl2-linux-driver",
        "a Linux driver was installed into WSL 2",
        together(WSL, driver_libraries("535.183.01")),
        ("wsl-libcuda-missing",),
        "wsl-libcuda-missing",
        nvml=stub.machine_env(init=9),
    ),
    Case(
        "wsl2-no-gpu",
        "Windows gives WSL 2 no GPU",
        together(WSL, without("/dev/dxg", "/usr/lib/wsl")),
        ("no-nvidia-gpu",),
        "no-nvidia-gpu",
        nvml=NO_LIBRARY,
    ),
    Case("wsl2", "a healthy WSL 2", WSL, environ=WSL_PATH),
    fault(
        "hidden-gpus",
        "CUDA_VISIBLE_DEVICES is empty",
        environ={"CUDA_VISIBLE_DEVICES": " "},
        codes=("cuda-visible-devices-empty-or-invalid",),
        first="cuda-visible-devices-empty-or-invalid",
    ),
    fault(
        "second-of-one",
        "CUDA_VISIBLE_DEVICES names a second GPU that is not there",
        files({"/home/user/.bashrc": "export CUDA_VISIBLE_DEVICES=1\n"}),
        environ={"CUDA_VISIBLE_DEVICES": "1"},
        codes=("cuda-visible-devices-empty-or-invalid",),
        first="cuda-visible-devices-empty-or-invalid",
    ),
    fault(
        "new-compiler",
        "gcc 13 with CUDA 11.8",
        without("/usr/local/cuda*"),
        toolkit("11.8.0"),
        codes=("host-compiler-unsupported",),
    ),
    fault(
        "no-headers",
        "nvcc without headers",
        without("/usr/local/cuda-12.8/include"),
        codes=("cuda-headers-missing",),
    ),
    fault(
        "alternative-gone",
        "the alternative cuda leads to a toolkit that was removed by hand",
        without("/usr/local/cuda-12.8"),
        toolkit("12.4.1", usual=False),
        files({"/usr/local/cuda": "-> /etc/alternatives/cuda", "/etc/alternatives/cuda": "-> /usr/local/cuda-12.8"}),
        codes=("cuda-symlink-broken",),
        first="cuda-symlink-broken",
    ),
    Case(
        "alternative",
        "/usr/local/cuda is an alternative, as NVIDIA's packages make it",
        together(
            WORKSTATION,
            files(
                {"/usr/local/cuda": "-> /etc/alternatives/cuda", "/etc/alternatives/cuda": "-> /usr/local/cuda-12.8"}
            ),
        ),
    ),
    fault(
        "new-compiler-fedora",
        "Fedora 42, whose gcc 15 is newer than CUDA 12.8 takes",
        files({"/etc/os-release": 'NAME="Fedora Linux"\nID=fedora\nVERSION_ID=42\n'}),
        without("/usr/bin/gcc*", "/usr/lib/gcc"),
        gcc("15.2.1"),
        codes=("host-compiler-unsupported",),
    ),
    fault(
        "cuda-home-gone",
        "CUDA_HOME names a toolkit that is gone",
        environ={"CUDA_HOME": "/usr/local/cuda-11.8"},
        codes=("cuda-symlink-broken",),
    ),
    fault(
        "docker-runtime-gone",
        "Docker's default runtime is nvidia, and the toolkit was removed",
        files({"/etc/docker/daemon.json": RUNTIME}),
        codes=("container-setup-broken",),
        first="container-setup-broken",
    ),
    Case(
        "docker-runtime",
        "the same with the toolkit, and a CDI specification for this driver",
        together(
            WORKSTATION,
            files(
                {
                    "/etc/docker/daemon.json": RUNTIME,
                    "/usr/bin/nvidia-container-runtime": ELF_STUB,
                    "/etc/cdi/nvidia.yaml": CDI.format(release="580.95.05"),
                }
            ),
        ),
    ),
    fault(
        "cdi-of-the-driver-before",
        "the CDI specification was made for the driver before the update",
        files({"/var/run/cdi/nvidia.yaml": CDI.format(release="550.54.14")}),
        codes=("container-setup-broken",),
        first="container-setup-broken",
    ),
)
