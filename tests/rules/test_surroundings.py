"""What stands between a program and the card: nodes, rights, containers, WSL, variables, libcuda's doubles."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import DropFromPath, InstallSystemPackage, Need, as_json
from doctor.model.facts import Facts, Machine
from doctor.model.facts.environment import Variable
from doctor.model.facts.failure import Failure
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.loader import CacheEntry, FoundBy, SearchDir
from doctor.model.facts.policy import Policy, Requirement
from doctor.model.facts.seen import Place
from doctor.model.facts.system import Job
from doctor.model.finding import Severity, Status, Symptom
from tests.machine import (
    configuration,
    driver,
    driver_library,
    gpu,
    loader,
    machine,
    node,
    nvml,
    pci_device,
    seen,
    system,
    unseen,
    without_driver,
)
from tests.rules.case import answer

CONTAINER = system(container=seen("docker"))
NO_NVML = seen(nvml(state="not-found", error="NVML Shared Library Not Found", code=12))
NO_GPU = machine(gpus=seen(()), pci=seen(()))
CTL, UVM, CARD = node("/dev/nvidiactl"), node("/dev/nvidia-uvm"), node("/dev/nvidia0")


def variables(**values: str) -> Any:
    return configuration(variables=seen(tuple(Variable(name, value, "") for name, value in values.items())))


def cards(number: int) -> Any:
    return seen(tuple(gpu(number=at, uuid=seen(f"GPU-{at}{at}{at}{at}abcd")) if at else gpu() for at in range(number)))


def test_check_error() -> None:
    failure = Failure("toolkit", "KeyError: 'cuda'", "doctor/probes/toolkit.py:12")
    found = answer("check-error", machine(failures=(failure,)))
    assert (found.kind, found.severity, found.subject) == (Status.BAD, Severity.WARNING, "the toolkit probe")
    assert (
        answer("check-error", machine()).kind is Status.NOT_APPLICABLE
    )  # never Kind.OK: there is nothing to ask about


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (machine(gpus=seen(())), Status.OK),  # on PCI: its driver is another matter
        (NO_GPU, Status.BAD),
        (machine(gpus=unseen(), pci=seen(())), Status.BAD),
        (machine(gpus=unseen(), pci=unseen()), Status.UNKNOWN),
        (NO_GPU._replace(system=system(wsl=seen(2))), Status.BAD),
        (NO_GPU._replace(system=system(wsl=seen(2), dxg=seen(True))), Status.OK),
        (NO_GPU._replace(system=system(wsl=seen(2), container=seen("docker"))), Status.UNKNOWN),
        (NO_GPU._replace(system=system(jetson=seen("36.3.0"))), Status.OK),
        (NO_GPU._replace(machine=Machine("root", "/mnt")), Status.NOT_APPLICABLE),
        (machine(system=system(family=seen("macos"))), Status.BAD),  # a card that CUDA cannot use
    ],
)
def test_no_nvidia_gpu(facts: Facts, kind: Status) -> None:
    assert answer("no-nvidia-gpu", facts).kind is kind


LAPTOP = without_driver()
CUDA_COMPAT = driver_library(origin="compat")
CARD_IN_LOG = "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2684) installed in this system"


def laptop(**changes: Any) -> Facts:
    """A laptop without an NVIDIA GPU, with one difference in the driver's facts."""
    return LAPTOP._replace(driver=LAPTOP.driver._replace(**changes))


