"""How reports show each kind of need, and that two kinds are never the same."""

from __future__ import annotations

import pytest

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
    PutOnPath,
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
    as_json,
    kinds,
)
from doctor.model.encode import encode

PYTHON = "/venv/bin/python"
SHOWN: tuple[tuple[Need, tuple[str, str, str, str]], ...] = (
    (InstallDriver(">=580", "open"), ("driver", ">=580", "", "open")),
    (InstallToolkit("==12.8.*", "/opt/cuda", "runfile"), ("cuda", "==12.8.*", "/opt/cuda", "runfile")),
    (InstallCudnn("==9.10.2", "/opt/cudnn", "12"), ("cudnn", "==9.10.2", "/opt/cudnn", "12")),
    (InstallPackage("torch", "==2.9.1", PYTHON, "cu128"), ("torch", "==2.9.1", PYTHON, "cu128")),
    (InstallPackage("torch", "==2.9.1", PYTHON, reinstall=True), ("torch", "==2.9.1", PYTHON, "again")),
    (RemovePackage("cupy", PYTHON), ("cupy", "absent", PYTHON, "")),
    (ChangePackages(("a==1", "b[x]"), PYTHON, ("c", "d")), ("wheels", "a==1 b[x]", PYTHON, "c d")),
    (CreateEnvironment(".venv", "3.13t"), ("environment", "==3.13t.*", ".venv", "")),
    (CreateEnvironment(".venv"), ("environment", "", ".venv", "")),
    (LoadKernelModule(kernel="6.8.0-88"), ("kernel-module", "loaded", "6.8.0-88", "nvidia")),
    (ReloadKernelModule("nvidia_uvm"), ("kernel-module", "reloaded", "", "nvidia_uvm")),
    (BuildKernelModule("6.8.0-88"), ("kernel-module", "rebuilt", "6.8.0-88", "nvidia")),
    (BuildKernelModule("6.8", ("gcc-12",), load=False), ("kernel-module", "built", "6.8", "nvidia gcc-12")),
    (SignKernelModule("6.8.0-88", "akmods"), ("kernel-module", "signed", "6.8.0-88", "nvidia akmods")),
    (SignKernelModule("6.8.0-88"), ("kernel-module", "signed", "6.8.0-88", "nvidia")),
    (InstallModulePackage("6.8.0-88", "akmods"), ("module-package", "", "6.8.0-88", "akmods")),
    (InstallModulePackage("6.8", "kmod", load=False), ("module-package", "built", "6.8", "kmod")),
    (InstallModulePackage("6.8", "dkms", "580.95.05"), ("module-package", "==580.95.05", "6.8", "dkms")),
    (KeepModuleAway("nova_core"), ("nouveau", "absent", "", "nova_core")),
    (RestartMachine(), ("restart", "", "", "")),
    (MakeDeviceNodes(), ("device-nodes", "", "", "")),
    (
        OpenDeviceNodes(("/dev/a", "/dev/b"), "root"),
        ("device-access", "", "/dev/a /dev/b", "root"),
    ),
    (OpenDeviceNodes(("/dev/nvidia0",), selinux=True), ("device-access", "", "/dev/nvidia0", "label")),
    (GiveGpus("docker"), ("container-gpu", "", "docker", "")),
    (
        AssignVariable("CUDA_HOME", "/opt/{cuda}", "a, line 3"),
        ("variable", "=/opt/{cuda}", "a, line 3", "CUDA_HOME"),
    ),
    (ClearVariable("CUDA_HOME"), ("variable", "", "", "CUDA_HOME")),
    (DropFromPath("PATH", "/opt/bin"), ("variable", "without /opt/bin", "", "PATH")),
    (PutOnPath(("C:/one", "C:/two")), ("variable", "with C:/one;C:/two", "", "PATH")),
    (
        SetAlternative("/usr/local/cuda", "/opt/cuda"),
        ("alternative", "/opt/cuda", "/usr/local/cuda", ""),
    ),
    (LinkTo("/usr/local/cuda", "cuda-12.8"), ("link", "cuda-12.8", "/usr/local/cuda", "")),
    (RemoveFile("/opt/libcuda.so"), ("file", "absent", "/opt/libcuda.so", "")),
    (MoveFilesAside("/opt/cudnn.h", "cudnn*.h"), ("files-aside", "absent", "/opt/cudnn.h", "cudnn*.h")),
    (RemoveDriverLeftovers("/lib/a.so.575", "*.so.575"), ("driver-leftovers", "", "/lib/a.so.575", "*.so.575")),
    (RemoveDriverLeftovers("/lib/a", "*", by_runfile=True), ("driver-leftovers", "runfile", "/lib/a", "*")),
    (
        RemoveModprobeLine("/etc/a.conf", "blacklist a"),
        ("modprobe-line", "absent", "/etc/a.conf", "blacklist a"),
    ),
    (SwitchGpuOn("prime-select"), ("gpu-switch", "on", "", "prime-select")),
    (TurnMigOff(0), ("mig", "off", "0", "")),
    (ResetGpu(0), ("gpu-reset", "", "0", "")),
    (ResetGpu(), ("gpu-reset", "", "", "")),
    (RollBack("20261122-101500-00"), ("rollback", "20261122-101500-00", "", "")),
    (SetComputeMode(1, "DEFAULT"), ("compute-mode", "DEFAULT", "1", "")),
    (EnlargeSharedMemory(1 << 30), ("shm", "1073741824", "", "")),
    (StartService("nvidia-persistenced"), ("service", "running", "", "nvidia-persistenced")),
    (InstallFabricManager("580.95.05"), ("fabric-manager", "==580.95.05", "", "")),
    (ReinstallFirmware("580.95.05", "dkms"), ("gpu-firmware", "==580.95.05", "", "dkms")),
    (
        SetGlxAlternative("550.163.01", "/usr/lib/nvidia"),
        ("glx-alternative", "==550.163.01", "/usr/lib/nvidia", ""),
    ),
    (InstallCppRuntime(), ("cpp-runtime", "", "", "")),
    (
        ChangeSetting("~/.theanorc", "theano", "global", "floatX", "float32"),
        ("setting", "float32", "~/.theanorc", "theano global floatX"),
    ),
    (InstallHostCompiler("g++-12"), ("host-compiler", "", "", "g++-12")),
    (InstallHostCompiler("g++-12", "-ccbin g++-12"), ("host-compiler", "=-ccbin g++-12", "", "g++-12")),
    (AddLoaderDirectory("/usr/lib/wsl/lib", "ld.wsl"), ("loader-directory", "", "/usr/lib/wsl/lib", "ld.wsl")),
    (InstallSystemPackage("zlib1g", "==1.3"), ("system-package", "==1.3", "", "zlib1g")),
    (InstallSystemPackage("zlib1g", reinstall=True), ("system-package", "again", "", "zlib1g")),
    (InstallSystemLibrary("libz.so.1"), ("system-library", "", "", "libz.so.1")),
    (InstallSystemLibrary("libz.so.1", reinstall=True), ("system-library", "again", "", "libz.so.1")),
    (Advice("reboot"), ("by-hand", "reboot", "", "")),
)


@pytest.mark.parametrize(("need", "shown"), SHOWN, ids=str)
def test_a_report_shows_a_need_by_four_texts(need: Need, shown: tuple[str, str, str, str]) -> None:
    assert as_json(need) == shown
    assert encode(need) == dict(zip(("product", "spec", "where", "build"), shown, strict=True))


def test_every_kind_is_shown() -> None:
    assert {type(need) for need, _ in SHOWN} == {*kinds()}


def test_needs_of_two_kinds_are_never_the_same() -> None:
    alike: tuple[Need, ...] = (RestartMachine(), MakeDeviceNodes(), RemoveFile("a"), Advice("a"), StartService("a"))
    assert len({*alike}) == len(alike)
    assert all(alike)
    assert all(
        (one == other) is (one is other) and (one != other) is (one is not other) for one in alike for other in alike
    )
    assert RemoveFile("a") == RemoveFile("a")
