"""The operating system, the kernel, what they run in, and who runs us.

Sources: os-release(5); proc(5), sysfs; systemd's "Container Interface" for /run/systemd/container; the UEFI
specification, section "Globally Defined Variables", for SecureBoot; NVIDIA's L4T for /etc/nv_tegra_release.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.binaries import machine_of_file
from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import names_of, text_of
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.model.facts.system import Job, OperatorState, SystemFacts, common_machine

NOTHING_RUNS = "an offline root shows no running system"
_NO_USER = "an offline root has no user"
_KERNEL_RELEASE = "/proc/sys/kernel/osrelease"
_SMALL_BYTES = 64 << 10
_LIBC_AT_MOST_BYTES = 16 << 20

_RUNTIME_VARIABLES = (
    "NVIDIA_DISABLE_REQUIRE",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_REQUIRE_CUDA",
    "NVIDIA_VISIBLE_DEVICES",
)


# Sources: ostree-prepare-root(1), rpm-ostree(1).
_BOOTED, _DEPLOYED = "/run/ostree-booted", "/sysroot/ostree"


def look(host: Host) -> SystemFacts:
    """Everything about the system; on a root, only what its files say."""
    container = container_of(host)
    who = _identity(host)
    distribution = _os_release(host)
    facts = SystemFacts(
        family=Seen(host.os_family, "the files" if not host.is_live else "this Python"),
        distribution=_entry(distribution, "PRETTY_NAME", "NAME"),
        distribution_id=_entry(distribution, "ID"),
        distribution_version=_entry(distribution, "VERSION_ID"),
        machine=_machine(host),
        kernel=_kernel(host),
        glibc=_glibc(host),
        wsl=wsl_of(host),
        container=container,
        gpu_runtime_env=_gpu_runtime_env(host),
        jetson=_jetson(host),
        secure_boot=_secure_boot(host, container),
        user=who.user,
        groups=who.groups,
        is_root=who.is_root,
        sudo_user=_sudo_user(host),
        shm_bytes=_shm_bytes(host),
        dxg=_dxg(host),
        kernel_log=_kernel_log(host),
        ostree=Seen(host.exists(_BOOTED if host.is_live else _DEPLOYED), "files of ostree"),
        gpu_operator=_gpu_operator(host),
        base=_base(distribution),
        job=_job(host),
    )
    if host.os_family != "windows":
        return facts
    from doctor.probes.windows_settings import long_paths, wsl_distributions  # late: only Windows has them

    return facts._replace(long_paths=long_paths(host), wsl_distributions=wsl_distributions(host))


# Source: NVIDIA/gpu-operator, cmd/nvidia-validator/main.go, defaultStatusPath.
_VALIDATIONS = "/run/nvidia/validations"


def _gpu_operator(host: Host) -> Fact[OperatorState]:
    if not host.is_live:
        return Unseen("a disk or image does not say what runs on its node")
    if not host.exists(_VALIDATIONS):
        return Seen(OperatorState(is_here=False, ready=()), Place(_VALIDATIONS))
    try:
        names = host.names(_VALIDATIONS)
    except HostError as error:
        return Unseen(str(error))
    return Seen(OperatorState(True, tuple(sorted(one for one in names if one.endswith("-ready")))), Place(_VALIDATIONS))


# Sources: srun(1), "OUTPUT ENVIRONMENT VARIABLES"; the PBS Professional User's Guide, "Environment Variables"; IBM
# Spectrum LSF, "Environment variables set for job execution". None of them keeps a job's GPUs elsewhere.
_JOBS = (
    ("SLURM_JOB_ID", "Slurm", ("SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "SLURM_GPUS_ON_NODE")),
    ("PBS_JOBID", "PBS", ()),
    ("LSB_JOBID", "LSF", ()),
)


def _job(host: Host) -> Fact[Job]:
    if not host.is_live:
        return Unseen(NOTHING_RUNS)
    for name, scheduler, given in _JOBS:
        if host.environ.get(name):
            gpus = next((host.environ[one] for one in given if host.environ.get(one)), "")
            return Seen(Job(scheduler, gpus), name)
    return Seen(Job("", ""), "environment")


# The distribution


def _os_release(host: Host) -> Fact[dict[str, str]]:
    if host.os_family == "windows":
        return _windows_release(host)
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        try:
            text = host.read_text(path, _SMALL_BYTES)
        except Missing:
            continue
        except HostError as error:
            return Unseen(str(error))
        return Seen(dict(_assignments(text)), Place(path))
    return Unseen("neither /etc/os-release nor /usr/lib/os-release is there")


def _windows_release(host: Host) -> Fact[dict[str, str]]:
    if not host.is_live:
        return Unseen("a Windows disk names its release in the registry, which is not read")
    import sys  # late: only on Windows

    ask = getattr(sys, "getwindowsversion", None)
    if ask is None:
        return Unseen("this is not a Windows Python")
    version = ask()
    release = f"{version.major}.{version.minor}.{version.build}"
    return Seen({"PRETTY_NAME": f"Windows {release}", "ID": "windows", "VERSION_ID": release}, "GetVersionEx")


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    """NAME=value lines, quotes taken off."""
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            yield name, value.strip().strip("\"'")


def _entry(release: Fact[dict[str, str]], *names: str) -> Fact[str]:
    if isinstance(release, Unseen):
        return release
    for name in names:
        if release.value.get(name):
            return Seen(release.value[name], release.how)
    return Unseen(f"{release.how} does not say {names[0]}")


# Releases by their code names, which derivatives name: Linux Mint 22 says UBUNTU_CODENAME=noble, LMDE 6
# DEBIAN_CODENAME=bookworm. Sources: os-release(5); the files of base-files of these distributions.
_CODENAMES = {
    "xenial": "16.04",
    "bionic": "18.04",
    "focal": "20.04",
    "jammy": "22.04",
    "noble": "24.04",
    "resolute": "26.04",
    "buster": "10",
    "bullseye": "11",
    "bookworm": "12",
    "trixie": "13",
    "forky": "14",
    "chimaera": "11",
    "daedalus": "12",
    "excalibur": "13",  # Devuan's own names
}


def _base(release: Fact[dict[str, str]]) -> Fact[tuple[str, str]]:
    """What a distribution is made of: its packages are those of that one, and NVIDIA's repository serves them."""
    if isinstance(release, Unseen):
        return release
    said, like = release.value, release.value.get("ID_LIKE", "").split()
    ubuntu, debian = said.get("UBUNTU_CODENAME", ""), said.get("DEBIAN_CODENAME", said.get("VERSION_CODENAME", ""))
    if said.get("ID") in {"ubuntu", "debian"} or not {"ubuntu", "debian"} & {*like}:
        return Seen(("", ""), release.how)
    if ubuntu in _CODENAMES:
        return Seen(("ubuntu", _CODENAMES[ubuntu]), release.how)
    return Seen(("", "") if "ubuntu" in like else ("debian", _CODENAMES.get(debian, "")), release.how)


