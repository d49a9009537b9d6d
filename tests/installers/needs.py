"""Needs of every kind in `compat/need.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.matrix import Matrix
from compat.need import (
    AddLoaderDirectory,
    Advice,
    AssignVariable,
    BuildKernelModule,
    ChangePackages,
    ChangeSetting,
    ClearVariable,
    CreateEnvironment,
    DropFromPath,
    EnlargeSharedMemory,
    GiveGpus,
    InstallCppRuntime,
    InstallCudnn,
    InstallDriver,
    InstallFabricManager,
    InstallHostCompiler,
    InstallModulePackage,
    InstallPackage,
    InstallSystemLibrary,
    InstallSystemPackage,
    InstallToolkit,
    KeepModuleAway,
    LinkTo,
    LoadKernelModule,
    MakeDeviceNodes,
    MoveFilesAside,
    Need,
    OpenDeviceNodes,
    ReinstallFirmware,
    ReloadKernelModule,
    RemoveDriverLeftovers,
    RemoveFile,
    RemoveModprobeLine,
    RemovePackage,
    ResetGpu,
    RestartMachine,
    RollBack,
    SetAlternative,
    SetComputeMode,
    SetGlxAlternative,
    SignKernelModule,
    StartService,
    SwitchGpuOn,
    TurnMigOff,
)
from installers.choose import plan_for
from installers.cuda_order import NoSuchToolkit
from installers.methods.cudnn_system import NoSuchPackage
from installers.plan import Plan, Target

SITE = "/home/user/project/.venv/lib/python3.12/site-packages"
PYTHON = "/home/user/project/.venv/bin/python"

LINUX_ONLY: tuple[Need, ...] = (
    SetGlxAlternative("550.163.01", "/usr/lib/nvidia/current"),
    ChangeSetting("~/.theanorc", "theano", "global", "floatX", "float32"),
    LoadKernelModule(),
    LoadKernelModule("nvidia_uvm"),
    BuildKernelModule("6.8.0-88-generic"),
    ReloadKernelModule("nvidia_uvm"),
    BuildKernelModule(),
    SignKernelModule(),
    SignKernelModule("6.8.0-88-generic", "akmods"),
    SignKernelModule("6.4.0-150600.23-default", "kmp"),
    BuildKernelModule("6.8.0-88-generic", ("gcc-12",), False),
    *(
        InstallModulePackage("6.8.0-88-generic", source, load=load)
        for source in ("akmods", "linux-modules-nvidia-580-open", "kmod", "kmp", "pacman", "runfile", "other")
        for load in (True, False)
    ),
    KeepModuleAway(),
    KeepModuleAway("nova_core"),
    MakeDeviceNodes(),
    OpenDeviceNodes(("/dev/nvidia0",), "video"),
    OpenDeviceNodes(("/dev/nvidiactl",), "root"),
    GiveGpus(),
    GiveGpus("docker"),
    GiveGpus("podman"),
    GiveGpus("containerd"),
    GiveGpus("kubernetes"),
    GiveGpus("lxc"),
    GiveGpus("container"),
    OpenDeviceNodes(("/dev/nvidia0", "/dev/nvidiactl"), "root"),
    MoveFilesAside("/usr/local/cuda-12.8/include/cudnn_version.h", "cudnn*.h"),
    SetAlternative("/usr/local/cuda", "/usr/local/cuda-12.4"),
    InstallModulePackage("6.8.0-88-generic", "nvidia-dkms-580-open", "580.173.02"),
    RemoveDriverLeftovers("/usr/lib64/libcuda.so.575.57.08", "lib*.so.575.57.08"),
    RemoveDriverLeftovers("/usr/lib64/libcuda.so.575.57.08", "lib*.so.575.57.08", True),
    RemoveModprobeLine("/etc/modprobe.d/mine.conf", "blacklist nvidia # test"),
    RemoveModprobeLine("/proc/cmdline", "module_blacklist=nvidia,nvidia_drm"),
    RemoveModprobeLine("/proc/cmdline", "modprobe.blacklist=nouveau,nvidia"),
    SwitchGpuOn("prime-select"),
    ReinstallFirmware("580.95.05"),
    ReinstallFirmware("535.183.01", "linux-modules-nvidia-535-server"),
    TurnMigOff(0),
    ResetGpu(1),
    ResetGpu(),
    EnlargeSharedMemory(8 << 30),
    SetComputeMode(0, "DEFAULT"),
    StartService("nvidia-fabricmanager"),
    InstallFabricManager("580.95.05"),
    InstallHostCompiler("g++-12"),
    AddLoaderDirectory("/usr/lib/wsl/lib", "ld.wsl"),
    InstallSystemLibrary("libgomp.so.1"),
    InstallSystemLibrary("libz.so.1", True),
    InstallSystemLibrary("libother.so.3"),
)
ANYWHERE: tuple[Need, ...] = (
    InstallCppRuntime(),
    RollBack("20261122-101500-00"),
    InstallDriver(),
    InstallDriver(">=580.65.06"),
    InstallDriver(">=525.60.13", "open"),
    InstallDriver("==580.*"),
    InstallToolkit(">=12.8"),
    InstallToolkit("==12.8.*", "/usr/local/cuda"),
    InstallToolkit(),
    InstallCudnn(">=9.10", cuda="12"),
    InstallCudnn("==9.10.2.21", f"{SITE}/nvidia/cudnn/lib", "12"),
    InstallCudnn("==8.9.7", cuda="12"),
    InstallCudnn(),
    InstallPackage("torch", "==2.9.1", PYTHON, "cu128"),
    InstallPackage("torch", interpreter=PYTHON, build="cu126"),
    InstallPackage("torch", ">=2.9", PYTHON),
    InstallPackage("tensorflow", "==2.20.0", PYTHON),
    InstallPackage("jax", interpreter=PYTHON, build="cuda12"),
    InstallPackage("jax", interpreter=PYTHON, build="cuda13"),
    RemovePackage("onnxruntime", PYTHON),
    InstallPackage("onnxruntime-gpu", "==1.22.0", PYTHON, reinstall=True),
    InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", PYTHON, reinstall=True),
    ChangePackages(("onnxruntime-gpu==1.22.0",), PYTHON, ("onnxruntime",)),
    ChangePackages(("nvidia-cudnn-cu12==9.10.2.21", "nvidia-nccl-cu12==2.27.5"), PYTHON, ("nvidia-cudnn-cu13",)),
    ChangePackages(("torch==2.9.1+cu130", "tensorflow[and-cuda]==2.20.0", "nvidia-cudnn-cu12==9.10.2.21"), PYTHON),
    ChangePackages(("torch==2.9.1+cu130",), PYTHON),
    ChangePackages(("jax[cuda12]==0.7.0",), PYTHON),
    CreateEnvironment(".venv", "3.12"),
    CreateEnvironment(".venv"),
    RestartMachine(),
    ClearVariable("CUDA_VISIBLE_DEVICES"),
    ClearVariable("CUDA_VISIBLE_DEVICES", "~/.bashrc, line 3"),
    AssignVariable("CUDA_HOME", "/usr/local/cuda 12's"),
    DropFromPath("LD_LIBRARY_PATH", "/opt/cudnn/lib", "~/.bashrc, line 118"),
    DropFromPath("PATH", "/odd dir/$(id)/'lib'"),
    LinkTo("/usr/local/cuda", "cuda-12.8"),
    LinkTo("/home/user/it's/libcudnn.so", "/a b/libcudnn.so.9"),
    RemoveFile("/usr/local/cuda/lib64/stubs/libcuda.so.1"),
    RemoveFile("/home/user/-odd\nname.so"),
    InstallSystemPackage("zlib1g"),
    InstallSystemPackage("libcudnn9-cuda-12", reinstall=True),
    InstallCudnn("==9.10.2", "/opt/cudnn/lib", "12"),
    InstallSystemPackage("libcudnn9-cuda-12", "==9.10.2.21-1"),
    Advice("turn on Above-4G decoding\nin the firmware's set-up"),
)


def plans_for(needs: Iterable[Need], target: Target, matrix: Matrix) -> Iterator[tuple[Need, Plan]]:
    """The plan of each need but those for packages that this machine's repository never had."""
    for need in needs:
        try:
            yield need, plan_for(need, target, matrix)
        except (NoSuchToolkit, NoSuchPackage):
            assert isinstance(need, (InstallToolkit, InstallCudnn)), need
