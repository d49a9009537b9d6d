"""What must become true, as typed data: rules and the solver name it, `installers` knows how to bring it about.

One class is one kind of need. The method that plans it is a file of `installers/methods`, whose name has the word that
`kind` gives to the class. Reports show every need by the same four texts, which are made here and read by nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from compat.base.record import NamedTuple


class Need(Protocol):
    """Any need: a NamedTuple of this file that `kind` registers."""

    def _asdict(self) -> dict[str, Any]: ...


class NeedJson(NamedTuple):
    """A need as reports show it."""

    product: str
    spec: str = ""
    where: str = ""
    build: str = ""


class _Kind(NamedTuple):
    word: str
    columns: tuple[str | Callable[[Any], str], ...]


_KINDS: dict[type, _Kind] = {}
_T = TypeVar("_T")
_Column = Callable[[Any], str]


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(tuple.__eq__(one, other))


def _unequal(one: Any, other: Any) -> bool:
    return not _equal(one, other)


def _hash(one: Any) -> int:
    return hash((type(one), *one))


def _true(_: Any) -> bool:
    return True


def kind(
    word: str, spec: str | _Column = "", where: str | _Column = "", build: str | _Column = "", product: str = ""
) -> Callable[[type[_T]], type[_T]]:
    """Register a kind of need by the word in its methods' file names, and say how a report shows it.

    A column is a text with the names of fields in it, or a function of the need. The word is the product, unless one is
    named. Needs of two kinds are never equal, and a need without fields is true.
    """

    def registered(made: type[_T]) -> type[_T]:
        cls: Any = made
        _KINDS[cls] = _Kind(word, (product or word, spec, where, build))
        cls.__eq__, cls.__ne__, cls.__hash__, cls.__bool__ = _equal, _unequal, _hash, _true
        return made

    return registered


def word_of(need: Need) -> str:
    """Return the word of a need's kind: the name of a file of `installers/methods` has it."""
    return _KINDS[type(need)].word


def kinds() -> tuple[type, ...]:
    """Return the kinds of needs."""
    return tuple(_KINDS)


def is_need(value: object) -> bool:
    """Whether a value is a need of a registered kind."""
    return type(value) in _KINDS


def as_json(need: Need) -> NeedJson:
    """Return a need as reports show it."""
    fields, columns = need._asdict(), _KINDS[type(need)].columns
    return NeedJson(*(one.format_map(fields) if isinstance(one, str) else one(need) for one in columns))


@kind("driver", "{versions}", build="{flavour}")
class InstallDriver(NamedTuple):
    """Install the NVIDIA driver."""

    versions: str = ""  # PEP 440 specifier, ">=580"; "" for any, here and below
    flavour: str = ""  # "open" or "proprietary" kernel module; "" for NVIDIA's default


@kind("cuda", "{versions}", "{directory}", "{by}")
class InstallToolkit(NamedTuple):
    """Install a CUDA toolkit."""

    versions: str = ""
    directory: str = ""  # "" for the usual one
    by: str = ""  # "runfile" for NVIDIA's installer, "" for the usual way


@kind("cudnn", "{versions}", "{directory}", "{cuda}")
class InstallCudnn(NamedTuple):
    """Install cuDNN, or have the copy in a directory replaced."""

    versions: str = ""
    directory: str = ""  # "" for the usual one
    cuda: str = ""  # "12", "12.8"


@kind("wheel", "{versions}", "{interpreter}", lambda one: "again" if one.reinstall else one.build, "{name}")
class InstallPackage(NamedTuple):
    """Install a Python package into an environment."""

    name: str
    versions: str = ""
    interpreter: str = ""
    build: str = ""  # "cu128", "cpu"; "" for the one that fits
    reinstall: bool = False  # all files of the build that is there, and no other package


@kind("wheel", "absent", "{interpreter}", product="{name}")
class RemovePackage(NamedTuple):
    """Remove a Python package from an environment."""

    name: str
    interpreter: str = ""


@kind("wheels", lambda one: " ".join(one.install), "{interpreter}", lambda one: " ".join(one.remove))
class ChangePackages(NamedTuple):
    """Remove Python packages, then install others together; those that are there already are reinstalled."""

    install: tuple[str, ...]  # requirements, "torch==2.9.1+cu128"
    interpreter: str = ""
    remove: tuple[str, ...] = ()  # names


