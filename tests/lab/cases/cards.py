"""Cards that need one branch or one flavour of the driver, known by their ids on PCI alone: no line in the log."""

from __future__ import annotations

from tests.lab import stub
from tests.lab.case import Case, fault
from tests.lab.cases.driver import NO_LIBRARIES, NO_LIBRARY, NO_MODULE_FILE, NOT_LOADED
from tests.lab.cases.eras import EMPTY, nvml_of
from tests.lab.parts import (
    UNLOADED,
    WORKSTATION,
    card,
    cudnn_wheel,
    driver,
    fabric_package,
    files,
    together,
    toolkit,
    torch,
    without,
)

NO_DRIVER = together(UNLOADED, NO_MODULE_FILE, NO_LIBRARIES)
GTX_1080_TI, RTX_5090 = 0x1B06, 0x2B85
PASCAL = nvml_of("NVIDIA GeForce GTX 1080 Ti", "6.1", GTX_1080_TI)
BLACKWELL = nvml_of("NVIDIA GeForce RTX 5090", "12.0", RTX_5090)
FOR_PASCAL = together(EMPTY, torch("2.9.1+cu126"), cudnn_wheel())
UNSHOWN = {"STUB_NVML_GPUS": "0"}

CASES = (
    fault(
        "pascal-no-driver",
        "a GTX 1080 Ti and no driver: 580 is its last branch",
        NO_DRIVER,
        FOR_PASCAL,
        card(GTX_1080_TI, driver=""),
        codes=("no-kernel-module",),
        first="no-kernel-module",
        nvml={**PASCAL, "STUB_NVML_INIT": NO_LIBRARY["STUB_NVML_INIT"]},
    ),
    fault(
        "pascal-nouveau",
        "the same, and nouveau took the card",
        NO_DRIVER,
        FOR_PASCAL,
        card(GTX_1080_TI, driver="nouveau"),
        files({"/proc/modules": "nouveau 1 0 - Live 0x0\n"}),
        codes=("nouveau-in-use",),
        first="nouveau-in-use",
        nvml={**PASCAL, "STUB_NVML_INIT": NO_LIBRARY["STUB_NVML_INIT"]},
    ),
    fault(
        "pascal-upgraded",
        "a GTX 1080 Ti after an upgrade to a branch that dropped it: the module does not load",
        FOR_PASCAL,
        driver("595.45.04", flavour="proprietary"),
        UNLOADED,
        card(GTX_1080_TI, driver=""),
        codes=("driver-does-not-support-gpu",),
        first="driver-does-not-support-gpu",
        nvml={**PASCAL, "STUB_NVML_INIT": NOT_LOADED["STUB_NVML_INIT"]},
    ),
    fault(
        "pascal-open",
        "a GTX 1080 Ti with the open module, which shows no card",
        FOR_PASCAL,
        card(GTX_1080_TI, driver="nvidia"),
        codes=("driver-does-not-support-gpu",),
        first="driver-does-not-support-gpu",
        nvml={**PASCAL, **UNSHOWN},
    ),
    fault(
        "blackwell-no-driver",
        "an RTX 5090 and no driver",
        NO_DRIVER,
        card(RTX_5090, driver=""),
        codes=("no-kernel-module",),
        first="no-kernel-module",
        nvml={**BLACKWELL, "STUB_NVML_INIT": NO_LIBRARY["STUB_NVML_INIT"]},
    ),
    fault(
        "blackwell-proprietary",
        "an RTX 5090 with the proprietary module, which shows no card",
        driver("580.95.05", flavour="proprietary"),
        card(RTX_5090),
        codes=("open-kernel-module-required",),
        first="open-kernel-module-required",
        nvml={**BLACKWELL, **UNSHOWN},
    ),
    fault(
        "blackwell-550",
        "an RTX 5090 with a driver from before it",
        driver("550.163.01", flavour="open"),
        card(RTX_5090),
        codes=("driver-does-not-support-gpu",),
        first="driver-does-not-support-gpu",
        nvml={**BLACKWELL, **stub.machine_env(driver="550.163.01", cuda="12.4")},
    ),
    fault(
        "fabric-of-another-release",
        "an NVSwitch system whose fabric manager is of another release than the driver",
        files({"/usr/bin/nv-fabricmanager": "", "/var/lib/dpkg/status": fabric_package("580.65.06")}),
        codes=("fabric-manager-not-running",),
        first="fabric-manager-not-running",
        nvml=stub.machine_env(
            stub.card(name="NVIDIA H100 80GB HBM3", cc="9.0", fabric="1", ecc="1", pci_id="0x233010de")
        ),
    ),
    Case(
        "pascal-580",
        "a GTX 1080 Ti with the last branch that drives it",
        together(WORKSTATION, FOR_PASCAL, driver("580.95.05", flavour="proprietary"), card(GTX_1080_TI)),
        nvml=PASCAL,
    ),
    Case(
        "blackwell-open",
        "an RTX 5090 with the open module",
        together(WORKSTATION, driver("580.95.05", flavour="open"), card(RTX_5090)),
        nvml=BLACKWELL,
    ),
    fault(
        "old-nvcc-new-card",
        "an RTX 5090, and the nvcc on PATH is of CUDA 12.4",
        card(RTX_5090),
        without("/usr/local/cuda*"),
        toolkit("12.4.1"),
        codes=("nvcc-too-old-for-gpu-arch",),
        first="nvcc-too-old-for-gpu-arch",
        nvml=BLACKWELL,
    ),
    Case("new-nvcc-new-card", "the same with CUDA 12.8", together(WORKSTATION, card(RTX_5090)), nvml=BLACKWELL),
)
