"""The stack on one screen: a label and a line for each of its layers."""

from __future__ import annotations

from collections.abc import Iterator, Set

from compat.build import gpu_plugins
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Fact, Seen, Unseen, value_or

_DOT = " · "
_WSL = {1: "WSL 1", 2: "WSL 2"}


def stack_lines(facts: Facts) -> list[tuple[str, str]]:
    """Pairs of label and text, top of the stack last."""
    return [
        ("System", _system(facts)),
        *_gpus(facts),
        ("Driver", _driver(facts)),
        *_toolkits(facts),
        *_cudnn(facts),
        *_environments(facts),
        *_policy(facts),
        *_no_gpu(facts),
    ]


def _no_gpu(facts: Facts) -> Iterator[tuple[str, str]]:
    """The last line: without a GPU only files could be checked."""
    if facts.machine.is_running and facts.has_gpu is False:
        yield "GPU", "No GPU here; files of the environment checked"


def _policy(facts: Facts) -> Iterator[tuple[str, str]]:
    policy = facts.policy
    if policy.path:
        exceptions, wanted = len(policy.exceptions), len(policy.requirements)
        parts = [policy.path, f"{wanted} requirement{'' if wanted == 1 else 's'}"]
        parts += [f"{exceptions} exception{'' if exceptions == 1 else 's'}"] if exceptions else []
        parts += [f"allows nothing: {policy.limitation} (--policy {policy.path} takes it whole)"] * bool(
            policy.limitation
        )
        yield "Policy", _DOT.join(parts)


def _system(facts: Facts) -> str:
    system = facts.system
    parts = [value_or(system.distribution, value_or(system.family, "unknown system")), value_or(system.machine, "")]
    if isinstance(system.kernel, Seen):
        parts.append(f"kernel {system.kernel.value}")
    parts.append(_WSL.get(value_or(system.wsl, 0), ""))
    if value_or(system.container, ""):
        parts.append(f"in a {value_or(system.container, '')} container")
    if value_or(system.jetson, ""):
        parts.append(f"Jetson Linux {value_or(system.jetson, '')}")
    if value_or(system.sudo_user, ""):
        parts.append("run by sudo, which changes the environment")
    return _DOT.join(part for part in parts if part)


def _gpus(facts: Facts) -> Iterator[tuple[str, str]]:
    found = value_or(facts.gpus, ())
    if found:
        yield from ((_numbered("GPU", gpu.number, len(found)), _gpu(gpu)) for gpu in found)
    elif value_or(facts.pci, ()):
        cards = ", ".join(card.label for card in value_or(facts.pci, ()))
        yield "GPU", f"{cards}; NVML does not answer: {_why(facts.gpus)}"
    elif facts.has_gpu is not False or not facts.machine.is_running:
        yield "GPU", f"not known: {_why(facts.gpus)}"


def _gpu(gpu: Gpu) -> str:
    parts = [value_or(gpu.name, "unnamed")]
    if isinstance(gpu.capability, Seen):
        parts.append(gpu.capability.value.sm)
    if isinstance(gpu.memory_bytes, Seen):
        parts.append(f"{gpu.memory_bytes.value / 2**30:.0f} GiB")
    if isinstance(gpu.link_generation_max, Seen) and isinstance(gpu.link_width, Seen):
        parts.append(f"PCIe {gpu.link_generation_max.value}.0 x{gpu.link_width.value}")
    if value_or(gpu.mig_enabled, False):
        parts.append(f"MIG, {len(value_or(gpu.mig_instances, ()))} instances")
    return _DOT.join(parts)


def _driver(facts: Facts) -> str:
    driver = facts.driver
    if isinstance(driver.release, Unseen):
        return f"not seen: {driver.release.why}"
    parts = [str(driver.release.value)]
    if isinstance(driver.flavour, Seen):
        parts[0] += f", {driver.flavour.value} module"
    if isinstance(driver.cuda, Seen):
        parts.append(f"runs CUDA up to {driver.cuda.value}")
    return _DOT.join(parts)


