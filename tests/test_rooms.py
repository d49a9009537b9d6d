"""The floors of the house: a room imports only rooms below it. Late imports and imports for types count."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover  # it reads, and runs nothing of ours
ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("compat", "installers", "doctor")
# From the ground up: a room may import every room that stands before it.
ROOMS = (
    *("doctor", "compat.base"),  # the version, and what every room builds on
    "compat",
    "installers",
    *("doctor.model", "doctor.host", "doctor.binaries"),
    "doctor.pyenv",
    "doctor.loader",
    *("doctor.probes", "doctor.script", "doctor.image"),
    "doctor.rules",
    "doctor.planned",
    "doctor.prescribe",
    *("doctor.diagnose", "doctor.changes", "doctor.messages"),
    "doctor.output",
    *(
        "doctor.commands.policy",
        "doctor.commands.dockerfile",
        "doctor.commands.lock",
        "doctor.commands.explain",
        "doctor.commands.check",
        "doctor.commands.changed",
        "doctor.commands.diff",
    ),
    *("doctor.commands.matrix", "doctor.commands.verify", "doctor.commands.which", "doctor.commands.gate"),
    "doctor.commands.what_if",
    *("doctor.commands.install", "doctor.commands.bench", "doctor.commands.refresh", "doctor.commands.run"),
    "doctor.commands.mcp",
    "doctor.cli",
)
FOLDERS_ONLY = {"doctor.commands"}  # hold rooms, and no code
IMPORT = re.compile(r"^[ \t]*(?:from [\w.]+ import (?:\([^)]*\)|[^(\n]+)|import [^\n]+)", re.MULTILINE)
# Imports that point upwards: (importing module, imported module). The list only gets shorter.
UPWARD: frozenset[tuple[str, str]] = frozenset()


def modules() -> dict[str, Path]:
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            found[name] = path
    return found


def room_of(module: str) -> str:
    """Return the room with the longest name that the module is in, "" for none."""
    rooms = [room for room in ROOMS if module == room or (module.startswith(f"{room}.") and room != "doctor")]
    return max(rooms, key=len, default="")


def imports_in(code: str) -> ast.Module:
    """Return the import statements of a file alone: to parse all of it takes ten times as long."""
    lines = (textwrap.dedent(found[0]) for found in IMPORT.finditer(code))
    body: list[ast.stmt] = []
    for line in lines:
        try:
            body += ast.parse(line).body
        except SyntaxError:  # a sentence of a docstring
            continue
    return ast.Module(body, [])


def imported(tree: ast.AST, known: frozenset[str]) -> Iterator[str]:
    """Yield every module of ours that a file imports anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for one in node.names:
                below = f"{node.module}.{one.name}"
                yield below if below in known else node.module


def upward(trees: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """Return the imports that point to a room above, or to no room."""
    known = frozenset(trees)
    found = set()
    for module, tree in trees.items():
        for other in imported(tree, known):
            here, there = room_of(module), room_of(other)
            if here != there and (there not in ROOMS or here not in ROOMS or ROOMS.index(here) < ROOMS.index(there)):
                found.add((module, other))
    return found


def test_a_room_imports_only_rooms_below_it() -> None:
    trees = {name: imports_in(path.read_text(encoding="utf-8")) for name, path in modules().items()}
    found = upward(trees)
    assert found - UPWARD == set(), "imports that point upwards"
    assert UPWARD - found == set(), "they are gone: take them off the list"


def test_every_module_is_in_a_room_and_every_room_has_modules() -> None:
    rooms = {name: room_of(name) for name in modules()}
    assert {name for name, room in rooms.items() if not room} == FOLDERS_ONLY
    assert set(rooms.values()) - {""} == set(ROOMS)


@pytest.mark.parametrize(
    "code",
    [
        "from doctor.commands.check import command",
        "import doctor.commands.check.command",
        "def f():\n    from doctor.commands.check.command import check",
        "if TYPE_CHECKING:\n    from doctor.commands.check.command import CheckSubject",
    ],
)
def test_an_import_that_points_upwards_is_found(code: str) -> None:
    trees = {"doctor.rules.new": imports_in(code), "doctor.commands.check.command": imports_in("")}
    trees["doctor.commands.check"] = imports_in("from doctor.rules import new")
    trees["doctor.rules"] = imports_in("")
    assert upward(trees) == {("doctor.rules.new", "doctor.commands.check.command")}
