"""What rules are asked about, and the conditions under which a rule does not apply."""

from __future__ import annotations

from doctor.model.facts import Facts, Machine
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Environment, Framework, Import
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Seen, UnseenError
from doctor.model.facts.toolkit import Toolkit
from doctor.rules.shared.rule import NotApplicable, Subjects


def _frameworks(facts: Facts) -> tuple[Framework, ...]:
    return tuple(
        framework
        for environment in facts.environments.get()
        if isinstance(environment.frameworks, Seen)
        for framework in environment.frameworks.value
    )


def _gpus(facts: Facts) -> tuple[Gpu, ...]:
    """None where no card can be: without one on the bus, and on an offline root."""
    return () if not facts.is_running or facts.has_gpu is False else facts.gpus.get()


MACHINE: Subjects[Machine] = Subjects("machine", lambda facts: (facts.machine,))
GPUS: Subjects[Gpu] = Subjects("GPU", _gpus)
TOOLKITS: Subjects[Toolkit] = Subjects("CUDA toolkit", lambda facts: facts.toolkit.toolkits.get())
CUDNN_COPIES: Subjects[CudnnCopy] = Subjects("copy of cuDNN", lambda facts: facts.cudnn.get())
ENVIRONMENTS: Subjects[Environment] = Subjects("Python environment", lambda facts: facts.environments.get())
FRAMEWORKS: Subjects[Framework] = Subjects("framework", _frameworks)
INSTALLED_FRAMEWORKS: Subjects[Framework] = Subjects(
    "installed framework", lambda facts: (one for one in _frameworks(facts) if not one.is_planned)
)
LISTED_FRAMEWORKS: Subjects[Framework] = Subjects(
    "installed framework",  # or one that a line of a plan installs
    lambda facts: (one for one in _frameworks(facts) if not one.is_planned or one.pinned_at),
)
PLANNED_FRAMEWORKS: Subjects[Framework] = Subjects(
    "planned framework (--framework)",
    lambda facts: (one for one in _frameworks(facts) if one.is_planned and facts.machine.kind != "dump"),
)
IMPORTS: Subjects[Import] = Subjects("tested import (--deep)", lambda facts: facts.imports.get())


def environment_of(framework: Framework, facts: Facts) -> Environment:
    """The environment that a framework is installed in."""
    return next(one for one in facts.environments.get() if one.prefix == framework.environment)


def of_their_cuda(toolkit: Toolkit, facts: Facts) -> bool:
    """Whether a toolkit has the CUDA major of an installed framework, or no framework names a major."""
    installed = _frameworks(facts) if isinstance(facts.environments, Seen) else ()
    majors = {one.cuda.value.major for one in installed if isinstance(one.cuda, Seen)}
    return not majors or (isinstance(toolkit.cuda, Seen) and toolkit.cuda.value.major in majors)


def need_live(facts: Facts) -> None:
    """Raise NotApplicable on an offline root, where no driver runs."""
    if not facts.is_running:
        why = "the driver or the GPU is assumed" if facts.assumed else "an offline root has no running driver"
        raise NotApplicable(why)


def need_gpu(facts: Facts) -> None:
    """Raise NotApplicable without an NVIDIA card (or offline), UnseenError where nothing could tell."""
    need_live(facts)
    if facts.has_gpu is None:
        raise UnseenError("unknown: PCI and NVML could not be read")
    if not facts.has_gpu:
        raise NotApplicable("this machine has no NVIDIA GPU")


def need_where(facts: Facts, what: str) -> None:
    """As need_gpu; offline, what was assumed to be there will do: `what` is "driver" or "gpus"."""
    if facts.is_running:
        need_gpu(facts)
    elif what not in facts.assumed:
        raise NotApplicable(f"offline: --assume-{'driver' if what == 'driver' else 'gpu'} gives the target")


def need_linux(facts: Facts) -> None:
    """Raise NotApplicable on anything but Linux."""
    if facts.system.family.get() != "linux":
        raise NotApplicable("only on Linux")


def need_container(facts: Facts) -> None:
    """Raise NotApplicable outside a container."""
    if not facts.system.container.get():
        raise NotApplicable("not in a container")
