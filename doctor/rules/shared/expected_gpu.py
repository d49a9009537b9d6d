"""What shows that a machine is meant to have an NVIDIA GPU."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.model.finding import Evidence

_OF_A_DRIVER = frozenset(("system", "wsl", "windows"))  # not cuda-compat's libraries, nor a toolkit's stubs
_OF_A_GPU = frozenset(("driver", "gpu", "gpu_count", "gpu_memory", "compute_capability"))  # keys of a policy
_GRANTS = ("GPU-", "MIG-")  # how a device plugin of Kubernetes names one GPU; "all" comes from the image


def signs_of_a_gpu(facts: Facts) -> tuple[Evidence, ...]:
    """Return what shows that a GPU is expected; () where nothing does, as on a laptop or in continuous integration."""
    return tuple(_signs(facts))


def _signs(facts: Facts) -> Iterator[Evidence]:
    driver, system = facts.driver, facts.system
    if facts.gpu_expected_by:
        yield Evidence(f"{facts.gpu_expected_by} expects a GPU")
    for wanted in (one for one in facts.policy.requirements if one.name in _OF_A_GPU and one.key.count(".") == 1):
        yield Evidence.at(wanted.source, f"the policy has {wanted.key}")
    for library in (one for one in value_or(driver.libraries, ()) if one.origin in _OF_A_DRIVER):
        yield Evidence(f"a library of driver {library.release}", library.path)
        break
    for file in value_or(driver.module_files, ())[:1]:
        yield Evidence("an NVIDIA kernel module", file.path)
    for build in value_or(driver.dkms, ())[:1]:
        yield Evidence(f"DKMS has {build.module} {build.release}")
    for module in [one for one in value_or(driver.modules_loaded, ()) if one.startswith("nvidia")][:1]:
        yield Evidence.of(driver.modules_loaded, f"the kernel module {module} is loaded")
    for node in value_or(driver.nodes, ())[:1]:
        yield Evidence("an NVIDIA device file", node.path)
    for line in [one for one in value_or(system.kernel_log, ()) if _names_a_card(one)][:1]:
        yield Evidence.of(system.kernel_log, line)
    job = value_or(system.job, None)
    if job and job.gpus:
        yield Evidence.of(system.job, f"{job.scheduler} gave this job a GPU: {job.gpus}")
    for name, value in value_or(system.gpu_runtime_env, ()):
        if value.startswith(_GRANTS):
            yield Evidence.of(system.gpu_runtime_env, f"{name}={value}")


def _names_a_card(line: str) -> bool:
    import re  # late: few machines without a GPU have such lines

    return re.search(r"(?:NVRM|nvidia|nouveau).*\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\b", line) is not None
