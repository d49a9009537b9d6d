"""Facts about Python environments and the frameworks in them, read without starting an interpreter."""

from enum import Enum

from compat.base.record import NamedTuple
from compat.version import CodeTarget, CudaVersion, CudnnVersion
from doctor.model.facts.seen import Fact, Place, Unseen


class Distribution(NamedTuple):
    """One installed distribution."""

    name: str  # normalised: lower case, runs of "-_." are one "-"
    version: str
    site: str  # directory on sys.path where it lies
    metadata: str  # its *.dist-info, *.egg-info, EGG-INFO directory or file, or conda-meta file
    kind: str  # "wheel", "egg-info", "egg", "develop" (egg-link, editable), "conda"
    hidden_by: str  # metadata of the copy that wins over this one, "" for the winner
    pinned_at: Place | None = None  # of one that a plan installs, the line that names it

    @property
    def place(self) -> Place:
        """Return where evidence finds it: its metadata, or the line of a plan."""
        return self.pinned_at or Place(self.metadata)


class Overlap(NamedTuple):
    """A file that more than one installed distribution lists as its own."""

    path: str  # relative to the site directory
    owners: tuple[str, ...]  # "nvidia-cudnn-cu12 9.10.2.21", the one the file now belongs to last if `winner` is seen
    winner: Fact[str]  # owner whose recorded digest or size the file has


class Incomplete(NamedTuple):
    """An installed distribution that lacks libraries or modules which its own list of files, RECORD, names."""

    distribution: str
    version: str
    missing: tuple[str, ...]  # paths of the files that are not there
    damaged: tuple[str, ...]  # of those that are empty, or end before what their headers speak of

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.missing, *self.damaged)


class HalfInstalled(NamedTuple):
    """A framework of which an installer has left files, and no installed distribution."""

    distribution: str  # "torch"
    module: str  # its directory below site-packages
    paths: tuple[str, ...]  # what is left: .../torch, .../~orch
    version: str  # "2.9.1+cu128"; "" where no file tells


class Unmet(NamedTuple):
    """A requirement of a package that is not installed, or in another release.

    Of a framework: only those that are no part of a GPU stack, and releases that are too old.
    """

    distribution: str  # whose requirement it is, "torch"
    name: str  # "typing-extensions"; "python"
    specifier: str  # ">=4.10.0"; "" for any
    source: Place  # the METADATA file
    imported_at: Place | None = None  # where importing the framework imports it at once; None where that is not known
    there: str = ""  # the release that is installed and does not satisfy it; "" where none is

    @property
    def wanted(self) -> str:
        """The requirement as pip takes it."""
        return f"{self.name}{self.specifier}"


class WheelRequirement(NamedTuple):
    """A requirement of an installed distribution on one of NVIDIA's wheels."""

    distribution: str  # whose requirement it is, "nvidia-cutlass-dsl"
    wheel: str  # "nvidia-cutlass-dsl-libs-cu12"


class Framework(NamedTuple):
    """One framework of an environment, from the files inside its package."""

    package: str  # distribution name, "torch", "tensorflow", "jax-cuda12-plugin", "onnxruntime-gpu"
    version: str  # full, "2.9.1+cu128"
    path: str  # the package's directory, "" for one that is planned (check --framework)
    build: Fact[str]  # "cu128", "cpu", "rocm6.4", "cuda" (CUDA of unknown version), as the matrix names builds
    cuda: Fact[CudaVersion]  # CUDA it was built with; Unseen for a CPU build
    cudnn: Fact[CudnnVersion]  # cuDNN it was compiled against
    targets: Fact[tuple[CodeTarget, ...]]  # what its kernels were built for, where the package says so
    requires: Fact[tuple[str, ...]]  # Requires-Dist of nvidia-* and companion packages, PEP 508
    environment: str  # prefix of its environment
    note: str  # what the reader should know, "" mostly
    glibc: Fact[str] = Unseen("it was not read from its libraries")  # newest version they ask for, "2.27"
    fails_unless: tuple[str, ...] = ()  # what its own code demands of wheels that are there, PEP 508: else no import
    refuses_others: tuple[str, ...] = ()  # beginnings of packages that its own code takes of its own release alone
    pinned_at: Place | None = None  # of one that a Dockerfile installs, the line that names it
    asked_as: str = ""  # of one that is taken as the newest release today, the requirement as it is written
    from_index: str = ""  # of such a one, the build that its package index serves, "cu128"; "" for the default index
    extras: tuple[str, ...] = ()  # of one that a plan's line installs, those that it names
    brought_by: str = ""  # of one that no line of a plan names, the package that requires it, "vllm 0.33.0"
    in_place_of: str = (
        ""  # the framework that an earlier line of a plan installs and that it replaces, "torch 2.2.0+cu121"
    )

    @property
    def label(self) -> str:
        """How findings name it."""
        return f"{self.package} {self.version}"

    @property
    def is_planned(self) -> bool:
        """Whether it is not installed: made from a matrix row, it has no files."""
        return not self.path

    @property
    def is_cpu_build(self) -> bool:
        """Whether the build is known to be for the CPU only."""
        return getattr(self.build, "value", "") == "cpu"


