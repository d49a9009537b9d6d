"""The NVIDIA driver, on every rung of the ladder that this machine has.

In order of trust: the loaded module's word in sysfs, then in /proc; the file names of its libraries; NVML; nvidia-smi,
which is run only when nothing else knew. On Windows: NVML, the version resource of the driver's DLLs, nvidia-smi.
Sources: NVIDIA's driver README, chapters "Installed Components", "Open Linux Kernel Modules" and "NVIDIA Device Files";
on WSL, NVIDIA's "CUDA on WSL User Guide".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.version import CudaVersion, DriverRelease, VersionError
from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import names_of, real_path_of, text_of
from doctor.model.facts.driver import DeviceNode, DkmsBuild, DriverFacts, DriverLibrary, ModuleFile
from doctor.model.facts.loader import FoundBy, LoaderFacts
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.probes import kernel_module
from doctor.probes.nvml import Told
from doctor.probes.system import container_of, installed_kernels, names_by_id
from doctor.pyenv import dpkg

_NOTHING_RUNS = "an offline root shows no running driver"
_SYSFS = "/sys/module/nvidia/version"
_PROC = "/proc/driver/nvidia/version"
_SMALL_BYTES = 64 << 10
_SMI_TIMEOUT_S = 10.0


def look(host: Host, search: LoaderFacts, told: Told) -> DriverFacts:
    """Everything about the driver; on a root, what its files say."""
    described = _described(host)
    found = libraries(host, search, told.driver_release)
    module = _module_release(host, described)
    release, cuda = _release(host, module, found, told)
    loaded = _modules_loaded(host)
    module_files = _module_files(host, loaded)
    settings, dkms = kernel_module.modprobe(host), kernel_module.dkms(host)
    return DriverFacts(
        release=release,
        module_release=module,
        flavour=_flavour(described, module_files, module),
        cuda=cuda,
        libraries=Seen(found, "file names"),
        modules_loaded=loaded,
        module_files=module_files,
        dkms=dkms,
        module_source=_module_source(host, loaded, module_files, dkms),
        brought_by=_brought_by(host),
        nodes=(nodes := _nodes(host)),
        modprobe=_modprobe(host, nodes),
        nvml=told.nvml,
        fabric_manager=(fabric := _fabric_manager(host)),
        fabric_release=_fabric_release(host, fabric),
        open_rm_parameters=settings.options,
        blocked=settings.blocked,
        switch=_switch(host, settings.blocked),
    )


# The loaded module


class _Described(NamedTuple):
    """What /proc/driver/nvidia/version says."""

    release: DriverRelease
    flavour: str


def _described(host: Host) -> Fact[_Described]:
    """From "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01 ...", or "... Open Kernel Module for ..."."""
    try:
        text = host.read_text(_PROC, _SMALL_BYTES) if host.is_live else ""
    except HostError as error:
        return Unseen(str(error))
    match = re.search(r"(?am)^NVRM version:(.*?)\s{1,4}(\d{2,4}\.\d{1,4}(?:\.\d{1,4})?)\s", text + "\n")
    if match is None:
        return Unseen(f"{_PROC} does not say a release" if host.is_live else _NOTHING_RUNS)
    return Seen(
        _Described(DriverRelease.parse(match[2]), "open" if " Open " in match[1] else "proprietary"), Place(_PROC)
    )


def _module_release(host: Host, described: Fact[_Described]) -> Fact[DriverRelease]:
    if not host.is_live:
        return Unseen(_NOTHING_RUNS)
    try:
        return Seen(DriverRelease.parse(host.read_text(_SYSFS, _SMALL_BYTES)), Place(_SYSFS))
    except (HostError, VersionError):
        pass  # the next rung
    if isinstance(described, Seen):
        return Seen(described.value.release, described.how)
    return Unseen(f"no nvidia kernel module is loaded (neither {_SYSFS} nor {_PROC})")


def _flavour(
    described: Fact[_Described],
    module_files: Fact[tuple[ModuleFile, ...]],
    module: Fact[DriverRelease],
) -> Fact[str]:
    """Of the loaded module: in its own words, else by the file that it was loaded from."""
    if isinstance(described, Seen):
        return Seen(described.value.flavour, described.how)
    if isinstance(module, Unseen) or isinstance(module_files, Unseen):
        return Unseen(module.why if isinstance(module, Unseen) else "no module file could be read")
    for file in module_files.value:
        if isinstance(file.flavour, Seen) and isinstance(file.release, Seen) and file.release.value == module.value:
            return file.flavour
    return Unseen(f"{_PROC} is missing, and no module file of release {module.value} could be read")


_MODULES = ("nouveau", "nova_core", "nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_uvm")


def _modules_loaded(host: Host) -> Fact[tuple[str, ...]]:
    if not host.is_live:
        return Unseen(_NOTHING_RUNS)
    if host.os_family != "linux":
        return Unseen(f"kernel modules are not listed on {host.os_family}")
    try:
        lines = host.read_text("/proc/modules").splitlines()
    except HostError as error:
        if not host.is_dir("/sys/module"):
            return Unseen(str(error))
        lines = []
    loaded = {line.partition(" ")[0] for line in lines}
    built_in = {name for name in _MODULES if name not in loaded and host.is_dir(f"/sys/module/{name}")}
    return Seen(tuple(name for name in _MODULES if name in loaded | built_in), "/proc/modules, /sys/module")


def _module_files(host: Host, loaded: Fact[tuple[str, ...]]) -> Fact[tuple[ModuleFile, ...]]:
    if host.os_family != "linux":
        return Unseen("only Linux has kernel module files")
    kernels = installed_kernels(host)
    if not host.is_live:
        return kernel_module.files(host, kernels, unpack=kernels[-1] if kernels else "")
    running = text_of(host, "/proc/sys/kernel/osrelease", _SMALL_BYTES).strip()
    if running in kernels:  # last: only so many are looked at
        kernels = [*(kernel for kernel in kernels if kernel != running), running]
    is_loaded = isinstance(loaded, Seen) and "nvidia" in loaded.value
    return kernel_module.files(host, kernels, unpack="" if is_loaded else running)


def _module_source(
    host: Host, loaded: Fact[tuple[str, ...]], found: Fact[tuple[ModuleFile, ...]], dkms: Fact[tuple[DkmsBuild, ...]]
) -> Fact[str]:
    if host.os_family != "linux" or (isinstance(loaded, Seen) and "nvidia" in loaded.value):
        return Unseen("the module is loaded, or this is not Linux")
    paths = [one.path for one in found.value] if isinstance(found, Seen) else []
    builds = [one for one in dkms.value if one.module.startswith("nvidia")] if isinstance(dkms, Seen) else []
    return Seen(kernel_module.source(host, paths, has_dkms=bool(builds)), Place("/lib/modules"))


def _brought_by(host: Host) -> Fact[str]:
    """NVIDIA's installer leaves its program, RPM Fusion's packages the source that akmods builds from."""
    if host.os_family != "linux":
        return Seen("", host.os_family)
    if host.exists("/usr/bin/nvidia-uninstall"):
        return Seen("runfile", Place("/usr/bin/nvidia-uninstall"))
    is_akmod = any(name.startswith("nvidia") for name in names_of(host, "/usr/src/akmods"))
    return Seen("rpmfusion" if is_akmod else "", Place("/usr/src/akmods"))


_SWITCHES = ("prime-select", "envycontrol", "supergfxctl")  # Ubuntu's nvidia-prime, EnvyControl, asusctl's


def _switch(host: Host, blocked: Fact[tuple[str, ...]]) -> Fact[str]:
    """The program that wrote the lines which keep the module away, where one of them is installed."""
    if not (isinstance(blocked, Seen) and blocked.value):
        return Unseen("nothing keeps the module away")
    return Seen(next((name for name in _SWITCHES if host.is_file(f"/usr/bin/{name}")), ""), Place("/usr/bin"))


# Libraries

_STEMS = (
    "libcuda",
    "libcudadebugger",
    "libnvidia-ml",
    "libnvidia-nvvm",
    "libnvidia-opencl",
    "libnvidia-ptxjitcompiler",
)
# Three numbers or more before the first dot: what follows is a driver release, not a SONAME's version.
_VERSIONED = r"(lib[a-z-]+)\.so\.(\d{3,4}\.\d{1,4}(?:\.\d{1,4})?)"
_DIRECTORIES = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/powerpc64le-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/aarch64-linux-gnu/nvidia/current",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
)
_WSL = "/usr/lib/wsl/lib"
_TOOLKITS_AT_MOST = 20
_LIBRARIES_AT_MOST = 200


def libraries(host: Host, search: LoaderFacts, told: Fact[DriverRelease]) -> tuple[DriverLibrary, ...]:
    """The driver's libraries, and which of them the loader takes; `told` is the release in NVML's own words."""
    if host.os_family != "linux":
        return ()
    searched = _searched(search)
    winners = {stem: _winner(host, search, f"{stem}.so.1") for stem in _STEMS}
    found: dict[str, DriverLibrary] = {}
    # By their real paths: /lib leads to /usr/lib nearly everywhere, and listing these takes most of this probe's time.
    # Debian's alternatives lead to a directory that no loader searches: .../nvidia/current, .../nvidia/tesla-470.
    led_to = [path.rpartition("/")[0] for path in winners.values() if path]
    folders = (folder for folder in (*searched, *_DIRECTORIES, *led_to, *_compat(host)) if host.is_dir(folder))
    for folder in dict.fromkeys(real_path_of(host, folder) for folder in folders):
        for library in _versioned(host, folder, winners):
            found.setdefault(library.path, library)
    for library in (*_unversioned(host, _WSL, winners, told), *_stubs(host, searched, winners)):
        found.setdefault(library.path, library)
    return tuple(sorted(found.values())[:_LIBRARIES_AT_MOST])


def _searched(search: LoaderFacts) -> list[str]:
    """The directories that the loader searches, the cache's among them, in its order."""
    directories = search.search.value if isinstance(search.search, Seen) else ()
    cached = search.cache.value if isinstance(search.cache, Seen) else ()
    folders = [one.path for one in directories if one.why is FoundBy.LIBRARY_PATH]
    folders += [entry.path.rpartition("/")[0] for entry in cached if _is_ours(entry.soname)]
    folders += [one.path for one in directories]
    return list(dict.fromkeys(folders))


