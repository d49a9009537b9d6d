"""Facts about the operating system and what surrounds it."""

from compat.base.record import NamedTuple
from doctor.model.facts.seen import Fact, Unseen


class OperatorState(NamedTuple):
    """NVIDIA's GPU operator for Kubernetes, by the files that its validator leaves on the node."""

    is_here: bool  # the directory of these files is there
    ready: tuple[str, ...]  # their names: "driver-ready", "toolkit-ready", "cuda-ready", "plugin-ready", ...


class Job(NamedTuple):
    """The job of a cluster's scheduler that this process runs in."""

    scheduler: str  # "Slurm", "PBS", "LSF"; "" outside of any job
    gpus: str  # the GPUs that it was given, in the scheduler's own words; "" for none


class WslDistribution(NamedTuple):
    """A Linux of the Windows Subsystem for Linux, as Windows lists it."""

    name: str  # "Ubuntu-24.04"
    version: int  # 1 or 2
    is_default: bool


def common_machine(name: str) -> str:
    """A machine type as uname has it on Linux, by whatever name a system or an image calls it: amd64 is x86_64."""
    return _COMMON_NAMES.get(name, name)


_COMMON_NAMES = {"AMD64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "ARM64": "aarch64"}


class SystemFacts(NamedTuple):
    """The operating system, the kernel, and where they run."""

    family: Fact[str]  # "linux", "windows", "macos"
    distribution: Fact[str]  # "Debian GNU/Linux 12 (bookworm)"
    distribution_id: Fact[str]  # "debian"
    distribution_version: Fact[str]  # "12"
    machine: Fact[str]  # "x86_64", "aarch64", "ppc64le"
    kernel: Fact[str]  # release, "6.1.0-18-amd64"; on a root: the newest installed one
    glibc: Fact[str]  # "2.36"
    wsl: Fact[int]  # 0 none, 1, 2
    container: Fact[str]  # "" none, else "docker", "podman", "kubernetes", "lxc", "containerd", "container"
    gpu_runtime_env: Fact[tuple[tuple[str, str], ...]]  # NVIDIA_VISIBLE_DEVICES and the like, as set in a container
    jetson: Fact[str]  # "" none, else the L4T release, "36.3.0"
    secure_boot: Fact[bool]
    user: Fact[str]  # login name
    groups: Fact[tuple[str, ...]]  # names of the groups this process is in
    is_root: Fact[bool]
    sudo_user: Fact[str]  # "" when not started by sudo
    shm_bytes: Fact[int]  # size of /dev/shm
    dxg: Fact[bool]  # /dev/dxg is there (WSL 2's GPU)
    kernel_log: Fact[tuple[str, ...]]  # lines about NVIDIA (NVRM, Xid, nouveau, module signature), oldest first
    ostree: Fact[bool] = Unseen("it was not looked for")  # an image, into which dnf installs nothing
    gpu_operator: Fact[OperatorState] = Unseen("it was not looked for")
    base: Fact[tuple[str, str]] = Unseen("it was not looked for")  # what it is made of: ("ubuntu", "24.04"); ("", "")
    job: Fact[Job] = Unseen("it was not looked for")
    long_paths: Fact[bool] = Unseen("only Windows has such a setting")  # LongPathsEnabled
    wsl_distributions: Fact[tuple[WslDistribution, ...]] = Unseen("only Windows lists them")


class Compiler(NamedTuple):
    """A host compiler that nvcc would use."""

    path: str
    kind: str  # "gcc", "clang", "msvc"
    version: Fact[str]  # "12.2.0"; msvc: _MSC_VER, "1939"
    chosen_by: str = "PATH"  # or the variable that names it, "beside nvcc", "" for one that is merely installed

    @property
    def label(self) -> str:
        """How findings name it."""
        return f"{self.kind} ({self.path})"