# The kernel and the C library


def _kernel(host: Host) -> Fact[str]:
    if host.os_family == "windows":
        return Unseen("Windows has no separate kernel release")
    if not host.is_live:
        kernels = installed_kernels(host)
        if not kernels:
            return Unseen("no kernel is installed in this root (/lib/modules is empty or missing)")
        return Seen(kernels[-1], Place("/lib/modules"))
    return _text(host, _KERNEL_RELEASE)


def installed_kernels(host: Host) -> list[str]:
    """The names under /lib/modules that are kernel releases, oldest first."""
    return sorted((name for name in names_of(host, "/lib/modules") if name[:1].isdigit()), key=_by_numbers)


def _by_numbers(release: str) -> tuple[list[int], str]:
    return [int(number) for number in re.findall(r"\d{1,9}", release)], release


def _machine(host: Host) -> Fact[str]:
    if host.is_live:
        try:
            return Seen(common_machine(host.kernel_machine()), "uname")
        except HostError as error:
            return Unseen(str(error))
    for path in _PROGRAMS.get(host.os_family, ()):
        found = machine_of_file(host, path)
        if found:
            return Seen(found, Place(path))
    return Unseen("no program that every system has could be read, to see what it was built for")


_PROGRAMS = {
    "linux": (
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/ld-linux-aarch64.so.1",
        "/lib64/ld64.so.2",
        "/bin/sh",
        "/usr/bin/env",
        "/sbin/init",
    ),
    "windows": ("C:/Windows/System32/ntdll.dll", "C:/Windows/System32/kernel32.dll"),
}


