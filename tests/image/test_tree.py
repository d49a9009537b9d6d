"""The files of an image: a directory that is looked up once for the files that follow one another in it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from doctor.image import Damaged
from doctor.image.disk import Scratch
from doctor.image.layer import Entry, Layer, directory
from doctor.image.tree import Node, Tree

NAMES = ("a", "b", "l", ".wh.a", ".wh..wh..opq", ".", "..", "")
TARGETS = (".", "a", "/b", "..", "l", "a/b")


def entry(name: str, kind: str = "file", target: str = "") -> Entry:
    return directory()._replace(name=name, kind=kind, target=target)


def layers(seed: random.Random) -> list[list[Entry]]:
    """Two of up to 12 entries, many in the directory of the one before."""
    made = []
    for _ in range(2):
        folder, entries = "a", []
        for _ in range(seed.randrange(1, 12)):
            folder = folder if seed.random() < 0.7 else "/".join(seed.choices(NAMES[:3], k=seed.randrange(3)))
            kind = seed.choices(("file", "dir", "link", "hard"), (4, 3, 3, 1))[0]
            target = seed.choice(TARGETS) if kind in {"link", "hard"} else ""
            entries.append(entry(f"{folder}/{seed.choice(NAMES)}", kind, target))
        made.append(entries)
    return made


def spelled_apart(entries: list[Entry]) -> list[Entry]:
    """The same names, of which none has the spelling of the one before: each directory is looked up by itself."""
    return [one._replace(name=f"{'./' * (at % 2)}{one.name}") for at, one in enumerate(entries)]


def outcome(given: list[list[Entry]]) -> Any:
    def shown(node: Node) -> Any:
        below = {name: shown(one) for name, one in sorted((node.children or {}).items())}
        return node.entry.kind, node.entry.target, node.layer, node.touched, node.number, below

    spool = Scratch(1 << 20)
    try:
        return shown(Tree(iter([Layer(tuple(one), spool) for one in given])).root)
    except Damaged:
        return "damaged"


def test_neighbours_are_found_as_each_by_itself() -> None:
    seed = random.Random(18)
    outcomes = []
    for _ in range(4_000):
        given = layers(seed)
        outcomes.append(outcome(given))
        assert outcomes[-1] == outcome([spelled_apart(one) for one in given]), given
    assert 0.1 < outcomes.count("damaged") / len(outcomes) < 0.9


def test_a_link_on_the_way_that_is_replaced_from_behind() -> None:
    given = [entry("d", "dir"), entry("d/l", "link", "."), entry("d/l/x"), entry("d/l/l"), entry("d/l/y")]
    with pytest.raises(Damaged, match="its directory is not a directory"):
        Tree(iter([Layer(tuple(given), Scratch(1 << 20))]))
