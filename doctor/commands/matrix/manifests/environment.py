"""environment.yml for conda, which makes the environment, and pip in it installs the wheels.

Source: conda's documentation, "Creating an environment file manually", and its `pip:` list, whose lines are those of a
requirements file.
"""

from __future__ import annotations

import json

from doctor.commands.matrix.manifest import Manifest, Project


def render(project: Project) -> str:
    """Texts are quoted as JSON, which YAML 1.2 holds to be its own."""
    python = f"python={project.python}" if project.python else "python"
    lines = ["name: gpu-environment", "channels:", "  - conda-forge", "  - nodefaults", "dependencies:"]
    lines += [f"  - {python}", "  - pip", "  - pip:"]
    wanted = [*(" ".join(option) for option in project.indexes), *(str(one.spec) for one in project.wheels)]
    return "\n".join([*lines, *(f"      - {json.dumps(one)}" for one in wanted)]) + "\n"


def is_named(name: str) -> bool:
    """environment.yml, environment-gpu.yaml."""
    return "environment" in name.casefold() and name.casefold().endswith((".yml", ".yaml"))


MANIFEST = Manifest("environment.yml", is_named, render)