class Lacking(NamedTuple):
    """What a compiled extension asks of torch, and no library of torch's defines: with any of it, no import."""

    names: tuple[str, ...]  # the first ones, mangled
    how_many: int
    other_abi: bool = False  # its names are of the other ABI of std::string than torch's


class Extension(NamedTuple):
    """A compiled library that works on torch's tensors, from its own file."""

    distribution: str  # the one it belongs to, "xformers"; the file's stem where no RECORD lists it
    version: str  # the distribution's, "" where it is not known
    path: str
    targets: Fact[tuple[CodeTarget, ...]]  # what most of its kernels were built for; none: it has no GPU code
    every_target: Fact[tuple[CodeTarget, ...]]  # what any of them was built for
    cudart: Fact[str]  # the CUDA runtime it asks for, "libcudart.so.12"; "" for none: it holds its own
    torch_libraries: Fact[tuple[str, ...]]  # those of torch that it asks for, "libtorch_cuda.so"
    lacking: Fact[Lacking] = Unseen("it was not held against torch's libraries")
    is_named_in_init: bool = False  # of one that lacks names: its package's __init__.py names it

    @property
    def label(self) -> str:
        """How findings name it."""
        return f"{self.distribution} {self.version}".rstrip()


class CannotStart(Enum):
    """Why an interpreter does not start, or starts without the packages of its environment."""

    ABSENT = "absent"  # the environment has none
    LINK = "link"  # a symlink that leads to nothing
    LOADER = "loader"  # the program's own loader (PT_INTERP) is not there: another C library or machine
    LIBRARY = "library"  # a library that it needs is not found
    MINOR = "minor"  # it is another Python than the environment was made for


class InterpreterStart(NamedTuple):
    """What starting the interpreter of an environment depends on, read from its file."""

    path: str  # the file, links followed; that of the link, where it leads to nothing
    machine: str = ""  # "x86_64"; "" for a script
    glibc: str = ""  # newest version of the C library that it asks for, "2.38"; "" for none
    fault: CannotStart | None = None
    what: str = ""  # the link's target, the loader, the library, the Python that starts ("3.13")
    header: str = ""  # Python.h of it, which compilers need, where that is not there; "" where it is, or is unknown


class Unloadable(Enum):
    """Why compiled modules of a package cannot be loaded."""

    PYTHON = "python"  # all of them are for other Pythons
    MACHINE = "machine"  # for another type of machine
    VERSION = "version"  # a C or C++ library has no such version
    LIBRARY = "library"  # a library that one needs is not found
    NUMPY = "numpy"  # compiled for NumPy 1, and NumPy 2 is installed


class NativeFault(NamedTuple):
    """Compiled modules of a package that the interpreter cannot load."""

    distribution: str  # "opencv-python"
    version: str
    path: str  # of the module; of all of them, the package's dist-info
    why: Unloadable
    what: str  # the Pythons, the machine, the version, the library, NumPy's release
    lacks: str = ""  # of a version, who lacks it: a file, or "glibc 2.36"
    is_sure: bool = False  # importing the package imports the module
    required_by: tuple[str, ...] = ()  # frameworks whose metadata requires the package

    @property
    def label(self) -> str:
        """How findings name it."""
        return f"{self.distribution} {self.version}"


class HidingModule(NamedTuple):
    """A module of somebody's own that Python imports in place of a framework."""

    package: str  # "torch"
    path: str  # ".../torch.py"
    by: str  # "PYTHONPATH", or "" for the directory in which Python is started


class Base(NamedTuple):
    """The Python that a virtual environment is made from, whose packages it sees as well (--system-site-packages)."""

    prefix: str
    interpreter: str
    externally_managed: bool  # PEP 668