@pytest.mark.parametrize(
    ("facts", "severity"),
    [
        (LAPTOP, Severity.INFO),
        (laptop(libraries=seen((CUDA_COMPAT,))), Severity.INFO),  # an image's, for forward compatibility
        (laptop(modules_loaded=seen(("nouveau",))), Severity.INFO),
        (LAPTOP._replace(system=system(kernel_log=seen(("NVRM: No NVIDIA GPU found.",)))), Severity.INFO),
        (LAPTOP._replace(system=system(job=seen(Job("Slurm", "")))), Severity.INFO),
        (
            LAPTOP._replace(system=system(gpu_runtime_env=seen((("NVIDIA_VISIBLE_DEVICES", "all"),)))),
            Severity.INFO,  # as every image of CUDA has it
        ),
        (machine(system=system(family=seen("macos")), driver=LAPTOP.driver), Severity.INFO),
        (LAPTOP._replace(system=system(wsl=seen(2))), Severity.INFO),
        (laptop(libraries=seen((driver_library(),))), Severity.ERROR),
        (laptop(module_files=driver().module_files), Severity.ERROR),
        (laptop(modules_loaded=seen(("nvidia",))), Severity.ERROR),
        (laptop(nodes=seen((CTL,))), Severity.ERROR),
        (LAPTOP._replace(system=system(kernel_log=seen((CARD_IN_LOG,)))), Severity.ERROR),
        (LAPTOP._replace(system=system(job=seen(Job("Slurm", "0")))), Severity.ERROR),
        (
            LAPTOP._replace(system=system(gpu_runtime_env=seen((("NVIDIA_VISIBLE_DEVICES", "GPU-12ab"),)))),
            Severity.ERROR,
        ),
        (LAPTOP._replace(gpu_expected_by="--expect-gpu"), Severity.ERROR),
        (
            LAPTOP._replace(policy=Policy(requirements=(Requirement("require.gpu", "gpu", "H100", "", Place("")),))),
            Severity.ERROR,
        ),
        (
            LAPTOP._replace(
                policy=Policy(
                    requirements=(Requirement("require.frameworks.gpu", "gpu", "", "", Place("")),)  # a package
                )
            ),
            Severity.INFO,
        ),
    ],
)
def test_no_gpu_is_an_error_where_one_is_expected(facts: Facts, severity: Severity) -> None:
    found = answer("no-nvidia-gpu", facts)
    assert found.severity is severity
    assert bool(found.needs) is (severity is Severity.ERROR)  # nothing is to be done on a laptop


@pytest.mark.parametrize(
    ("nodes", "changes", "kind"),
    [
        ((CTL, UVM, CARD), {}, Status.OK),
        ((CTL, CARD), {}, Status.OK),  # made when the first CUDA program starts
        ((CTL, CARD), {"system": CONTAINER}, Status.BAD),
        ((), {}, Status.OK),  # NVML works, whatever was listed
        ((), {"driver": NO_NVML}, Status.BAD),
        ((UVM, CARD), {"driver": NO_NVML}, Status.BAD),
        ((), {"system": system(wsl=seen(2))}, Status.NOT_APPLICABLE),
        ((), {"gpus": seen(()), "pci": seen(())}, Status.NOT_APPLICABLE),
    ],
)
def test_no_device_nodes(nodes: Any, changes: dict[str, Any], kind: Status) -> None:
    drivers = driver(nodes=seen(nodes), nvml=changes.get("driver", seen(nvml())))
    facts = machine(**{**changes, "driver": drivers})
    found = answer("no-device-nodes", facts)
    assert found.kind is kind
    assert (Symptom("device-permissions") in found.explains) is (kind is Status.BAD)


@pytest.mark.parametrize(
    ("state", "changes", "need"),
    [
        ("set-user-ID", {}, None),
        ("absent", {}, InstallSystemPackage("nvidia-modprobe")),
        ("plain", {}, InstallSystemPackage("nvidia-modprobe", reinstall=True)),
        ("absent", {"is_root": seen(True)}, None),
        ("absent", {"distribution_id": seen("arch")}, InstallSystemPackage("nvidia-utils", reinstall=True)),
    ],
)
def test_who_makes_the_node_of_uvm(state: str, changes: dict[str, Any], need: Need | None) -> None:
    drivers = driver(nodes=seen((CTL, CARD)), modprobe=seen(state))
    found = answer("no-device-nodes", machine(driver=drivers, system=system(**changes)))
    assert found.kind is (Status.BAD if need else Status.OK)
    assert found.needs == ((need,) if need else ())


