"""The lines of a Dockerfile: a base with the CUDA that is taken from the system, or plain Python where wheels bring it.

Source: Docker, "Dockerfile reference"; NVIDIA Container Toolkit, "Specialized configurations" (the two variables, which
images of NVIDIA's set already); uv's documentation, "Using uv in Docker".
"""

from __future__ import annotations

import shlex

from doctor.commands.matrix.manifest import Manifest, Project, Unwritable


def render(project: Project) -> str:
    """Start it with `docker run --gpus all`: the driver is the host's."""
    if project.where.os_family != "linux":
        raise Unwritable("a container with CUDA is a Linux one: solve with --os linux")
    wanted = [word for option in project.indexes for word in option]
    wanted += [str(one.spec) for one in project.wheels]
    return "\n".join([*(_on_image(project) if project.image else _on_python(project)), _run(project, wanted)]) + "\n"


def _on_python(project: Project) -> list[str]:
    tag = f"{project.python}-slim" if project.python else "slim"
    return [
        f"FROM python:{tag}",
        "ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    ]


def _on_image(project: Project) -> list[str]:
    """The Python of the image may be another one: uv brings the one that was solved for."""
    python = f" --python {project.python}" if project.python else ""
    return [
        f"FROM {project.image}",
        "RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*",
        f"RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install uv && /opt/uv/bin/uv venv{python} /opt/venv",
        "ENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH",
    ]


def _run(project: Project, wanted: list[str]) -> str:
    strategy = ["--index-strategy", "unsafe-best-match"] if project.indexes else []
    command = ["/opt/uv/bin/uv", "pip", "install", *strategy] if project.image else ["pip", "install", "--no-cache-dir"]
    return f"RUN {shlex.join([*command, *wanted])}"


def is_named(name: str) -> bool:
    """Dockerfile, gpu.Dockerfile, Dockerfile.gpu."""
    parts = name.casefold().split(".")
    return "dockerfile" in (parts[0], parts[-1])


MANIFEST = Manifest("Dockerfile", is_named, render)
