"""Facts about every copy of cuDNN."""

from compat.base.record import NamedTuple
from compat.version import CudnnVersion
from doctor.model.facts.seen import Fact, Unseen


class CudnnPart(NamedTuple):
    """One library file of a copy."""

    name: str  # "libcudnn_ops.so.9", the SONAME-like name it is asked for by; "cudnn_ops64_9.dll"
    path: str  # the regular file it leads to
    version: Fact[CudnnVersion]  # best of symbol and file name
    soname: Fact[str]
    machine: Fact[str]  # "x86_64", "aarch64", ...
    readable: bool  # for this user


class CudnnLink(NamedTuple):
    """A symbolic link of a copy that leads nowhere, or where its release does not lead."""

    path: str
    target: str
    why: str  # "no such file", "leads to a library of another release: ..."


class CudnnCopy(NamedTuple):
    """cuDNN libraries in one directory (a header alone is a copy without parts)."""

    path: str  # directory of the libraries
    origin: str  # "toolkit", "distribution", "wheel", "conda", "framework", "directory", "windows"
    owner: str  # package that owns it, "nvidia-cudnn-cu12 9.10.2.21", "libcudnn9-cuda-12 9.10.2.21-1"; "" for none
    environment: str  # prefix of the Python environment it belongs to, "" for none
    version: Fact[CudnnVersion]  # of the libraries
    how_versions: tuple[tuple[str, str], ...]  # what every source says: ("symbol", "9.10.2"), ("file name", ...)
    header_version: Fact[CudnnVersion]  # of the header that belongs to it
    header_path: Fact[str]
    cuda_major: Fact[int]  # CUDA it was built for
    parts: Fact[tuple[CudnnPart, ...]]  # the main library first
    missing: Fact[tuple[str, ...]]  # files its package lists (RECORD, dpkg, conda-meta) that are not there
    damaged: Fact[tuple[str, ...]]  # files whose size is not the one its package lists, truncated, empty
    broken_links: Fact[tuple[CudnnLink, ...]]
    search_rank: Fact[int]  # place of its directory in the loader's order, 0 first; Unseen: not searched
    companions: Fact[tuple[str, ...]] = Unseen("they were not looked for")  # zlibwapi.dll, beside it or on PATH
    foreign_companion: str = ""  # the first file of such a name, where it is for another type of machine

    @property
    def label(self) -> str:
        """How findings name it."""
        version = getattr(self.version, "value", "")
        return f"cuDNN {version} in {self.path}" if version else f"cuDNN in {self.path}"
