"""The driver probe: the ladder of releases, libraries, module files, DKMS, nodes, services."""

from __future__ import annotations

import gzip
import lzma
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from compat.version import CudaVersion, DriverRelease
from doctor.host import Host, NotRunnable, Ran
from doctor.host.live import LiveHost
from doctor.model.facts.driver import DkmsBuild, DriverFacts, Nvml
from doctor.model.facts.loader import CacheEntry, FoundBy, LoaderFacts, SearchDir
from doctor.model.facts.seen import Place, Seen, Unseen
from doctor.probes import driver, kernel_module, nvml
from tests.lab.pe_file import pe_bytes
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree, offline
from tests.zstd import zstd

UNSEEN = object()
LIB = "/usr/lib/x86_64-linux-gnu"
KERNEL = "6.8.0-87-generic"
PROPRIETARY = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version:\n"
OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22)\n"
    "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n"
)
SMI_OLD = "| NVIDIA-SMI 535.183.01    Driver Version: 535.183.01   CUDA Version: 12.2     |\n"
SMI_NEW = "| NVIDIA-SMI 610.43.02     KMD Version: 610.43.02     CUDA UMD Version: 13.3     |\n"


def loader(*cached: str, path: tuple[str, ...] = ()) -> LoaderFacts:
    folders = [SearchDir(one, FoundBy.LIBRARY_PATH, True) for one in path] + [SearchDir(LIB, FoundBy.DEFAULT, True)]
    entries = tuple(CacheEntry(one.rpartition("/")[2], one, "x86_64") for one in cached)
    return LoaderFacts(Seen(tuple(folders), "test"), Seen(entries, "test"), Seen((), "test"), Seen((), "test"))


def told(release: str = "", cuda: str = "") -> nvml.Told:
    return nvml.nothing("NVML was not asked")._replace(
        driver_release=Seen(DriverRelease.parse(release), "NVML") if release else Unseen("no"),
        cuda=Seen(CudaVersion.parse(cuda), "NVML") if cuda else Unseen("no"),
    )


def look(host: Host, search: LoaderFacts | None = None, said: nvml.Told | None = None) -> DriverFacts:
    return driver.look(host, search or loader(), said or told())


def value(fact: Any) -> Any:
    return fact.value if isinstance(fact, Seen) else UNSEEN


def libraries(release: str, folder: str = LIB) -> dict[str, str | bytes]:
    return {
        f"{folder}/libcuda.so.{release}": b"x",
        f"{folder}/libcuda.so.1": f"-> libcuda.so.{release}",
        f"{folder}/libnvidia-ml.so.{release}": b"x",
        f"{folder}/libnvidia-ml.so.1": f"-> libnvidia-ml.so.{release}",
    }


SYSFS = "/sys/module/nvidia/version"
PROC = "/proc/driver/nvidia/version"


@pytest.mark.parametrize(
    ("tree", "nvml_says", "expected"),
    [
        ({SYSFS: "580.95.05\n"}, "", ("580.95.05", Place(SYSFS), UNSEEN)),
        ({PROC: PROPRIETARY}, "", ("535.183.01", Place(PROC), "proprietary")),
        ({PROC: OPEN}, "", ("580.95.05", Place(PROC), "open")),
        (
            {SYSFS: "580.95.05\n", PROC: OPEN, **libraries("570.86.10")},
            "570.86.10",
            ("580.95.05", Place(SYSFS), "open"),
        ),
        (libraries("570.86.10"), "999.1", ("570.86.10", f"name of {LIB}/libcuda.so.570.86.10", UNSEEN)),
        ({"/etc/": ""}, "560.35.03", ("560.35.03", "NVML", UNSEEN)),
        ({PROC: OPEN.replace("95.05", "95.05\u0661")}, "560.35.03", ("560.35.03", "NVML", UNSEEN)),
        ({PROC: "NVRM version: garbage\n"}, "560.35.03", ("560.35.03", "NVML", UNSEEN)),
        ({SYSFS: b"\xff\xfe"}, "560.35.03", ("560.35.03", "NVML", UNSEEN)),
    ],
)
def test_the_ladder(tmp_path: Path, tree: Tree, nvml_says: str, expected: tuple[str, str | Place, Any]) -> None:
    release, how, flavour = expected
    host = PretendHost(tmp_path, tree)
    seen = look(host, said=told(nvml_says))
    assert seen.release == Seen(DriverRelease.parse(release), how)
    assert value(seen.flavour) == flavour
    assert host.ran == []


