"""pyproject.toml for uv, with its tables of indexes and sources.

Source: uv's documentation, "Package indexes" (pinning a package to an index, `explicit`), "Resolution" (limited
environments); PyPA, "pyproject.toml specification".
"""

from __future__ import annotations

from doctor.commands.matrix.manifest import Manifest, Project
from doctor.output.toml import inline, quoted

_MACHINES = {"x86_64": "x86_64", "sbsa": "aarch64", "jetson": "aarch64", "ppc64le": "ppc64le"}
_SYSTEMS = {"linux": "linux", "windows": "win32", "macos": "darwin"}


def render(project: Project) -> str:
    """A project that is no package: uv installs what it names into its environment."""
    lines = ["[project]", 'name = "gpu-environment"', 'version = "0.1.0"']
    if project.python:
        lines.append(f'requires-python = "=={project.python}.*"')
    lines += ["dependencies = [", *(f"    {quoted(str(one.spec))}," for one in project.wheels), "]", ""]
    lines += ["[tool.uv]", "package = false", f"environments = [{quoted(_marker(project))}]"]
    names = {url: f"index-{number}" for number, (_, url) in enumerate(project.indexes, 1)}
    for url, name in names.items():
        lines += ["", "[[tool.uv.index]]", f"name = {quoted(name)}", f"url = {quoted(url)}", "explicit = true"]
    sources = [f"{one.spec.name} = {inline({'index': names[one.address]})}" for one in project.wheels if one.address]
    lines += ["", "[tool.uv.sources]", *sources] if sources else []
    return "\n".join(lines) + "\n"


def _marker(project: Project) -> str:
    """The one platform that was solved for, as an environment marker (PEP 508)."""
    system, machine = _SYSTEMS[project.where.os_family], _MACHINES[project.where.arch]
    machine = "AMD64" if system == "win32" and machine == "x86_64" else machine
    return f"sys_platform == '{system}' and platform_machine == '{machine}'"


MANIFEST = Manifest("pyproject.toml", lambda name: name == "pyproject.toml", render)