def _glibc(host: Host) -> Fact[str]:
    if host.os_family != "linux":
        return Unseen(f"there is no glibc on {host.os_family}")
    if not host.is_live:
        return _glibc_of_files(host)
    try:
        name, _, version = host.libc_version().partition(" ")
    except HostError:
        return _glibc_of_files(host)
    return Seen(version, "confstr") if name == "glibc" and version else _glibc_of_files(host)


_LIBC_PLACES = (
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/aarch64-linux-gnu/libc.so.6",
    "/lib/powerpc64le-linux-gnu/libc.so.6",
    "/lib64/libc.so.6",
    "/usr/lib/libc.so.6",
)


def _glibc_of_files(host: Host) -> Fact[str]:
    """From the name that libc.so.6 leads to (libc-2.31.so), else from the banner inside it."""
    path = next((place for place in _LIBC_PLACES if host.is_file(place)), "")
    if not path:
        return Unseen("no libc.so.6 is in the usual directories (musl, or not a glibc system)")
    try:
        real = host.real_path(path)
        named = re.search(r"/libc-(\d+\.\d+)\.so$", real)
        if named:
            return Seen(named[1], f"name of {real}")
        banner = re.search(
            rb"GNU C Library [^\n\0]{0,200}? version (\d+\.\d+)", host.read_bytes(path, _LIBC_AT_MOST_BYTES)
        )
    except HostError as error:
        return Unseen(str(error))
    return Seen(banner[1].decode(), Place(path)) if banner else Unseen(f"{path} carries no version of glibc")


# What surrounds it


def wsl_of(host: Host) -> Fact[int]:
    """0 for none, 1 or 2: WSL 1 is Windows' own imitation of a kernel, WSL 2 a Linux built by Microsoft."""
    if not host.is_live:
        return Unseen(NOTHING_RUNS)
    if host.os_family != "linux":
        return Seen(0, "not Linux")
    release = _text(host, _KERNEL_RELEASE)
    if isinstance(release, Unseen):
        return release
    if release.value.endswith("-Microsoft"):
        return Seen(1, Place(_KERNEL_RELEASE))
    if "microsoft" in release.value.lower():
        return Seen(2, Place(_KERNEL_RELEASE))
    if release.value.startswith(("3.4.0", "4.4.0")) and "Microsoft" in _text_or_empty(host, "/proc/version"):
        return Seen(1, Place("/proc/version"))
    if host.exists("/dev/dxg") and host.is_dir("/usr/lib/wsl"):
        return Seen(2, "/dev/dxg and /usr/lib/wsl, under a kernel of another name")
    return Seen(0, Place(_KERNEL_RELEASE))


def container_of(host: Host) -> Fact[str]:
    """ "" for none, else what kind of container this process is in; on a root, only a mark that was left behind."""
    if host.os_family != "linux":
        return Seen("", host.os_family) if host.is_live else Unseen(NOTHING_RUNS)
    if not host.is_live:
        left = next((kind for mark, kind in _MARKS if host.exists(mark)), "")
        return Seen(left, "a mark left in the root") if left else Unseen(NOTHING_RUNS)
    for variable, kind in _VARIABLES:
        if host.environ.get(variable):
            return Seen(kind, variable)
    for mark, kind in _MARKS:
        if host.exists(mark):
            return Seen(kind, Place(mark))
    return _container_by_processes(host)


_VARIABLES = (
    ("KUBERNETES_SERVICE_HOST", "kubernetes"),
    ("APPTAINER_CONTAINER", "apptainer"),
    ("SINGULARITY_CONTAINER", "apptainer"),
)
_MARKS = (
    ("/.dockerenv", "docker"),
    ("/run/.containerenv", "podman"),
    ("/.singularity.d", "apptainer"),
)
_CGROUP_WORDS = (
    ("kubepods", "kubernetes"),
    ("libpod", "podman"),
    ("docker", "docker"),
    ("containerd", "containerd"),
    ("lxc", "lxc"),
)
_KNOWN_KINDS = ("docker", "podman", "kubernetes", "lxc", "containerd")


