"""Find the method that serves a need, and let it write the plan."""

from __future__ import annotations

from functools import lru_cache

from compat.base.discover import load_one, names_in
from compat.base.errors import GpudoctorError
from compat.matrix import Matrix
from compat.need import Need, word_of
from installers import methods as methods_package
from installers.method import Method
from installers.plan import Plan, Target

_OF_PACKAGES = "wheel"  # a file name that is a whole word of others: cuda_wheel


class NoMethod(GpudoctorError):
    """No installation method serves a need on this machine."""

    hint = "This is a gap in gpudoctor. Please report it with this message."

    def __init__(self, need: Need, target: Target) -> None:
        machine = " ".join(filter(None, (target.os_family, target.distribution, target.distribution_version)))
        super().__init__(f"gpudoctor has no installation method for {need} on {machine or 'an unknown system'}")


def load_methods() -> tuple[Method, ...]:
    """Every method, in the order in which they are asked: by rank, then by name."""
    return _loaded(tuple(names_in(methods_package)))


@lru_cache(maxsize=64)
def _loaded(names: tuple[str, ...]) -> tuple[Method, ...]:
    found = [(name, load_one(methods_package, name, "METHOD", Method)) for name in names]
    return tuple(method for _, method in sorted(found, key=lambda pair: (pair[1].rank, pair[0])))


def methods_for(product: str) -> dict[str, Method]:
    """The methods that a person can choose for a product, by the word for it; {} where there is no choice."""
    return {name.method: method for method in load_methods() for name in method.names if name.product == product}


def choose(need: Need, target: Target) -> Method:
    """Return the first method that serves this need on this machine; raises NoMethod."""
    word = word_of(need).replace("-", "_")
    # To load all methods takes 15 ms: only those are asked whose file name holds the word of the need's kind.
    named = tuple(name for name in names_in(methods_package) if f"_{word}_" in f"_{name}_")
    for method in _loaded((word,) if word == _OF_PACKAGES else named):
        if isinstance(need, method.needs) and method.serves(need, target):
            return method
    raise NoMethod(need, target)


def plan_for(need: Need, target: Target, matrix: Matrix) -> Plan:
    """The plan that brings a need about; raises NoMethod."""
    return choose(need, target).plan(need, target, matrix)
