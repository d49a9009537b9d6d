"""Facts about the NVIDIA kernel driver and its user-space libraries."""

from compat.base.record import NamedTuple
from compat.version import CudaVersion, DriverRelease
from doctor.model.facts.seen import Fact, Seen, Unseen

LINKED_TO = ("libcuda.so.1", "libnvidia-ml.so.1")  # what others' libraries name as needed, and the driver alone has


class DriverLibrary(NamedTuple):
    """A user-space driver library whose file name carries its release."""

    path: str  # "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"
    stem: str  # "libcuda", "libnvidia-ml", "libnvidia-ptxjitcompiler", ...
    release: DriverRelease
    origin: str  # "system", "wsl", "compat" (cuda-compat, forward compatibility), "stub", "windows"
    loads: bool  # it is the one its SONAME link leads to on the loader's path


class ModuleFile(NamedTuple):
    """An installed nvidia kernel module file."""

    path: str
    kernel: str  # kernel release it is installed for
    release: Fact[DriverRelease]
    flavour: Fact[str]  # "open" or "proprietary" (by its licence)
    signed: Fact[bool]  # carries an appended signature


class DkmsBuild(NamedTuple):
    """What DKMS knows of one module version for one kernel."""

    module: str
    release: str
    kernel: str  # "" while it is only added
    state: str  # "added", "built", "installed", "failed"
    why: str = ""  # the line of the build's log that says why it failed


class DeviceNode(NamedTuple):
    """A device node of the driver."""

    path: str  # "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"
    mode: int  # permission bits
    uid: int
    gid: int
    group: str  # name of the group, "" where it has none
    openable: Fact[bool]  # whether this user may read and write it


class Nvml(NamedTuple):
    """How loading and initialising NVML ended."""

    library: str  # path, "" when none was found
    state: str  # "ok", "not-found", "error", "crashed", "hung"
    error: str  # NVML's own words, with its number; the signal of a crash; "" when ok
    code: int  # NVML's return code; 0 when ok or when it never answered


class CudaStart(NamedTuple):
    """How starting CUDA ended, which NVML says nothing of."""

    state: str  # "not-asked", "ok", "not-opened", "error", "crashed", "hung"
    code: int  # what cuInit returned; 0 when ok or when it never answered
    error: str  # CUDA's own name and words
    why: str  # what spoke for asking
    has_hmm: bool = False  # of an error: whether nvidia_uvm mirrors the address space of processes (HMM)


def kernel_order(release: str) -> tuple[int, ...]:
    """Kernel releases by the numbers in them: "6.8.0-87-generic" comes before "6.8.0-90-generic"."""
    import re  # late: only where kernels are compared

    return tuple(int(number) for number in re.findall(r"\d{1,9}", release))


def follows(newer: str, older: str) -> bool:
    """Whether a kernel is a later one of the same kind: linux-lts is not followed by linux."""
    kinds = {last if last.isalpha() else "" for last in (one.rpartition("-")[2] for one in (newer, older))}
    return len(kinds) == 1 and kernel_order(newer) > kernel_order(older)


class DriverFacts(NamedTuple):
    """The driver, seen on every rung of the ladder that this machine has."""

    release: Fact[DriverRelease]  # of the loaded kernel module, else the best that is known
    module_release: Fact[DriverRelease]  # the loaded kernel module's own word (sysfs, /proc)
    flavour: Fact[str]  # of the loaded module: "open" or "proprietary"
    cuda: Fact[CudaVersion]  # the newest CUDA the driver runs, in its own words
    libraries: Fact[tuple[DriverLibrary, ...]]
    modules_loaded: Fact[tuple[str, ...]]  # of nvidia, nvidia_uvm, nvidia_drm, nvidia_modeset, nouveau, nova_core
    module_files: Fact[tuple[ModuleFile, ...]]
    dkms: Fact[tuple[DkmsBuild, ...]]
    nodes: Fact[tuple[DeviceNode, ...]]  # every /dev/nvidia*
    nvml: Fact[Nvml]
    fabric_manager: Fact[str]  # "running", "stopped", "absent"
    open_rm_parameters: Fact[tuple[str, ...]]  # module options of nvidia in modprobe.d, as written
    blocked: Fact[tuple[str, ...]] = Unseen("it was not looked for")  # lines of modprobe.d against it, "FILE: LINE"
    switch: Fact[str] = Unseen("it was not looked for")  # turns a laptop's card off: "prime-select"; ""
    modprobe: Fact[str] = Unseen("it was not looked for")  # nvidia-modprobe: "set-user-ID", "plain", "absent"
    cuda_start: Fact[CudaStart] = Seen(CudaStart("not-asked", 0, "", "nothing spoke for it"), "")
    # Who brings the module that is not loaded: "dkms", "akmods", "linux-modules-nvidia-580-open" (Ubuntu's ready ones),
    # "kmod" (NVIDIA's ready ones for RHEL), "kmp" (SUSE's), "pacman" (Arch's ready one), "runfile"; "gone" where the
    # running kernel's own modules are no longer on disk; "" for nobody that is known.
    module_source: Fact[str] = Unseen("the module is loaded, or its source was not looked for")
    brought_by: Fact[str] = Unseen("it was not looked for")  # "runfile", "rpmfusion", "" for anybody else
    fabric_release: Fact[DriverRelease] = Unseen("it was not looked for")  # of the fabric manager's package
