"""Machines of other systems than Ubuntu: who brings the kernel module there, and the driver; nouveau kept away."""

from __future__ import annotations

from tests.lab import stub
from tests.lab.case import Case, fault
from tests.lab.cases.cards import FOR_PASCAL, GTX_1080_TI, NO_DRIVER, PASCAL
from tests.lab.cases.driver import NO_LIBRARY, NOT_LOADED, SECURE_BOOT, SILVERBLUE
from tests.lab.cases.known import CU130
from tests.lab.parts import (
    DEBIAN_12,
    ELF_STUB,
    ROCKY_9,
    UNLOADED,
    WORKSTATION,
    Part,
    card,
    driver,
    files,
    kernel_says,
    module_bytes,
    together,
    without,
)

FEDORA = 'NAME="Fedora Linux"\nID=fedora\nVERSION_ID=42\n'
ARCH = 'NAME="Arch Linux"\nID=arch\n'
LEAP = 'NAME="openSUSE Leap"\nID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="15.6"\n'
TUMBLEWEED = 'NAME="openSUSE Tumbleweed"\nID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\nVERSION_ID="20251110"\n'
KALI = 'NAME="Kali GNU/Linux"\nVERSION_ID="2025.3"\nID=kali\nID_LIKE=debian\nVERSION_CODENAME=kali-rolling\n'
LMDE = 'NAME="LMDE"\nVERSION_ID="6"\nID=linuxmint\nID_LIKE=debian\nDEBIAN_CODENAME=bookworm\n'
MINT = 'NAME="Linux Mint"\nVERSION_ID="22.1"\nID=linuxmint\nID_LIKE="ubuntu debian"\nUBUNTU_CODENAME=noble\n'
ALPINE = 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.22.1\n'
BAZZITE = 'NAME="Bazzite"\nID=bazzite\nID_LIKE="fedora"\nVERSION_ID=42\n'

FEDORA_NEW, FEDORA_OLD = "6.17.7-200.fc42.x86_64", "6.16.12-200.fc42.x86_64"
UBUNTU_NEW, UBUNTU_OLD = "6.8.0-88-generic", "6.8.0-86-generic"
ROCKY_NEW, ROCKY_OLD = "5.14.0-570.52.1.el9_6.x86_64", "5.14.0-570.49.1.el9_6.x86_64"
LEAP_NEW, LEAP_OLD = "6.4.0-150600.23.73-default", "6.4.0-150600.23.70-default"
ARCH_NEW, ARCH_OLD, ARCH_LTS = "6.17.8-arch1-1", "6.17.5-arch1-1", "6.12.57-1-lts"
GTX_680 = 0x1180
NO_CARD = card(driver="")
HELD = together(card(driver="nouveau"), files({"/proc/modules": "nouveau 1 0 - Live 0x0\n"}))
PASCAL_UNSEEN = {**PASCAL, "STUB_NVML_INIT": NO_LIBRARY["STUB_NVML_INIT"]}


def system(release: str, *kernels: str) -> Part:
    """Another distribution; the first kernel runs, the modules of all are there."""
    folders = {f"/usr/lib/modules/{one}/modules.dep": "" for one in kernels}
    running = {"/proc/sys/kernel/osrelease": f"{kernels[0]}\n"} if kernels else {}
    return together(without("/usr/lib/modules/*"), files({"/etc/os-release": release, **folders, **running}))


def module_at(path: str, release: str = "580.95.05", *, signed: bool = True) -> Part:
    """The open module below /lib/modules."""
    content = module_bytes(release, "Dual MIT/GPL", signed=signed)
    kernel, _, inside = path.partition("/")
    return files({f"/usr/lib/modules/{path}": content, f"/usr/lib/modules/{kernel}/modules.dep": f"{inside}:\n"})


AKMODS = files({"/usr/bin/akmods": "#!/bin/sh\n", "/usr/src/akmods/nvidia-kmod-580.95.05-1.fc42.src.rpm": b""})
FIRMWARE = together(files({SECURE_BOOT: b"\x06\0\0\0\1"}), kernel_says("Loading of unsigned module is rejected"))
MAKE_LOG = (
    f"DKMS make.log for nvidia-550.144.03 for kernel {UBUNTU_NEW} (x86_64)\n"
    "nvidia/nv-mmap.c:321:5: error: implicit declaration of function 'x'\nmake: *** [Makefile:85: modules] Error 2\n"
)
NO_GCC_LOG = (
    f"DKMS (dkms-3.2.0) make.log for nvidia/550.144.03 for kernel {UBUNTU_NEW} (x86_64)\n"
    "/bin/sh: 1: gcc-12: not found\n"
)


