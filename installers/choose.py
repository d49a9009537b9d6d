"""Find the method that serves a need, and let it write the plan."""

from __future__ import annotations

from functools import lru_cache

from compat.base.discover import load_one, names_in
from compat.base.errors import GpudoctorError
from compat.matrix import Matrix
from compat.need import Need
from installers import methods as methods_package
from installers.method import Method
from installers.plan import Plan, Target

# The methods that serve a product, where those are not the one of its own name; all else is a Python distribution.
_SERVED_BY = {
    "driver": ("driver", "driver_elsewhere", "jetson"),
    "cuda": ("cuda_archive", "cuda_installer", "cuda_toolkit", "cuda_wheel", "cudnn_conda", "jetson"),
    "cudnn": ("cudnn_archive", "cudnn_conda", "cudnn_system", "cudnn_wheel", "jetson"),
    "file": ("files",),
    "link": ("files",),
    "modprobe-line": ("module_let_in",),
    "gpu-switch": ("module_let_in",),
    "mig": ("gpu_setting",),
    "gpu-reset": ("gpu_setting",),
}
_OF_DISTRIBUTIONS = ("wheel",)


class NoMethod(GpudoctorError):
    """No installation method serves a need on this machine."""

    hint = "This is a gap in gpudoctor: please report it with the need and the machine it names."

    def __init__(self, need: Need, target: Target) -> None:
        machine = " ".join(filter(None, (target.os_family, target.distribution, target.distribution_version)))
        super().__init__(f"no method serves {need} on {machine or 'an unknown system'}")


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
    """The first method that serves this need on this machine; raises NoMethod."""
    own = need.product.replace("-", "_")
    listed = _SERVED_BY.get(need.product) or ((own,) if own in names_in(methods_package) else ())
    for names in (listed, _OF_DISTRIBUTIONS):  # to load all takes 15 ms
        for method in _loaded(names):
            if method.serves(need, target):
                return method
    raise NoMethod(need, target)


def plan_for(need: Need, target: Target, matrix: Matrix) -> Plan:
    """The plan that brings a need about; raises NoMethod."""
    return choose(need, target).plan(need, target, matrix)