def _is_ours(name: str) -> bool:
    return name.partition(".so")[0] in _STEMS


def _winner(host: Host, search: LoaderFacts, soname: str) -> str:
    """The real path of the library that the loader finds for a name, "" for none."""
    directories = search.search.value if isinstance(search.search, Seen) else ()
    candidates = [f"{one.path}/{soname}" for one in directories if one.why is FoundBy.LIBRARY_PATH]
    if isinstance(search.cache, Seen):
        candidates += [entry.path for entry in search.cache.value if entry.soname == soname]
    candidates += [f"{one.path}/{soname}" for one in directories]
    return next((real_path_of(host, path) for path in candidates if host.exists(path)), "")


def _versioned(host: Host, folder: str, winners: dict[str, str]) -> Iterator[DriverLibrary]:
    for name in names_of(host, folder):
        if not name.startswith(("libcuda", "libnvidia-")):
            continue
        match = re.fullmatch(_VERSIONED, name)
        if match is None or match[1] not in _STEMS:
            continue
        path = real_path_of(host, f"{folder}/{name}")
        yield DriverLibrary(
            path=path,
            stem=match[1],
            release=DriverRelease.parse(match[2]),
            origin=_origin(path),
            loads=winners[match[1]] == path,
        )


def _unversioned(
    host: Host, folder: str, winners: dict[str, str], told: Fact[DriverRelease]
) -> Iterator[DriverLibrary]:
    """Libraries of the Windows driver, whose names carry no release: NVML's word stands for it."""
    for stem in _STEMS:
        path = f"{folder}/{stem}.so.1"
        if host.is_file(path):
            real = real_path_of(host, path)
            release = told.value if isinstance(told, Seen) else _NO_RELEASE
            yield DriverLibrary(path=real, stem=stem, release=release, origin="wsl", loads=winners[stem] == real)


