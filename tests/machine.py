"""A healthy machine as facts; a test states only what is different on its own.

RTX 4090, driver 580.95.05 (open module), CUDA 12.8 with nvcc, one Python environment with torch 2.9.1+cu128 and its
pinned cuDNN wheel, complete.
"""

from __future__ import annotations

import time
from typing import Any

from compat.matrix import Matrix
from compat.version import CodeTarget, ComputeCapability, CudaVersion, CudnnVersion, DriverRelease
from doctor.diagnose import make_report, verifier_for
from doctor.host import Host
from doctor.model.facts import Facts, Machine
from doctor.model.facts.cudnn import CudnnCopy, CudnnPart
from doctor.model.facts.driver import DeviceNode, DriverFacts, DriverLibrary, ModuleFile, Nvml
from doctor.model.facts.environment import ConfigurationFacts, Distribution, Environment, Framework
from doctor.model.facts.gpu import Gpu, GpuNow, PciDevice
from doctor.model.facts.loader import FoundBy, LoaderFacts, Prediction, SearchDir, Way
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.model.facts.system import Compiler, SystemFacts
from doctor.model.facts.toolkit import Toolkit, ToolkitFacts, ToolkitName
from doctor.model.finding import Report
from doctor.probes.independent.container_setup import ContainerSetup
from doctor.rules.shared.engine import judge, load_rules

VENV = "/home/user/project/.venv"
SITE = f"{VENV}/lib/python3.12/site-packages"
CUDNN_DIR = f"{SITE}/nvidia/cudnn/lib"
CUDNN_9_PARTS = (
    "libcudnn.so.9",
    "libcudnn_adv.so.9",
    "libcudnn_cnn.so.9",
    "libcudnn_engines_precompiled.so.9",
    "libcudnn_engines_runtime_compiled.so.9",
    "libcudnn_graph.so.9",
    "libcudnn_heuristic.so.9",
    "libcudnn_ops.so.9",
)


def seen(value: Any, how: str = "test") -> Any:
    """A seen fact."""
    return Seen(value, how)


def unseen(why: str = "not readable") -> Any:
    """An unseen fact."""
    return Unseen(why)


def system(**changes: Any) -> SystemFacts:
    """Ubuntu 24.04 on bare metal, Secure Boot off."""
    return SystemFacts(
        family=seen("linux"),
        distribution=seen("Ubuntu 24.04.3 LTS"),
        distribution_id=seen("ubuntu"),
        distribution_version=seen("24.04"),
        machine=seen("x86_64"),
        kernel=seen("6.8.0-87-generic"),
        glibc=seen("2.39"),
        wsl=seen(0),
        container=seen(""),
        gpu_runtime_env=seen(()),
        jetson=seen(""),
        secure_boot=seen(False),
        user=seen("user"),
        groups=seen(("user", "sudo", "video", "render")),
        is_root=seen(False),
        sudo_user=seen(""),
        shm_bytes=seen(16 << 30),
        dxg=seen(False),
        kernel_log=seen(()),
        ostree=seen(False),
    )._replace(**changes)