@pytest.mark.parametrize(
    ("banner", "release", "cuda"),
    [
        (Ran(0, SMI_OLD, ""), "535.183.01", CudaVersion(12, 2)),
        (Ran(0, SMI_NEW, ""), "610.43.02", CudaVersion(13, 3)),
        (Ran(0, "| NVIDIA-SMI 331.62     Driver Version: 331.62         |", ""), "331.62", UNSEEN),
        (Ran(9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", ""), "", UNSEEN),
        (NotRunnable("nvidia-smi", "did not end within 10 s"), "", UNSEEN),
    ],
)
def test_nvidia_smi_comes_last(tmp_path: Path, banner: Any, release: str, cuda: Any) -> None:
    host = PretendHost(tmp_path, {"/etc/": ""}, commands={"nvidia-smi": banner})
    seen = look(host)
    assert host.ran == ["nvidia-smi"]
    assert str(value(seen.release)) == release if release else isinstance(seen.release, Unseen)
    assert value(seen.cuda) == cuda


def test_no_driver_says_so(tmp_path: Path) -> None:
    seen = look(PretendHost(tmp_path, {"/etc/": ""}))
    assert isinstance(seen.release, Unseen)
    assert "no NVIDIA driver was found" in seen.release.why


COMPAT = "/usr/local/cuda-12.8/compat"
STUBS = "/usr/local/cuda-12.8/lib64/stubs"
BOTH_LOAD = [("libcuda", "580.95.05", "system", True), ("libnvidia-ml", "580.95.05", "system", True)]
LEFT_OVER = {
    f"{LIB}/libcuda.so.570.86.10": b"x",
    f"{LIB}/libcuda.so.580.95.05": b"x",
    f"{LIB}/libcuda.so.1": "-> libcuda.so.580.95.05",
}
DEBIAN = {
    f"{LIB}/nvidia/current/libcuda.so.535.183.01": b"x",
    f"{LIB}/nvidia/current/libcuda.so.1": "-> libcuda.so.535.183.01",
    f"{LIB}/libcuda.so.1": "-> /etc/alternatives/glx--libcuda.so.1",
    "/etc/alternatives/glx--libcuda.so.1": f"-> {LIB}/nvidia/current/libcuda.so.1",
}
OTHERS = {
    f"{LIB}/libcuda.so.1.1": b"x",
    f"{LIB}/libnvidia-container.so.1.17.0": b"x",
    f"{LIB}/libcudart.so.12.4.127": b"x",
}
WSL = {"/usr/lib/wsl/lib/libcuda.so.1": b"x", "/usr/lib/wsl/lib/libnvidia-ml.so.1": b"x"}


@pytest.mark.parametrize(
    ("tree", "search", "expected"),
    [
        (libraries("580.95.05"), loader(), BOTH_LOAD),
        ({"/lib": "-> usr/lib", **libraries("580.95.05")}, loader(path=("/lib/x86_64-linux-gnu",)), BOTH_LOAD),
        (
            LEFT_OVER,
            loader(f"{LIB}/libcuda.so.1"),
            [("libcuda", "570.86.10", "system", False), ("libcuda", "580.95.05", "system", True)],
        ),
        (OTHERS, loader(), []),
        (
            {f"{COMPAT}/libcuda.so.570.86.10": b"x", f"{COMPAT}/libcuda.so.1": "-> libcuda.so.570.86.10"},
            loader(path=(COMPAT,)),
            [("libcuda", "570.86.10", "compat", True)],
        ),
        ({f"{COMPAT}/libcuda.so.570.86.10": b"x"}, loader(), [("libcuda", "570.86.10", "compat", False)]),
        (
            {f"{STUBS}/libcuda.so": b"x", f"{LIB}/libcuda.so.1": f"-> {STUBS}/libcuda.so"},
            loader(),
            [("libcuda", "1", "stub", True)],
        ),
        ({f"{STUBS}/libcuda.so": b"x"}, loader(path=(STUBS,)), [("libcuda", "1", "stub", False)]),
        ({f"{STUBS}/libcuda.so": b"x"}, loader(), []),
        (
            WSL,
            loader("/usr/lib/wsl/lib/libcuda.so.1"),
            [("libcuda", "1", "wsl", True), ("libnvidia-ml", "1", "wsl", False)],
        ),
        (DEBIAN, loader(), [("libcuda", "535.183.01", "system", True)]),
        ({f"{LIB}/libcuda.so.580.95.05": "-> nowhere"}, loader(), [("libcuda", "580.95.05", "system", False)]),
    ],
)
@pytest.mark.parametrize("is_live", [True, False])
def test_libraries(tmp_path: Path, tree: Tree, search: LoaderFacts, expected: Any, is_live: bool) -> None:
    host: Host = PretendHost(tmp_path, tree) if is_live else offline(tmp_path, tree)
    found = look(host, search).libraries.get()
    assert [(one.stem, str(one.release), one.origin, one.loads) for one in found] == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (
            {"/proc/modules": "nvidia_uvm 1 0 - Live 0x0\nnvidia 2 1 nvidia_uvm, Live 0x0 (OE)\nnvidiafb 1\n"},
            ("nvidia", "nvidia_uvm"),
        ),
        ({"/proc/modules": "snd 1 0\n", "/sys/module/nouveau/": ""}, ("nouveau",)),
        ({"/proc/modules": "nova_core 1 0\n"}, ("nova_core",)),
        ({"/sys/module/nvidia/": ""}, ("nvidia",)),
        ({"/proc/modules": ""}, ()),
        ({"/etc/": ""}, UNSEEN),
    ],
)
def test_modules_loaded(tmp_path: Path, tree: Tree, expected: Any) -> None:
    assert value(look(PretendHost(tmp_path, tree)).modules_loaded) == expected


