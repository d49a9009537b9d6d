"""Who reads which file: found by watching a machine while it is looked at, so that no reader need be listed by hand."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, NamedTuple

from doctor.host import READ_LIMIT_BYTES, Host, NotRunnable, Ran, Unreadable
from doctor.host.snapshot import _NOTHING, Snapshot
from tests.lab.case import LabHost

ROOT = Path(__file__).resolve().parent.parent.parent
_PACKAGES = ("compat", "doctor", "installers")
_READING = frozenset(
    {"read_text", "read_bytes", "text_of", "lines_of", "start_of", "header", "feed", "read_file", "ZipFile", "loads"}
)
_HAND_ON = frozenset({"start_of", "header", "_text", "_text_or_empty"})  # the text as it is; who calls them reads it
_AT_MOST_CALLS = 4  # of one function for one kind of file


class Call(NamedTuple):
    """A function with its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]

    def repeat(self) -> None:
        """Once more, to the end of what it yields."""
        found = self.function(*self.arguments, **self.keywords)
        if isinstance(found, Iterator):
            for _ in found:
                pass


class Reading(NamedTuple):
    """A file that was read: by what, called by what, and so on up to the probe."""

    host: Watched
    path: str
    content: bytes
    calls: tuple[Call, ...]  # the innermost first

    @property
    def name(self) -> str:
        """Such as doctor.pyenv.dpkg.installed status."""
        function = self.calls[0].function
        return f"{function.__module__}.{function.__qualname__} {_kind(self.path)}"


class Still(LabHost):
    """A live machine of the lab on which nothing can be run."""

    def run(self, argv: tuple[str, ...], timeout_s: float = 5.0, env: Any = None) -> Ran:
        """Refuse."""
        raise NotRunnable(argv[0], "nothing runs here")

    def refuse_unsafe(self, path: str) -> None:
        """Refuse."""
        raise NotRunnable(path, "nothing runs here")


class Watched(Snapshot):
    """A machine that writes down who reads what, and that lends its files other contents."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.memory = _NOTHING
        self.found: dict[tuple[str, bytes], Reading] | None = None
        self.lent: dict[str, bytes] = {}
        self.seen: set[tuple[str, str]] = set()  # module and function of all that were waiting for a file's content
        self._inner_open = self.open
        self.open = self._open

    def read_bytes(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """See Host."""
        content = self.lent.get(path)
        if content is None:
            content = super().read_bytes(path, limit_bytes)
            self._note(path, content)
        if len(content) > limit_bytes:
            raise Unreadable(path, "too large")
        return content

    def _open(self, path: str) -> BinaryIO:
        from io import BytesIO

        if path in self.lent:
            return BytesIO(self.lent[path])
        stream = self._inner_open(path)
        self._note(path, stream.read(1 << 20))
        stream.seek(0)
        return stream

    def _note(self, path: str, content: bytes) -> None:
        frames = list(_frames(sys._getframe(2)))
        self.seen |= {(str(one.f_globals["__name__"]), one.f_code.co_name) for one in frames}
        if self.found is None:
            return
        calls = tuple(filter(None, map(_call, frames)))
        if calls:
            reading = Reading(self, path, content, calls)
            self.found.setdefault((reading.name, content), reading)


def _kind(path: str) -> str:
    """The last part of a name, without its numbers; libraries are all alike."""
    name = "".join(character for character in path.rpartition("/")[2] if not character.isdigit())
    return "*.so" if ".so" in name else name


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Our own that wait for this one, up to the probe."""
    while frame:
        module = str(frame.f_globals.get("__name__"))
        if module == "doctor.probes" or module.startswith("doctor.commands.check"):
            return
        if module.partition(".")[0] in _PACKAGES:
            yield frame
        frame = frame.f_back


def _call(frame: FrameType) -> Call | None:
    """The call of a function of a module; None for methods, closures, and where an argument can be used once only."""
    code = frame.f_code
    if str(frame.f_globals["__name__"]).startswith("doctor.host.") or code.co_name in _HAND_ON:
        return None
    function = frame.f_globals.get(code.co_name)
    if getattr(function, "__code__", None) is not code or code.co_flags & 0xC or function is None:  # *args, **keywords
        return None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = [frame.f_locals.get(name) for name in names]
    if any(isinstance(value, Iterator) for value in values):
        return None
    keywords = dict(zip(names[code.co_argcount :], values[code.co_argcount :], strict=True))
    return Call(function, tuple(values[: code.co_argcount]), keywords)


def few_of_each(found: dict[tuple[str, bytes], Reading]) -> tuple[Reading, ...]:
    """Some readings of each function for each kind of file."""
    kept: dict[str, list[Reading]] = {}
    for reading in found.values():
        of_kind = kept.setdefault(reading.name, [])
        if len(of_kind) < _AT_MOST_CALLS:
            of_kind.append(reading)
    return tuple(one for of_kind in kept.values() for one in of_kind)


def functions_that_read() -> Iterator[tuple[str, str]]:
    """Module and function of every call in our sources that reads a file of the machine, or parses a text."""
    for package in _PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            if module.startswith("doctor.rules."):
                continue  # rules read nothing (tests/test_house.py)
            yield from ((module, name) for name in _readers_in(ast.parse(path.read_text()), ""))


def _readers_in(node: ast.AST, inside: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        here = child.name if isinstance(child, ast.FunctionDef) else inside
        if isinstance(child, ast.Call) and _reads(child.func):
            yield here
        yield from _readers_in(child, here)


def _reads(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id in _READING
    if not isinstance(called, ast.Attribute):
        return False
    return called.attr in _READING or (called.attr == "open" and "host" in ast.unparse(called.value))