def nvml(**changes: Any) -> Nvml:
    """NVML answers."""
    return Nvml("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "ok", "", 0)._replace(**changes)


def driver_library(stem: str = "libcuda", release: str = "580.95.05", **changes: Any) -> DriverLibrary:
    """A user-space driver library in the multiarch directory."""
    path = f"/usr/lib/x86_64-linux-gnu/{stem}.so.{release}"
    return DriverLibrary(path, stem, DriverRelease.parse(release), "system", True)._replace(**changes)


def node(path: str = "/dev/nvidia0", **changes: Any) -> DeviceNode:
    """A device node anyone may open."""
    return DeviceNode(path, 0o666, 0, 0, "root", seen(True))._replace(**changes)


def driver(release: str = "580.95.05", cuda: str = "13.0", **changes: Any) -> DriverFacts:
    """The open module of one release, loaded, with libraries of the same release."""
    parsed = DriverRelease.parse(release)
    kernel = "6.8.0-87-generic"
    return DriverFacts(
        release=seen(parsed, "/sys/module/nvidia/version"),
        module_release=seen(parsed, "/sys/module/nvidia/version"),
        flavour=seen("open"),
        cuda=seen(CudaVersion.parse(cuda), "NVML"),
        libraries=seen((driver_library("libcuda", release), driver_library("libnvidia-ml", release))),
        modules_loaded=seen(("nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_uvm")),
        module_files=seen(
            (ModuleFile(f"/lib/modules/{kernel}/nvidia.ko", kernel, seen(parsed), seen("open"), seen(True)),)
        ),
        dkms=seen(()),
        nodes=seen((node("/dev/nvidia-uvm"), node("/dev/nvidia0"), node("/dev/nvidiactl"))),
        nvml=seen(nvml()),
        fabric_manager=seen("absent"),
        open_rm_parameters=seen(()),
        blocked=seen(()),
    )._replace(**changes)


def without_driver(**changes: Any) -> Facts:
    """A laptop without an NVIDIA GPU and without a driver: nothing shows that a GPU is expected."""
    why = Unseen("no NVIDIA driver was found")
    none = driver()._replace(
        release=why,
        module_release=why,
        flavour=why,
        cuda=why,
        libraries=seen(()),
        modules_loaded=seen(()),
        module_files=seen(()),
        nodes=seen(()),
        nvml=seen(nvml(library="", state="not-found", error="NVML Shared Library Not Found", code=12)),
    )
    return machine(gpus=why, pci=seen(()), driver=none, **changes)


def gpu(name: str = "NVIDIA GeForce RTX 4090", capability: str = "8.9", **changes: Any) -> Gpu:
    """An RTX 4090 at rest."""
    return Gpu(
        number=0,
        name=seen(name),
        uuid=seen("GPU-00000000-0000-0000-0000-000000000000"),
        serial=unseen("not supported on this card"),
        capability=seen(ComputeCapability.parse(capability)),
        memory_bytes=seen(24 << 30),
        pci_address=seen("0000:01:00.0"),
        pci_device_id=seen(0x2684),
        link_width=seen(16),
        link_width_max=seen(16),
        link_generation_max=seen(4),
        ecc_enabled=seen(False),
        ecc_uncorrected=seen(0),
        ecc_corrected=seen(0),
        retired_pages_pending=seen(False),
        persistence=seen(True),
        compute_mode=seen("default"),
        mig_enabled=seen(False),
        mig_instances=seen(()),
        has_fabric=seen(False),
        now=GpuNow(
            temperature_c=seen(40),
            power_w=seen(30.0),
            power_limit_w=seen(450.0),
            sm_clock_mhz=seen(210),
            throttle_reasons=seen(()),
            memory_used_bytes=seen(0),
            utilisation_percent=seen(0),
            link_generation=seen(4),
            processes=seen(()),
        ),
    )._replace(**changes)


def pci_device(**changes: Any) -> PciDevice:
    """The 4090's function on the bus."""
    return PciDevice("0000:01:00.0", 0x10DE, 0x2684, "nvidia")._replace(**changes)


def toolkit(release: str = "12.8.1", **changes: Any) -> Toolkit:
    """A toolkit under /usr/local, the one that `cuda` leads to."""
    cuda = CudaVersion.parse(release)
    root = f"/usr/local/cuda-{cuda}"
    return Toolkit(
        path=root,
        links=("/usr/local/cuda",),
        kind="directory",
        cuda=seen(cuda, f"{root}/version.json"),
        release=seen(release, f"{root}/version.json"),
        nvcc=seen(f"{root}/bin/nvcc"),
        has_headers=seen(True),
        library_dir=seen(f"{root}/lib64"),
    )._replace(**changes)


def toolkits(*found: Toolkit, names: Fact[tuple[ToolkitName, ...]] | None = None) -> ToolkitFacts:
    """These toolkits (the usual one by default), and the names that lead to the first."""
    found = found or (toolkit(),)
    usual = (
        ToolkitName("/usr/local/cuda", "/usr/local/cuda", seen(found[0].path)),
        ToolkitName("nvcc on PATH", f"{found[0].path}/bin/nvcc", seen(found[0].path)),
    )
    return ToolkitFacts(seen(found), seen(usual) if names is None else names)


def cudnn_part(name: str, version: str = "9.10.2", directory: str = CUDNN_DIR, **changes: Any) -> CudnnPart:
    """One library of a copy."""
    parsed = CudnnVersion.parse(version)
    return CudnnPart(name, f"{directory}/{name}", seen(parsed, "symbol"), seen(name), seen("x86_64"), True)._replace(
        **changes
    )


def cudnn_copy(version: str = "9.10.2", directory: str = CUDNN_DIR, **changes: Any) -> CudnnCopy:
    """The wheel's copy, complete, header and libraries of one release."""
    parsed = CudnnVersion.parse(version)
    return CudnnCopy(
        path=directory,
        origin="wheel",
        owner="nvidia-cudnn-cu12 9.10.2.21",
        environment=VENV,
        version=seen(parsed, "symbol"),
        how_versions=(("header", version), ("symbol", version)),
        header_version=seen(parsed, "cudnn_version.h"),
        header_path=seen(f"{SITE}/nvidia/cudnn/include/cudnn_version.h"),
        cuda_major=seen(12),
        parts=seen(tuple(cudnn_part(name, version, directory) for name in CUDNN_9_PARTS)),
        missing=seen(()),
        damaged=seen(()),
        broken_links=seen(()),
        search_rank=unseen("its directory is not on the loader's path"),
    )._replace(**changes)


def distribution(name: str, version: str, **changes: Any) -> Distribution:
    """A wheel in the environment."""
    folder = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
    return Distribution(name, version, SITE, folder, "wheel", "")._replace(**changes)


def framework(package: str = "torch", version: str = "2.9.1+cu128", **changes: Any) -> Framework:
    """torch 2.9.1 built with CUDA 12.8 and cuDNN 9.10.2."""
    return Framework(
        package=package,
        version=version,
        path=f"{SITE}/{package}",
        build=seen("cu128", "torch/version.py"),
        cuda=seen(CudaVersion(12, 8), "torch/version.py"),
        cudnn=seen(CudnnVersion.parse("9.10.2.21"), "METADATA"),
        targets=seen(tuple(map(CodeTarget.parse, ("sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")))),
        requires=seen(("nvidia-cudnn-cu12==9.10.2.21",), "METADATA"),
        environment=VENV,
        note="",
    )._replace(**changes)


def environment(*frameworks: Framework, **changes: Any) -> Environment:
    """The project's virtual environment, holding these frameworks (torch by default)."""
    frameworks = frameworks or (framework(),)
    installed = tuple(distribution(one.package, one.version) for one in frameworks)
    return Environment(
        prefix=VENV,
        asked_by="VIRTUAL_ENV",
        interpreter=f"{VENV}/bin/python",
        kind="venv",
        python=seen("3.12.4", "pyvenv.cfg"),
        sites=seen((SITE,)),
        distributions=seen((*installed, distribution("nvidia-cudnn-cu12", "9.10.2.21"))),
        frameworks=seen(frameworks),
        overlaps=seen(()),
        externally_managed=False,
        extensions=seen(()),
        incomplete=seen(()),
    )._replace(**changes)


RUNPATH = Way(FoundBy.RUNPATH, "libtorch_cuda.so", "$ORIGIN/../../nvidia/cudnn/lib", CUDNN_DIR)


def prediction(path: str = f"{CUDNN_DIR}/libcudnn.so.9", **changes: Any) -> Prediction:
    """torch loads its own wheel's cuDNN."""
    return Prediction(
        environment=VENV,
        asker="torch",
        soname="libcudnn.so.9",
        path=seen(path),
        intended=seen(f"{CUDNN_DIR}/libcudnn.so.9"),
        way=RUNPATH,
    )._replace(**changes)


def loader(**changes: Any) -> LoaderFacts:
    """Nothing but the default directories."""
    return LoaderFacts(
        search=seen((SearchDir("/usr/lib/x86_64-linux-gnu", FoundBy.DEFAULT, True),)),
        cache=seen(()),
        preload=seen(()),
        predictions=seen((prediction(),)),
    )._replace(**changes)


def configuration(**changes: Any) -> ConfigurationFacts:
    """No variable and no setting of note."""
    return ConfigurationFacts(seen(()), seen(()), seen(()), near=seen(()))._replace(**changes)


def machine(**changes: Any) -> Facts:
    """The whole healthy machine; name the groups of facts that are different."""
    return Facts(
        machine=Machine("live", "host"),
        system=system(),
        driver=driver(),
        pci=seen((pci_device(),)),
        gpus=seen((gpu(),)),
        toolkit=toolkits(),
        compilers=seen((Compiler("/usr/bin/gcc", "gcc", seen("13.3.0")),)),
        cudnn=seen((cudnn_copy(),)),
        environments=seen((environment(),)),
        configuration=configuration(),
        loader=loader(),
        imports=seen(()),
        independent={"container_setup": seen(ContainerSetup("", (), ())), "install_runs": seen(())},
        code_tools=seen(()),
        dlls=seen(()),
    )._replace(**changes)


def report_on(facts: Facts, host: Host | None = None) -> Report:
    """What every rule makes of these facts, with the shipped matrix and, with their host, proven remedies."""
    matrix, rules = Matrix(), load_rules()
    answers = judge(facts, matrix, rules)
    court = verifier_for(facts, answers, matrix, rules, host) if host else None
    return make_report(facts, answers, matrix, time.perf_counter(), court)