# Module files


def module(release: str = "580.95.05", licence: str = "Dual MIT/GPL", *, signed: bool = False) -> bytes:
    """A kernel module as a linker would lay it: header, .modinfo, section names, section table."""
    information = f"license={licence}\0version={release}\0supported=external\0".encode()
    names = b"\0.modinfo\0.shstrtab\0"
    names_at = 64 + len(information)
    table_at = names_at + len(names)
    header = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, table_at, 0, 64, 0, 0, 64, 3, 2)
    )
    sections = bytes(64)
    for name, kind, offset, size in ((1, 1, 64, len(information)), (10, 3, names_at, len(names))):
        sections += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)
    trailer = b"PKCS#7" + b"~Module signature appended~\n" if signed else b""
    return header + information + names + sections + trailer


@pytest.mark.parametrize(
    ("place", "content", "expected"),
    [
        ("updates/dkms/nvidia.ko", module(), ("580.95.05", "open", False)),
        ("updates/dkms/nvidia.ko", module(signed=True), ("580.95.05", "open", True)),
        ("updates/dkms/nvidia-current.ko", module("535.183.01", "NVIDIA"), ("535.183.01", "proprietary", False)),
        ("kernel/nvidia-580-open/nvidia.ko", module(signed=True), ("580.95.05", "open", True)),
        ("kernel/drivers/video/nvidia.ko", module("550.54.14", "NVIDIA"), ("550.54.14", "proprietary", False)),
        ("extra/nvidia/nvidia.ko.xz", lzma.compress(module(signed=True)), ("580.95.05", "open", True)),
        ("extramodules/nvidia.ko.gz", gzip.compress(module()), ("580.95.05", "open", False)),
        ("extra/nvidia.ko.zst", zstd.compress(module(signed=True)), ("580.95.05", "open", True)),
        ("extra/nvidia.ko.zst", zstd.compress(module())[:-9], (UNSEEN, UNSEEN, UNSEEN)),
        ("extra/nvidia.ko.zst", b"not zstd", (UNSEEN, UNSEEN, UNSEEN)),
        ("weak-updates/nvidia/nvidia.ko", module(), ("580.95.05", "open", False)),
        ("updates/dkms/nvidia.ko", module("not a number", "Other"), (UNSEEN, UNSEEN, False)),
        ("updates/dkms/nvidia.ko", b"", (UNSEEN, UNSEEN, UNSEEN)),
        ("updates/dkms/nvidia.ko", module()[:70], (UNSEEN, UNSEEN, UNSEEN)),
        ("updates/dkms/nvidia.ko", module()[:-40], (UNSEEN, UNSEEN, UNSEEN)),
        ("updates/dkms/nvidia.ko", b"\x7fELF\x01" + bytes(200), (UNSEEN, UNSEEN, UNSEEN)),
        ("updates/dkms/nvidia.ko", b"\x7fELF\x02\x01" + b"\xff" * 200, (UNSEEN, UNSEEN, UNSEEN)),
        ("updates/dkms/nvidia.ko.xz", b"not xz", (UNSEEN, UNSEEN, UNSEEN)),
        ("updates/dkms/nvidia.ko.xz", bytes(64 << 20), (UNSEEN, UNSEEN, UNSEEN)),  # many empty files, one would think
        ("updates/dkms/nvidia.ko.gz", gzip.compress(module()) + bytes(64 << 20), ("580.95.05", "open", False)),
        ("updates/dkms/nvidia.ko.gz", gzip.compress(module())[:-20], (UNSEEN, UNSEEN, UNSEEN)),
        ("updates/dkms/nvidia.ko", "-> nvidia.ko", (UNSEEN, UNSEEN, UNSEEN)),
    ],
)
def test_module_file(tmp_path: Path, place: str, content: Any, expected: Any) -> None:
    path = f"/lib/modules/{KERNEL}/{place}"
    (found,) = look(offline(tmp_path, {path: content})).module_files.get()
    assert (found.path, found.kernel) == (path, KERNEL)
    release = str(found.release.value) if isinstance(found.release, Seen) else UNSEEN
    assert (release, value(found.flavour), value(found.signed)) == expected


