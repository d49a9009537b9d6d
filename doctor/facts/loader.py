"""Facts about the dynamic loader: where it searches, and what it would find."""

from compat.record import NamedTuple
from doctor.facts.seen import Fact


class SearchDir(NamedTuple):
    """A directory that the loader searches for every process of this user."""

    path: str
    why: str  # "LD_LIBRARY_PATH", "PATH", "default directory"
    exists: bool


class CacheEntry(NamedTuple):
    """One library in ld.so.cache."""

    soname: str
    path: str
    machine: str  # "x86_64", "aarch64", "i386", ...
    level: str = ""  # the processors that it is for, "x86-64-v3"; "" for every


class Prediction(NamedTuple):
    """The file that a process of an environment would load for a name."""

    environment: str  # prefix
    asker: str  # distribution that asks for it, "torch"
    soname: str  # "libcudnn.so.9"
    path: Fact[str]  # the winner, real path
    because: str  # the rule of the loader that decides
    intended: Fact[str]  # the file the framework ships or pins, real path
    missing: bool = False  # the whole search was walked, and no file answers to that name


class LoaderFacts(NamedTuple):
    """The loader's search path and its predictions."""

    search: Fact[tuple[SearchDir, ...]]  # in order: LD_LIBRARY_PATH (or PATH), then default directories
    cache: Fact[tuple[CacheEntry, ...]]  # CUDA's and cuDNN's entries of ld.so.cache, in its order
    preload: Fact[tuple[str, ...]]  # LD_PRELOAD and /etc/ld.so.preload
    predictions: Fact[tuple[Prediction, ...]]