# What the name libcuda.so.1 carries: its SONAME's version, no driver's.
_NO_RELEASE = DriverRelease((1,))


def _stubs(host: Host, searched: list[str], winners: dict[str, str]) -> Iterator[DriverLibrary]:
    """A toolkit's link-time libcuda where the loader searches, itself or through a link that somebody made."""
    paths = {path for stem, path in winners.items() if stem == "libcuda" and _origin(path) == "stub"}
    for folder in searched:
        for name in ("libcuda.so.1", "libcuda.so") if folder.endswith("/stubs") else ():
            if host.is_file(f"{folder}/{name}"):
                paths.add(real_path_of(host, f"{folder}/{name}"))
    for path in sorted(paths):
        yield DriverLibrary(
            path=path, stem="libcuda", release=_NO_RELEASE, origin="stub", loads=winners["libcuda"] == path
        )


def _compat(host: Host) -> Iterator[str]:
    """Forward-compatibility packages: <toolkit>/compat, in newer ones with the library one directory deeper."""
    toolkits = [name for name in names_of(host, "/usr/local") if name.startswith("cuda")]
    for name in toolkits[:_TOOLKITS_AT_MOST]:
        yield f"/usr/local/{name}/compat"
        yield f"/usr/local/{name}/compat/lib.real"


