"""What of a machine's facts makes a difference between two days, each as one text: releases, paths, values.

Times, free memory, temperatures and how a fact was seen are left out: they differ between two healthy runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.changes.relevance import COMPILER, CUDNN, DRIVER, FRAMEWORK, KERNEL, SETTING, TOOLKIT
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Fact, Unseen, value_or

GPU, SYSTEM, LOADED = "gpu", "system", "loaded"
PARTS = (GPU, DRIVER, KERNEL, SYSTEM, TOOLKIT, CUDNN, FRAMEWORK, SETTING, COMPILER, LOADED)  # causes before effects
UNKNOWN = "unknown"


class Item(NamedTuple):
    """A thing that has a value."""

    part: str  # one of PARTS
    name: str  # "driver", "torch", "LD_LIBRARY_PATH", "/usr/local/cuda-12.8"
    where: str = ""  # prefix of the Python environment


class Difference(NamedTuple):
    """An item with two values; "" where it is not there."""

    item: Item
    old: str
    new: str


def differences(old: Facts, new: Facts) -> tuple[Difference, ...]:
    """What differs, causes before effects. What neither run could see is no difference."""
    before, after = dict(_items(old)), dict(_items(new))
    items = sorted({*before, *after}, key=lambda one: (PARTS.index(one.part), one.where, one.name))
    pairs = (Difference(one, before.get(one, ""), after.get(one, "")) for one in items)
    return tuple(one for one in pairs if one.old != one.new)


def _items(facts: Facts) -> Iterator[tuple[Item, str]]:
    driver, system = facts.driver, facts.system
    yield from _of(DRIVER, ("driver", driver.release), ("kernel module", driver.module_release))
    yield from _of(DRIVER, ("module's kind", driver.flavour), ("newest CUDA that it runs", driver.cuda))
    yield from _of(KERNEL, ("kernel", system.kernel), ("Secure Boot", system.secure_boot))
    yield from _of(SYSTEM, ("distribution", system.distribution), ("C library", system.glibc))
    for number, gpu in enumerate(value_or(facts.gpus, ())):
        name = f"GPU {number}"
        yield Item(GPU, name), _text(gpu.name)
        yield from _of(GPU, (f"{name} compute mode", gpu.compute_mode), (f"{name} MIG", gpu.mig_enabled))
    for toolkit in value_or(facts.toolkit.toolkits, ()):
        yield Item(TOOLKIT, toolkit.path), _text(toolkit.release)
    for link in value_or(facts.toolkit.names, ()):
        yield Item(TOOLKIT, f"{link.name} leads to"), _text(link.leads_to)
    for copy in value_or(facts.cudnn, ()):
        yield Item(CUDNN, copy.path, copy.environment), _text(copy.version)
    for compiler in value_or(facts.compilers, ()):
        yield Item(COMPILER, compiler.path), _text(compiler.version)
    for variable in value_or(facts.configuration.variables, ()):
        yield Item(SETTING, variable.name), variable.value or '""'
    for setting in value_or(facts.configuration.settings, ()):
        yield Item(SETTING, f"{setting.program} {setting.name}"), setting.value
    for environment in value_or(facts.environments, ()):
        yield from _of_environment(environment)
    for one in value_or(facts.loader.predictions, ()):
        yield Item(LOADED, f"{one.soname} in {one.asker}", one.environment), _text(one.path)


def _of_environment(environment: Environment) -> Iterator[tuple[Item, str]]:
    where = environment.prefix
    yield Item(FRAMEWORK, "Python", where), _text(environment.python)
    for one in value_or(environment.distributions, ()):
        if not one.hidden_by:
            yield Item(FRAMEWORK, one.name, where), one.version
    for framework in value_or(environment.frameworks, ()):
        yield Item(FRAMEWORK, framework.package, where), framework.version  # with its build, "2.9.1+cu128"


def _of(part: str, *facts: tuple[str, Fact[object]]) -> Iterator[tuple[Item, str]]:
    for name, fact in facts:
        yield Item(part, name), _text(fact)


def _text(fact: Fact[object]) -> str:
    return UNKNOWN if isinstance(fact, Unseen) else str(fact.value)
