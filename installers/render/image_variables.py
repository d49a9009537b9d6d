"""What an image sets: no shell of a user's reads a file for it."""

from __future__ import annotations

from installers.render.bash import quote, variable
from installers.render.comments import comment

Lines = tuple[str, ...]


def in_image(name: str, value: str) -> Lines:
    """For every login of an image's machine (pam_env(8)); the image of a container has it in its configuration.

    Source: Docker's documentation, "Dockerfile reference", ENV.
    """
    line = f"{variable(name)}={value}"
    return (
        *comment(f"in a container image, set it in the Dockerfile: ENV {variable(name)}={quote(value)}"),
        f"printf '%s\\n' {quote(line)} >> /etc/environment",
    )


def cannot_unset(name: str) -> str:
    """What to do where a line of an image's Dockerfile sets a variable: ENV gives a value, and an empty one is one.

    CUDA_VISIBLE_DEVICES="" hides every GPU. Source: Docker's documentation, "Dockerfile reference", ENV.
    """
    return (
        f"delete {variable(name)} from the ENV line that sets it. If the base image sets it, start programs with"
        f" `env -u {name}`: a Dockerfile cannot unset a variable."
    )