def test_module_that_depmod_knows(tmp_path: Path) -> None:
    base = f"/lib/modules/{KERNEL}"
    listed = "kernel/drivers/gpu/drm/drm.ko:\nodd/place/nvidia.ko: odd/place/ecc.ko\nodd/place/nvidia-drm.ko:\n"
    (found,) = look(
        offline(tmp_path, {f"{base}/modules.dep": listed, f"{base}/odd/place/nvidia.ko": module()})
    ).module_files.get()
    assert found.path == f"{base}/odd/place/nvidia.ko"


@pytest.mark.parametrize(
    "name",
    [
        "nvidia-drm.ko",
        "nvidia-uvm.ko",
        "nvidia-modeset.ko",
        "nvidia-peermem.ko",
        "nvidiafb.ko",
        "nvidia-current-drm.ko",
    ],
)
def test_siblings_are_not_the_module(tmp_path: Path, name: str) -> None:
    assert look(offline(tmp_path, {f"/lib/modules/{KERNEL}/updates/dkms/{name}": module()})).module_files.get() == ()


def test_a_packed_module_is_only_unpacked_where_no_driver_runs(tmp_path: Path) -> None:
    tree: Tree = {
        "/proc/sys/kernel/osrelease": f"{KERNEL}\n",
        "/proc/modules": "nvidia 1 0\n",
        f"/lib/modules/{KERNEL}/updates/dkms/nvidia.ko.xz": lzma.compress(module()),
    }
    (packed,) = look(PretendHost(tmp_path, tree)).module_files.get()
    assert isinstance(packed.release, Unseen)
    (read,) = look(PretendHost(tmp_path, {"/proc/modules": ""})).module_files.get()
    assert value(read.flavour) == "open"