@kind("environment", lambda one: f"=={one.python}.*" if one.python else "", "{directory}")
class CreateEnvironment(NamedTuple):
    """Create a Python environment."""

    directory: str
    python: str = ""  # "3.12", "3.13t"; "" for any


@kind("kernel-module", "loaded", "{kernel}", "{module}")
class LoadKernelModule(NamedTuple):
    """Load a module that is installed."""

    module: str = "nvidia"
    kernel: str = ""


@kind("kernel-module", "reloaded", build="{module}")
class ReloadKernelModule(NamedTuple):
    """Unload a module and load it again."""

    module: str


@kind(
    "kernel-module",
    lambda one: "rebuilt" if one.load else "built",
    "{kernel}",
    lambda one: " ".join(("nvidia", *one.packages)),
)
class BuildKernelModule(NamedTuple):
    """Build NVIDIA's module with DKMS."""

    kernel: str = ""  # its release, "" for the running one
    packages: tuple[str, ...] = ()  # what the build lacks, "gcc-12"
    load: bool = True


@kind("kernel-module", "signed", "{kernel}", lambda one: f"nvidia {one.made_by}".rstrip())
class SignKernelModule(NamedTuple):
    """Have the firmware trust the key that signs NVIDIA's module."""

    kernel: str = ""
    made_by: str = ""  # DriverFacts.module_source


@kind(
    "module-package",
    lambda one: f"=={one.release}" if one.release else "" if one.load else "built",
    "{kernel}",
    "{source}",
)
class InstallModulePackage(NamedTuple):
    """Install the package that has NVIDIA's module for a kernel."""

    kernel: str
    source: str  # DriverFacts.module_source, or a package, "nvidia-dkms-580-open"
    release: str = ""  # of the driver, where a package makes it
    load: bool = True


@kind("nouveau", "absent", build="{module}")
class KeepModuleAway(NamedTuple):
    """Keep another driver's module from taking the GPU."""

    module: str = "nouveau"


@kind("restart")
class RestartMachine(NamedTuple):
    """Restart the machine, WSL or the container."""


@kind("device-nodes")
class MakeDeviceNodes(NamedTuple):
    """Make the device nodes of the driver."""


@kind("device-access", "", lambda one: " ".join(one.nodes), lambda one: "label" if one.selinux else one.group)
class OpenDeviceNodes(NamedTuple):
    """Let this user open device nodes."""

    nodes: tuple[str, ...]
    group: str = ""  # the group that owns them; "root" to open them to everybody
    selinux: bool = False  # SELinux closes them to a container


@kind("container-gpu", where="{container}")
class GiveGpus(NamedTuple):
    """Start a container with the GPUs of its host."""

    container: str = ""  # "docker", "podman"; "" for the kind that this machine is


@kind("variable", "={value}", "{set_in}", "{name}")
class AssignVariable(NamedTuple):
    """Set an environment variable."""

    name: str
    value: str
    set_in: str = ""  # file and line that sets it now


@kind("variable", "", "{set_in}", "{name}")
class ClearVariable(NamedTuple):
    """Unset an environment variable."""

    name: str
    set_in: str = ""


@kind("variable", "without {entry}", "{set_in}", "{variable}")
class DropFromPath(NamedTuple):
    """Remove an entry from a variable that lists directories."""

    variable: str
    entry: str
    set_in: str = ""


@kind("variable", lambda one: f"with {';'.join(one.directories)}", "", "PATH")
class PutOnPath(NamedTuple):
    """Add directories of DLLs to Path on Windows."""

    directories: tuple[str, ...]


@kind("alternative", "{target}", "{name}")
class SetAlternative(NamedTuple):
    """Let an alternative of the system lead to a directory."""

    name: str  # "/usr/local/cuda"
    target: str


@kind("link", "{target}", "{path}")
class LinkTo(NamedTuple):
    """Make a symlink, or let one lead elsewhere."""

    path: str
    target: str


@kind("file", "absent", "{path}")
class RemoveFile(NamedTuple):
    """Rename a file so that nobody finds it."""

    path: str


