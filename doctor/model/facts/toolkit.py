"""Facts about installed CUDA toolkits, and about the tools that frameworks compile kernels with at run time."""

from compat.base.record import NamedTuple
from compat.version import CudaVersion
from doctor.model.facts.seen import Fact, Place


class Tool(NamedTuple):
    """A ptxas that a framework may start."""

    path: str
    why: str  # "TRITON_PTXAS_PATH", "PATH", "the nvidia-cuda-nvcc wheel", ...
    release: Fact[str]  # "12.8.93", the one in its own text
    is_for_blackwell: bool = False  # started in place of the other for compute capability 10.0 and up
    set_by: str = ""  # the variable that names another one in its place, "" where there is none


class CodeTools(NamedTuple):
    """What one framework finds, in the order in which it asks."""

    environment: str  # prefix
    package: str
    family: str  # "xla", "triton"
    ptxas: Fact[tuple[Tool, ...]]
    libdevice: Fact[tuple[str, ...]]
    looked_in: tuple[str, ...]  # every directory, also those that are not there
    named: tuple[tuple[str, str], ...] = ()  # variables that name a file or directory, with what they say
    builds: str = ""  # what it builds with the C compiler and Python.h of this system; "" for nothing
    nameless: bool = False  # its cache is named by the user's name, and this user has none
    cache: str = ""  # the directory of what it compiled, where this user may not write; "" where that is open


class Toolkit(NamedTuple):
    """One CUDA toolkit, however it was installed. Links to the same directory are one toolkit."""

    path: str  # real path of its root
    links: tuple[str, ...]  # other names that lead there, "/usr/local/cuda"
    kind: str  # "directory", "distribution" (Debian's /usr layout), "conda", "wheels", "hpc-sdk", "windows"
    cuda: Fact[CudaVersion]
    release: Fact[str]  # with the patch level where it is known, "12.4.1"
    nvcc: Fact[str]  # path of nvcc; Unseen for a runtime-only toolkit
    has_headers: Fact[bool]  # cuda_runtime.h is there
    library_dir: Fact[str]  # directory of its libcudart

    @property
    def label(self) -> str:
        """How findings name it."""
        cuda = getattr(self.cuda, "value", "")
        return f"CUDA {cuda} in {self.path}" if cuda else f"CUDA toolkit in {self.path}"


class ToolkitName(NamedTuple):
    """A name by which programs ask for a toolkit, and where it leads."""

    name: str  # "CUDA_HOME", "CUDA_PATH", "/usr/local/cuda", "nvcc on PATH"
    value: str  # what it says: a directory, or nvcc's path
    leads_to: Fact[str]  # real path of a toolkit's root; Unseen where it leads nowhere
    missing: bool = False  # it was looked, and there is no toolkit there

    @property
    def label(self) -> str:
        """How findings name it."""
        return self.name

    @property
    def place(self) -> Place | None:
        """The link that it is; None for a variable, and for a program on PATH."""
        return Place(self.name) if self.name.startswith("/") else None


class ToolkitFacts(NamedTuple):
    """Every toolkit, and every name that leads to one."""

    toolkits: Fact[tuple[Toolkit, ...]]
    names: Fact[tuple[ToolkitName, ...]]

    @property
    def chosen(self) -> ToolkitName | None:
        """Return the name that decides: a variable, nvcc on PATH, the usual link (CMake's FindCUDAToolkit, torch).

        Raises UnseenError.
        """
        named = [one for one in self.names.get() if not one.missing]
        named.sort(key=lambda one: (not one.name.startswith("CUDA_"), one.name.startswith("/")))
        return next(iter(named), None)
