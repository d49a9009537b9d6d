"""What a framework compiles kernels with at run time: whether it is there, and new enough for the cards."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import AssignVariable, InstallPackage, Need
from compat.traits import traits_of
from compat.version import ComputeCapability, CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.facts.toolkit import CodeTools, Tool
from doctor.model.finding import Severity
from doctor.rules.shared.builds import need_own_cuda
from doctor.rules.shared.rule import NotApplicable
from doctor.rules.shared.subjects import need_linux

_FIRST_BLACKWELL = ComputeCapability(10, 0)
_FIRST_WITHOUT_SUFFIX = 13  # from CUDA 13 on the wheels' names carry no -cu12
_WITH_NVVM = ("directory", "hpc-sdk", "conda")  # Debian keeps libdevice elsewhere
_NONE = CudaVersion(0, 0)


def tools_of(framework: Framework, facts: Facts, matrix: Matrix) -> CodeTools:
    """What was found for a framework; raises NotApplicable where it compiles nothing at run time, UnseenError."""
    need_linux(facts)
    if not traits_of(framework.package).compiles:
        need_own_cuda(framework)
    if not matrix.uses_tool("libdevice", traits_of(framework.package).id, framework.version):
        raise NotApplicable(f"{framework.label} compiles kernels only if a program needs it")
    for one in facts.code_tools.get():
        if (one.environment, one.package) == (framework.environment, framework.package):
            return one
    raise NotApplicable(f"{framework.label} compiles no kernels with ptxas at run time")


def tool_for(tools: CodeTools, gpu: ComputeCapability) -> Tool | None:
    """The ptxas that is started for a card, None where there is none; raises UnseenError."""
    found = tools.ptxas.get()
    if gpu >= _FIRST_BLACKWELL and any(one.is_for_blackwell for one in found):
        return next(one for one in found if one.is_for_blackwell)
    return next((one for one in found if not one.is_for_blackwell), None)


def capabilities(facts: Facts) -> tuple[ComputeCapability, ...]:
    """The compute capabilities of this machine's cards, each once; raises UnseenError."""
    found = {gpu.capability.get() for gpu in facts.gpus.get()}
    if not found:
        raise UnseenError("no GPU answers, so ptxas's target is unknown")
    return tuple(sorted(found))


def site_of(framework: Framework) -> str:
    """The directory in which the framework's package lies."""
    return framework.path.rpartition("/")[0]


def interpreter_of(framework: Framework, facts: Facts) -> str:
    """The interpreter of its environment."""
    return next(
        (one.interpreter for one in value_or(facts.environments, ()) if one.prefix == framework.environment), ""
    )


def severity_of(framework: Framework) -> Severity:
    """JAX compiles everything that it runs; TensorFlow and torch (through Triton) only what they are told to."""
    traits = traits_of(framework.package)
    return Severity.ERROR if traits.compiles and not traits.runs_on else Severity.WARNING


def cuda_major_of(framework: Framework) -> int:
    """The CUDA major of a framework: of its build, else the one in its name ("jax-cuda12-plugin"); 0 for neither."""
    if isinstance(framework.cuda, Seen):
        return framework.cuda.value.major
    digits = framework.package.partition("cuda")[2].partition("-")[0]
    return int(digits) if digits.isdigit() else 0


def needs_of_nvcc(framework: Framework, facts: Facts) -> tuple[Need, ...]:
    """A variable that names a toolkit which is there, else the wheel that brings the part; some bring their own."""
    python = interpreter_of(framework, facts)
    if traits_of(framework.package).own_tools:
        return (InstallPackage(framework.package, f"=={framework.version}", python, reinstall=True),)
    major = cuda_major_of(framework)
    wheel = f"nvidia-cuda-nvcc-cu{major}" if major and major < _FIRST_WITHOUT_SUFFIX else "nvidia-cuda-nvcc"
    by_wheel = InstallPackage(wheel, f"=={major}.*" if major else "", python)
    for one in value_or(facts.toolkit.toolkits, ()):
        if isinstance(one.nvcc, Seen) and one.kind in _WITH_NVVM and value_or(one.cuda, _NONE).major == major:
            setting = next((v for v in value_or(facts.configuration.variables, ()) if v.name == "XLA_FLAGS"), None)
            flag = f"--xla_gpu_cuda_data_dir={one.path}"
            return AssignVariable("XLA_FLAGS", flag, setting.set_in if setting else ""), by_wheel
    return (by_wheel,)
