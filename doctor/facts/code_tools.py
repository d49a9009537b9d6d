"""Facts about what frameworks compile kernels with at run time: ptxas and libdevice."""

from compat.record import NamedTuple
from doctor.facts.seen import Fact


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
