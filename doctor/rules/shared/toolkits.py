"""Which toolkit compiles, where nobody asks for another one by its path."""

from __future__ import annotations

from doctor.model.facts import Facts
from doctor.model.facts.toolkit import ToolkitName


def chosen_name(facts: Facts) -> ToolkitName | None:
    """Return the name that decides: a variable, nvcc on PATH, the usual link (CMake's FindCUDAToolkit, torch)."""
    named = [one for one in facts.toolkit.names.get() if not one.missing]
    named.sort(key=lambda one: (not one.name.startswith("CUDA_"), one.name.startswith("/")))
    return next(iter(named), None)