def dkms_failed(log: str) -> Part:
    """DKMS built driver 550 for the former kernel, and failed for the one that runs."""
    base = "/var/lib/dkms/nvidia/550.144.03"
    return together(
        driver("550.144.03"),
        UNLOADED,
        system('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n', UBUNTU_NEW),
        NO_CARD,
        module_at(f"{UBUNTU_OLD}/updates/dkms/nvidia.ko", "550.144.03"),
        files({f"{base}/{UBUNTU_OLD}/x86_64/module/nvidia.ko": b"", f"{base}/build/make.log": log}),
    )


def outdated(name: str, title: str, *different: Part) -> Case:
    """The kernel runs for which no module was made."""
    code = "kernel-updated-dkms-missing"
    return fault(name, title, UNLOADED, *different, codes=(code,), first=code, nvml=NOT_LOADED)


def driverless(name: str, title: str, *different: Part, device: int = 0x2684) -> Case:
    """A card, and no driver."""
    code = "no-kernel-module"
    parts = (NO_DRIVER, card(device, driver=""), *different)
    return fault(name, title, *parts, codes=(code,), first=code, nvml=NO_LIBRARY)


SOURCES = (
    outdated(
        "fedora-akmods",
        "Fedora with RPM Fusion's driver: akmods built no module for the new kernel",
        system(FEDORA, FEDORA_NEW),
        AKMODS,
        NO_CARD,
        module_at(f"{FEDORA_OLD}/extra/nvidia/nvidia.ko"),
    ),
    Case(
        "fedora-akmods-built",
        "the same, built",
        together(WORKSTATION, system(FEDORA), AKMODS, module_at(f"{FEDORA_NEW}/extra/nvidia/nvidia.ko")),
    ),
    outdated(
        "fedora-akmods-nouveau",
        "the same, and nouveau took the card: a module that is built now cannot be loaded yet",
        system(FEDORA, FEDORA_NEW),
        AKMODS,
        HELD,
        module_at(f"{FEDORA_OLD}/extra/nvidia/nvidia.ko"),
    ),
    outdated(
        "ubuntu-ready-modules",
        "Ubuntu's ready modules, and a kernel that came without them",
        system('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n', UBUNTU_NEW),
        NO_CARD,
        module_at(f"{UBUNTU_OLD}/kernel/nvidia-580-open/nvidia.ko"),
    ),
    Case(
        "ubuntu-ready-modules-there",
        "the same with them",
        together(
            WORKSTATION,
            system('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n', UBUNTU_NEW),
            module_at(f"{UBUNTU_NEW}/kernel/nvidia-580-open/nvidia.ko"),
        ),
    ),
    outdated(
        "rocky-ready-modules",
        "Rocky Linux with NVIDIA's ready modules, and a kernel newer than the newest of them",
        system(ROCKY_9, ROCKY_NEW),
        NO_CARD,
        module_at(f"{ROCKY_OLD}/extra/drivers/video/nvidia/nvidia.ko"),
    ),
    Case(
        "rocky-ready-modules-there",
        "the same with the module for it",
        together(WORKSTATION, system(ROCKY_9), module_at(f"{ROCKY_NEW}/extra/drivers/video/nvidia/nvidia.ko")),
    ),
    outdated(
        "leap-kmp",
        "openSUSE Leap, whose KMP was not linked for the new kernel",
        system(LEAP, LEAP_NEW),
        NO_CARD,
        module_at(f"{LEAP_OLD}/updates/nvidia.ko"),
    ),
    Case(
        "leap-kmp-linked",
        "the same, linked by weak-updates",
        together(
            WORKSTATION,
            system(LEAP, LEAP_NEW),
            module_at(f"{LEAP_OLD}/updates/nvidia.ko"),
            files(
                {
                    f"/usr/lib/modules/{LEAP_NEW}/weak-updates/updates/nvidia.ko": (
                        f"-> /usr/lib/modules/{LEAP_OLD}/updates/nvidia.ko"
                    )
                }
            ),
        ),
    ),
    outdated(
        "arch-kernel-gone",
        "Arch after an upgrade: the running kernel's modules are gone until the restart",
        system(ARCH),
        files({"/proc/sys/kernel/osrelease": f"{ARCH_OLD}\n"}),
        NO_CARD,
        module_at(f"{ARCH_NEW}/extramodules/nvidia.ko"),
    ),
    outdated(
        "arch-lts",
        "Arch with linux-lts, and nvidia-open, which is for linux alone",
        system(ARCH, ARCH_LTS),
        NO_CARD,
        module_at(f"{ARCH_NEW}/extramodules/nvidia.ko"),
    ),
    outdated(
        "runfile-without-dkms",
        "NVIDIA's runfile without DKMS, and a new kernel",
        system('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n', UBUNTU_NEW),
        NO_CARD,
        module_at(f"{UBUNTU_OLD}/kernel/drivers/video/nvidia.ko"),
        files({"/usr/bin/nvidia-installer": ELF_STUB, "/usr/bin/nvidia-uninstall": "-> nvidia-installer"}),
    ),
    outdated("dkms-failed", "DKMS failed: driver 550 is older than the kernel", dkms_failed(MAKE_LOG)),
    outdated("dkms-without-gcc", "DKMS failed: the compiler of the kernel is not installed", dkms_failed(NO_GCC_LOG)),
    fault(
        "fedora-secure-boot",
        "Fedora with Secure Boot: akmods built the module before it had a key",
        UNLOADED,
        system(FEDORA, FEDORA_NEW),
        AKMODS,
        NO_CARD,
        module_at(f"{FEDORA_NEW}/extra/nvidia/nvidia.ko", signed=False),
        FIRMWARE,
        codes=("secure-boot-unsigned-module",),
        first="secure-boot-unsigned-module",
        nvml=NOT_LOADED,
    ),
    fault(
        "kali-secure-boot",
        "Kali with Secure Boot, whose firmware does not know DKMS' key",
        UNLOADED,
        system(KALI, "6.16.8+kali-amd64"),
        NO_CARD,
        module_at("6.16.8+kali-amd64/updates/dkms/nvidia.ko", signed=False),
        FIRMWARE,
        codes=("secure-boot-unsigned-module",),
        first="secure-boot-unsigned-module",
        nvml=NOT_LOADED,
    ),
)
DRIVERS = (
    driverless("kali-driverless", "Kali without a driver", system(KALI, "6.16.8+kali-amd64")),
    driverless("lmde-driverless", "LMDE 6 without a driver", system(LMDE, "6.1.0-40-amd64")),
    driverless("tumbleweed-driverless", "Tumbleweed without a driver", system(TUMBLEWEED, "6.17.7-1-default")),
    driverless("alpine-driverless", "Alpine, for which there is no driver", system(ALPINE, "6.12.55-0-lts")),
    driverless("mint-kepler", "Linux Mint 22 and a GTX 680", system(MINT, UBUNTU_NEW), device=GTX_680),
    driverless("debian-kepler", "Debian 12 and a GTX 680", system(DEBIAN_12, "6.1.0-40-amd64"), device=GTX_680),
    driverless("fedora-kepler", "Fedora and a GTX 680", system(FEDORA, FEDORA_NEW), device=GTX_680),
    driverless("arch-kepler", "Arch and a GTX 680", system(ARCH, ARCH_NEW), device=GTX_680),
    fault(
        "tumbleweed-pascal",
        "Tumbleweed, and a GTX 1080 Ti without a driver",
        NO_DRIVER,
        FOR_PASCAL,
        card(GTX_1080_TI, driver=""),
        system(TUMBLEWEED, "6.17.7-1-default"),
        codes=("no-kernel-module",),
        first="no-kernel-module",
        nvml=PASCAL_UNSEEN,
    ),
    fault(
        "rpmfusion-old-driver",
        "Fedora with an old driver of RPM Fusion's, with which NVIDIA's packages conflict",
        driver("535.183.01", flavour="proprietary"),
        system(FEDORA, FEDORA_NEW),
        AKMODS,
        module_at(f"{FEDORA_NEW}/extra/nvidia/nvidia.ko", "535.183.01"),
        without("/usr/local/cuda*"),
        CU130,
        codes=("driver-branch-ended",),
        nvml=stub.machine_env(stub.card(), driver="535.183.01", cuda="12.2"),
    ),
    fault(
        "bazzite-driverless",
        "Bazzite's image without the driver: nouveau holds the card",
        NO_DRIVER,
        HELD,
        files({"/etc/os-release": BAZZITE, "/run/ostree-booted": ""}),
        codes=("nouveau-in-use",),
        first="nouveau-in-use",
        nvml=NO_LIBRARY,
    ),
    fault(
        "silverblue-nouveau",
        "Silverblue, whose layer has the driver, and nouveau holds the card",
        UNLOADED,
        HELD,
        files({"/etc/os-release": SILVERBLUE, "/run/ostree-booted": ""}),
        codes=("nouveau-in-use",),
        first="nouveau-in-use",
        nvml=NOT_LOADED,
    ),
)
CASES = (*SOURCES, *DRIVERS)
