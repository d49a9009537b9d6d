"""gpu-switched-off-by-variable."""

from __future__ import annotations

import pytest

from compat.need import ClearVariable
from doctor.model.facts import Facts
from doctor.model.facts.environment import Variable
from doctor.model.finding import Severity, Status
from tests.machine import configuration, environment, framework, machine, seen, unseen
from tests.rules.case import answer

CODE = "gpu-switched-off-by-variable"
JAX = "jax-cuda12-plugin"


def here(package: str, **variables: str) -> Facts:
    told = tuple(Variable(name, value, "~/.bashrc, line 3") for name, value in variables.items())
    build = "cpu" if package == "jaxlib" else "cuda"
    return machine(
        environments=seen(
            (environment(framework(package, "0.7.2", build=seen(build), cuda=unseen("it does not say"))),)
        ),
        configuration=configuration(variables=seen(told)),
    )


@pytest.mark.parametrize(
    ("package", "variables", "severity"),
    [
        (JAX, {"JAX_PLATFORMS": "cpu"}, Severity.WARNING),
        (JAX, {"JAX_PLATFORMS": "cpu,cuda"}, Severity.WARNING),
        (JAX, {"JAX_PLATFORM_NAME": "CPU"}, Severity.WARNING),
        (JAX, {"JAX_PLATFORMS": "tpu,cpu"}, Severity.ERROR),
        ("numba", {"NUMBA_DISABLE_CUDA": "1"}, Severity.WARNING),
        ("numba", {"NUMBA_ENABLE_CUDASIM": "1"}, Severity.WARNING),
        ("triton", {"TRITON_INTERPRET": "true"}, Severity.WARNING),
    ],
)
def test_it_is_named_where_it_is_set(package: str, variables: dict[str, str], severity: Severity) -> None:
    found = answer(CODE, here(package, **variables))
    (name,) = variables
    assert (found.kind, found.severity) == (Status.BAD, severity)
    assert found.needs == (ClearVariable(name, "~/.bashrc, line 3"),)
    assert name in found.why


@pytest.mark.parametrize(
    ("package", "variables", "kind"),
    [
        (JAX, {}, Status.OK),
        (JAX, {"JAX_PLATFORMS": ""}, Status.OK),
        (JAX, {"JAX_PLATFORMS": "cuda,cpu"}, Status.OK),
        (JAX, {"JAX_PLATFORMS": "gpu", "JAX_PLATFORM_NAME": "gpu"}, Status.OK),
        ("jaxlib", {"JAX_PLATFORMS": "cpu"}, Status.NOT_APPLICABLE),
        ("numba", {"NUMBA_DISABLE_CUDA": "0"}, Status.OK),
        ("triton", {"TRITON_INTERPRET": "0"}, Status.OK),
        ("torch", {"JAX_PLATFORMS": "cpu", "TRITON_INTERPRET": "1"}, Status.NOT_APPLICABLE),
    ],
)
def test_it_is_silent(package: str, variables: dict[str, str], kind: Status) -> None:
    assert answer(CODE, here(package, **variables)).kind is kind


def test_without_a_gpu_nothing_is_switched_off() -> None:
    facts = here(JAX, JAX_PLATFORMS="cpu")._replace(pci=seen(()), gpus=seen(()))
    assert answer(CODE, facts).kind is Status.NOT_APPLICABLE


def test_variables_that_were_not_seen_are_unknown() -> None:
    facts = here(JAX)._replace(configuration=configuration(variables=unseen("a saved report without them")))
    assert answer(CODE, facts).kind is Status.UNKNOWN
