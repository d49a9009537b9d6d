"""Everything that was seen of one machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from compat.base.record import NamedTuple
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.dockerfile import DockerfileFacts
from doctor.model.facts.driver import DriverFacts
from doctor.model.facts.environment import ConfigurationFacts, Environment, Import
from doctor.model.facts.failure import Failure, Unread
from doctor.model.facts.gpu import Gpu, PciDevice
from doctor.model.facts.image import ImageFacts
from doctor.model.facts.loader import DllNeeds, LoaderFacts
from doctor.model.facts.policy import Policy
from doctor.model.facts.seen import Fact, Seen, Unseen, all_unseen
from doctor.model.facts.system import Compiler, SystemFacts
from doctor.model.facts.toolkit import CodeTools, ToolkitFacts

T = TypeVar("T")


class Machine(NamedTuple):
    """What was looked at."""

    kind: str  # "live", "root", "image", "dockerfile", "lock", "dump"
    name: str

    @property
    def is_running(self) -> bool:
        """Whether it ran when it was looked at: itself, or what a text says of it."""
        return self.kind in {"live", "dump"}

    @property
    def label(self) -> str:
        """How findings name it."""
        return "this machine" if self.kind == "live" else self.name


class Facts(NamedTuple):
    """What the probes saw; rules and reports read nothing else."""

    machine: Machine
    system: SystemFacts
    driver: DriverFacts
    pci: Fact[tuple[PciDevice, ...]]
    gpus: Fact[tuple[Gpu, ...]]
    toolkit: ToolkitFacts
    compilers: Fact[tuple[Compiler, ...]]
    cudnn: Fact[tuple[CudnnCopy, ...]]
    environments: Fact[tuple[Environment, ...]]
    configuration: ConfigurationFacts
    loader: LoaderFacts
    imports: Fact[tuple[Import, ...]]  # empty unless --deep was asked for
    failures: tuple[Failure, ...] = ()
    code_tools: Fact[tuple[CodeTools, ...]] = Unseen("they were not looked for")
    dlls: Fact[tuple[DllNeeds, ...]] = Unseen("they were not looked for")
    assumed: tuple[str, ...] = ()  # "driver", "gpus": what the user named for an image or root to run on
    image: Fact[ImageFacts] = Unseen("no image was looked at")
    dockerfile: Fact[DockerfileFacts] = Unseen("no Dockerfile was read")
    unread: tuple[Unread, ...] = ()  # what of the file of `check --from`, or of an image, could not be read
    policy: Policy = Policy()  # what the project asks of the machine
    gpu_expected_by: str = ""  # "--expect-gpu", "gpudoctor gate"; "" for nobody
    independent: Mapping[str, Fact[Any]] = MappingProxyType({})  # by the names of the files in probes/independent

    @classmethod
    def unseen(cls, machine: Machine, why: Unseen) -> Facts:
        """Return facts of which nothing was seen, for one reason; what has a default keeps it."""
        whole = dict.fromkeys((name for name in cls._fields if name not in cls._field_defaults), why)
        groups = {
            "system": SystemFacts,
            "driver": DriverFacts,
            "toolkit": ToolkitFacts,
            "configuration": ConfigurationFacts,
            "loader": LoaderFacts,
        }
        parts: dict[str, Any] = {name: all_unseen(kind, why) for name, kind in groups.items()}
        return cls(**{**whole, **parts, "machine": machine})

    @property
    def is_running(self) -> bool:
        """Whether the driver and the GPUs are those that were seen on a running machine, not assumed ones."""
        return self.machine.is_running and not self.assumed

    @property
    def has_gpu(self) -> bool | None:
        """Whether there is an NVIDIA card that CUDA can use; None where nothing could tell. No Mac has one."""
        if getattr(self.system.family, "value", "") == "macos":
            return False
        gpus = getattr(self.gpus, "value", ())
        pci = getattr(self.pci, "value", None)
        dxg = getattr(self.system.dxg, "value", False)
        jetson = getattr(self.system.jetson, "value", "")  # its GPU is not on PCI
        if gpus or pci or dxg or jetson:
            return True
        bare_wsl = getattr(self.system.wsl, "value", 0) > 0 and getattr(self.system.container, "value", "") == ""
        if pci is None and bare_wsl:
            return False if isinstance(self.system.dxg, Seen) else None  # Windows gives a GPU as /dev/dxg, not on PCI
        return None if pci is None else False


class IndependentProbe(Generic[T]):
    """A probe that needs nothing but a host; its file's name is that of its facts in the report."""

    __slots__ = ("kind", "look", "reads_files", "title")

    def __init__(self, title: str, kind: type[T], look: Callable[[Any], Fact[T]], *, reads_files: bool = True) -> None:
        """`title` names it in failures; `reads_files`: a remedy may change what it sees, so that it looks again."""
        self.title = title
        self.kind = kind
        self.look = look
        self.reads_files = reads_files

    def of(self, facts: Facts) -> Fact[T]:
        """Return what it saw; raises KeyError for facts that were made without it."""
        fact: Fact[T] = facts.independent[self.look.__module__.rpartition(".")[2]]
        return fact
