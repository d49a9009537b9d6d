"""Everything that was seen of one machine."""

from compat.base.record import NamedTuple
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.dlls import DllNeeds
from doctor.model.facts.dockerfile import DockerfileFacts
from doctor.model.facts.driver import DriverFacts
from doctor.model.facts.environment import ConfigurationFacts, Environment, Import
from doctor.model.facts.failure import Failure, InstallRun, Unread
from doctor.model.facts.gpu import Gpu, PciDevice
from doctor.model.facts.image import ImageFacts
from doctor.model.facts.loader import LoaderFacts
from doctor.model.facts.policy import Policy
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.model.facts.system import Compiler, SystemFacts
from doctor.model.facts.toolkit import CodeTools, ToolkitFacts


class Machine(NamedTuple):
    """What was looked at."""

    kind: str  # "live", "root", "image", "dockerfile", "dump"
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
    install_runs: Fact[tuple[InstallRun, ...]] = Unseen("they were not looked for")
    assumed: tuple[str, ...] = ()  # "driver", "gpus": what the user named for an image or root to run on
    image: Fact[ImageFacts] = Unseen("no image was looked at")
    dockerfile: Fact[DockerfileFacts] = Unseen("no Dockerfile was read")
    unread: tuple[Unread, ...] = ()  # what of the file of `check --from`, or of an image, could not be read
    policy: Policy = Policy()  # what the project asks of the machine

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
