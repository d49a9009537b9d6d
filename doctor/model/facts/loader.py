"""Facts about loaders: where they search, what they would find, and the DLLs that frameworks need on Windows."""

from enum import Enum

from compat.base.record import NamedTuple
from doctor.model.facts.seen import Fact, Place, Seen, Unseen

PRELOAD_FILE = "/etc/ld.so.preload"


class FoundBy(Enum):
    """The rule by which a loader comes to a file."""

    PROGRAM = "program"  # it is the program itself
    ABSOLUTE = "path"  # who asks names the file, or a directory that it knows
    PRELOAD = "LD_PRELOAD"
    RPATH = "RPATH"
    LIBRARY_PATH = "LD_LIBRARY_PATH"
    RUNPATH = "RUNPATH"
    CACHE = "ld.so.cache"
    DEFAULT = "default directory"
    LOADED = "already loaded"
    PATHFINDER = "cuda.pathfinder"
    BESIDE = "beside the asker"  # the rest is of Windows
    APPLICATION = "beside the program"
    ADDED = "os.add_dll_directory"
    KNOWN = "KnownDLLs"
    SYSTEM = "system directory"
    CURRENT = "current directory"
    PATH = "PATH"

    @property
    def variable(self) -> str:
        """The variable that decides by this rule, "" for none."""
        return self.value if self in _VARIABLES else ""


_VARIABLES = frozenset({FoundBy.PRELOAD, FoundBy.LIBRARY_PATH, FoundBy.PATH})


class Way(NamedTuple):
    """How a loader comes to a file: the rule, and what was written where."""

    rule: FoundBy
    of: str = ""  # the library whose RPATH or RUNPATH it is; by a variable, the asker whose RUNPATH comes after it
    entry: str = ""  # the directory as it is written there ("$ORIGIN/../lib", "/opt/lib/"); by LD_PRELOAD the file
    folder: str = ""  # the directory that it stands for
    set_in: str = ""  # file and line that says so, "~/.bashrc, line 118, by $CUDNN_HOME/lib"; "" where not known
    set_at: Place | None = None  # the same, where it is a file


class Outcome(Enum):
    """What comes of a name that is asked for."""

    FOUND = "found"
    MISSING = "missing"  # the whole search was walked, and no file answers
    DAMAGED = "damaged"  # a file answers, and the loader cannot use it
    UNREAD = "unread"  # we could not read what decides: this says nothing about the machine


class SearchDir(NamedTuple):
    """A directory that the loader searches for every process of this user."""

    path: str
    why: FoundBy  # LIBRARY_PATH, PATH, DEFAULT
    exists: bool
    written: str = ""  # the element of the variable, as it is written
    set_in: str = ""  # file and line that puts it there, "module cudnn/8.9.7"; "" where that is not known
    set_at: Place | None = None  # the same, where it is a file


class CacheEntry(NamedTuple):
    """One library in ld.so.cache."""

    soname: str
    path: str
    machine: str  # "x86_64", "aarch64", "i386", ...
    level: str = ""  # the processors that it is for, "x86-64-v3"; "" for every


class Prediction(NamedTuple):
    """What a process of an environment that uses a framework gets for a name."""

    environment: str  # prefix
    asker: str  # distribution whose process it is, "torch"
    soname: str  # "libcudnn.so.9"
    path: Fact[str]  # the file, real path; or why there is none
    intended: Fact[str]  # the file the framework ships or pins, real path
    way: Way | None = None  # to the file, a damaged one too; None where nothing is found
    outcome: Outcome = Outcome.FOUND
    library: str = ""  # the library that asks, as it was opened; "" where the package opens a path
    optional: bool = False  # whoever asks goes on without it
    damaged: str = ""  # the file that answers and cannot be used, real path; "" for none
    foreign: str = ""  # of a name that is not found: a file of it for another type of machine, which is passed over
    is_cuda: bool = True  # of NVIDIA's libraries; of all others only those that do not answer are told
    cuda_major: Fact[int] = Unseen("only its name shows it")  # of NCCL and TensorRT: the CUDA of their build
    lacks_version: str = ""  # "GLIBCXX_3.4.30": of a damaged one, what `library` needs and the file does not define
    releases: tuple[str, str] = ("", "")  # "12.1": of the file that is loaded, of the one that is meant

    @property
    def missing(self) -> bool:
        """Whether the whole search was walked, and no file answers to that name."""
        return self.outcome is Outcome.MISSING

    @property
    def variable(self) -> str:
        """The variable that decides which file it is, "" for none."""
        return self.way.rule.variable if self.way else ""

    @property
    def is_as_intended(self) -> bool:
        """Whether the file is the one that the framework ships or pins."""
        both = isinstance(self.path, Seen) and isinstance(self.intended, Seen)
        return both and self.path.get() == self.intended.get()


class LoaderFacts(NamedTuple):
    """The loader's search path and its predictions."""

    search: Fact[tuple[SearchDir, ...]]  # in order: LD_LIBRARY_PATH (or PATH), then default directories
    cache: Fact[tuple[CacheEntry, ...]]  # CUDA's and cuDNN's entries of ld.so.cache, in its order
    preload: Fact[tuple[str, ...]]  # LD_PRELOAD and /etc/ld.so.preload
    predictions: Fact[tuple[Prediction, ...]]


class Dll(NamedTuple):
    """A DLL that a framework needs, and where it is."""

    name: str  # as the framework names it, "cublasLt64_12.dll"
    asker: str  # path of the library that names it
    found: str  # path in a directory that is searched for it, "" for none
    elsewhere: tuple[str, ...]  # paths of that name in toolkits, wheels, and the directories of cuDNN
    foreign: str = ""  # where none is found: the first one in a searched directory, for another type of machine


class DllNeeds(NamedTuple):
    """What one framework needs."""

    environment: str  # prefix
    package: str
    dlls: Fact[tuple[Dll, ...]]  # CUDA's, cuDNN's and the C++ runtime's; Unseen where the search is not known
