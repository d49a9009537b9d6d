"""What is true after a plan was carried out, as typed data: `doctor.prescribe` makes facts of it and judges them.

A method says the effects of its plan in `Plan.effects`, in the order in which they come about. It says what the plan
brings about, never what it hopes for: a restart that a person must do is an effect of its own (`Restarted`), and a
plan that only tells a person what to do has none. Which files and pins a distribution brings, what a loader makes of a
link, which cards a driver drives: the matrix and the probes know that, not the method.
"""

from __future__ import annotations

from typing import Protocol

from compat.base.record import NamedTuple


class Effect(Protocol):
    """Any effect: a NamedTuple of this file. What it does to the facts is the file of its name in prescribe/effects."""

    @property
    def _fields(self) -> tuple[str, ...]: ...


class DistributionsInstalled(NamedTuple):
    """Distributions are installed in an environment by one command, so that one resolver sees what all require."""

    python: str  # its interpreter
    requirements: tuple[str, ...]  # "torch==2.9.1+cu128", "jax[cuda12]==0.7.2", "nvidia-cudnn-cu12>=9.8"
    anew: bool = False  # all their files are written again, also where that release is there already
    alone: bool = False  # what they require is not brought along, nor changed: --no-deps
    tool: str = "pip"  # "pip", "uv", "conda", "poetry", "pixi"
    site: str = ""  # the directory that they come into; "" for the environment's own


class DistributionsRemoved(NamedTuple):
    """Distributions are removed; files that they shared with others are gone too."""

    python: str  # interpreter of the environment
    names: tuple[str, ...]
    site: str = ""  # the directory that they leave; "" for the environment's own


class EnvironmentMade(NamedTuple):
    """A new Python environment, with nothing in it."""

    prefix: str  # its directory
    python: str  # its interpreter, "/w/.venv/bin/python"
    base: str = ""  # its Python, "3.12"; "" is that of the interpreter that makes it
    kind: str = "venv"  # "venv", "conda"


class VariableSet(NamedTuple):
    """An environment variable has this value for later processes."""

    name: str
    value: str
    set_in: str = ""  # file and line that says so, "" where that is not known


class VariableUnset(NamedTuple):
    """An environment variable is set no more."""

    name: str
    set_in: str = ""


class EntryRemoved(NamedTuple):
    """A directory stands in a path-like variable no more, however it was spelled."""

    name: str
    entry: str
    set_in: str = ""


class EntryAdded(NamedTuple):
    """A directory stands in a path-like variable, before all others."""

    name: str
    entry: str


class LinkMade(NamedTuple):
    """A symbolic link, in place of what was there."""

    path: str
    text: str  # what it says: absolute, or relative to its directory


class FileRemoved(NamedTuple):
    """A file or link is there no more under this name (it may have been renamed)."""

    path: str
    pattern: str = ""  # of the names in its directory that are gone with it, "libcudnn*"


class DirectorySearched(NamedTuple):
    """The loader searches one more directory for every process, after those of its own cache."""

    directory: str


class DriverInstalled(NamedTuple):
    """The packages of a driver are installed: libraries and module files, not yet the running module."""

    spec: str  # PEP 440 specifier of the release, ">=580,<581"; "" where the package manager chooses
    flavour: str = ""  # "open" or "proprietary" kernel module; "" where the package manager chooses
    held: bool = False  # later upgrades stay within it


class LibrariesRemoved(NamedTuple):
    """The libraries of another driver are gone, and the links lead to those that are left."""

    path: str  # of one of them, whose release is in its name


class ModuleLoaded(NamedTuple):
    """A kernel module is loaded."""

    name: str  # "nvidia", "nvidia_uvm"


class ModuleReloaded(NamedTuple):
    """A kernel module that ran was taken out and loaded again."""

    name: str  # "nvidia_uvm"


class ModuleBuilt(NamedTuple):
    """The installed driver's module is built and installed for a kernel."""

    kernel: str  # kernel release; "" the one that runs


class ModuleSigned(NamedTuple):
    """The firmware trusts the key that the modules are signed with."""


class ModuleKeptAway(NamedTuple):
    """A kernel module is not loaded by itself any more, from the next boot."""

    name: str  # "nouveau", "nova_core"


class Restarted(NamedTuple):
    """The machine, WSL or the container has started again: what is installed is what runs."""

    what: str = "machine"  # "machine", "wsl", "container"


class SystemPackageInstalled(NamedTuple):
    """A package of the distribution is installed."""

    name: str  # as the package manager names it
    spec: str = ""  # PEP 440 specifier, "" for the newest
    anew: bool = False  # all its files are written again


class SystemLibraryInstalled(NamedTuple):
    """A library that systems bring themselves lies where the loader searches for every process."""

    soname: str  # "libz.so.1"


class ToolkitInstalled(NamedTuple):
    """A CUDA toolkit is there."""

    spec: str  # PEP 440 specifier of its release, "==12.8.*"
    directory: str  # its root; "" for the usual one, /usr/local/cuda-12.8
    linked: bool = False  # /usr/local/cuda leads to it
    searched: bool = False  # the loader searches its libraries for every process


class CudnnInstalled(NamedTuple):
    """A copy of cuDNN is there, whole, and of one release."""

    spec: str  # PEP 440 specifier, "==9.10.2", ">=9.8,<10"
    cuda_major: int  # CUDA that it is for; 0 where unknown
    directory: str  # of its libraries; "" for the distribution's library directory
    searched: bool = False  # the loader finds it there for every process


class ServiceRunning(NamedTuple):
    """A service runs, now and after every start."""

    unit: str  # "nvidia-fabricmanager.service"


class FabricManagerInstalled(NamedTuple):
    """The fabric manager of NVSwitch machines is there, not yet started."""

    release: str  # "580.95.05"


class HostCompilerInstalled(NamedTuple):
    """A g++ of the distribution is there under a name with its major version."""

    path: str  # "/usr/bin/g++-12"


class NodesMade(NamedTuple):
    """The driver's device nodes are there."""


class NodeOpened(NamedTuple):
    """This user may read and write a device node."""

    path: str
    group: str = ""  # the group that lets the user; "" by its mode


class GpusGiven(NamedTuple):
    """A container was started again with its host's GPUs."""

    kind: str  # "docker", "podman", "kubernetes", ...


class ImageVariableSet(NamedTuple):
    """The configuration of a container image sets a variable; "" takes it out."""

    name: str
    value: str


class ComputeModeSet(NamedTuple):
    """A GPU admits other processes than before, until its driver is loaded again."""

    gpu: int  # its NVML index
    mode: str  # "default", "exclusive_process", "prohibited"


class SharedMemoryGiven(NamedTuple):
    """Shared memory is at least this large."""

    size_bytes: int  # of /dev/shm


class CppRuntimeInstalled(NamedTuple):
    """The Visual C++ runtime of Windows is there, the newest one."""

    product: str = "Visual C++"


class SettingWritten(NamedTuple):
    """A setting stands in a framework's own configuration file, once."""

    program: str  # "theano", "keras"
    path: str
    section: str  # "" before every section
    name: str
    value: str
