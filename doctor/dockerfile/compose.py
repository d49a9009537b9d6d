"""A service of a compose file: what it is built from, what it adds to the environment, and how it is given GPUs.

Sources: the Compose specification (build.md, deploy.md "devices", 05-services.md "gpus", "runtime", "devices",
"extends", 12-interpolation.md); Docker's manual, "Run Docker Compose services with GPU access" (capabilities must be
set; count and device_ids exclude one another).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from compat.record import NamedTuple
from doctor.dockerfile import FILE_AT_MOST_BYTES, DockerfileError
from doctor.dockerfile.yaml import Node, parse_yaml
from doctor.facts.dockerfile import DockerfileLine, DockerfileService
from doctor.facts.seen import Fact, Seen, Unseen

_ENDS = (".yml", ".yaml")
_VARIABLE = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)(?:(:?[-+?])([^{}]*))?\})")
_VARIABLES_AT_MOST_BYTES = 64 << 10
_DEVICES = ("deploy", "resources", "reservations", "devices")
_GENERIC = ("deploy", "resources", "reservations", "generic_resources")
_LISTED_AT_MOST_CHARS = 200
_DEEPEST = 100  # with what anchors stand for


class Service(NamedTuple):
    """What a compose file says of one service."""

    told: DockerfileService
    context: str  # a directory of this machine, "" for a service that is not built
    dockerfile: str  # a path in it
    inline: str  # a Dockerfile that stands in the compose file, "" for none
    line: int  # of the image or the inline Dockerfile
    target: str
    args: Mapping[str, str]
    image: str  # that it starts from where it is not built
    platform: str
    environment: Mapping[str, tuple[str, str]]  # name to value and source


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
        raise DockerfileError(f"{file}: it is no text, or has more than {FILE_AT_MOST_BYTES >> 10} KiB")
    known = {**_variables(os.path.join(os.path.dirname(file), ".env")), **os.environ}
    document = _Putter(known, file).put(parse_yaml(content.decode("utf-8-sig", "replace"), file))
    services = document.fields.get("services", Node(None, 1)).fields
    names = [wanted] if wanted else [name for name, one in services.items() if one.at("build")] or [*services]
    if len(names) != 1 or names[0] not in services:
        listed = ", ".join(services)[:_LISTED_AT_MOST_CHARS] or "none"
        why = f"no service {wanted}" if wanted else "several services; name one, FILE:SERVICE"
        raise DockerfileError(f"{file} has {why if services else 'no services'}: {listed}")
    return _service(names[0], _extended(names[0], services), file)


def _variables(path: str) -> dict[str, str]:
    """NAME=VALUE, line by line, of the project's .env."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
            text = stream.read(_VARIABLES_AT_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    pairs = [line.strip().removeprefix("export ").partition("=") for line in text.splitlines()]
    return {name.strip(): value.strip().strip("'\"") for name, sign, value in pairs if sign and name[:1] != "#"}


class _Putter:
    """Puts variables in; what several names stand for is gone through once."""

    def __init__(self, known: Mapping[str, str], file: str) -> None:
        self._known, self._file = known, file
        self._done: dict[int, Node] = {}

    def put(self, node: Node, depth: int = 0) -> Node:
        """The same; what nobody gave a value is empty, as Compose has it. Raises DockerfileError."""
        if depth > _DEEPEST:
            raise DockerfileError(f"{self._file}:{node.line}: more than {_DEEPEST} levels")
        if isinstance(node.value, str):
            return node._replace(value=_VARIABLE.sub(lambda found: _value(found, self._known), node.value))
        if id(node.value) in self._done:
            return self._done[id(node.value)]
        made = node
        if isinstance(node.value, list):
            made = node._replace(value=[self.put(one, depth + 1) for one in node.value])
        elif isinstance(node.value, dict):
            made = node._replace(value={name: self.put(one, depth + 1) for name, one in node.value.items()})
        self._done[id(node.value)] = made
        return made


def _value(found: re.Match[str], known: Mapping[str, str]) -> str:
    if found[1]:
        return "$"
    said, sign, word = known.get(found[2] or found[3]), found[4] or "", found[5] or ""
    is_there = bool(said) if sign.startswith(":") else said is not None
    if sign.endswith("+"):
        return word if is_there else ""
    return (said or "") if is_there or not sign.endswith("-") else word


def _extended(name: str, services: Mapping[str, Node]) -> Node:
    """The service with those of the same file that it extends; its own keys count first."""
    found, seen = services[name], {name}
    while (above := found.at("extends")) is not None:
        base = above.text or (above.at("service") or above).text
        if above.at("file") or base not in services or base in seen:
            return found  # another file's, which is not read
        seen.add(base)
        own = {key: value for key, value in found.fields.items() if key != "extends"}
        found = found._replace(value={**services[base].fields, **own})
    return found


def _service(name: str, one: Node, file: str) -> Service:
    shown = os.path.normpath(file).replace(os.sep, "/")
    build = one.at("build") or Node(None, one.line)
    folder = build.text or (build.at("context") or Node("." if build.fields else "", 0)).text
    if re.match(r"[a-z+]+://|git@|github\.com/", folder):
        raise DockerfileError(f"{file}: {name} is built from {folder[:80]}, which is not fetched: give its Dockerfile")
    inline, image = build.at("dockerfile_inline"), one.at("image")
    given, fault = _gpus(one, shown)
    line = (inline or image or one).line
    return Service(
        told=DockerfileService(name, f"{shown}:{one.line}", given, fault),
        context=os.path.join(os.path.dirname(file), folder) if folder else "",
        dockerfile=(build.at("dockerfile") or Node("Dockerfile", 0)).text,
        inline=inline.text if inline else "",
        line=line,
        target=(build.at("target") or build).text if build.fields else "",
        args={each: value for each, (value, _) in _pairs(build.at("args"), shown).items()},
        image=image.text if image and not folder else "",
        platform=(one.at("platform") or Node("", 0)).text,
        environment=_pairs(one.at("environment"), shown),
    )


def _pairs(node: Node | None, shown: str) -> dict[str, tuple[str, str]]:
    """A mapping, or a sequence of NAME=VALUE; a bare name has the value of whoever starts it, which nobody knows."""
    if node is None:
        return {}
    if node.fields:
        said = {name: (one.text, one.line) for name, one in node.fields.items() if one.value is not None}
    else:
        parts = [(one.text.partition("="), one.line) for one in node.items]
        said = {name: (value, line) for (name, sign, value), line in parts if sign}
    return {name: (value, f"{shown}:{line}") for name, (value, line) in said.items()}


def _gpus(one: Node, shown: str) -> tuple[Fact[str], DockerfileLine | None]:
    """How GPUs are given, "" for not at all; and a request that Compose refuses."""
    for device in _items(one, *_DEVICES):
        if fault := _fault(device, shown):
            return Seen("", fault.source), fault
    for how, line in _ways(one):
        return Seen(how, f"{shown}:{line}"), None
    if one.at("extends"):
        return Unseen(f"what {shown}:{one.line} extends lies in another file"), None
    return Seen("", f"{shown}:{one.line}"), None


def _fault(device: Node, shown: str) -> DockerfileLine | None:
    source = f"{shown}:{device.line}"
    if device.fields and not device.at("capabilities"):
        return DockerfileLine("the reservation of a device without capabilities is refused", source,
                              "capabilities: [gpu]")  # fmt: skip
    if device.at("count") and device.at("device_ids"):
        return DockerfileLine("count and device_ids exclude one another", source, "one of them")
    return None


def _ways(one: Node) -> Iterator[tuple[str, int]]:
    if (gpus := one.at("gpus")) and (gpus.text or gpus.items):
        yield "gpus", gpus.line
    for device in _items(one, *_DEVICES):
        capabilities = {each.text for each in _items(device, "capabilities")}
        if any(each == "gpu" or each.startswith("nvidia") for each in capabilities):
            yield "deploy.resources.reservations.devices", device.line
    for kind in _items(one, *_GENERIC):
        if "GPU" in (kind.at("discrete_resource_spec", "kind") or kind).text.upper():
            yield "deploy.resources.reservations.generic_resources", kind.line
    if (runtime := one.at("runtime")) and runtime.text.startswith("nvidia"):
        yield "runtime", runtime.line
    for device in _items(one, "devices"):
        if "nvidia" in (device.at("source") or device).text:
            yield "devices", device.line


def _items(one: Node, *names: str) -> list[Node]:
    found = one.at(*names)
    return found.items if found else []
