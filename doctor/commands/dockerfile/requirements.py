"""Files of requirements and of conda's environments, as lines with what they pin.

Sources: pip's documentation, "Requirements File Format" and "Constraints Files"; conda's documentation, "Creating an
environment file manually".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple
from compat.spec import normal
from doctor.commands.dockerfile.context import Context
from doctor.commands.dockerfile.pins import MAIN_INDEXES
from doctor.model.facts.seen import Place
from doctor.script.parse import DockerfileError
from doctor.script.yaml import Node, parse_yaml

_DEEPEST, _LINES_AT_MOST = 10, 5_000
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")
_OPTION = re.compile(r"\s--?[a-zA-Z]")
_FILES = {"-r": "r", "--requirement": "r", "-c": "c", "--constraint": "c"}
LOCAL_VERSION = re.compile(r"[\w.-]+\s*==\s*[\d.]+\+(cu\d+)")  # that the default index has for no package
_INDEXES = frozenset({"-i", "--index-url", "--extra-index-url", "-f", "--find-links"})


class Line(NamedTuple):
    """One requirement."""

    spec: str  # "torch==2.9.1 ; python_version < '3.13'"
    source: Place


class Listed(NamedTuple):
    """What a file of requirements says, with those that it names."""

    specs: tuple[Line, ...] = ()
    constraints: tuple[Line, ...] = ()
    indexes: tuple[str, ...] = ()
    is_whole: bool = True  # whether every file that it names was read
    has_main: bool = False  # whether an index line replaces the default one
    others: tuple[Line, ...] = ()  # addresses and paths, which name no release

    def joined(self, other: Listed) -> Listed:
        """Both."""
        return Listed(
            specs=self.specs + other.specs,
            constraints=self.constraints + other.constraints,
            indexes=self.indexes + other.indexes,
            is_whole=self.is_whole and other.is_whole,
            has_main=self.has_main or other.has_main,
            others=self.others + other.others,
        )


def requirements(name: str, context: Context, known: Mapping[str, str]) -> Listed:
    """What a file of the context asks for; `known` are the variables that `${NAME}` stands for."""
    return _Reader(context, known).file(name, "r")


class Environment(NamedTuple):
    """What a file of conda's says."""

    name: str  # "" where it has none
    packages: tuple[Line, ...]
    pip: Listed
    channels: tuple[str, ...] = ()  # the first one goes before the others


def environment(name: str, context: Context, known: Mapping[str, str]) -> Environment | None:
    """What an environment.yml of the context says, None where it cannot be read."""
    text = context.text(name)
    try:
        document = parse_yaml(text or "", context.shown(name))
    except DockerfileError:
        return None
    listed = document.at("dependencies")
    if text is None or listed is None:
        return None
    packages, pip = [], Listed()
    for one in listed.items:
        if one.text:
            packages.append(Line(one.text, Place(context.shown(name), one.line)))
        for each in (one.at("pip") or Node(None, 0)).items:
            source = Place(context.shown(name), each.line)
            pip = pip.joined(_Reader(context, known).line(each.text, source, name, "r"))
    channels = tuple(one.text for one in (document.at("channels") or Node(None, 0)).items)
    return Environment((document.at("name") or document).text, tuple(packages), pip, channels)


class _Reader:
    def __init__(self, context: Context, known: Mapping[str, str]) -> None:
        self._context, self._known = context, known
        self._seen: set[str] = set()
        self._lines_left = _LINES_AT_MOST

    def file(self, name: str, kind: str) -> Listed:
        """`kind` is "r" for requirements, "c" for constraints."""
        if name in self._seen:
            return Listed()  # pip reads it once, and refuses one that names itself
        self._seen.add(name)
        text = self._context.text(name)
        if text is None or not name.endswith((".txt", ".in", ".pip", ".req")) or len(self._seen) > _DEEPEST:
            return Listed(is_whole=False)
        found = Listed()
        for line, number in _lines(text):
            self._lines_left -= 1
            if self._lines_left < 0:
                return Listed(is_whole=False)
            found = found.joined(self.line(line, Place(self._context.shown(name), number), name, kind))
        return found

    def line(self, text: str, source: Place, name: str, kind: str) -> Listed:
        """One line of a file."""
        text = _VARIABLE.sub(lambda found: self._known.get(found[1], found[0]), text.strip())
        if not text.startswith("-"):
            return _asked(text, source, kind)
        option, _, value = re.sub(r"^(-[rcifr])(?=\S)|^(--[a-z-]+)=", r"\1\2 ", text).partition(" ")
        value = value.strip().strip("\"'")
        if option in _INDEXES:
            return Listed(indexes=(value,), has_main=option in MAIN_INDEXES)
        if option in {"-e", "--editable"}:
            return Listed(others=(Line(value, source),))
        if option not in _FILES:
            return Listed()  # --no-binary and its like
        if "://" in value:
            return Listed(is_whole=False)
        below = posixpath.normpath(posixpath.join(posixpath.dirname(name), value))
        return self.file(below, "c" if kind == "c" else _FILES[option])


def _asked(text: str, source: Place, kind: str) -> Listed:
    """A requirement without its hashes and options; what comes from an address has no release that is known."""
    cut = _OPTION.search(text)
    text = text[: cut.start()].strip() if cut else text
    if not re.match(r"[A-Za-z0-9]", text) or "://" in text or re.search(r"\.whl$|\.tar\.gz$|^[^;]*/", text):
        named = re.match(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\]\s*)?@", text)
        if named and kind == "r":
            return Listed(others=(Line(f"{named[1]} @ {text.partition('@')[2].strip()}", source),))
        return Listed(others=(Line(text, source),)) if kind == "r" else Listed()
    one = (Line(text, source),)
    return Listed(specs=one) if kind == "r" else Listed(constraints=one)


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines, those that go on put together, without comments; and the number of the first of each."""
    begun, made = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        begun = begun or number
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            made += line[:-1] + " "
            continue
        made = re.sub(r"(?:^|\s)#.*$", "", made + line).strip()
        if made:
            yield made, begun
        begun, made = 0, ""
    if made.strip():
        yield made.strip(), begun


def constrained(listed: Listed) -> tuple[Line, ...]:
    """The requirements, with the release that a constraint gives one that has none."""
    pins = {name_of(one.spec): one for one in listed.constraints}
    return tuple(_pinned(one, pins.get(name_of(one.spec))) for one in listed.specs)


def _pinned(one: Line, pin: Line | None) -> Line:
    bare, semicolon, marker = one.spec.partition(";")
    if pin is None or not re.fullmatch(r"[\w.-]+(?:\s*\[[^\]]*\])?\s*", bare):
        return one
    versions = re.sub(r"^[\w.-]*", "", pin.spec.partition(";")[0])
    return Line(f"{bare.strip()}{versions}{semicolon}{marker}", pin.source)


def name_of(spec: str) -> str:
    """The normalised name of what a requirement asks for."""
    return normal(re.split(r"[\[=<>!~;@ ]", spec.strip(), maxsplit=1)[0])
