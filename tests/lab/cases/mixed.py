"""Drivers of two releases on one machine, and what the start of the machine itself keeps away."""

from __future__ import annotations

from pathlib import Path

from tests.lab import stub
from tests.lab.case import Case, fault
from tests.lab.cases.driver import NOT_LOADED
from tests.lab.cases.surroundings import WSL, WSL_PATH
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    ELF_STUB,
    KERNEL,
    LIB,
    UNLOADED,
    WORKSTATION,
    Part,
    card,
    driver,
    files,
    loaded_module,
    module_bytes,
    together,
    without,
)

MISMATCH = stub.machine_env(init=18)
FEDORA = 'NAME="Fedora Linux"\nID=fedora\nVERSION_ID=42\n'
LXC = together(files({"/run/systemd/container": "lxc"}), without("/usr/lib/modules/*"))
INSTALLER = files({"/usr/bin/nvidia-installer": ELF_STUB, "/usr/bin/nvidia-uninstall": "-> nvidia-installer"})


def nvml_of_575(root: Path) -> None:
    """NVML of the other release, to which the link leads."""
    stub.nvml(root / LIB.lstrip("/"), "575.57.08")


LEFT_BEHIND = together(
    nvml_of_575,
    files(
        {
            f"{LIB}/libcuda.so.575.57.08": elf_bytes("libcuda.so.1"),
            f"{LIB}/libcuda.so.1": "-> libcuda.so.575.57.08",
        }
    ),
)


def mixed(name: str, title: str, *different: Part) -> Case:
    """Module and libraries are of two releases."""
    code = "driver-library-mismatch"
    return fault(name, title, *different, codes=(code,), first=code, nvml=MISMATCH)


CASES = (
    mixed(
        "mixed-packages",
        "libraries 580 of NVIDIA's repository, and Ubuntu's ready module 570, which every start loads again",
        driver("580.95.05"),
        without("/usr/lib/modules/*/updates"),
        files(
            {
                f"/usr/lib/modules/{KERNEL}/kernel/nvidia-570-open/nvidia.ko": module_bytes(
                    "570.195.03", "Dual MIT/GPL", signed=True
                )
            }
        ),
        loaded_module("570.195.03"),
    ),
    mixed(
        "ready-module-frozen",
        "Ubuntu's ready module stayed at the release that its kernel came with, and the libraries went on",
        driver("580.95.05"),
        without("/usr/lib/modules/*/updates"),
        files(
            {
                f"/usr/lib/modules/{KERNEL}/kernel/nvidia-580-open/nvidia.ko": module_bytes(
                    "580.65.06", "Dual MIT/GPL", signed=True
                )
            }
        ),
        loaded_module("580.65.06"),
    ),
    mixed(
        "updated-not-restarted",
        "module 570 runs, and 580 lies there for the next start",
        driver("580.95.05"),
        loaded_module("570.195.03"),
    ),
    mixed("libraries-left-behind", "libraries 575, left beside the packages of 580, come first", LEFT_BEHIND),
    mixed("runfile-over-packages", "the same, laid by NVIDIA's runfile", LEFT_BEHIND, INSTALLER),
    mixed(
        "lxc-own-libraries",
        "an LXC container with libraries of its own, of another release than the host's module",
        LXC,
        loaded_module("570.195.03"),
    ),
    fault(
        "lxc-lost-gpu",
        "an LXC container whose control group knows the former number of nvidia-uvm",
        LXC,
        codes=("container-lost-gpu-cgroup",),
        first="container-lost-gpu-cgroup",
        nvml=stub.machine_env(stub.card(), init=999),
    ),
    Case("lxc", "an LXC container with the GPU", together(WORKSTATION, LXC)),
    fault(
        "command-line-fedora",
        "the kernel's command line keeps nvidia away, on Fedora",
        UNLOADED,
        card(driver=""),
        files(
            {"/etc/os-release": FEDORA, "/proc/cmdline": "root=/dev/sda1 module_blacklist=nvidia,nvidia_drm quiet\n"}
        ),
        codes=("no-kernel-module",),
        first="no-kernel-module",
        nvml=NOT_LOADED,
    ),
    fault(
        "command-line-ubuntu",
        "the same on Ubuntu, nouveau with it",
        UNLOADED,
        card(driver=""),
        files({"/proc/cmdline": "root=/dev/sda1 modprobe.blacklist=nouveau,nvidia quiet\n"}),
        codes=("no-kernel-module",),
        first="no-kernel-module",
        nvml=NOT_LOADED,
    ),
    Case(
        "command-line-nouveau",
        "the kernel's command line keeps nouveau away, as RPM Fusion's packages have it",
        together(
            WORKSTATION,
            files(
                {
                    "/etc/os-release": FEDORA,
                    "/proc/cmdline": "rd.driver.blacklist=nouveau,nova_core modprobe.blacklist=nouveau,nova_core\n",
                }
            ),
        ),
    ),
    Case(
        "wsl2-old-driver",
        "WSL 2 on a Windows driver that is older than torch's CUDA needs",
        WSL,
        ("driver-too-old-for-runtime",),
        "driver-too-old-for-runtime",
        environ=WSL_PATH,
        nvml=stub.machine_env(stub.card(), driver="472.39", cuda="11.4"),
    ),
)
