"""Damaged content for every reader: none may raise what it does not raise for its callers, or take long."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import NamedTuple

from tests.hostile.mutate import mutated
from tests.hostile.readers import Reader
from tests.hostile.trees import CPU_AT_MOST_S

_OTHERS = 12  # contents of other readers that may be spliced in


class Failed(NamedTuple):
    """A reader, the seed of what it was given, and what it did."""

    reader: str
    seed: int
    what: str


def failed_of(readers: tuple[Reader, ...], first: int, count: int) -> Iterator[Failed]:
    """What goes wrong among `count` mutants, which the readers take in turns."""
    for seed in range(first, first + count):
        reader = readers[seed % len(readers)]
        what = _what_is_wrong(reader, mutant_of(readers, seed))
        if what:
            yield Failed(reader.name, seed, what)


def mutant_of(readers: tuple[Reader, ...], seed: int) -> bytes:
    """The content for the reader whose turn it is."""
    rng = random.Random(seed)
    others = tuple(one.content[:4096] for one in rng.sample(readers, min(_OTHERS, len(readers))))
    return mutated(readers[seed % len(readers)].content[: 1 << 20], rng, others)


def _what_is_wrong(reader: Reader, content: bytes) -> str:
    started = time.thread_time()
    try:
        reader.read(content)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding of this test
        return f"{type(error).__module__}.{type(error).__qualname__}: {str(error)[:200]}"
    spent_s = time.thread_time() - started
    return f"{spent_s:.1f} s" if spent_s > CPU_AT_MOST_S else ""
