"""Faults of the driver, its module and its card."""

from __future__ import annotations

from tests.lab import stub
from tests.lab.case import Case, fault
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    LIB,
    MODPROBE,
    UNLOADED,
    WORKSTATION,
    card,
    driver,
    files,
    kernel_says,
    loaded_module,
    mode,
    module_file,
    together,
    toolkit,
    without,
)

NOT_LOADED = stub.machine_env(init=9)
NO_LIBRARY = stub.machine_env(init=12)
NO_MODULE_FILE = without("/usr/lib/modules/*/updates")
NO_LIBRARIES = without(f"{LIB}/libcuda*", f"{LIB}/libnvidia*", "/usr/bin/nvidia-smi")
SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
STUBS = "/usr/local/cuda-12.8/lib64/stubs"
COMPAT = "/usr/local/cuda-13.0/compat"
NO_CARDS_SHOWN = stub.machine_env()
TWO_4090 = (stub.card(), stub.card(uuid="GPU-1", pci="0000:41:00.0"))

CASES = (
    fault(
        "module-not-loaded",
        "the driver is installed, its module not loaded",
        UNLOADED,
        card(driver=""),
        codes=("no-kernel-module",),
        first="no-kernel-module",
        nvml=NOT_LOADED,
    ),
    fault(
        "driver-not-installed",
        "a card, and no driver at all",
        UNLOADED,
        NO_MODULE_FILE,
        NO_LIBRARIES,
        card(driver=""),
        codes=("no-kernel-module",),
        first="no-kernel-module",
        nvml=NO_LIBRARY,
    ),
    fault(
        "dkms-missing",
        "the kernel was updated, the module is only there for the old one",
        UNLOADED,
        NO_MODULE_FILE,
        module_file("580.95.05", kernel="6.8.0-79-generic"),
        card(driver=""),
        files({"/var/lib/dkms/nvidia/580.95.05/6.8.0-79-generic/x86_64/module/": ""}),
        codes=("kernel-updated-dkms-missing",),
        first="kernel-updated-dkms-missing",
        nvml=NOT_LOADED,
    ),
    fault(
        "dkms-missing-nouveau",
        "the same, and nouveau took the card",
        UNLOADED,
        NO_MODULE_FILE,
        module_file("580.95.05", kernel="6.8.0-79-generic"),
        card(driver="nouveau"),
        files({"/proc/modules": "nouveau 1 0 - Live 0x0\n"}),
        codes=("kernel-updated-dkms-missing", "nouveau-in-use"),
        first="kernel-updated-dkms-missing",
        nvml=NOT_LOADED,
    ),
    fault(
        "secure-boot",
        "Secure Boot refuses the unsigned module",
        UNLOADED,
        module_file("580.95.05", signed=False),
        card(driver=""),
        files({SECURE_BOOT: b"\x06\0\0\0\1"}),
        kernel_says("Loading of unsigned module is rejected"),
        codes=("secure-boot-unsigned-module",),
        first="secure-boot-unsigned-module",
        nvml=NOT_LOADED,
    ),
    fault(
        "secure-boot-silent",
        "the same where the kernel's log is closed to this user",
        UNLOADED,
        module_file("580.95.05", signed=False),
        card(driver=""),
        files({SECURE_BOOT: b"\x06\0\0\0\1"}),
        without("/dev/kmsg"),
        codes=("secure-boot-unsigned-module",),
        first="secure-boot-unsigned-module",
        nvml=NOT_LOADED,
    ),
    fault(
        "nova",
        "nova_core holds the card",
        UNLOADED,
        card(driver="nova_core"),
        files({"/proc/modules": "nova_core 1 0 - Live 0x0\n"}),
        codes=("nouveau-in-use",),
        first="nouveau-in-use",
        nvml=NOT_LOADED,
    ),
    fault(
        "no-nodes",
        "the module is loaded, nobody made its nodes",
        without("/dev/nvidia*"),
        codes=("no-device-nodes",),
        first="no-device-nodes",
        nvml=NOT_LOADED,
    ),
    fault(
        "closed-nodes",
        "the nodes are closed to this user",
        mode(0o600, "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"),
        files({"/etc/modprobe.d/nvidia.conf": "options nvidia NVreg_DeviceFileMode=0600\n"}),
        codes=("device-permissions",),
        first="device-permissions",
        nvml=stub.machine_env(init=4),
    ),
    fault(
        "no-libcuda",
        "the module is loaded, its libraries were never installed",
        NO_LIBRARIES,
        codes=("driver-libraries-missing",),
        first="driver-libraries-missing",
        nvml=NO_LIBRARY,
    ),
    fault(
        "mismatch-without-nvml",
        "the module is older than libcuda, and NVML is not installed",
        without(f"{LIB}/libnvidia-ml*"),
        loaded_module("580.82.09"),
        codes=("driver-library-mismatch",),
        first="driver-library-mismatch",
        nvml=NO_LIBRARY,
    ),
    fault(
        "driver-library-crash",
        "NVML aborts",
        codes=("driver-library-crash",),
        first="driver-library-crash",
        nvml=stub.machine_env(stub.card(), abort="nvmlInitWithFlags"),
    ),
    fault(
        "open-module-required",
        "RTX 5090 with the proprietary module",
        driver("580.95.05", flavour="proprietary"),
        card(0x2B85),
        kernel_says(
            "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2b85)\\x0aNVRM: installed in this system requires use of "
            "the NVIDIA open kernel modules."
        ),
        codes=("open-kernel-module-required",),
        first="open-kernel-module-required",
        nvml=NO_CARDS_SHOWN,
    ),
    fault(
        "legacy-card",
        "a GTX 680 with driver 580",
        driver("580.95.05", flavour="proprietary"),
        card(0x1180),
        kernel_says(
            "NVRM: The NVIDIA GeForce GTX 680 GPU installed in this system is\\x0aNVRM:  supported through the NVIDIA "
            "470.xx Legacy drivers. Please"
        ),
        codes=("driver-does-not-support-gpu",),
        first="driver-does-not-support-gpu",
        nvml=NO_CARDS_SHOWN,
    ),
    fault(
        "no-room",
        "the firmware gave the card's memory no address",
        kernel_says(
            "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\\x0aNVRM: BAR1 is 0M @ 0x0 (PCI:"
        ),
        codes=("bios-bar-settings",),
        first="bios-bar-settings",
        nvml=NO_CARDS_SHOWN,
    ),
    fault(
        "fell-off-the-bus",
        "Xid 79: the card fell off the bus",
        kernel_says("NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
        codes=("ecc-xid-hardware-fault",),
        first="ecc-xid-hardware-fault",
        nvml=stub.machine_env(init=15),
    ),
    fault(
        "rows-pending",
        "memory rows wait to be remapped",
        codes=("ecc-xid-hardware-fault",),
        nvml=stub.machine_env(stub.card(ecc="1", remapped_rows="0,1,1,0", ecc_uncorrected="3", ecc_corrected="0")),
    ),
    fault(
        "narrow-link",
        "the card sits in four lanes",
        codes=("pcie-link-degraded",),
        nvml=stub.machine_env(stub.card(link_width="4")),
    ),
    fault(
        "hot",
        "the card slows down for heat",
        codes=("power-thermal",),
        nvml=stub.machine_env(stub.card(throttle=str(0x40), temperature="93")),
    ),
    fault(
        "mig-empty",
        "MIG is on and has no instance",
        codes=("mig-misconfigured",),
        nvml=stub.machine_env(stub.card(name="NVIDIA A100-SXM4-40GB", cc="8.0", mig="1", mig_uuids="")),
    ),
    fault(
        "no-fabric-manager",
        "an NVSwitch system whose fabric manager does not run",
        files({"/usr/bin/nv-fabricmanager": ""}),
        codes=("fabric-manager-not-running",),
        nvml=stub.machine_env(
            stub.card(name="NVIDIA H100 80GB HBM3", cc="9.0", fabric="1", ecc="1", pci_id="0x233010de")
        ),
    ),
    fault(
        "cold-server",
        "two data-center cards without persistence",
        card(0x20B0),
        card(0x20B0, "0000:41:00.0"),
        codes=("persistence-off",),
        nvml=stub.machine_env(
            *(
                stub.card(name="NVIDIA A100-SXM4-40GB", cc="8.0", ecc="1", persistence="0", pci=f"0000:{bus}:00.0")
                for bus in ("01", "41")
            )
        ),
    ),
    fault(
        "ended-branch",
        "a driver branch without updates",
        driver("470.256.02", flavour="proprietary"),
        without("/home/user/project/.venv/lib/*", "/usr/local/cuda*"),
        toolkit("11.4.4"),
        codes=("driver-branch-ended",),
        nvml=stub.machine_env(stub.card(), driver="470.256.02", cuda="11.4"),
    ),
    fault(
        "driver-older-than-toolkit",
        "driver 535 runs torch for CUDA 12.8, and nothing that the toolkit of CUDA 13.0 builds",
        driver("535.183.01", flavour="proprietary"),
        toolkit("13.0.2"),
        codes=("driver-too-old-for-toolkit",),
        first="driver-too-old-for-toolkit",
        nvml=stub.machine_env(stub.card(), driver="535.183.01", cuda="12.2"),
        quiet=("driver-too-old-for-runtime",),
    ),
    Case(
        "newer-toolkit-aside",
        "driver 535; CUDA 12.8 is in use, 13.0 lies beside it to build for other machines",
        together(WORKSTATION, driver("535.183.01", flavour="proprietary"), toolkit("13.0.2", usual=False)),
        nvml=stub.machine_env(stub.card(), driver="535.183.01", cuda="12.2"),
        besides=("driver-branch-ended",),
    ),
    fault(
        "old-driver-toolkit",
        "driver 470 with a CUDA 12.8 toolkit and wheel",
        driver("470.256.02", flavour="proprietary"),
        codes=("driver-too-old-for-runtime",),
        first="driver-too-old-for-runtime",
        nvml=stub.machine_env(stub.card(), driver="470.256.02", cuda="11.4"),
    ),
    fault(
        "stub-libcuda",
        "the toolkit's stub of libcuda is on LD_LIBRARY_PATH",
        files({f"{STUBS}/libcuda.so": elf_bytes("libcuda.so.1")}),
        environ={"LD_LIBRARY_PATH": STUBS},
        codes=("stub-libcuda-on-path",),
        first="stub-libcuda-on-path",
    ),
    fault(
        "stub-libcuda-linked",
        "somebody made libcuda.so.1 of the stub",
        files({f"{STUBS}/libcuda.so": elf_bytes("libcuda.so.1"), f"{STUBS}/libcuda.so.1": "-> libcuda.so"}),
        environ={"LD_LIBRARY_PATH": STUBS},
        codes=("stub-libcuda-on-path",),
        first="stub-libcuda-on-path",
    ),
    fault(
        "compat-on-geforce",
        "cuda-compat on a GeForce",
        driver("535.183.01", flavour="proprietary"),
        files(
            {
                f"{COMPAT}/libcuda.so.580.95.05": elf_bytes("libcuda.so.1"),
                f"{COMPAT}/libcuda.so.1": "-> libcuda.so.580.95.05",
            }
        ),
        environ={"LD_LIBRARY_PATH": COMPAT},
        codes=("forward-compat-mistake",),
        first="forward-compat-mistake",
        nvml=stub.machine_env(stub.card(), driver="535.183.01", cuda="12.2"),
    ),
    fault(
        "uvm-without-modprobe",
        "nobody has made /dev/nvidia-uvm yet, and nvidia-modprobe is not installed (Debian has it as a package apart)",
        without("/dev/nvidia-uvm"),
        codes=("no-device-nodes",),
        first="no-device-nodes",
    ),
    fault(
        "uvm-modprobe-plain",
        "nvidia-modprobe lost its set-user-ID bit when the disk was copied",
        without("/dev/nvidia-uvm"),
        MODPROBE,
        mode(0o755, "/usr/bin/nvidia-modprobe"),
        codes=("no-device-nodes",),
        first="no-device-nodes",
    ),
    Case(
        "uvm-on-demand",
        "nobody has made /dev/nvidia-uvm yet: the first CUDA program will",
        together(WORKSTATION, without("/dev/nvidia-uvm"), MODPROBE),
    ),
    fault(
        "compute-prohibited",
        "the card's compute mode is prohibited",
        codes=("gpu-compute-mode",),
        first="gpu-compute-mode",
        nvml=stub.machine_env(stub.card(compute_mode="2")),
    ),
    fault(
        "compute-exclusive-busy",
        "the card is exclusive, and a process has it",
        codes=("gpu-compute-mode",),
        nvml=stub.machine_env(stub.card(compute_mode="3", processes="4711")),
    ),
    Case(
        "compute-exclusive",
        "a queueing system's card: exclusive, and free",
        WORKSTATION,
        nvml=stub.machine_env(stub.card(compute_mode="3")),
    ),
    Case("compute-busy", "a card in use", WORKSTATION, nvml=stub.machine_env(stub.card(processes="4711"))),
    *(
        fault(f"nvml-{code}", title, codes=("nvml-error",), first="nvml-error", nvml=stub.machine_env(init=code))
        for code, title in (
            (10, "NVML's initialisation takes too long for itself"),
            (14, "the card's infoROM is corrupted"),
            (16, "the card works only after a reset"),
            (17, "the operating system keeps NVML out"),
            (27, "the system is not ready"),
            (999, "an unknown error, on a host"),
        )
    ),
    fault(
        "nvml-counts-no-cards",
        "NVML starts, and cannot count the cards",
        codes=("nvml-error",),
        first="nvml-error",
        nvml=stub.machine_env(stub.card(), errors={"nvmlDeviceGetCount_v2": 999}),
    ),
    fault(
        "power-cable",
        "the second card has no power cable",
        card(0x2684, "0000:41:00.0"),
        codes=("nvml-error",),
        first="nvml-error",
        nvml=stub.machine_env(*TWO_4090, errors={"nvmlDeviceGetHandleByIndex_v2#1": 8}),
    ),
    Case(
        "two-cards",
        "two cards, both with power",
        together(WORKSTATION, card(0x2684, "0000:41:00.0")),
        nvml=stub.machine_env(*TWO_4090),
    ),
    fault(
        "no-gpu",
        "a machine without an NVIDIA card",
        UNLOADED,
        NO_MODULE_FILE,
        NO_LIBRARIES,
        without("/sys/bus/pci/devices/*"),
        codes=("no-nvidia-gpu",),
        first="no-nvidia-gpu",
        nvml=NO_LIBRARY,
    ),
)