def test_zstd_without_a_module_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree: Tree = {f"/lib/modules/{KERNEL}/extra/nvidia.ko.zst": zstd.compress(module())}
    (found,) = look(offline(tmp_path / "with", tree)).module_files.get()
    assert str(found.release.get()) == "580.95.05"
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    (found,) = look(offline(tmp_path / "nothing", tree)).module_files.get()
    assert isinstance(found.release, Unseen)
    assert "pip install backports.zstd" in found.release.why


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "_UNPACKED_AT_MOST_BYTES", 1 << 20)
    path = f"/lib/modules/{KERNEL}/updates/dkms/nvidia.ko.xz"
    (found,) = look(offline(tmp_path, {path: lzma.compress(bytes(2 << 20))})).module_files.get()
    assert isinstance(found.release, Unseen)
    assert "unpacks to more" in found.release.why


def test_flavour_by_the_file_where_proc_is_silent(tmp_path: Path) -> None:
    tree: Tree = {"/sys/module/nvidia/version": "580.95.05", f"/lib/modules/{KERNEL}/updates/dkms/nvidia.ko": module()}
    assert value(look(PretendHost(tmp_path, tree)).flavour) == "open"


DKMS = "/var/lib/dkms/nvidia"
OLDER = "6.1.0-1-generic"


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"/etc/": ""}, ()),
        (
            {f"{DKMS}/580.95.05/source": "-> /usr/src/nvidia-580.95.05"},
            (DkmsBuild("nvidia", "580.95.05", "", "added"),),
        ),
        (
            {f"{DKMS}/580.95.05/{KERNEL}/x86_64/module/nvidia.ko": b"x"},
            (DkmsBuild("nvidia", "580.95.05", KERNEL, "built"),),
        ),
        (
            {
                f"{DKMS}/580.95.05/{KERNEL}/x86_64/module/nvidia.ko": b"x",
                f"{DKMS}/kernel-{KERNEL}-x86_64": f"-> 580.95.05/{KERNEL}/x86_64",
            },
            (DkmsBuild("nvidia", "580.95.05", KERNEL, "installed"),),
        ),
        ({f"{DKMS}/580.95.05/build/make.log": "error"}, (DkmsBuild("nvidia", "580.95.05", "", "added"),)),
        (
            {f"{DKMS}/580.95.05/build/make.log": f"DKMS make.log for nvidia-580.95.05 for kernel {KERNEL} (x86_64)\n"},
            (DkmsBuild("nvidia", "580.95.05", KERNEL, "failed"),),
        ),
        (
            {
                f"{DKMS}/580.95.05/{OLDER}/x86_64/module/nvidia.ko": b"x",
                f"{DKMS}/580.95.05/build/make.log": "DKMS (dkms-3.2.0) make.log for nvidia/580.95.05 for kernel "
                f"{KERNEL} (x86_64)\nmake: Entering directory\n/bin/sh: 1: gcc-12: not found\nmake: error: x\n",
            },
            (
                DkmsBuild("nvidia", "580.95.05", OLDER, "built"),
                DkmsBuild("nvidia", "580.95.05", KERNEL, "failed")._replace(why="/bin/sh: 1: gcc-12: not found"),
            ),
        ),
        ({"/var/lib/dkms/nvidia-fs/2.17/source": "-> /usr/src/x", "/var/lib/dkms/zfs/2/source": "-> x"}, ()),
    ],
)
def test_dkms(tmp_path: Path, tree: Tree, expected: Any) -> None:
    assert value(look(offline(tmp_path, tree)).dkms) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({f"/lib/modules/{OLDER}/updates/dkms/nvidia.ko": b""}, "dkms"),
        ({f"{DKMS}/580.95.05/source": "-> /usr/src/nvidia-580.95.05"}, "dkms"),
        ({f"/lib/modules/{OLDER}/extra/nvidia/nvidia.ko.xz": b"", "/usr/sbin/akmods": ""}, "akmods"),
        ({f"/lib/modules/{OLDER}/extra/nvidia/nvidia.ko.xz": b""}, ""),
        (
            {f"/lib/modules/{OLDER}/kernel/nvidia-580-server-open/nvidia.ko": b""},
            "linux-modules-nvidia-580-server-open",
        ),
        ({f"/lib/modules/{OLDER}/kernel/drivers/video/nvidia.ko": b"", "/usr/bin/nvidia-installer": ""}, "runfile"),
        ({f"/lib/modules/{OLDER}/extramodules/nvidia.ko.zst": b""}, "pacman"),
        ({f"/lib/modules/{OLDER}/updates/nvidia.ko": b""}, "kmp"),
        ({"/etc/": ""}, ""),
    ],
)
def test_who_brings_the_module(tmp_path: Path, tree: Tree, expected: str) -> None:
    running: Tree = {"/proc/sys/kernel/osrelease": f"{KERNEL}\n", f"/lib/modules/{KERNEL}/modules.dep": ""}
    assert value(look(PretendHost(tmp_path, {**running, **tree})).module_source) == expected