def _toolkits(facts: Facts) -> Iterator[tuple[str, str]]:
    found = facts.toolkit.toolkits
    if isinstance(found, Unseen):
        yield "Toolkit", f"not known: {found.why}"
        return
    shown = [one for one in found.value if one.kind != "wheels" or isinstance(one.nvcc, Seen)]  # else: a runtime
    for toolkit in shown:
        cuda = str(toolkit.cuda.value) if isinstance(toolkit.cuda, Seen) else "unknown version"
        release = value_or(toolkit.release, cuda)
        where = ", ".join((toolkit.path, *toolkit.links))
        nvcc = "nvcc" if isinstance(toolkit.nvcc, Seen) else "without nvcc"
        yield "Toolkit", f"{release} in {where}{_DOT}{nvcc}"
    if not shown:
        yield "Toolkit", "none"


def _cudnn(facts: Facts) -> Iterator[tuple[str, str]]:
    if isinstance(facts.cudnn, Unseen):
        yield "cuDNN", f"not known: {facts.cudnn.why}"
        return
    predictions = value_or(facts.loader.predictions, ())
    loaded = {path for path in (value_or(one.path, "") for one in predictions) if path}
    for copy in facts.cudnn.value:
        mark = "  <- loaded" if any(path.rpartition("/")[0] == copy.path for path in loaded) else ""
        yield "cuDNN", _copy(copy) + mark
    if not facts.cudnn.value:
        yield "cuDNN", "none"


def _copy(copy: CudnnCopy) -> str:
    version = copy.version if isinstance(copy.version, Seen) else copy.header_version
    text = f"{version.value if isinstance(version, Seen) else 'unknown version'} in {copy.path}"
    return text + (f" ({copy.owner})" if copy.owner else "")


def _environments(facts: Facts) -> Iterator[tuple[str, str]]:
    if isinstance(facts.environments, Unseen):
        yield "Python", f"not known: {facts.environments.why}"
        return
    for environment in facts.environments.value:
        release = value_or(environment.python, "unknown version")
        owner = f"{_DOT}belongs to {environment.owner}" if environment.owner else ""
        yield "Python", f"{release} in {environment.prefix}{_chosen(environment.asked_by)}{owner}"
        yield from _frameworks(environment)


def _chosen(asked_by: str) -> str:
    """Why this environment is the one that was looked at; on a root, all of them are."""
    active = {"VIRTUAL_ENV": "active", "CONDA_PREFIX": "active"}
    return "" if asked_by in {"root", "--all-environments"} else f"{_DOT}{active.get(asked_by, asked_by)}"


def _frameworks(environment: Environment) -> Iterator[tuple[str, str]]:
    if isinstance(environment.frameworks, Unseen):
        yield "", f"packages not known: {environment.frameworks.why}"
        return
    there = {one.package for one in environment.frameworks.value}
    for framework in environment.frameworks.value:
        yield "", _framework(framework, is_cpu_build=is_cpu_build(framework, there))
    if not environment.frameworks.value:
        yield "", "no GPU framework"


def is_cpu_build(framework: Framework, there: Set[str]) -> bool:
    """Return whether it has no GPU code and no package there brings it: jaxlib is the same with and without a GPU."""
    return framework.is_cpu_build and there.isdisjoint(gpu_plugins(framework.package))


def _framework(framework: Framework, *, is_cpu_build: bool) -> str:
    parts = [f"{framework.label}, {framework.note}" if framework.is_planned else framework.label]
    if is_cpu_build:
        parts.append("CPU build")
    if isinstance(framework.cuda, Seen):
        parts.append(f"CUDA {framework.cuda.value}")
    if isinstance(framework.cudnn, Seen):
        parts.append(f"cuDNN {framework.cudnn.value}")
    machine_code = [one for one in value_or(framework.targets, ()) if one.kind == "sm"]
    if machine_code:
        parts.append(f"{machine_code[0]} ... {machine_code[-1]}" if len(machine_code) > 1 else str(machine_code[0]))
    ptx = [one for one in value_or(framework.targets, ()) if one.kind == "compute"]
    if ptx:  # which newer cards compile for themselves
        parts.append(f"{ptx[-1]} PTX")
    return _DOT.join(parts)


def _numbered(label: str, number: int, of: int) -> str:
    return label if of == 1 else f"{label} {number}"


def _why(fact: Fact[object]) -> str:
    return fact.why if isinstance(fact, Unseen) else "nothing was listed"