def _container_by_processes(host: Host) -> Fact[str]:
    """What systemd noted when it started, and the control group of the first process."""
    noted = _text_or_empty(host, "/run/systemd/container")
    if noted and noted != "wsl":
        kind = noted.removesuffix("-libvirt")
        return Seen(kind if kind in _KNOWN_KINDS else "container", Place("/run/systemd/container"))
    group = _text_or_empty(host, "/proc/1/cgroup")
    for word, kind in _CGROUP_WORDS:
        if word in group:
            return Seen(kind, Place("/proc/1/cgroup"))
    if host.environ.get("container"):
        return Seen("container", "variable container")
    return Seen("", "no mark of a container")


def _gpu_runtime_env(host: Host) -> Fact[tuple[tuple[str, str], ...]]:
    if not host.is_live:
        return Unseen("an offline root has no environment variables")
    return Seen(tuple((name, host.environ[name]) for name in _RUNTIME_VARIABLES if name in host.environ), "environment")


def _jetson(host: Host) -> Fact[str]:
    """L4T's release: "# R36 (release), REVISION: 3.0, GCID: ..." is 36.3.0."""
    path = "/etc/nv_tegra_release"
    match = re.match(r"#\s*R(\d{1,4})\s*\(release\),\s*REVISION:\s*([\d.]{1,12})", _text_or_empty(host, path))
    if match:
        return Seen(f"{match[1]}.{match[2]}", Place(path))
    model = _text_or_empty(host, "/proc/device-tree/model") if host.is_live else ""
    if "jetson" in model.lower() or host.exists(path):
        return Unseen(f"a Jetson whose L4T release is not known: {path} is missing or unusual")
    return Seen("", f"no {path}")


_SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


def _secure_boot(host: Host, container: Fact[str]) -> Fact[bool]:
    """The fifth byte of the EFI variable, after four of attributes."""
    if not host.is_live or host.os_family != "linux":
        return Unseen("the firmware is only seen on a running Linux")
    try:
        return Seen(host.read_bytes(_SECURE_BOOT, 64)[4] == 1, Place(_SECURE_BOOT))
    except Missing:
        return _no_secure_boot_variable(host, container)
    except (HostError, IndexError) as error:
        return Unseen(f"the EFI variable SecureBoot cannot be read: {error}")


def _no_secure_boot_variable(host: Host, container: Fact[str]) -> Fact[bool]:
    if host.is_dir("/sys/firmware/efi/efivars") and names_of(host, "/sys/firmware/efi/efivars"):
        return Seen(False, "firmware without the variable SecureBoot")
    if host.is_dir("/sys/firmware/efi"):
        return Unseen("/sys/firmware/efi/efivars is not mounted")
    if isinstance(container, Seen) and container.value:
        return Unseen("a container does not show the host's firmware")
    return Seen(False, "no /sys/firmware/efi: not started by EFI")


def _shm_bytes(host: Host) -> Fact[int]:
    try:
        return Seen(host.space_bytes("/dev/shm"), "statvfs")  # noqa: S108 - the size of the mount, nothing is put there
    except HostError as error:
        return Unseen(str(error))


def _dxg(host: Host) -> Fact[bool]:
    if not host.is_live:
        return Unseen(NOTHING_RUNS)
    return Seen(host.exists("/dev/dxg"), Place("/dev/dxg"))


# Who runs us


class _Identity(NamedTuple):
    user: Fact[str]
    groups: Fact[tuple[str, ...]]
    is_root: Fact[bool]


def _identity(host: Host) -> _Identity:
    if not host.is_live:
        return _Identity(*[Unseen(_NO_USER)] * 3)
    try:
        lines = dict(
            line.split(":", 1) for line in host.read_text("/proc/self/status", _SMALL_BYTES).splitlines() if ":" in line
        )
        process_ids = {int(lines["Gid"].split()[1]), *map(int, lines["Groups"].split())}
        uid, groups = int(lines["Uid"].split()[1]), sorted(process_ids)
    except (HostError, ValueError, KeyError, IndexError):
        why = Unseen("/proc/self/status cannot be read")
        name = host.environ.get("USERNAME") or host.environ.get("USER")
        return _Identity(Seen(name, "environment") if name else why, why, why)
    names = names_by_id(host, "/etc/group")
    return _Identity(
        _user(host, uid),
        Seen(tuple(names.get(group, str(group)) for group in groups), "/proc/self/status, /etc/group"),
        Seen(uid == 0, Place("/proc/self/status")),
    )


