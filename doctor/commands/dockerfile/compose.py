"""A service of a compose file: what it is built from, what it adds to the environment, and how it is given GPUs.

Sources: the Compose specification (build.md, deploy.md "devices", 05-services.md "gpus", "runtime", "devices",
"extends"); Docker's manual, "Run Docker Compose services with GPU access" (capabilities must be set; count and
device_ids exclude one another).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple
from doctor.commands.dockerfile.project import Project, is_address
from doctor.model.facts.dockerfile import DockerfileLine, DockerfileService
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.script.parse import FILE_AT_MOST_BYTES, DockerfileError
from doctor.script.yaml import Node

_ENDS = (".yml", ".yaml")
_DEVICES = ("deploy", "resources", "reservations", "devices")
_GENERIC = ("deploy", "resources", "reservations", "generic_resources")
_LISTED_AT_MOST_CHARS = 200
_COUNT = re.compile(r"all|[-+]?\d[\d_]*|0[xob][\da-f_]+", re.IGNORECASE)


class Service(NamedTuple):
    """What a compose file says of one service."""

    told: DockerfileService
    context: str  # a directory of this machine, "" for a service that is not built
    dockerfile: str  # a path in it
    inline: str  # a Dockerfile that stands in the compose file, "" for none
    line: int  # of the image or the inline Dockerfile
    file: str  # in which that stands
    target: str
    args: Mapping[str, str]
    image: str  # that it starts from where it is not built
    platform: str
    environment: Mapping[str, tuple[str, Place]]  # name to value and source


def is_compose(path: str) -> bool:
    """By the ending of the name; FILE:SERVICE names one of its services."""
    return compose_parts(path)[0].endswith(_ENDS)


def compose_parts(path: str) -> tuple[str, str]:
    """File and service, "" where none is named."""
    file, _, name = path.rpartition(":")
    return (file, name) if file.endswith(_ENDS) and "/" not in name else (path, "")


def service_of(path: str, content: bytes) -> Service:
    """The service that FILE:SERVICE names, the only one for a bare FILE; raises DockerfileError."""
    file, wanted = compose_parts(path)
    if len(content) > FILE_AT_MOST_BYTES or b"\0" in content:
        raise DockerfileError(f"{file}: the file is not text, or has more than {FILE_AT_MOST_BYTES >> 10} KiB")
    project = Project(file)
    services = project.services(content.decode("utf-8-sig", "replace"))
    names = [wanted] if wanted else [name for name, one in services.items() if one.at("build")] or [*services]
    if len(names) != 1 or names[0] not in services:
        listed = ", ".join(services)[:_LISTED_AT_MOST_CHARS] or "none"
        why = f"no service {wanted}" if wanted else "several services; choose one as FILE:SERVICE"
        raise DockerfileError(f"{file} has {why if services else 'no services'}: {listed}")
    return _service(names[0], project.extended(names[0], services), file)


def _service(name: str, one: Node, file: str) -> Service:
    build = one.at("build") or Node(None, one.line)
    folder = build.text or (build.at("context") or Node("." if build.fields else "", 0)).text
    if is_address(folder):
        raise DockerfileError(
            f"{file}: {name} is built from {folder[:80]}, which gpudoctor does not download: give its Dockerfile"
        )
    inline, image = build.at("dockerfile_inline"), one.at("image")
    given, fault = _gpus(one)
    stands = inline or image or one
    return Service(
        told=DockerfileService(name, _at(one), given, fault),
        context=os.path.join(os.path.dirname(file), folder) if folder else "",
        dockerfile=(build.at("dockerfile") or Node("Dockerfile", 0)).text,
        inline=inline.text if inline else "",
        line=stands.line,
        file=stands.file,
        target=(build.at("target") or build).text if build.fields else "",
        args={each: value for each, (value, _) in _pairs(build.at("args")).items()},
        image=image.text if image and not folder else "",
        platform=(one.at("platform") or Node("", 0)).text,
        environment=_pairs(one.at("environment")),
    )


def _at(one: Node) -> Place:
    return Place(one.file, one.line)


def _pairs(node: Node | None) -> dict[str, tuple[str, Place]]:
    """A mapping, or a sequence of NAME=VALUE; the value of a bare name is that of the starting shell: unknown."""
    if node is None:
        return {}
    if node.fields:
        return {name: (one.text, _at(one)) for name, one in node.fields.items() if one.value is not None}
    parts = [(one.text.partition("="), _at(one)) for one in node.items]
    return {name: (value, place) for (name, sign, value), place in parts if sign}


def _gpus(one: Node) -> tuple[Fact[str], DockerfileLine | None]:
    """How GPUs are given, "" for not at all; and a request that Compose refuses."""
    gpus = one.at("gpus")
    asked = [*_items(one, *_DEVICES), *(gpus.items if gpus and not gpus.text else [])]
    faults = [*map(_fault, _items(one, *_DEVICES)), *map(_bad_count, asked)]
    for fault in filter(None, faults):
        return Seen("", fault.source), fault
    for how, place in _ways(one):
        return Seen(how, place), None
    if one.at("extends"):
        return Unseen(f"{_at(one)} extends a service in another file, which was not read"), None
    return Seen("", _at(one)), None


def _fault(device: Node) -> DockerfileLine | None:
    source = _at(device)
    if device.fields and not device.at("capabilities"):
        return DockerfileLine("Compose refuses a device reservation without capabilities", source,
                              "capabilities: [gpu]")  # fmt: skip
    if device.at("count") and device.at("device_ids"):
        return DockerfileLine("Compose refuses count together with device_ids", source, "one of them")
    return None


def _bad_count(device: Node) -> DockerfileLine | None:
    """A count that Compose does not take (compose-go, types/device.go); what a variable gives is not looked at."""
    count = device.at("count")
    if count is None or count.value in (None, "") or "$" in count.text or _COUNT.fullmatch(count.text):
        return None
    said = f"count: {count.text[:60]}" if count.text else "a count that is a list or a mapping"
    return DockerfileLine(f"{said} is not 'all' and not a whole number", _at(count), "count: all, or a number")


def _ways(one: Node) -> Iterator[tuple[str, Place]]:
    if (gpus := one.at("gpus")) and (gpus.text or gpus.items):
        yield "gpus", _at(gpus)
    for device in _items(one, *_DEVICES):
        capabilities = {each.text for each in _items(device, "capabilities")}
        if any(each == "gpu" or each.startswith("nvidia") for each in capabilities):
            yield "deploy.resources.reservations.devices", _at(device)
    for kind in _items(one, *_GENERIC):
        if "GPU" in (kind.at("discrete_resource_spec", "kind") or kind).text.upper():
            yield "deploy.resources.reservations.generic_resources", _at(kind)
    if (runtime := one.at("runtime")) and runtime.text.startswith("nvidia"):
        yield "runtime", _at(runtime)
    for device in _items(one, "devices"):
        if "nvidia" in (device.at("source") or device).text:
            yield "devices", _at(device)


def _items(one: Node, *names: str) -> list[Node]:
    found = one.at(*names)
    return found.items if found else []