def test_the_modules_of_the_running_kernel_are_gone(tmp_path: Path) -> None:
    tree: Tree = {"/proc/sys/kernel/osrelease": f"{KERNEL}\n", f"/lib/modules/{OLDER}/updates/dkms/nvidia.ko": b""}
    assert value(look(PretendHost(tmp_path, tree)).module_source) == "gone"
    loaded = look(PretendHost(tmp_path, {"/proc/modules": "nvidia 1 0\n"}))
    assert isinstance(loaded.module_source, Unseen)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"/usr/bin/nvidia-uninstall": ""}, "runfile"),
        ({"/usr/src/akmods/nvidia-kmod.latest": ""}, "rpmfusion"),
        ({"/usr/src/akmods/v4l2loopback-kmod.latest": ""}, ""),
        ({"/etc/": ""}, ""),
    ],
)
def test_who_brought_the_driver(tmp_path: Path, tree: Tree, expected: str) -> None:
    assert value(look(offline(tmp_path, tree)).brought_by) == expected


@pytest.mark.parametrize("openable", [True, False])
def test_nodes(tmp_path: Path, openable: bool) -> None:
    tree = {
        "/dev/nvidia0": "",
        "/dev/nvidiactl": "",
        "/dev/nvidia-caps/nvidia-cap1": "",
        "/dev/null": "",
        "/etc/group": "root:x:0:\n",
    }
    nodes = look(PretendHost(tmp_path, tree, openable=openable)).nodes.get()
    assert [node.path for node in nodes] == ["/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia0", "/dev/nvidiactl"]
    assert {value(node.openable) for node in nodes} == {openable}


UNIT = "/lib/systemd/system/nvidia-fabricmanager.service"
GROUP = "/sys/fs/cgroup/system.slice/nvidia-fabricmanager.service/cgroup.procs"
PID = "/run/nvidia-fabricmanager/nv-fabricmanager.pid"


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"/etc/": ""}, "absent"),
        ({UNIT: ""}, "stopped"),
        ({UNIT: "", "/proc/7/comm": "nv-fabricmanage\n"}, "running"),
        ({UNIT: "", GROUP: "812\n"}, "running"),
        ({UNIT: "", GROUP: ""}, "stopped"),
        ({UNIT: "", PID: "812\n"}, "stopped"),
        ({PID: "812\n", "/proc/812/comm": "nv-fabricmanage\n"}, "running"),
        ({"/.dockerenv": ""}, UNSEEN),
        ({"/.dockerenv": "", GROUP: "812\n"}, "running"),
    ],
)
def test_fabric_manager(tmp_path: Path, tree: Tree, expected: Any) -> None:
    assert value(look(PretendHost(tmp_path, tree)).fabric_manager) == expected


