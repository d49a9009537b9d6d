"""Compose files and conda environments: mappings, sequences and scalars of YAML, with the line of each.

Every scalar is its text. Sources: YAML 1.2.2, chapters 6 to 8; the merge key of YAML 1.1 (`<<`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Union

from compat.base.record import NamedTuple
from doctor.script.parse import DockerfileError

_LINES_AT_MOST, _DEEPEST, _MERGED_AT_MOST = 20_000, 50, 100_000
_NOTHING = {"", "~", "null"}


class Node(NamedTuple):
    """A value, and the line that it begins in."""

    value: Value
    line: int
    file: str = ""  # where it is not the one that was asked for

    @property
    def text(self) -> str:
        """Of a scalar, "" for anything else."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def items(self) -> list[Node]:
        """Of a sequence; a single scalar counts as one."""
        return self.value if isinstance(self.value, list) else [self] if isinstance(self.value, str) else []

    @property
    def fields(self) -> dict[str, Node]:
        """Of a mapping, none for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    def at(self, *names: str) -> Node | None:
        """What lies below these keys."""
        found: Node | None = self
        for name in names:
            found = found.fields.get(name) if found else None
        return found


Value = Union[None, str, list[Node], dict[str, Node]]


def parse_yaml(text: str, shown: str) -> Node:
    """Read one document; raises DockerfileError."""
    if text.count("\n") >= _LINES_AT_MOST:
        raise DockerfileError(f"{shown}: more than {_LINES_AT_MOST} lines")
    try:
        import yaml  # late: few checks read YAML
    except ImportError as error:
        raise DockerfileError(f"{shown}: to read YAML, install PyYAML beside gpudoctor") from error
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        composed = yaml.compose(text, loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DockerfileError(f"{shown}:{line}: {error.problem or error.context}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise DockerfileError(f"{shown}: {' '.join(str(error).split())[:200]}") from error
    return _Reader(shown).node(composed, 0) if composed else Node(None, 1)


class _Reader:
    """Turns what PyYAML composed into nodes; what an alias names is read once."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._done: dict[int, Node] = {}
        self._merged = 0

    def node(self, one: Any, depth: int) -> Node:
        """Raises DockerfileError."""
        line = one.start_mark.line + 1
        if depth > _DEEPEST:
            raise DockerfileError(f"{self._shown}:{line}: it has more than {_DEEPEST} levels")
        if id(one) not in self._done:
            self._done[id(one)] = Node(self._value(one, depth), line)
        return self._done[id(one)]

    def _value(self, one: Any, depth: int) -> Value:
        if one.id == "scalar":
            return None if not one.style and one.value in _NOTHING else str(one.value)
        if one.id == "sequence":
            return [self.node(each, depth + 1) for each in one.value]
        own: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key, value in one.value:
            if key.id != "scalar":
                raise DockerfileError(f"{self._shown}:{key.start_mark.line + 1}: a key is not a plain word")
            if key.value == "<<":
                for name, each in self._fields_merged(self.node(value, depth + 1), value.start_mark.line + 1):
                    merged.setdefault(name, each)
            else:
                own[str(key.value)] = self.node(value, depth + 1)
        return {**merged, **own}

    def _fields_merged(self, value: Node, line: int) -> Iterator[tuple[str, Node]]:
        for one in value.value if isinstance(value.value, list) else [value]:
            self._merged += len(one.fields)
            if self._merged > _MERGED_AT_MOST:
                raise DockerfileError(f"{self._shown}:{line}: endless merges (<<)")
            yield from one.fields.items()
