"""Facts about the DLLs that frameworks need on Windows."""

from compat.base.record import NamedTuple
from doctor.model.facts.seen import Fact


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