def _origin(path: str) -> str:
    if "/stubs/" in path:
        return "stub"
    if "/compat/" in path:
        return "compat"
    return "wsl" if path.startswith("/usr/lib/wsl/") else "system"


# The release


def _release(
    host: Host, module: Fact[DriverRelease], libraries: tuple[DriverLibrary, ...], told: Told
) -> tuple[Fact[DriverRelease], Fact[CudaVersion]]:
    """The best that is known of the driver's release, and of the CUDA it runs."""
    if isinstance(module, Seen):
        return module, told.cuda
    by_name = _release_by_name(libraries)
    if isinstance(by_name, Seen):
        return by_name, told.cuda
    of_files = _release_of_dlls(host)
    if isinstance(of_files, Seen) and isinstance(told.driver_release, Unseen):
        return of_files, told.cuda
    if not host.is_live:
        return of_files, told.cuda
    hung = isinstance(told.nvml, Seen) and told.nvml.value.state == "hung"  # nvidia-smi would hang as well
    return (told.driver_release, told.cuda) if isinstance(told.driver_release, Seen) or hung else _ask_smi(host, told)


def _release_by_name(libraries: tuple[DriverLibrary, ...]) -> Fact[DriverRelease]:
    """Of the library that loads; of those that do not, only where they agree."""
    ours = [
        library for library in libraries if library.origin == "system" and library.stem in {"libcuda", "libnvidia-ml"}
    ]
    for library in ours:
        if library.loads:
            return Seen(library.release, f"name of {library.path}")
    if len({library.release for library in ours}) == 1:
        return Seen(ours[0].release, f"name of {ours[0].path}")
    return Unseen("the driver libraries here are of several releases" if ours else "no driver library is here")


_DLLS = ("C:/Windows/System32/nvcuda.dll", "C:/Windows/System32/nvml.dll")


