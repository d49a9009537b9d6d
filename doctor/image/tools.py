"""The tools that stream an image of a store to their output, and the line for where none of them is here."""

from __future__ import annotations

import re
import shlex
import shutil

from compat.base.record import NamedTuple
from doctor.image import ImageError

_NAMES = {"docker", "podman", "containerd"}
_WHOLE_NAME = re.compile(r"(localhost|[^/.:]*[.:][^/]*)/")  # as containerd's tools have it: registry, path, tag


class Exported(NamedTuple):
    """A command whose output is the image."""

    argv: tuple[str, ...]
    program: str
    hint: str = ""  # what helps where it finds no such image


def exported(reference: str, platform: str) -> Exported | None:
    """The command for docker:NAME and its like, None for what names no store; raises ImageError."""
    store, _, name = reference.partition(":")
    if store not in _NAMES or not name:
        return None
    if name.startswith("-"):
        raise ImageError(f"{name}: no image has such a name")
    choices = _commands(store, name, platform)
    for argv in choices:
        if program := shutil.which(argv[0]):
            return Exported(argv, program, _hint(argv[0], name))
    line = shlex.join(choices[0]).replace(" - ", " /dev/stdout ")
    missing = " and ".join(argv[0] for argv in choices)
    verb = "are" if len(choices) > 1 else "is"
    raise ImageError(f"{missing} {verb} not here. Where it is: {line} > image.tar, then --image image.tar")


def _commands(store: str, name: str, platform: str) -> tuple[tuple[str, ...], ...]:
    """In the order of what is tried. Source: their pages; skopeo's are containers-transports(5)."""
    if store == "containerd":  # without a platform ctr exports this machine's alone
        return (("ctr", "images", "export", *(("--platform", platform) if platform else ()), "-", name),)
    path, archive = name.rpartition("/")[2], "docker-archive:/dev/stdout"
    whole = name if ":" in path or "@" in path else f"{name}:latest"
    source = f"docker-daemon:{whole}" if store == "docker" else f"containers-storage:{name}"
    return (store, "save", name), ("skopeo", "copy", "--quiet", source, archive)


def _hint(tool: str, name: str) -> str:
    """Where a tool wants names whole that others complete."""
    path = name if "/" in name else f"library/{name}"
    tag = "" if ":" in path or "@" in path else ":latest"
    if tool == "skopeo":
        return "" if _WHOLE_NAME.match(name) else f"skopeo takes whole names, such as localhost/{name}{tag}"
    if tool != "ctr":
        return ""
    if _WHOLE_NAME.match(name):
        return "`ctr namespaces ls` lists where it may lie; CONTAINERD_NAMESPACE=k8s.io is Kubernetes'"
    return f"containerd's names are whole, such as docker.io/{path}{tag}: see `ctr images ls`"
