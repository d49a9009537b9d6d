"""The kernel module: absent, refused, not rebuilt, displaced, of another release, of the wrong flavour."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import InstallDriver, InstallModulePackage, RemoveDriverLeftovers, as_json
from compat.version import DriverRelease
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import DkmsBuild, ModuleFile
from doctor.model.finding import Severity, Status
from doctor.rules.shared.engine import judge, load_rules, root_causes
from installers.choose import plan_for
from installers.render import commands
from tests.installers.target import UBUNTU
from tests.machine import driver, driver_library, gpu, machine, nvml, pci_device, seen, system, unseen
from tests.rules.case import MATRIX, answer

KERNEL = "6.8.0-87-generic"
NOT_LOADED = nvml(state="error", error="NVMLError_DriverNotLoaded (9): Driver Not Loaded", code=9)
MISMATCH = nvml(state="error", error="NVMLError_LibRmVersionMismatch (18): RM has detected a mismatch", code=18)
NO_NVML = unseen("NVML was not asked")
UNLOADED: dict[str, Any] = {
    "modules_loaded": seen((), "/proc/modules"),
    "module_release": unseen("no /sys/module/nvidia"),
    "release": unseen("the driver is unknown: give it with --assume-driver"),
    "flavour": unseen("no module"),
    "nvml": seen(NOT_LOADED, "NVML"),
    "nodes": seen((), "/dev"),
}
NO_NVML_GPUS = unseen("NVML: Driver Not Loaded")


def module(kernel: str = KERNEL, *, signed: bool = True, flavour: str = "open") -> ModuleFile:
    path = f"/lib/modules/{kernel}/updates/dkms/nvidia.ko"
    return ModuleFile(path, kernel, seen(DriverRelease.parse("580.95.05")), seen(flavour), seen(signed))


def unloaded(around: Any = None, pci_driver: str = "", **changes: Any) -> Facts:
    """The card is there, the module is not."""
    return machine(
        system=around or system(),
        driver=driver()._replace(**{**UNLOADED, **changes}),
        gpus=NO_NVML_GPUS,
        pci=seen((pci_device(driver=pci_driver),), "/sys/bus/pci/devices"),
    )


CONTAINER = system(container=seen("docker"))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (machine(driver=driver(modules_loaded=unseen())), Status.OK),  # NVML works
        (unloaded(), Status.BAD),
        (unloaded(modules_loaded=unseen()), Status.BAD),  # NVML says so
        (unloaded(modules_loaded=unseen(), nvml=NO_NVML), Status.UNKNOWN),
        (unloaded(nvml=NO_NVML), Status.BAD),
        (unloaded(CONTAINER), Status.BAD),
        (machine(gpus=seen(()), pci=seen(())), Status.NOT_APPLICABLE),
        (machine(gpus=unseen(), pci=unseen()), Status.UNKNOWN),
        (machine(machine=Machine("root", "/mnt")), Status.NOT_APPLICABLE),
        (unloaded(system(wsl=seen(2))), Status.NOT_APPLICABLE),
        (unloaded(system(jetson=seen("36.3.0"))), Status.NOT_APPLICABLE),
        (unloaded(system(family=seen("windows"))), Status.NOT_APPLICABLE),
        (unloaded(pci_driver="vfio-pci"), Status.NOT_APPLICABLE),
    ],
)
def test_no_kernel_module(facts: Facts, kind: Status) -> None:
    assert answer("no-kernel-module", facts).kind is kind


@pytest.mark.parametrize(
    ("files", "around", "product"),
    [
        ((module(),), system(), "kernel-module"),
        ((), system(), "driver"),
        ((module("6.5.0-1-generic"),), system(), "driver"),
        ((), CONTAINER, "by-hand"),
    ],
)
def test_no_kernel_module_needs(files: tuple[ModuleFile, ...], around: Any, product: str) -> None:
    found = answer("no-kernel-module", unloaded(around, module_files=seen(files)))
    assert as_json(found.needs[0]).product == product


@pytest.mark.parametrize(
    ("switch", "said"),
    [
        ("prime-select", "sudo prime-select on-demand"),
        ("envycontrol", "sudo envycontrol -s hybrid"),
        ("supergfxctl", "sudo supergfxctl -m Hybrid"),
        ("", "# As root: In /etc/modprobe.d/a.conf, delete `blacklist nvidia`"),
    ],
)
def test_a_module_that_is_kept_away_is_let_in(switch: str, said: str) -> None:
    blocked = seen(("/etc/modprobe.d/a.conf: blacklist nvidia",))
    changes = {"module_files": seen((module(),)), "blocked": blocked, "switch": seen(switch)}
    found = answer("no-kernel-module", unloaded(system(), **changes))
    assert "/etc/modprobe.d/a.conf blocks it" in found.why
    plan = plan_for(found.needs[0], UBUNTU, MATRIX)
    assert said in commands(plan, UBUNTU)
    assert commands(plan, UBUNTU)[-1] == "sudo systemctl reboot"


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (machine(driver=driver(modules_loaded=seen(("nouveau", "nvidia")))), Status.OK),  # NVML works
        (unloaded(pci_driver="nouveau"), Status.BAD),
        (unloaded(pci_driver="nova_core"), Status.BAD),
        (unloaded(pci_driver="NovaCore"), Status.BAD),
        (unloaded(pci_driver=""), Status.OK),
        (unloaded(CONTAINER, pci_driver="nouveau"), Status.BAD),
        (unloaded()._replace(pci=unseen(), gpus=seen((gpu(),))), Status.OK),
        (unloaded(modules_loaded=seen(("nouveau",)))._replace(pci=unseen(), gpus=seen((gpu(),))), Status.BAD),
        (unloaded(modules_loaded=unseen())._replace(pci=unseen(), gpus=seen((gpu(),))), Status.UNKNOWN),
        (machine(gpus=seen(()), pci=seen(())), Status.NOT_APPLICABLE),
    ],
)
def test_nouveau_in_use(facts: Facts, kind: Status) -> None:
    assert answer("nouveau-in-use", facts).kind is kind


def test_nouveau_without_an_installed_module_wants_the_driver_first() -> None:
    found = answer("nouveau-in-use", unloaded(pci_driver="nouveau", module_files=seen(())))
    assert [as_json(need).product for need in found.needs] == ["driver", "nouveau"]
    found = answer("nouveau-in-use", unloaded(pci_driver="nouveau"))
    assert [as_json(need).product for need in found.needs] == ["nouveau"]


ON = system(secure_boot=seen(True))
REFUSAL = "nvidia: loading of module with unavailable key is rejected"


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(system=ON), Status.OK),  # loaded all the same
        (unloaded(), Status.OK),  # Secure Boot is off
        (unloaded(ON, module_files=seen((module(signed=False),))), Status.BAD),
        (unloaded(ON, module_files=seen((module(),))), Status.OK),
        (unloaded(system(secure_boot=seen(True), kernel_log=seen((REFUSAL,)))), Status.BAD),
        (unloaded(system(secure_boot=unseen(), kernel_log=seen((REFUSAL,)))), Status.BAD),
        (unloaded(system(secure_boot=unseen())), Status.UNKNOWN),
        (unloaded(system(secure_boot=seen(True), kernel_log=unseen())), Status.UNKNOWN),  # signed, but by whom
        (unloaded(ON, module_files=seen(())), Status.NOT_APPLICABLE),
        (unloaded(system(secure_boot=seen(True), container=seen("docker"))), Status.NOT_APPLICABLE),
    ],
)
def test_secure_boot(facts: Facts, kind: Status) -> None:
    assert answer("secure-boot-unsigned-module", facts).kind is kind


OLDER, NEWER = "6.8.0-40-generic", "6.8.0-90-generic"


@pytest.mark.parametrize(
    ("files", "dkms", "kind", "first"),
    [
        ((module(),), (), Status.OK, ""),
        ((module(OLDER),), (), Status.BAD, "kernel-module"),
        ((module(NEWER),), (), Status.BAD, "restart"),
        ((), (DkmsBuild("nvidia", "580.95.05", "", "added"),), Status.BAD, "kernel-module"),
        ((), (DkmsBuild("nvidia", "580.95.05", KERNEL, "built"),), Status.BAD, "kernel-module"),
        ((), (DkmsBuild("nvidia", "580.95.05", KERNEL, "failed"),), Status.BAD, "driver"),
        ((), (DkmsBuild("nvidia", "580.95.05", OLDER, "installed"),), Status.BAD, "kernel-module"),
        ((), (DkmsBuild("nvidia", "580.95.05", KERNEL, "installed"),), Status.OK, ""),
        ((), (DkmsBuild("zfs", "2.2", OLDER, "installed"),), Status.NOT_APPLICABLE, ""),
        ((), (), Status.NOT_APPLICABLE, ""),
    ],
)
def test_kernel_updated(files: Any, dkms: Any, kind: Status, first: str) -> None:
    found = answer("kernel-updated-dkms-missing", unloaded(module_files=seen(files), dkms=seen(dkms)))
    assert found.kind is kind
    assert [as_json(need).product for need in found.needs[:1]] == ([first] if first else [])


BROKEN = DkmsBuild("nvidia", "550.144.03", KERNEL, "failed")


@pytest.mark.parametrize(
    ("changes", "products", "build"),
    [
        ({"module_source": seen("gone")}, ["restart"], ""),
        ({"module_source": seen("akmods")}, ["module-package", "by-hand"], "akmods"),
        ({"module_source": seen("dkms")}, ["kernel-module", "by-hand"], "nvidia"),
        ({"module_source": seen("")}, ["driver", "by-hand"], ""),  # nobody who makes one is known
        ({"dkms": seen((BROKEN,))}, ["driver", "by-hand"], ""),
        (
            {"dkms": seen((BROKEN._replace(why="/bin/sh: 1: x86_64-linux-gnu-gcc-12: not found"),))},
            ["kernel-module", "by-hand"],
            "nvidia gcc-12",
        ),
        ({"pci_driver": "nouveau", "module_source": seen("akmods")}, ["module-package", "by-hand"], "akmods"),
    ],
)
def test_who_brings_the_module_is_asked(changes: Any, products: list[str], build: str) -> None:
    found = answer("kernel-updated-dkms-missing", unloaded(module_files=seen((module(OLDER),)), **changes))
    assert [as_json(need).product for need in found.needs] == products
    assert as_json(found.needs[0]).build == build
    held = changes.get("pci_driver") == "nouveau"
    assert (as_json(found.needs[0]).spec == "built") is held  # what cannot be loaded yet is only built


def test_a_build_that_failed_wants_a_later_branch_that_drives_the_card() -> None:
    facts = unloaded(module_files=seen((module(OLDER),)), dkms=seen((BROKEN,)))
    assert answer("kernel-updated-dkms-missing", facts).needs[0] == InstallDriver(">=551")
    maxwell = facts._replace(pci=seen((pci_device(device_id=0x1B80, driver=""),)))
    assert answer("kernel-updated-dkms-missing", maxwell).needs[0] == InstallDriver("==580.*")
    last = seen((BROKEN._replace(release="580.95.05"),))
    kept = maxwell._replace(driver=maxwell.driver._replace(dkms=last))
    assert [as_json(need).product for need in answer("kernel-updated-dkms-missing", kept).needs] == [
        "by-hand",
        "by-hand",
    ]


def test_another_kind_of_kernel_is_no_successor() -> None:
    """A restart into linux-lts takes linux-lts again."""
    lts = system(kernel=seen("6.12.57-1-lts"))
    found = answer("kernel-updated-dkms-missing", unloaded(lts, module_files=seen((module("6.17.8-arch1-1"),))))
    assert "restart" not in {as_json(need).product for need in found.needs}


def test_kernel_updated_elsewhere() -> None:
    code = "kernel-updated-dkms-missing"
    assert answer(code, machine()).kind is Status.OK
    assert answer(code, unloaded(module_files=unseen())).kind is Status.UNKNOWN
    assert answer(code, unloaded(CONTAINER)).kind is Status.NOT_APPLICABLE
    image = machine(machine=Machine("image", "disk.img"), driver=driver(module_files=seen((module(OLDER),))))
    assert answer(code, image).severity is Severity.WARNING
    empty = image._replace(driver=driver(module_files=seen(())), system=system(kernel=unseen("no kernel")))
    assert answer(code, empty).kind is Status.NOT_APPLICABLE


OTHER = seen((driver_library("libcuda", "570.86.10"), driver_library("libnvidia-ml", "570.86.10")))
COMPAT = seen((driver_library("libcuda", "590.10.01", origin="compat"), driver_library("libnvidia-ml")))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (machine(driver=driver(nvml=seen(MISMATCH))), Status.BAD),
        (machine(driver=driver(nvml=seen(MISMATCH), module_release=unseen(), libraries=unseen())), Status.BAD),
        (machine(driver=driver(nvml=NO_NVML, libraries=OTHER)), Status.BAD),
        (machine(driver=driver(libraries=OTHER)), Status.BAD),  # NVML of one release, libcuda of another
        (machine(driver=driver(libraries=COMPAT)), Status.OK),
        (machine(driver=driver(libraries=unseen())), Status.OK),  # NVML works
        (machine(driver=driver(nvml=NO_NVML, libraries=unseen())), Status.UNKNOWN),
        (machine(driver=driver(libraries=seen(()))), Status.NOT_APPLICABLE),
        (unloaded(), Status.NOT_APPLICABLE),
        (machine(system=system(wsl=seen(2))), Status.NOT_APPLICABLE),
    ],
)
def test_driver_library_mismatch(facts: Facts, kind: Status) -> None:
    assert answer("driver-library-mismatch", facts).kind is kind


def test_a_mismatch_is_mended_by_a_restart_where_the_next_start_takes_the_other_module() -> None:
    newer = seen((module()._replace(release=seen(DriverRelease.parse("570.86.10"))),))
    broken = machine(driver=driver(nvml=seen(MISMATCH), libraries=OTHER, module_files=newer))
    unknown = machine(driver=driver(nvml=seen(MISMATCH), libraries=OTHER, module_files=unseen()))
    for facts in (broken, unknown):
        assert [as_json(need).product for need in answer("driver-library-mismatch", facts).needs] == [
            "restart",
            "by-hand",
        ]
    inside = broken._replace(system=CONTAINER)
    assert [as_json(need).product for need in answer("driver-library-mismatch", inside).needs] == ["by-hand"]
    lxc = answer("driver-library-mismatch", broken._replace(system=system(container=seen("lxc"))))
    assert "--no-kernel-modules" in as_json(lxc.needs[0]).spec


def test_a_mismatch_that_a_restart_would_bring_back() -> None:
    same = machine(driver=driver(nvml=seen(MISMATCH), libraries=OTHER))
    found = answer("driver-library-mismatch", same)
    assert found.needs == (InstallDriver("==570.86.10"),)
    path = f"/lib/modules/{KERNEL}/kernel/nvidia-580-open/nvidia.ko"
    ready = same._replace(driver=same.driver._replace(module_files=seen((module()._replace(path=path),))))
    built = InstallModulePackage(KERNEL, "nvidia-dkms-570-open", "570.86.10")
    assert answer("driver-library-mismatch", ready).needs == (built,)
    beside = seen((*OTHER.value, driver_library()._replace(loads=False)))
    left = answer("driver-library-mismatch", machine(driver=driver(nvml=seen(MISMATCH), libraries=beside)))
    path = "/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10"
    assert left.needs == (RemoveDriverLeftovers(path, "lib*.so.570.86.10"),)


@pytest.mark.parametrize(
    ("libraries", "kind"),
    [
        (seen((driver_library(),)), Status.OK),
        (COMPAT, Status.OK),
        (seen(()), Status.BAD),
        (seen((driver_library(origin="stub"),)), Status.OK),  # the stub's own rule speaks
        (seen((driver_library(loads=False),)), Status.BAD),
        (unseen(), Status.UNKNOWN),
    ],
)
def test_driver_libraries_missing(libraries: Any, kind: Status) -> None:
    assert answer("driver-libraries-missing", machine(driver=driver(libraries=libraries))).kind is kind


def test_driver_libraries_elsewhere() -> None:
    hidden = machine(driver=driver(libraries=seen((driver_library(loads=False),))))
    assert answer("driver-libraries-missing", hidden).severity is Severity.WARNING
    assert answer("driver-libraries-missing", unloaded()).kind is Status.NOT_APPLICABLE


OPEN_ONLY = (
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.105.08  Wed Oct 29 23:15:11 UTC 2025",
    (
        "NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:2c58)\\x0a               NVRM: installed in this system "
        "requires use of the NVIDIA open kernel modules."
    ),
    "NVRM: GPU 0000:02:00.0: RmInitAdapter failed! (0x22:0x56:884)",
)
NO_GSP = (
    "[    6.1] NVRM: The NVIDIA GPU 0000:09:00.0 (PCI ID: 10de:1d01)",
    "NVRM: installed in this system is not supported by open",
    "NVRM: nvidia.ko because it does not include the required GPU",
    "NVRM: System Processor (GSP).",
)
REFUSED = (
    (
        "Jun 2 12:32:53 host kernel: [  11.3] NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:25a0)#012NVRM: "
        "installed in this system is not supported by the#012NVRM: NVIDIA 520.56.06 driver release."
    ),
)
LEGACY = (
    "NVRM: The NVIDIA GeForce GT 730M GPU installed in this system is",
    "NVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please",
)


def no_devices(log: Any = (), flavour: str = "proprietary", **changes: Any) -> Facts:
    """nvidia-smi: No devices were found."""
    kernel_log = seen(log, "/dev/kmsg") if isinstance(log, tuple) else log
    return machine(system=system(kernel_log=kernel_log), driver=driver(flavour=seen(flavour)), gpus=seen(()))._replace(
        **changes
    )


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (machine(driver=driver(flavour=seen("proprietary")), gpus=seen((gpu(capability="12.0"),))), Status.OK),
        (no_devices(OPEN_ONLY), Status.BAD),
        (no_devices(OPEN_ONLY, flavour="open"), Status.OK),
        (no_devices(), Status.OK),
        (no_devices(unseen("needs root")), Status.UNKNOWN),
        (no_devices(NO_GSP), Status.OK),
        (machine(gpus=seen(()), pci=seen(())), Status.NOT_APPLICABLE),
    ],
)
def test_open_kernel_module_required(facts: Facts, kind: Status) -> None:
    assert answer("open-kernel-module-required", facts).kind is kind


def test_a_generation_that_needs_the_open_module_is_known_without_the_log() -> None:
    broken = driver(flavour=seen("proprietary"), nvml=NO_NVML)
    facts = machine(driver=broken, gpus=seen((gpu("NVIDIA GeForce RTX 5090", "12.0"),)))
    found = answer("open-kernel-module-required", facts)
    assert found.kind is Status.BAD
    assert as_json(found.needs[0]).build == "open"


@pytest.mark.parametrize(
    ("facts", "kind", "need"),
    [
        (machine(), Status.OK, ""),
        (no_devices(NO_GSP, flavour="open"), Status.BAD, "by-hand"),
        (no_devices(REFUSED), Status.BAD, "driver"),
        (no_devices(LEGACY), Status.BAD, "driver"),
        (unloaded(system(kernel_log=seen(REFUSED))), Status.BAD, "driver"),
        (machine(system=system(kernel_log=seen(REFUSED))), Status.OK, ""),  # an older boot's trouble: every card works
        (no_devices(OPEN_ONLY), Status.OK, ""),
        (no_devices(), Status.UNKNOWN, ""),  # the card is not shown, and nothing says why
        (no_devices(unseen("needs root")), Status.UNKNOWN, ""),
        (machine(gpus=seen(()), pci=seen(())), Status.NOT_APPLICABLE, ""),
    ],
)
def test_driver_does_not_support_gpu(facts: Facts, kind: Status, need: str) -> None:
    found = answer("driver-does-not-support-gpu", facts)
    assert found.kind is kind
    assert [as_json(one).product for one in found.needs] == ([need] if need else [])


NO_BAR = (
    "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\\x0aNVRM: BAR1 is 0M @ 0x0 (PCI:0000:03:00)",
    "nvidia: probe of 0000:06:00.0 failed with error -1",
)
FAILED = ("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:884)",)


NO_FIRMWARE = (
    "nvidia 0000:01:00.0: Direct firmware load for nvidia/580.95.05/gsp_ga10x.bin failed with error -2",
    "NVRM: RmFetchGspRmImages: No firmware image found",
    *FAILED,
)
ENDED = ("nvidia 0000:01:00.0: Direct firmware load for nvidia/580.95.05/gsp_ga10x.bin failed with error -4", *FAILED)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (no_devices(NO_FIRMWARE), Status.BAD),
        (no_devices(ENDED), Status.OK),
        (no_devices(FAILED), Status.OK),
        (machine(system=system(kernel_log=seen(NO_FIRMWARE))), Status.OK),  # it works all the same
        (unloaded(system(kernel_log=unseen())), Status.UNKNOWN),
        (unloaded(CONTAINER), Status.NOT_APPLICABLE),
    ],
)
def test_gsp_firmware_missing(facts: Facts, kind: Status) -> None:
    assert answer("gsp-firmware-missing", facts).kind is kind


def test_the_firmware_is_that_of_the_module() -> None:
    need, *_ = answer("gsp-firmware-missing", no_devices(NO_FIRMWARE)).needs
    assert as_json(need)[:2] == ("gpu-firmware", "==580.95.05")


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (no_devices(NO_BAR), Status.BAD),
        (unloaded(system(kernel_log=seen(NO_BAR))), Status.BAD),
        (unloaded(), Status.OK),
        (no_devices(FAILED), Status.UNKNOWN),
        (no_devices(OPEN_ONLY), Status.OK),
        (machine(system=system(kernel_log=seen(NO_BAR))), Status.OK),  # it works all the same
        (machine(gpus=seen(()), pci=seen(())), Status.NOT_APPLICABLE),
    ],
)
def test_bios_bar_settings(facts: Facts, kind: Status) -> None:
    assert answer("bios-bar-settings", facts).kind is kind


def test_a_container_that_was_given_some_cards_is_in_order() -> None:
    cards = seen((pci_device(), pci_device(address="0000:02:00.0")))
    inside = machine(system=system(container=seen("docker"), kernel_log=unseen()), pci=cards)
    assert answer("driver-does-not-support-gpu", inside).kind is Status.OK
    assert (
        answer("driver-does-not-support-gpu", inside._replace(system=system(kernel_log=unseen()))).kind
        is Status.UNKNOWN
    )


@pytest.mark.parametrize(
    ("release", "name", "capability", "kind"),
    [
        ("580.95.05", "NVIDIA GeForce RTX 4090", "8.9", Status.OK),
        ("470.256.02", "NVIDIA GeForce RTX 3090", "8.6", Status.BAD),
        ("470.256.02", "Tesla K80", "3.7", Status.BAD),
        ("570.86.10", "NVIDIA GeForce RTX 4090", "8.9", Status.BAD),
        ("580.95.05", "NVIDIA GeForce GTX 1080", "6.1", Status.OK),
        ("999.10", "NVIDIA GeForce RTX 4090", "8.9", Status.UNKNOWN),
    ],
)
def test_driver_branch_ended(release: str, name: str, capability: str, kind: Status) -> None:
    facts = machine(driver=driver(release), gpus=seen((gpu(name, capability),)))
    assert answer("driver-branch-ended", facts).kind is kind


def test_an_ended_branch_asks_for_one_that_lasts_unless_the_card_has_none() -> None:
    newer = answer("driver-branch-ended", machine(driver=driver("470.256.02")))
    assert newer.severity is Severity.INFO
    assert as_json(newer.needs[0]).product == "driver"
    assert as_json(newer.needs[0]).spec.startswith(">=")
    last = answer("driver-branch-ended", machine(driver=driver("470.256.02"), gpus=seen((gpu("Tesla K80", "3.7"),))))
    assert last.severity is Severity.INFO
    assert as_json(last.needs[0]).product == "by-hand"
    assert answer("driver-branch-ended", unloaded()).kind is Status.NOT_APPLICABLE


ROOTS = [
    (unloaded(pci_driver="nouveau", module_files=seen(())), "nouveau-in-use"),
    (unloaded(module_files=seen((module(OLDER),))), "kernel-updated-dkms-missing"),
    (unloaded(pci_driver="nouveau", module_files=seen((module(OLDER),))), "kernel-updated-dkms-missing"),
    (unloaded(ON, module_files=seen((module(signed=False),))), "secure-boot-unsigned-module"),
    (unloaded(ON, pci_driver="nouveau", module_files=seen((module(signed=False),))), "secure-boot-unsigned-module"),
    (unloaded(module_files=seen(())), "no-kernel-module"),
    (unloaded(CONTAINER, libraries=seen(())), "container-without-gpu-runtime"),
    (no_devices(OPEN_ONLY), "open-kernel-module-required"),
    (no_devices(NO_FIRMWARE), "gsp-firmware-missing"),
    (unloaded(system(kernel_log=seen(NO_BAR)), module_files=seen((module(),))), "bios-bar-settings"),
    (machine(driver=driver(nvml=seen(MISMATCH), libraries=OTHER)), "driver-library-mismatch"),
]


@pytest.mark.parametrize(("facts", "root"), ROOTS, ids=[root for _, root in ROOTS])
def test_one_root_cause(facts: Facts, root: str) -> None:
    answers = judge(facts, MATRIX, load_rules(OURS))
    causes = root_causes(answers)
    bad = {one.code for one in answers if one.kind is Status.BAD}
    assert {code for code in bad if code not in {symptom for symptom, _ in causes}} == {root}


OURS = (
    "no-kernel-module",
    "nouveau-in-use",
    "secure-boot-unsigned-module",
    "kernel-updated-dkms-missing",
    "driver-library-mismatch",
    "driver-libraries-missing",
    "open-kernel-module-required",
    "driver-does-not-support-gpu",
    "bios-bar-settings",
    "gsp-firmware-missing",
    "driver-hang",
    "driver-library-crash",
    "no-device-nodes",
    "device-permissions",
    "container-without-gpu-runtime",
    "no-nvidia-gpu",
    "wsl1-no-gpu",
    "wsl-libcuda-missing",
    "fabric-manager-not-running",
    "ecc-xid-hardware-fault",
)


GTX_1080, RTX_5090, UNKNOWN_CARD = 0x1B80, 0x2B85, 0x0001


def on_bus(device: int, release: str, flavour: str = "proprietary", *, loaded: bool = True) -> Facts:
    """A card that PCI alone shows, with a driver that shows none; its module runs, or is only installed."""
    if loaded:
        facts = machine(driver=driver(release)._replace(flavour=seen(flavour)), gpus=seen(()))
    else:
        file = module(flavour=flavour)._replace(release=seen(DriverRelease.parse(release)))
        facts = unloaded(module_files=seen((file,)))
    quiet = facts.system._replace(kernel_log=seen(()))
    return facts._replace(pci=seen((pci_device(device_id=device),)), system=quiet)


@pytest.mark.parametrize(
    ("device", "release", "flavour", "kind"),
    [
        (GTX_1080, "580.95.05", "proprietary", Status.UNKNOWN),  # driven by it: why it is not shown, nothing says
        (GTX_1080, "590.48.01", "proprietary", Status.BAD),
        (GTX_1080, "580.95.05", "open", Status.BAD),
        (RTX_5090, "550.163.01", "open", Status.BAD),
        (RTX_5090, "580.95.05", "open", Status.UNKNOWN),
        (UNKNOWN_CARD, "590.48.01", "open", Status.UNKNOWN),
    ],
)
def test_a_card_is_judged_by_its_id_alone(device: int, release: str, flavour: str, kind: Status) -> None:
    assert answer("driver-does-not-support-gpu", on_bus(device, release, flavour)).kind is kind


@pytest.mark.parametrize(
    ("device", "flavour", "kind"),
    [(RTX_5090, "proprietary", Status.BAD), (RTX_5090, "open", Status.OK), (GTX_1080, "proprietary", Status.OK)],
)
def test_the_open_module_is_asked_for_by_the_id_alone(device: int, flavour: str, kind: Status) -> None:
    assert answer("open-kernel-module-required", on_bus(device, "580.95.05", flavour)).kind is kind


def test_an_upgrade_beyond_the_branch_of_the_card_needs_that_branch_and_no_modprobe() -> None:
    found = answer("driver-does-not-support-gpu", on_bus(GTX_1080, "590.48.01", loaded=False))
    assert (found.kind, as_json(found.needs[0]).product, as_json(found.needs[0]).spec) == (
        Status.BAD,
        "driver",
        "==580.*",
    )
    assert "no-kernel-module" in {one.code for one in found.explains}


@pytest.mark.parametrize(
    ("device", "spec", "flavour"), [(GTX_1080, "==580.*", ""), (RTX_5090, "", "open"), (1, "", "")]
)
def test_a_card_without_driver_asks_for_its_own(device: int, spec: str, flavour: str) -> None:
    facts = unloaded(module_files=seen(()))._replace(pci=seen((pci_device(device_id=device, driver=""),)))
    need = answer("no-kernel-module", facts).needs[0]
    assert (as_json(need).product, as_json(need).spec, as_json(need).build) == ("driver", spec, flavour)


def test_two_cards_that_no_driver_runs_at_once() -> None:
    both = seen((pci_device(device_id=GTX_1080, driver=""), pci_device(device_id=RTX_5090, address="0000:02:00.0")))
    need = answer("no-kernel-module", unloaded(module_files=seen(()))._replace(pci=both)).needs[0]
    assert as_json(need).product == "by-hand"
    assert "Pascal" in as_json(need).spec
    assert "Blackwell" in as_json(need).spec


def test_what_holds_the_card_is_kept_away() -> None:
    facts = unloaded(pci_driver="nova_core", module_files=seen((module(),)))
    assert as_json(answer("nouveau-in-use", facts).needs[0]).build == "nova_core"


@pytest.mark.parametrize(
    ("folder", "release", "is_alternative"),
    [
        ("/usr/lib/x86_64-linux-gnu/nvidia/current", "580.95.05", True),
        ("/usr/lib/x86_64-linux-gnu/nvidia/current", "575.64.05", False),  # not of the module's release either
        ("/usr/lib/x86_64-linux-gnu", "580.95.05", False),  # not a directory of several drivers
    ],
)
def test_debians_alternative_that_leads_to_another_driver(folder: str, release: str, is_alternative: bool) -> None:
    chosen = driver_library("libcuda", "470.256.02", path="/usr/lib/x86_64-linux-gnu/nvidia/tesla-470/libcuda.so.470")
    aside = driver_library("libcuda", release, path=f"{folder}/libcuda.so.{release}", loads=False)
    refused = nvml(state="error", error="NVMLError (18)", code=18)
    facts = machine(driver=driver(nvml=seen(refused), libraries=seen((chosen, aside))))
    found = answer("driver-library-mismatch", facts)
    assert (as_json(found.needs[0]).product == "glx-alternative") is is_alternative
    assert ("alternative" in found.why) is is_alternative


def test_an_old_card_beside_one_that_works_is_information() -> None:
    """A Tesla K80 that nobody uses, beside the RTX 4090: driver 580 drives no Kepler."""
    old = pci_device(address="0000:02:00.0", device_id=0x102D)
    both = machine(pci=seen((pci_device(), old)))
    alone = machine(pci=seen((old,)), gpus=seen(()), driver=driver(nvml=seen(nvml(state="error", code=9))))
    found = [answer("driver-does-not-support-gpu", one) for one in (both, alone)]
    assert [(one.kind, one.severity) for one in found] == [(Status.BAD, Severity.INFO), (Status.BAD, Severity.ERROR)]