def _release_of_dlls(host: Host) -> Fact[DriverRelease]:
    """The Windows driver's release in the version of its DLLs: 31.0.15.3623 is 536.23, by its last five digits."""
    why = "this root holds no library of an NVIDIA driver"
    for path in _DLLS if host.os_family == "windows" else ():
        if not host.is_file(path):
            continue
        from doctor.loader.dll_version import version_of  # late: only Windows has DLLs

        version = version_of(host, path)
        if isinstance(version, Unseen):
            why = version.why
            continue
        third, fourth = version.value[2:]
        if 10 < third < 20 and fourth < 10_000:  # else it is of no driver: Windows' own are 10.0.19041.1
            return Seen(DriverRelease((third % 10 * 100 + fourth // 100, fourth % 100)), version.how)
        why = f"{path} is of version {'.'.join(map(str, version.value))}, which is no driver release"
    return Unseen(why)


# The banner of nvidia-smi, which called them "Driver Version" and "CUDA Version" before 610.
_SMI_RELEASE = r"(?:Driver|KMD) Version:\s*(\d{2,4}(?:\.\d{1,4}){1,2})"
_SMI_CUDA = r"CUDA (?:UMD )?Version:\s*(\d{1,3}\.\d{1,2})"


def _ask_smi(host: Host, told: Told) -> tuple[Fact[DriverRelease], Fact[CudaVersion]]:
    try:
        ran = host.run(("nvidia-smi",), timeout_s=_SMI_TIMEOUT_S)
    except Missing:
        return Unseen(
            "no NVIDIA driver was found: no module is loaded, no library of it and no nvidia-smi is there"
        ), told.cuda
    except HostError as error:
        return Unseen(f"nvidia-smi, the last that could know, was no help: {error}"), told.cuda
    release, cuda = re.search(_SMI_RELEASE, ran.stdout), re.search(_SMI_CUDA, ran.stdout)
    if release is None:
        said = (ran.stdout.strip() or ran.stderr.strip()).partition("\n")[0]
        return Unseen(f"nvidia-smi names no driver (status {ran.status}): {said[:200]}"), told.cuda
    told_cuda = Seen(CudaVersion.parse(cuda[1]), "nvidia-smi") if cuda and isinstance(told.cuda, Unseen) else told.cuda
    return Seen(DriverRelease.parse(release[1]), "nvidia-smi"), told_cuda


# Device nodes and services


def _nodes(host: Host) -> Fact[tuple[DeviceNode, ...]]:
    if not host.is_live or host.os_family != "linux":
        return Unseen("device nodes are only seen on a running Linux")
    try:
        names = [name for name in host.names("/dev") if name.startswith("nvidia")]
    except HostError as error:
        return Unseen(str(error))
    groups = names_by_id(host, "/etc/group") if names else {}
    paths = [path for name in names for path in _inside(host, f"/dev/{name}")]
    nodes = [_node(host, path, groups) for path in paths]
    return Seen(tuple(node for node in nodes if node is not None), Place("/dev"))


_UVM = "/dev/nvidia-uvm"
_MODPROBE = "/usr/bin/nvidia-modprobe"  # libcuda starts it by this path (nvidia-modprobe, nvidia-modprobe-utils.c)
_SET_USER_ID = 0o4000


def _modprobe(host: Host, nodes: Fact[tuple[DeviceNode, ...]]) -> Fact[str]:
    """Whether a user's first CUDA program can make the node of nvidia-uvm, where it is not there."""
    if isinstance(nodes, Unseen) or any(node.path == _UVM for node in nodes.value):
        return Unseen(f"{_UVM} is there, or could not be looked for")
    try:
        mode = host.status(_MODPROBE).mode
    except Missing:
        return Seen("absent", Place(_MODPROBE))
    except HostError as error:
        return Unseen(str(error))
    return Seen("set-user-ID" if mode & _SET_USER_ID else "plain", Place(_MODPROBE))


def _inside(host: Host, path: str) -> list[str]:
    """/dev/nvidia-caps is a directory of nodes."""
    return [f"{path}/{name}" for name in names_of(host, path)] if host.is_dir(path) else [path]


def _node(host: Host, path: str, groups: dict[int, str]) -> DeviceNode | None:
    try:
        found = host.status(path)
    except HostError:
        return None
    # Not opened: that wakes a sleeping card. A container's device rules can still refuse what these bits allow.
    openable = Seen(host.may_access(path, "rw"), "access")
    return DeviceNode(
        path=path, mode=found.mode, uid=found.uid, gid=found.gid, group=groups.get(found.gid, ""), openable=openable
    )


_FABRIC_GROUPS = (
    "/sys/fs/cgroup/system.slice/nvidia-fabricmanager.service",
    "/sys/fs/cgroup/systemd/system.slice/nvidia-fabricmanager.service",
)
_FABRIC_PID = "/run/nvidia-fabricmanager/nv-fabricmanager.pid"
_FABRIC_FILES = (
    "/usr/bin/nv-fabricmanager",
    "/lib/systemd/system/nvidia-fabricmanager.service",
    "/etc/systemd/system/nvidia-fabricmanager.service",
)
_FABRIC_COMM = "nv-fabricmanage"  # as the kernel cuts it: TASK_COMM_LEN is 16 with the final NUL
_PROCESSES_AT_MOST = 5000


def _fabric_manager(host: Host) -> Fact[str]:
    if not host.is_live:
        return Unseen("an offline root shows no running service")
    if host.os_family != "linux":
        return Seen("absent", f"{host.os_family} has none")
    running = next((path for path in (*_FABRIC_GROUPS, _FABRIC_PID) if _holds_numbers(host, path)), "")
    if running:
        return Seen("running", Place(running))
    installed = next((path for path in _FABRIC_FILES if host.is_file(path)), "")
    if installed:
        return Seen("running", Place("/proc")) if _runs(host, _FABRIC_COMM) else Seen("stopped", Place(installed))
    container = container_of(host)
    if isinstance(container, Seen) and container.value:
        return Unseen("a container does not show the host's services")
    return Seen("absent", "no nv-fabricmanager is installed")


def _fabric_release(host: Host, state: Fact[str]) -> Fact[DriverRelease]:
    """By dpkg: nvidia-fabricmanager-580 of version 580.95.05-0ubuntu1."""
    if not isinstance(state, Seen) or state.value == "absent":
        return Unseen("no fabric manager is installed, or none was seen")
    try:
        packages = tuple(dpkg.installed(host, r"nvidia-fabricmanager(?:-\d+)?"))
    except HostError as error:
        return Unseen(str(error))
    for package in packages:
        version = re.match(r"(?:\d+:)?(\d{1,9}(?:\.\d{1,9}){1,2})-", package.version, re.ASCII)
        if version:
            return Seen(DriverRelease.parse(version[1]), f"dpkg, {package.name}")
    return Unseen("dpkg has no package of a fabric manager")


def _holds_numbers(host: Host, path: str) -> bool:
    """Whether a control group has processes, or the process of a pid file still runs."""
    try:
        if not path.endswith(".pid"):
            return host.read_text(f"{path}/cgroup.procs", _SMALL_BYTES).strip() != ""
        pid = host.read_text(path, _SMALL_BYTES).strip()
    except HostError:
        return False
    return pid.isascii() and pid.isdigit() and _comm(host, pid) == _FABRIC_COMM


def _runs(host: Host, name: str) -> bool:
    pids = [pid for pid in names_of(host, "/proc") if pid[:1].isdigit()]
    return any(_comm(host, pid) == name for pid in pids[:_PROCESSES_AT_MOST])


def _comm(host: Host, pid: str) -> str:
    return text_of(host, f"/proc/{pid}/comm", _SMALL_BYTES).strip()
