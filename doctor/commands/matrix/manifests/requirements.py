"""requirements.txt for pip and uv. Source: pip's documentation, "Requirements File Format"."""

from __future__ import annotations

from doctor.commands.matrix.manifest import Manifest, Project


def render(project: Project) -> str:
    """One requirement a line, after the indexes; a Python that it is for stands in a comment."""
    lines = [f"# for Python {project.python}"] if project.python else []
    lines += [" ".join(option) for option in project.indexes]
    return "\n".join([*lines, *(str(one.spec) for one in project.wheels)]) + "\n"


def is_named(name: str) -> bool:
    """requirements.txt, requirements-gpu.txt, gpu-requirements.txt."""
    return "requirements" in name.casefold() and name.casefold().endswith(".txt")


MANIFEST = Manifest("requirements.txt", is_named, render)