def test_no_device_nodes_unseen() -> None:
    assert answer("no-device-nodes", machine(driver=driver(nodes=unseen()))).kind is Status.UNKNOWN


def closed(path: str, mode: int = 0o660, group: str = "video") -> Any:
    return node(path, openable=seen(False), mode=mode, group=group)


CARD_1 = node("/dev/nvidia1")


@pytest.mark.parametrize(
    ("nodes", "kind", "need"),
    [
        ((CTL, UVM, CARD), Status.OK, ""),
        ((closed("/dev/nvidiactl"), UVM, CARD), Status.BAD, "device-access"),
        ((CTL, UVM, closed("/dev/nvidia0")), Status.BAD, "device-access"),
        ((CTL, UVM, CARD, closed("/dev/nvidia1")), Status.OK, ""),  # a scheduler gave one card
        ((CTL, closed("/dev/nvidia-uvm", 0o1230, "root"), CARD), Status.BAD, "device-access"),
        ((CTL, UVM, CARD, closed("/dev/nvidia-caps/nvidia-cap1", 0o400, "root")), Status.OK, ""),
        ((node(openable=unseen("not tried")),), Status.UNKNOWN, ""),
        ((), Status.NOT_APPLICABLE, ""),
    ],
)
def test_device_permissions(nodes: Any, kind: Status, need: str) -> None:
    found = answer("device-permissions", machine(driver=driver(nodes=seen(nodes))))
    assert found.kind is kind
    assert [as_json(one).product for one in found.needs[:1]] == ([need] if need else [])


def test_nvml_says_that_this_user_may_not() -> None:
    refused = seen(nvml(state="error", error="NVMLError_NoPermission (4): Insufficient Permissions", code=4))
    assert answer("device-permissions", machine(driver=driver(nvml=refused))).kind is Status.BAD
    assert answer("device-permissions", NO_GPU).kind is Status.NOT_APPLICABLE


UTILITY = seen((("NVIDIA_DRIVER_CAPABILITIES", "utility"), ("NVIDIA_VISIBLE_DEVICES", "all")))


@pytest.mark.parametrize(
    ("around", "drivers", "kind"),
    [
        (CONTAINER, driver(), Status.OK),
        (CONTAINER, driver(nodes=seen(()), libraries=seen(()), nvml=NO_NVML), Status.BAD),
        (CONTAINER, driver(nodes=seen(()), nvml=NO_NVML), Status.BAD),  # the image's own libraries help nobody
        (CONTAINER, driver(libraries=seen(()), nvml=NO_NVML), Status.BAD),  # --device without libraries
        (system(container=seen("docker"), gpu_runtime_env=UTILITY), driver(libraries=seen(())), Status.BAD),
        (CONTAINER, driver(nodes=unseen(), nvml=NO_NVML), Status.UNKNOWN),
        (system(container=unseen()), driver(), Status.UNKNOWN),
        (system(), driver(nodes=seen(()), nvml=NO_NVML), Status.NOT_APPLICABLE),
        (system(container=seen("docker"), jetson=seen("36.3.0")), driver(), Status.NOT_APPLICABLE),
    ],
)
def test_container_without_gpu_runtime(around: Any, drivers: Any, kind: Status) -> None:
    assert answer("container-without-gpu-runtime", machine(system=around, driver=drivers)).kind is kind


def test_a_container_on_a_host_without_a_gpu_lacks_nothing() -> None:
    inside = NO_GPU._replace(system=CONTAINER, driver=driver(nodes=seen(()), libraries=seen(()), nvml=NO_NVML))
    assert answer("container-without-gpu-runtime", inside).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(("wsl", "kind"), [(0, Status.NOT_APPLICABLE), (1, Status.BAD), (2, Status.OK)])
