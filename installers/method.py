"""What an installation method is: it serves needs and writes plans. One file each under `methods/`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import Need
from installers.plan import Plan, Target

# What an order can say beside product and version, as the command line calls it.
ARCHIVE, PREFIX, COMPONENTS = "archive", "prefix", "components"


class Name(NamedTuple):
    """The word by which a person chooses a method for a product."""

    product: str  # "cuda", "cudnn"
    method: str  # "runfile", "wheel"
    os_family: str = ""  # the only system that it is for, "" for any


def everywhere(_: Need, __: Target) -> bool:
    """Serve every need of its kinds on any machine."""
    return True


def on_linux(_: Need, target: Target) -> bool:
    """Serve every need of its kinds on Linux."""
    return target.os_family == "linux"


class Method(NamedTuple):
    """One way to bring a need about."""

    needs: type | tuple[type, ...]  # the kinds that it plans
    title: str
    plan: Callable[[Any, Target, Matrix], Plan]
    serves: Callable[[Any, Target], bool] = everywhere  # asked by `rank`, then name; the first that serves is taken
    rank: int = 50
    names: tuple[Name, ...] = ()  # () where nobody can ask for it by a word
    options: frozenset[str] = frozenset()  # of those above: what it takes, all else is refused
    # The plan for an order that says more than a need does; None: a need says all that this method can take.
    ordered: Callable[[Any, Target, Matrix], Plan] | None = None