def test_options(tmp_path: Path) -> None:
    tree = {
        "/etc/modprobe.d/nvidia.conf": "# options nvidia No=1\n options nvidia NVreg_OpenRmEnableUnsupportedGpus=1 \n",
        "/lib/modprobe.d/nvidia.conf": "options nvidia NVreg_Hidden=1\n",
        "/lib/modprobe.d/z.conf": "options nvidia-drm modeset=1\noptions nvidia NVreg_DeviceFileMode=0660\n",
        "/lib/modprobe.d/z.conf.bak": "options nvidia NVreg_Backup=1\n",
    }
    expected = ("options nvidia NVreg_OpenRmEnableUnsupportedGpus=1", "options nvidia NVreg_DeviceFileMode=0660")
    assert value(look(offline(tmp_path, tree)).open_rm_parameters) == expected


def test_a_root_shows_no_running_driver(tmp_path: Path) -> None:
    seen = look(offline(tmp_path, {"/sys/module/nvidia/version": "580.95.05", **libraries("570.86.10")}))
    for fact in (seen.module_release, seen.flavour, seen.modules_loaded, seen.nodes, seen.fabric_manager):
        assert isinstance(fact, Unseen)
    assert str(value(seen.release)) == "570.86.10"


def test_a_windows_root_does_not_fail(tmp_path: Path) -> None:
    seen = look(offline(tmp_path, {"/Windows/System32/nvcuda.dll": b"MZ"}))
    assert isinstance(seen.release, Unseen)
    assert value(seen.libraries) == ()


@pytest.mark.parametrize(
    ("dll", "version", "release"),
    [
        ("nvcuda.dll", (31, 0, 15, 3623), "536.23"),
        ("nvcuda.dll", (32, 0, 15, 7602), "576.02"),
        ("nvcuda.dll", (21, 21, 13, 7290), "372.90"),
        ("nvml.dll", (8, 17, 15, 6094), "560.94"),
        ("nvcuda.dll", (10, 0, 19041, 1), None),
        ("nvcuda.dll", None, None),
    ],
)
def test_the_driver_of_a_windows_disk(
    tmp_path: Path, dll: str, version: tuple[int, int, int, int] | None, release: str | None
) -> None:
    tree: Tree = {f"/Windows/System32/{dll}": pe_bytes(dll, version=version)}
    seen = look(offline(tmp_path, tree))
    if release is None:
        assert isinstance(seen.release, Unseen)
        assert dll in seen.release.why
    else:
        assert isinstance(seen.release, Seen)
        assert (str(seen.release.value), dll in str(seen.release.how)) == (release, True)
    host = PretendHost(tmp_path, tree)
    host.os_family = "windows"
    assert str(value(look(host, said=told("551.86")).release)) == "551.86"  # what runs goes before what lies there
    if release:
        assert str(value(look(host).release)) == release


def test_nvml_is_handed_on(tmp_path: Path) -> None:
    answer = Seen(Nvml("", "not-found", "words", 12), "NVML")
    assert look(PretendHost(tmp_path, {"/etc/": ""}), said=told()._replace(nvml=answer)).nvml == answer


def test_this_machine() -> None:
    assert isinstance(look(LiveHost()).libraries, Seen)


PACKAGE = "Package: nvidia-fabricmanager-580\nStatus: install ok installed\nVersion: 580.65.06-0ubuntu0.24.04.1\n"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (f"Package: a\nVersion: 1\n\n{PACKAGE}", DriverRelease((580, 65, 6))),
        (PACKAGE.replace("580.65", f"580.6{'5' * 20}"), UNSEEN),
        (PACKAGE.replace("580.65", "580.65.1.2"), UNSEEN),
        (PACKAGE.replace("install ok installed", "deinstall ok config-files"), UNSEEN),
        ("Package: nvidia-fabricmanager-dev-580\nStatus: install ok installed\nVersion: 580.1-1\n", UNSEEN),
    ],
)
def test_the_release_of_the_fabric_manager(tmp_path: Path, status: str, expected: Any) -> None:
    tree = {UNIT: "", "/var/lib/dpkg/status": status}
    assert value(look(PretendHost(tmp_path, tree)).fabric_release) == expected