class Environment(NamedTuple):
    """One Python environment."""

    prefix: str
    asked_by: str  # "--python", "VIRTUAL_ENV", "the project's .venv", "python3 on PATH", "Jupyter kernel torch", "root"
    interpreter: str  # path of its python
    kind: str  # "venv", "conda", "system", "pyenv", "windows"
    python: Fact[str]  # "3.12.4"
    sites: Fact[tuple[str, ...]]  # directories on sys.path that hold packages, in order
    distributions: Fact[tuple[Distribution, ...]]
    frameworks: Fact[tuple[Framework, ...]]
    overlaps: Fact[tuple[Overlap, ...]]
    externally_managed: bool  # PEP 668
    extensions: Fact[tuple[Extension, ...]] = Unseen("its compiled extensions were not looked at")
    incomplete: Fact[tuple[Incomplete, ...]] = Unseen("the lists of its packages' files were not read")
    installers: tuple[str, ...] = ()  # who can install there: "pip", else "uv", else "ensurepip" to get pip by, "none"
    keeper: str = ""  # whose lock file rules it: "uv", "poetry", "pdm", "pipenv", "pixi", "hatch"
    project: str = ""  # the directory of that lock file, "" where it is not known
    program: str = ""  # on Windows, the directory of the program that runs: the base's where python.exe only starts it
    machine: Fact[str] = Unseen("it is only read on Windows")  # what that program is built for, "x86_64", "i386"
    too_long: Fact[tuple[str, ...]] = Unseen("it is only asked on Windows")  # paths of 260 characters and more
    base: Base | None = None  # where it sees the packages of that Python, too
    conda: str = ""  # the program that changes a conda environment here: "conda", "mamba", "micromamba"
    closed: tuple[str, ...] = ()  # of its sites, those that this user may not change
    declared: tuple[str, ...] = ()  # the distributions that the manifest of `project` names
    owner: str = ""  # the other user whose it is, by name or number; "" where it is this user's or root's
    half_installed: Fact[tuple[HalfInstalled, ...]] = Unseen("the names in its directories were not read")
    leftovers: tuple[str, ...] = ()  # what pip renamed to remove it, and left behind: .../~umpy
    unmet: Fact[tuple[Unmet, ...]] = Unseen("the requirements of its packages were not read")
    wheel_requirements: Fact[tuple[WheelRequirement, ...]] = Unseen("they are read where wheels of two CUDA majors are")
    hiding: tuple[HidingModule, ...] = ()
    not_read: tuple[str, ...] = ()  # files and directories of its frameworks that this user may not read
    native_faults: Fact[tuple[NativeFault, ...]] | None = None  # None where nobody looked: without a framework
    start: Fact[InterpreterStart] | None = None  # None where no interpreter was looked for: a plan, a dump, Windows

    @property
    def label(self) -> str:
        """How findings name it."""
        python = getattr(self.python, "value", "")
        return f"{self.prefix}" + (f" (Python {python})" if python else "")


class Import(NamedTuple):
    """How importing a framework in a child of its own interpreter ended (only with --deep)."""

    package: str
    environment: str  # prefix
    state: str  # "ok", "failed" (an exception), "crashed" (a signal), "hung"
    detail: str  # the last lines it wrote, or the signal

    @property
    def label(self) -> str:
        """How findings name it."""
        return f"import of {self.package} in {self.environment}"


class Variable(NamedTuple):
    """One environment variable that decides what is loaded or seen."""

    name: str
    value: str
    set_in: str  # file and line where it is set, "~/.bashrc, line 118"; "" where that is not known
    set_at: Place | None = None  # the same, where it is a file

    @property
    def label(self) -> str:
        """How findings name it."""
        return self.name


class NamedFile(NamedTuple):
    """A file or directory that a variable names."""

    variable: str
    path: str  # as it is written there
    problem: str  # "is not there", "is for aarch64", ...; "" for none
    left: str = ""  # what the variable holds besides


class Setting(NamedTuple):
    """One option of a framework's own configuration file or variable (Theano's .theanorc, Keras' keras.json)."""

    program: str  # "theano", "keras"
    source: str  # file and line, or the variable's name
    name: str  # "lib.cnmem", "nvcc.flags"
    value: str
    problem: str  # "" or what is wrong with how it is written ("set twice in one section")
    at: Place | None = None  # the file and the line; None for a variable


class NearName(NamedTuple):
    """A variable that no program reads, one letter away from one that decides what is loaded or seen."""

    name: str  # "CUDA_VISIBLE_DEVICE"
    meant: str  # "CUDA_VISIBLE_DEVICES"


class ConfigurationFacts(NamedTuple):
    """Variables and settings."""

    variables: Fact[tuple[Variable, ...]]
    settings: Fact[tuple[Setting, ...]]
    named: Fact[tuple[NamedFile, ...]] = Unseen("what variables name was not followed")
    shown: Fact[tuple[Variable, ...]] = Unseen("all of them were checked")  # by a text that does not list all
    near: Fact[tuple[NearName, ...]] | None = None  # None where the names of all variables were not shown