@kind("files-aside", "absent", "{first}", "{pattern}")
class MoveFilesAside(NamedTuple):
    """Move files of a directory into one beside them."""

    first: str  # path of the first of them
    pattern: str  # of all, "cudnn*.h"


@kind("driver-leftovers", lambda one: "runfile" if one.by_runfile else "", "{first}", "{pattern}")
class RemoveDriverLeftovers(NamedTuple):
    """Remove the libraries of an earlier driver."""

    first: str  # path of one of them
    pattern: str  # of all, "lib*.so.575.57"
    by_runfile: bool = False  # NVIDIA's installer put them there


@kind("modprobe-line", "absent", "{file}", "{line}")
class RemoveModprobeLine(NamedTuple):
    """Remove a line that keeps NVIDIA's module from loading."""

    file: str
    line: str


@kind("gpu-switch", "on", build="{tool}")
class SwitchGpuOn(NamedTuple):
    """Switch a laptop's GPU on."""

    tool: str  # "prime-select", "envycontrol", "supergfxctl"


@kind("mig", "off", "{gpu}")
class TurnMigOff(NamedTuple):
    """Turn MIG off on a GPU."""

    gpu: int


@kind("gpu-reset", where=lambda one: "" if one.gpu is None else str(one.gpu))
class ResetGpu(NamedTuple):
    """Reset a GPU."""

    gpu: int | None = None  # None for all


@kind("rollback", "{installation}")
class RollBack(NamedTuple):
    """Undo an installation that was stopped."""

    installation: str  # its id


@kind("compute-mode", "{mode}", "{gpu}")
class SetComputeMode(NamedTuple):
    """Set the compute mode of a GPU."""

    gpu: int
    mode: str  # "DEFAULT", "EXCLUSIVE_PROCESS"


@kind("shm", "{size_bytes}")
class EnlargeSharedMemory(NamedTuple):
    """Enlarge /dev/shm."""

    size_bytes: int


@kind("service", "running", build="{unit}")
class StartService(NamedTuple):
    """Start a service of the system."""

    unit: str


@kind("fabric-manager", "=={release}")
class InstallFabricManager(NamedTuple):
    """Install the fabric manager in the driver's release."""

    release: str


@kind("gpu-firmware", "=={release}", build="{source}")
class ReinstallFirmware(NamedTuple):
    """Reinstall the firmware of the GPUs in the driver's release."""

    release: str
    source: str = ""  # DriverFacts.module_source


@kind("glx-alternative", "=={release}", "{directory}")
class SetGlxAlternative(NamedTuple):
    """Let Debian's alternative lead to a driver."""

    release: str
    directory: str  # "/usr/lib/nvidia/current"


@kind("cpp-runtime")
class InstallCppRuntime(NamedTuple):
    """Install the Visual C++ runtime."""


@kind("setting", "{value}", "{file}", "{program} {section} {name}")
class ChangeSetting(NamedTuple):
    """Write a setting into the configuration file of a framework."""

    file: str
    program: str  # "theano"
    section: str
    name: str
    value: str


@kind("host-compiler", lambda one: f"={one.flags}" if one.flags else "", build="{name}")
class InstallHostCompiler(NamedTuple):
    """Install a C++ compiler that nvcc accepts."""

    name: str  # "g++-12", a package of Debian or Ubuntu
    flags: str = ""  # by which nvcc calls it, with those that are set already


@kind("loader-directory", where="{directory}", build="{file}")
class AddLoaderDirectory(NamedTuple):
    """Have the loader search a directory."""

    directory: str
    file: str  # its name in /etc/ld.so.conf.d


@kind("system-package", lambda one: "again" if one.reinstall else one.versions, build="{name}")
class InstallSystemPackage(NamedTuple):
    """Install a package of the system."""

    name: str
    versions: str = ""
    reinstall: bool = False


@kind("system-library", lambda one: "again" if one.reinstall else "", build="{soname}")
class InstallSystemLibrary(NamedTuple):
    """Install the package of the system that has a library."""

    soname: str  # "libz.so.1"
    reinstall: bool = False


@kind("by-hand", "{text}")
class Advice(NamedTuple):
    """Tell a person what to do."""

    text: str