def test_wsl1(wsl: int, kind: Status) -> None:
    assert answer("wsl1-no-gpu", machine(system=system(wsl=seen(wsl)))).kind is kind
    assert answer("wsl1-no-gpu", machine(system=system(wsl=unseen()))).kind is Status.UNKNOWN


WSL = system(wsl=seen(2), dxg=seen(True))
PROVIDED = driver_library(path="/usr/lib/wsl/lib/libcuda.so.1.1", origin="wsl")


@pytest.mark.parametrize(
    ("around", "libraries", "kind"),
    [
        (WSL, seen((PROVIDED,)), Status.OK),
        (WSL, seen((PROVIDED._replace(loads=False),)), Status.BAD),
        (WSL, seen((PROVIDED._replace(loads=False), driver_library())), Status.BAD),  # a Linux driver was installed
        (WSL, seen(()), Status.BAD),
        (WSL, unseen(), Status.UNKNOWN),
        (system(), seen(()), Status.NOT_APPLICABLE),
        (system(wsl=seen(1)), seen(()), Status.NOT_APPLICABLE),
        (system(wsl=seen(2), dxg=seen(False)), seen(()), Status.NOT_APPLICABLE),
        (system(wsl=seen(2), dxg=seen(True), container=seen("docker")), seen(()), Status.NOT_APPLICABLE),
    ],
)
def test_wsl_libcuda_missing(around: Any, libraries: Any, kind: Status) -> None:
    facts = machine(system=around, driver=driver(libraries=libraries), pci=seen(()), gpus=seen(()))
    assert answer("wsl-libcuda-missing", facts).kind is kind


STUBS = "/usr/local/cuda/lib64/stubs"
STUB = driver_library(path=f"{STUBS}/libcuda.so", origin="stub")
ON_PATH = loader(search=seen((SearchDir(STUBS, FoundBy.LIBRARY_PATH, True),)))
CACHED = loader(cache=seen((CacheEntry("libcuda.so.1", f"{STUBS}/libcuda.so.1", "x86_64"),)))


@pytest.mark.parametrize(
    ("changes", "kind", "severity"),
    [
        ({}, Status.OK, Severity.ERROR),
        ({"driver": driver(libraries=seen((STUB,)))}, Status.BAD, Severity.ERROR),
        ({"driver": driver(libraries=seen((driver_library(), STUB._replace(loads=False))))}, Status.OK, Severity.ERROR),
        ({"loader": ON_PATH}, Status.BAD, Severity.WARNING),
        ({"loader": CACHED}, Status.BAD, Severity.ERROR),
        ({"loader": loader(search=seen((SearchDir(STUBS, FoundBy.LIBRARY_PATH, False),)))}, Status.OK, Severity.ERROR),
        ({"loader": loader(search=unseen())}, Status.UNKNOWN, Severity.ERROR),
    ],
)
def test_stub_libcuda(changes: dict[str, Any], kind: Status, severity: Severity) -> None:
    found = answer("stub-libcuda-on-path", machine(**changes))
    assert (found.kind, found.severity) == (kind, severity)


@pytest.mark.parametrize(
    ("around", "gpus", "kind"),
    [
        (system(container=seen("docker"), shm_bytes=seen(64 << 20)), 2, Status.BAD),
        (system(container=seen("docker"), shm_bytes=seen(1 << 30)), 2, Status.OK),
        (system(container=seen("docker"), shm_bytes=unseen()), 2, Status.UNKNOWN),
        (system(container=seen("docker"), shm_bytes=seen(64 << 20)), 1, Status.NOT_APPLICABLE),
        (system(shm_bytes=seen(64 << 20)), 2, Status.NOT_APPLICABLE),
    ],
)
def test_nccl_shm(around: Any, gpus: int, kind: Status) -> None:
    found = answer("nccl-shm-too-small", machine(system=around, gpus=cards(gpus)))
    assert found.kind is kind
    assert kind is not Status.BAD or found.severity is Severity.WARNING


