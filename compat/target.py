"""The machine that a question is about: its system, its GPUs, its driver, its Python."""

from __future__ import annotations

from compat.base.record import NamedTuple
from compat.version import ComputeCapability, CudaVersion, CudnnVersion, DriverRelease


class TargetMachine(NamedTuple):
    """Where a build must work; what is "", () or None was not said, and is not judged."""

    os_family: str = "linux"
    wsl: bool = False  # Linux inside Windows, whose driver it has
    arch: str = "x86_64"  # "x86_64", "sbsa", "jetson", "ppc64le"
    python: str = ""  # "3.12", "3.13t"
    capabilities: tuple[ComputeCapability, ...] = ()  # of every GPU that must work
    driver: DriverRelease | None = None
    glibc: str = ""
    cuda: CudaVersion | None = None  # of the toolkit on the system, for builds that bring none
    cudnn: CudnnVersion | None = None  # of the system, likewise
    families: tuple[str, ...] = ()  # "datacenter", "geforce" of the cards that were named by product
    forward: CudaVersion | None = None  # of the forward-compatibility package beside the driver
    as_written: bool = False  # an extra that was not named does not come along: tensorflow is not tensorflow[and-cuda]
    names_gpu: bool = False  # the build itself was asked for as one with GPU code: "+cu124", "[cuda12]"

    @property
    def driver_family(self) -> str:
        """The system whose driver it is, by which its releases are numbered."""
        return "windows" if self.wsl else self.os_family

    @property
    def wants_gpu(self) -> bool:
        """Whether the build must use a GPU: a card or its driver was named."""
        return bool(self.capabilities) or self.driver is not None