def _sudo_user(host: Host) -> Fact[str]:
    return Seen(host.environ.get("SUDO_USER", ""), "SUDO_USER") if host.is_live else Unseen(_NO_USER)


def _user(host: Host, uid: int) -> Fact[str]:
    known = names_by_id(host, "/etc/passwd").get(uid)
    if known:
        return Seen(known, Place("/etc/passwd"))
    # A user of a directory service: asking that could wait for a network.
    return Seen(host.environ.get("USER") or f"uid {uid}", "environment")


def names_by_id(host: Host, path: str) -> dict[int, str]:
    """Name by number from /etc/passwd or /etc/group; empty where it cannot be read."""
    found: dict[int, str] = {}
    for line in text_of(host, path).splitlines():
        fields = line.split(":", 3)
        if len(fields) > 2 and fields[2].isascii() and fields[2].isdigit() and len(fields[2]) < 11:
            found.setdefault(int(fields[2]), fields[0])
    return found


# The kernel's log

_LOG_LINES_AT_MOST = 500
_LOG_FILE_AT_MOST_BYTES = 1 << 20
_AN_XID = r"NVRM: Xid \([^()]{4,60}\): \d{1,4}\b"
_SPEAKS_IN_LINES = ("NVRM:", "nvidia")
# Of the driver and its rivals, of modules that the kernel refuses, and of processes that hang in the driver.
_OF_INTEREST = (
    *("nvrm", "nvidia", "nouveau", "nova_core", "novacore", "blocked for more than"),
    *("module verification failed", "key was rejected", "loading of ", "unsigned module"),
)


def _kernel_log(host: Host) -> Fact[tuple[str, ...]]:
    """What this boot's kernel said about NVIDIA: from its ring buffer, else from the file that a logger keeps."""
    if not host.is_live or host.os_family != "linux":
        return Unseen("the kernel's log is only read on a running Linux")
    try:
        return Seen(_of_interest(_messages(host.drain("/dev/kmsg"))), Place("/dev/kmsg"))
    except HostError as refused:
        try:
            lines = _tail(host, "/var/log/kern.log").splitlines()
            first = next((at for at in range(len(lines) - 1, -1, -1) if "Linux version " in lines[at]), 0)
            return Seen(_of_interest(lines[first:]), Place("/var/log/kern.log"))
        except (HostError, OSError):
            return Unseen(f"the kernel's log cannot be read ({refused}); `sudo dmesg` shows it")


def _messages(records: bytes) -> Iterator[str]:
    r"""The lines of every record: "6,339,5140900,-;text"; lines that start with a space are about the one before.

    Within a text, what cannot be printed stands as \x0a (Documentation/ABI/testing/dev-kmsg of the kernel). Only the
    driver's records are taken apart: in others a user's own words could begin a line, and look like the driver's.
    """
    for record in records.decode("utf-8", "replace").splitlines():
        head, semicolon, message = record.partition(";")
        if semicolon and head[:1].isdigit():
            yield from message.split("\\x0a") if message.startswith(_SPEAKS_IN_LINES) else (message,)


def _tail(host: Host, path: str) -> str:
    with host.open(path) as stream:
        stream.seek(max(0, host.status(path).size_bytes - _LOG_FILE_AT_MOST_BYTES))
        return stream.read(_LOG_FILE_AT_MOST_BYTES).decode("utf-8", "replace")


def _of_interest(lines: Iterator[str] | list[str]) -> tuple[str, ...]:
    """The last lines, and before them the last of each Xid: a program can cause hundreds of others after it."""
    lowered = ((line, line.lower()) for line in lines)
    found = [line for line, low in lowered if any(word in low for word in _OF_INTEREST)]
    early, late = found[:-_LOG_LINES_AT_MOST], found[-_LOG_LINES_AT_MOST:]
    xids = {one[0]: line for line in early if (one := re.search(_AN_XID, line))}
    return (*list(xids.values())[-_LOG_LINES_AT_MOST:], *late)


# Reading


def _text(host: Host, path: str) -> Fact[str]:
    try:
        return Seen(host.read_text(path, _SMALL_BYTES).strip("\0\n "), Place(path))
    except HostError as error:
        return Unseen(str(error))


def _text_or_empty(host: Host, path: str) -> str:
    return text_of(host, path, _SMALL_BYTES).strip("\0\n ")