def compat(release: str = "590.10.01") -> Any:
    folder = "/usr/local/cuda-13.1/compat"
    library = driver_library("libcuda", release, origin="compat", path=f"{folder}/libcuda.so.{release}")
    return driver(libraries=seen((library, driver_library("libnvidia-ml"))))


@pytest.mark.parametrize(
    ("drivers", "name", "kind"),
    [
        (driver(), "NVIDIA GeForce RTX 4090", Status.NOT_APPLICABLE),
        (compat("570.86.10"), "NVIDIA H100 80GB HBM3", Status.BAD),  # 803: older than the driver
        (compat("580.95.05"), "NVIDIA GeForce RTX 4090", Status.OK),
        (compat(), "NVIDIA GeForce RTX 4090", Status.BAD),  # 804
        (compat(), "NVIDIA GeForce RTX 9999", Status.BAD),  # the driver itself calls it GeForce
        (compat(), "Tesla T4", Status.OK),
        (compat(), "NVIDIA Unheard Of", Status.UNKNOWN),
        (compat()._replace(module_release=unseen()), "Tesla T4", Status.UNKNOWN),
    ],
)
def test_forward_compat_mistake(drivers: Any, name: str, kind: Status) -> None:
    assert answer("forward-compat-mistake", machine(driver=drivers, gpus=seen((gpu(name),)))).kind is kind


def test_the_folder_of_compat_leaves_the_variable_that_names_it() -> None:
    path = "/opt/x:/usr/local/cuda-13.1/compat"
    facts = machine(driver=compat(), configuration=variables(LD_LIBRARY_PATH=path))
    assert answer("forward-compat-mistake", facts).needs[0] == DropFromPath(
        "LD_LIBRARY_PATH", "/usr/local/cuda-13.1/compat"
    )
    assert as_json(answer("forward-compat-mistake", machine(driver=compat())).needs[0]).product == "by-hand"


INJECTED = driver_library()
BAKED = driver_library("libcuda", "550.54.14")
IMAGE = Machine("image", "app.tar")
NO_KERNEL = system(kernel=unseen("no kernel"))


@pytest.mark.parametrize(
    ("facts", "kind", "severity"),
    [
        (machine(system=CONTAINER), Status.OK, Severity.ERROR),
        (
            machine(system=CONTAINER, driver=driver(libraries=seen((INJECTED, BAKED._replace(loads=False))))),
            Status.BAD,
            Severity.WARNING,
        ),
        (
            machine(system=CONTAINER, driver=driver(libraries=seen((INJECTED._replace(loads=False), BAKED)))),
            Status.BAD,
            Severity.ERROR,
        ),
        (machine(), Status.NOT_APPLICABLE, Severity.ERROR),
        (machine(system=CONTAINER, driver=driver(libraries=unseen())), Status.UNKNOWN, Severity.ERROR),
        (
            machine(machine=IMAGE, system=NO_KERNEL, driver=driver(module_files=seen(()), libraries=seen((BAKED,)))),
            Status.BAD,
            Severity.WARNING,
        ),
        (
            machine(machine=IMAGE, system=NO_KERNEL, driver=driver(module_files=seen(()), libraries=seen(()))),
            Status.OK,
            Severity.ERROR,
        ),
        (machine(machine=Machine("root", "/mnt")), Status.NOT_APPLICABLE, Severity.ERROR),  # a workstation's disk
    ],
)
def test_container_image_bakes_driver_libs(facts: Facts, kind: Status, severity: Severity) -> None:
    found = answer("container-image-bakes-driver-libs", facts)
    assert (found.kind, found.severity) == (kind, severity)


