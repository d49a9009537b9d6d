"""Find the modules of a package that each hold one constant: rules, framework readers, formats, methods.

One new thing is one new file, and nothing vanishes silently: a module without its constant, or an empty folder, is
an error.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import TypeVar

from compat.base.errors import DataError

T = TypeVar("T")


def names_in(package: ModuleType) -> tuple[str, ...]:
    """The module names in a package, sorted, without importing any; raises DataError when there is none.

    What begins with "_" is shared by the others, and none of them.
    """
    found: set[str] = set()
    for folder in package.__path__:
        found.update(name[:-3] for name in os.listdir(folder) if name.endswith(".py") and not name.startswith("_"))
    if not found:
        raise DataError(f"{package.__name__} has no modules")
    return tuple(sorted(found))


def folders_in(package: ModuleType) -> tuple[str, ...]:
    """The names of the packages inside a package, sorted, without importing any."""
    found = {
        name
        for folder in package.__path__
        for name in os.listdir(folder)
        if os.path.isfile(os.path.join(folder, name, "__init__.py"))
    }
    return tuple(sorted(found))


def load_one(package: ModuleType, name: str, constant: str, kind: type[T]) -> T:
    """The constant of one module; raises DataError when it lacks it."""
    module = importlib.import_module(f"{package.__name__}.{name}")
    item = getattr(module, constant, None)
    if not isinstance(item, kind):
        raise DataError(f"{package.__name__}/{name}.py must define {constant}")
    return item


def code_of(module_name: str) -> str:
    """The public id of a module: driver_too_old is driver-too-old."""
    return module_name.replace("_", "-")
