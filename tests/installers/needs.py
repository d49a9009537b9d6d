"""Needs of every product that the table in `compat/need.py` names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compat.matrix import Matrix
from compat.need import ABSENT, AGAIN, Need
from installers.choose import plan_for
from installers.cuda_order import NoSuchToolkit
from installers.methods.cudnn_system import NoSuchPackage
from installers.plan import Plan, Target

SITE = "/home/user/project/.venv/lib/python3.12/site-packages"
PYTHON = "/home/user/project/.venv/bin/python"

LINUX_ONLY = (
    Need("glx-alternative", "==550.163.01", "/usr/lib/nvidia/current"),
    Need("setting", "float32", "~/.theanorc", "theano global floatX"),
    Need("kernel-module", "loaded", "", "nvidia"),
    Need("kernel-module", "loaded", "", "nvidia_uvm"),
    Need("kernel-module", "rebuilt", "6.8.0-88-generic", "nvidia"),
    Need("kernel-module", "reloaded", "", "nvidia_uvm"),
    Need("kernel-module", "rebuilt"),
    Need("kernel-module", "signed", "", "nvidia"),
    Need("kernel-module", "signed", "6.8.0-88-generic", "nvidia akmods"),
    Need("kernel-module", "signed", "6.4.0-150600.23-default", "nvidia kmp"),
    Need("kernel-module", "built", "6.8.0-88-generic", "nvidia gcc-12"),
    *(
        Need("module-package", how, "6.8.0-88-generic", source)
        for source in ("akmods", "linux-modules-nvidia-580-open", "kmod", "kmp", "pacman", "runfile", "other")
        for how in ("", "built")
    ),
    Need("nouveau", ABSENT),
    Need("nouveau", ABSENT, "", "nova_core"),
    Need("device-nodes"),
    Need("device-access", "", "/dev/nvidia0", "video"),
    Need("device-access", "", "/dev/nvidiactl", "root"),
    Need("container-gpu"),
    Need("container-gpu", "", "docker"),
    Need("container-gpu", "", "podman"),
    Need("container-gpu", "", "containerd"),
    Need("container-gpu", "", "kubernetes"),
    Need("container-gpu", "", "lxc"),
    Need("container-gpu", "", "container"),
    Need("device-access", "", "/dev/nvidia0 /dev/nvidiactl", "root"),
    Need("files-aside", ABSENT, "/usr/local/cuda-12.8/include/cudnn_version.h", "cudnn*.h"),
    Need("alternative", "/usr/local/cuda-12.4", "/usr/local/cuda"),
    Need("module-package", "==580.173.02", "6.8.0-88-generic", "nvidia-dkms-580-open"),
    Need("driver-leftovers", "", "/usr/lib64/libcuda.so.575.57.08", "lib*.so.575.57.08"),
    Need("driver-leftovers", "runfile", "/usr/lib64/libcuda.so.575.57.08", "lib*.so.575.57.08"),
    Need("modprobe-line", ABSENT, "/etc/modprobe.d/mine.conf", "blacklist nvidia # test"),
    Need("modprobe-line", ABSENT, "/proc/cmdline", "module_blacklist=nvidia,nvidia_drm"),
    Need("modprobe-line", ABSENT, "/proc/cmdline", "modprobe.blacklist=nouveau,nvidia"),
    Need("gpu-switch", "on", "", "prime-select"),
    Need("gpu-firmware", "==580.95.05"),
    Need("gpu-firmware", "==535.183.01", "", "linux-modules-nvidia-535-server"),
    Need("mig", "off", "0"),
    Need("gpu-reset", "", "1"),
    Need("gpu-reset"),
    Need("shm", str(8 << 30)),
    Need("compute-mode", "DEFAULT", "0"),
    Need("service", "running", "", "nvidia-fabricmanager"),
    Need("fabric-manager", "==580.95.05"),
    Need("host-compiler", "", "", "g++-12"),
    Need("loader-directory", "", "/usr/lib/wsl/lib", "ld.wsl"),
    Need("system-library", "", "", "libgomp.so.1"),
    Need("system-library", AGAIN, "", "libz.so.1"),
    Need("system-library", "", "", "libother.so.3"),
)
ANYWHERE = (
    Need("cpp-runtime"),
    Need("rollback", "20261122-101500-00"),
    Need("driver"),
    Need("driver", ">=580.65.06"),
    Need("driver", ">=525.60.13", "", "open"),
    Need("driver", "==580.*"),
    Need("cuda", ">=12.8"),
    Need("cuda", "==12.8.*", "/usr/local/cuda"),
    Need("cuda"),
    Need("cudnn", ">=9.10", "", "12"),
    Need("cudnn", "==9.10.2.21", f"{SITE}/nvidia/cudnn/lib", "12"),
    Need("cudnn", "==8.9.7", "", "12"),
    Need("cudnn"),
    Need("torch", "==2.9.1", PYTHON, "cu128"),
    Need("torch", "", PYTHON, "cu126"),
    Need("torch", ">=2.9", PYTHON),
    Need("tensorflow", "==2.20.0", PYTHON),
    Need("jax", "", PYTHON, "cuda12"),
    Need("jax", "", PYTHON, "cuda13"),
    Need("onnxruntime", ABSENT, PYTHON),
    Need("onnxruntime-gpu", "==1.22.0", PYTHON, AGAIN),
    Need("nvidia-cudnn-cu12", "==9.10.2.21", PYTHON, AGAIN),
    Need("wheels", "onnxruntime-gpu==1.22.0", PYTHON, "onnxruntime"),
    Need("wheels", "nvidia-cudnn-cu12==9.10.2.21 nvidia-nccl-cu12==2.27.5", PYTHON, "nvidia-cudnn-cu13"),
    Need("wheels", "torch==2.9.1+cu130 tensorflow[and-cuda]==2.20.0 nvidia-cudnn-cu12==9.10.2.21", PYTHON),
    Need("wheels", "torch==2.9.1+cu130", PYTHON),
    Need("wheels", "jax[cuda12]==0.7.0", PYTHON),
    Need("environment", "==3.12.*", ".venv"),
    Need("environment", "", ".venv"),
    Need("restart"),
    Need("variable", "", "", "CUDA_VISIBLE_DEVICES"),
    Need("variable", "", "~/.bashrc, line 3", "CUDA_VISIBLE_DEVICES"),
    Need("variable", "=/usr/local/cuda 12's", "", "CUDA_HOME"),
    Need("variable", "without /opt/cudnn/lib", "~/.bashrc, line 118", "LD_LIBRARY_PATH"),
    Need("variable", "without /odd dir/$(id)/'lib'", "", "PATH"),
    Need("link", "cuda-12.8", "/usr/local/cuda"),
    Need("link", "/a b/libcudnn.so.9", "/home/user/it's/libcudnn.so"),
    Need("file", ABSENT, "/usr/local/cuda/lib64/stubs/libcuda.so.1"),
    Need("file", ABSENT, "/home/user/-odd\nname.so"),
    Need("system-package", "", "", "zlib1g"),
    Need("system-package", AGAIN, "", "libcudnn9-cuda-12"),
    Need("cudnn", "==9.10.2", "/opt/cudnn/lib", "12"),
    Need("system-package", "==9.10.2.21-1", "", "libcudnn9-cuda-12"),
    Need("by-hand", "turn on Above-4G decoding\nin the firmware's set-up"),
)


def plans_for(needs: Iterable[Need], target: Target, matrix: Matrix) -> Iterator[tuple[Need, Plan]]:
    """The plan of each need but those for packages that this machine's repository never had."""
    for need in needs:
        try:
            yield need, plan_for(need, target, matrix)
        except (NoSuchToolkit, NoSuchPackage):
            assert need.product in {"cuda", "cudnn"}, need


def products() -> set[str]:
    """The products of the table, as its text names them; Python distributions under "torch"."""
    rows = [line.strip() for line in (Need.__doc__ or "").splitlines() if line.strip().startswith("| ")]
    names = {name for row in rows[2:] for name in re.split(r",\s*", row.split("|")[1].strip())}
    return (names - {"a Python distribution", '"torch"'}) | {"torch"}