UUID = "GPU-00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize(
    ("value", "gpus", "kind", "severity"),
    [
        (None, 1, Status.OK, Severity.ERROR),
        ("0", 1, Status.OK, Severity.ERROR),
        ("1,0", 2, Status.OK, Severity.ERROR),
        (" 0 , 1", 2, Status.OK, Severity.ERROR),
        (UUID, 1, Status.OK, Severity.ERROR),
        ("GPU-0000", 2, Status.OK, Severity.ERROR),
        ("GPU-0000,1", 2, Status.BAD, Severity.WARNING),  # a list is of UUIDs or of numbers
        ("", 1, Status.BAD, Severity.ERROR),
        ("-1", 1, Status.BAD, Severity.ERROR),
        ("2", 1, Status.BAD, Severity.ERROR),
        ("NoDevFiles", 1, Status.BAD, Severity.ERROR),
        ("${GPU_ID}", 1, Status.BAD, Severity.ERROR),
        ("GPU-ffff", 1, Status.BAD, Severity.ERROR),
        ("GPU-", 2, Status.BAD, Severity.ERROR),
        ("0,0", 2, Status.BAD, Severity.ERROR),
        ("0,7", 2, Status.BAD, Severity.WARNING),
        ("0,-1,1", 2, Status.BAD, Severity.WARNING),
        ("0,", 2, Status.OK, Severity.ERROR),
        ("0,,1", 2, Status.BAD, Severity.WARNING),
        ("MIG-1234", 1, Status.NOT_APPLICABLE, Severity.ERROR),
    ],
)
def test_cuda_visible_devices(value: str | None, gpus: int, kind: Status, severity: Severity) -> None:
    settings = configuration() if value is None else variables(CUDA_VISIBLE_DEVICES=value)
    found = answer("cuda-visible-devices-empty-or-invalid", machine(configuration=settings, gpus=cards(gpus)))
    assert (found.kind, found.severity) == (kind, severity)


def test_a_job_of_slurm_without_gpus_asks_for_them() -> None:
    """Unsetting the variable would take the cards of others, or show none."""
    job = system(job=seen(Job("Slurm", "")))
    hidden = machine(configuration=variables(CUDA_VISIBLE_DEVICES="NoDevFiles"), gpus=seen(()), system=job)
    found = answer("cuda-visible-devices-empty-or-invalid", hidden)
    assert [as_json(need).product for need in found.needs] == ["by-hand"]
    assert "--gres=gpu:1" in as_json(found.needs[0]).spec
    given = hidden._replace(system=system(job=seen(Job("Slurm", "0"))))
    assert as_json(answer("cuda-visible-devices-empty-or-invalid", given).needs[0]).product == "variable"


@pytest.mark.parametrize(
    ("around", "product", "said"),
    [
        (system(), "by-hand", "PrivateDevices"),
        (system(job=seen(Job("Slurm", ""))), "by-hand", "--gres=gpu:1"),
        (system(container=seen("podman")), "device-access", "label"),
    ],
)
def test_a_mode_that_lets_everybody_is_not_changed(around: Any, product: str, said: str) -> None:
    shut = (CTL, UVM, closed("/dev/nvidia0", 0o666, "root"))
    found = answer("device-permissions", machine(driver=driver(nodes=seen(shut)), system=around))
    assert found.kind is Status.BAD
    assert [as_json(need).product for need in found.needs] == [product]
    assert said in f"{as_json(found.needs[0]).spec} {as_json(found.needs[0]).build}"


def test_cuda_visible_devices_unseen() -> None:
    code = "cuda-visible-devices-empty-or-invalid"
    assert answer(code, machine(configuration=configuration(variables=unseen()))).kind is Status.UNKNOWN
    asked = variables(CUDA_VISIBLE_DEVICES="0")
    assert answer(code, machine(configuration=asked, gpus=unseen())).kind is Status.OK
    asked = variables(CUDA_VISIBLE_DEVICES="0,1")
    assert answer(code, machine(configuration=asked, gpus=unseen())).kind is Status.UNKNOWN
    assert answer(code, NO_GPU).kind is Status.NOT_APPLICABLE
    void = system(container=seen("docker"), gpu_runtime_env=seen((("NVIDIA_VISIBLE_DEVICES", "void"),)))
    assert answer(code, machine(system=void, gpus=unseen())).kind is Status.BAD
    assert answer(code, machine(system=void)).kind is Status.OK  # the cards came in another way


