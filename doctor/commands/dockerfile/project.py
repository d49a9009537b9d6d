"""The files of a compose project: what one includes or extends, variables put in, within the project's directory.

Sources: the Compose specification (05-services.md "extends", 12-interpolation.md, 13-merge.md, 14-include.md): paths of
a file are those of its own directory; mappings are merged by key, sequences one after the other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from doctor.commands.dockerfile.context import Context
from doctor.script.parse import DockerfileError
from doctor.script.yaml import Node, parse_yaml

_VARIABLE = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)(?:(:?[-+?])([^{}]*))?\})")
_VARIABLES_AT_MOST_BYTES = 64 << 10
_DEEPEST = 100  # with what anchors stand for
_FILES_AT_MOST, _EXTENDED_AT_MOST = 50, 100
_ADDRESS = re.compile(r"[a-z+]+://|git@|github\.com/")


def is_address(folder: str) -> bool:
    """Whether what a service is built from lies elsewhere."""
    return bool(_ADDRESS.match(folder))


class Project:
    """The files by their paths in the project's directory, and the services of each."""

    def __init__(self, file: str) -> None:
        """`file` is the one that was asked for."""
        folder, self._main = os.path.split(file)
        self._folder, self._file = folder, file
        self._context = Context(folder or ".")
        self._known = {**_variables(os.path.join(folder, ".env")), **os.environ}
        self._services: dict[str, dict[str, Node]] = {}

    def services(self, text: str) -> dict[str, Node]:
        """Those of the file, and of what it includes; raises DockerfileError."""
        return self._read(self._main, text, ())

    def _read(self, name: str, text: str, above: tuple[str, ...]) -> dict[str, Node]:
        shown = os.path.normpath(os.path.join(self._folder, name)).replace(os.sep, "/")
        if len(self._services) >= _FILES_AT_MOST:
            raise DockerfileError(f"{self._file}: it has more than {_FILES_AT_MOST} files")
        document = _Putter(self._known, shown).put(parse_yaml(text, shown))
        folder = os.path.dirname(name)
        own = {each: _moved(one, folder) for each, one in document.fields.get("services", Node(None, 1)).fields.items()}
        self._services[name] = own
        found: dict[str, Node] = {}
        for path, line in _included(document):
            below = os.path.normpath(os.path.join(folder, path))
            if below in (*above, name):
                raise DockerfileError(f"{shown}:{line}: {path} includes itself")
            content = None if below in self._services else self._context.text(below)
            if content is not None:
                found |= self._read(below, content, (*above, name))
        return {**found, **own}

    def extended(self, name: str, services: Mapping[str, Node]) -> Node:
        """The service with those that it extends, whose keys its own go before; raises DockerfileError.

        The key `extends` stays where another file holds them that is not read.
        """
        found, seen, there, folder = services[name], {("", name)}, services, ""
        while (asked := found.at("extends")) is not None:
            base, file = (asked.at("service") or asked).text, (asked.at("file") or Node("", 0)).text
            where = os.path.normpath(os.path.join(folder, file)) if file else ""
            if file and where not in self._services:
                content = self._context.text(where)
                if content is None:
                    return found
                self._read(where, content, ())
            there = self._services[where] if file else there
            if base not in there:
                return found
            if (where, base) in seen or len(seen) > _EXTENDED_AT_MOST:
                raise DockerfileError(f"{asked.file}:{asked.line}: the service {base} extends itself")
            seen.add((where, base))
            folder = os.path.dirname(where) if file else folder
            own = {key: value for key, value in found.fields.items() if key != "extends"}
            found = _merged(there[base], found._replace(value=own))
        return found


def _included(document: Node) -> Iterator[tuple[str, int]]:
    for one in (document.at("include") or Node(None, 0)).items:
        for path in (one.at("path") or one).items:
            yield path.text, path.line


def _moved(service: Node, folder: str) -> Node:
    """With the directory that it is built from as the project's file would name it."""
    build = service.at("build")
    if build is None or not folder:
        return service
    parts = build.fields or {"context": build}
    context = (parts.get("context") or build._replace(value=".")).text
    if not is_address(context):
        parts = {**parts, "context": build._replace(value=os.path.join(folder, context))}
    return service._replace(value={**service.fields, "build": build._replace(value=parts)})


def _merged(base: Node, own: Node, key: str = "") -> Node:
    """What stands in both: `environment` and `args` by their names, `build` as a mapping, lists one after the other."""
    if key in {"environment", "args"}:
        base, own = _named(base), _named(own)
    if key == "build":
        base, own = (one if one.fields else one._replace(value={"context": one}) for one in (base, own))
    if isinstance(base.value, dict) and isinstance(own.value, dict):
        both = {name: _merged(base.fields[name], one, name) for name, one in own.fields.items() if name in base.fields}
        return own._replace(value={**base.fields, **own.fields, **both})
    if isinstance(base.value, list) and isinstance(own.value, list) and key != "command":
        return own._replace(value=base.value + own.value)
    return base if own.value is None else own


def _named(node: Node) -> Node:
    if not isinstance(node.value, list):
        return node
    parts = [(one, one.text.partition("=")) for one in node.value]
    return node._replace(value={name: one._replace(value=said if sign else None) for one, (name, sign, said) in parts})


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
            raise DockerfileError(f"{self._file}:{node.line}: it has more than {_DEEPEST} levels")
        if isinstance(node.value, str):
            return node._replace(
                file=self._file, value=_VARIABLE.sub(lambda found: _value(found, self._known), node.value)
            )
        if id(node.value) in self._done:
            return self._done[id(node.value)]
        made = node._replace(file=self._file)
        if isinstance(node.value, list):
            made = made._replace(value=[self.put(one, depth + 1) for one in node.value])
        elif isinstance(node.value, dict):
            made = made._replace(value={name: self.put(one, depth + 1) for name, one in node.value.items()})
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