def partitioned(*instances: str) -> Gpu:
    return gpu("NVIDIA A100-SXM4-40GB", "8.0", mig_enabled=seen(True), mig_instances=seen(instances))


@pytest.mark.parametrize(
    ("card", "value", "kind", "severity"),
    [
        (gpu(), None, Status.NOT_APPLICABLE, Severity.ERROR),
        (partitioned(), None, Status.BAD, Severity.ERROR),
        (partitioned("MIG-aaaa"), None, Status.OK, Severity.ERROR),
        (partitioned("MIG-aaaa", "MIG-bbbb"), "MIG-bbbb", Status.OK, Severity.ERROR),
        (partitioned("MIG-aaaa", "MIG-bbbb"), f"MIG-{UUID}/1/0", Status.OK, Severity.ERROR),
        (partitioned("MIG-aaaa", "MIG-bbbb"), "MIG-cccc", Status.BAD, Severity.ERROR),
        (partitioned("MIG-aaaa", "MIG-bbbb"), None, Status.BAD, Severity.INFO),
        (partitioned("MIG-aaaa", "MIG-bbbb"), "0", Status.BAD, Severity.INFO),
        (gpu(mig_enabled=seen(True), mig_instances=unseen()), None, Status.UNKNOWN, Severity.ERROR),
    ],
)
def test_mig_misconfigured(card: Gpu, value: str | None, kind: Status, severity: Severity) -> None:
    settings = configuration() if value is None else variables(CUDA_VISIBLE_DEVICES=value)
    found = answer("mig-misconfigured", machine(gpus=seen((card,)), configuration=settings))
    assert (found.kind, found.severity) == (kind, severity)


def test_pci_addresses_need_no_equal_number_of_zeros() -> None:
    shown = machine(gpus=seen((gpu(pci_address=seen("00000000:01:00.0")),)), pci=seen((pci_device(),)))
    assert answer("driver-does-not-support-gpu", shown).kind is Status.OK


UNKNOWN_ERROR = nvml(state="error", error="NVMLError_Unknown (999): Unknown Error", code=999)


@pytest.mark.parametrize(
    ("around", "said", "kind"),
    [
        (CONTAINER, seen(nvml()), Status.OK),
        (CONTAINER, seen(UNKNOWN_ERROR), Status.BAD),
        (system(), seen(UNKNOWN_ERROR), Status.NOT_APPLICABLE),
        (system(container=unseen()), seen(UNKNOWN_ERROR), Status.UNKNOWN),
    ],
)
def test_container_lost_gpu_cgroup(around: Any, said: Any, kind: Status) -> None:
    assert answer("container-lost-gpu-cgroup", machine(system=around, driver=driver(nvml=said))).kind is kind


@pytest.mark.parametrize(
    ("said", "hang", "crash"),
    [
        (seen(nvml()), Status.OK, Status.OK),
        (seen(nvml(state="hung", error="nvmlInitWithFlags did not answer within 15 s")), Status.BAD, Status.OK),
        (seen(nvml(state="crashed", error="killed by SIGSEGV in nvmlInitWithFlags")), Status.OK, Status.BAD),
        (unseen(), Status.UNKNOWN, Status.UNKNOWN),
    ],
)
def test_a_driver_that_hangs_or_crashes(said: Any, hang: Status, crash: Status) -> None:
    facts = machine(driver=driver(nvml=said), gpus=unseen())
    assert answer("driver-hang", facts).kind is hang
    assert answer("driver-library-crash", facts).kind is crash
