"""Compute the words of each signature's pattern: every match holds one, and to look for them costs a hundredth.

`python -m tests.commands.explain.prefilter` writes them into the rows of `doctor/messages/signatures/`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from doctor.messages import signatures
from doctor.messages.signature import families

_SHORTEST = 3
_TOKEN = re.compile(
    r"(?P<again>\(\?P=\w+\))"
    r"|(?P<group>\((?:\?(?:P<\w+>|[:=!]|<[=!]|-i:))?)|(?P<end>\))|(?P<or>\|)|(?P<class>\[\^?\]?(?:\\.|[^\]])*\])"
    r"|(?P<kind>\\[bBdDsSwWAZ]|[.^$ ])|\\(?P<escaped>.)|(?P<plain>.)",
    re.DOTALL,
)
_TIMES = re.compile(r"(?:[*+?]|\{\d*,?\d*\})[?+]?")


@lru_cache(maxsize=1024)
def literals(pattern: str) -> frozenset[str]:
    """Return lower-case words, one of which is in every text that the pattern matches; none where that is unknown."""
    return _Reader(pattern).choices()


class _Reader:
    """Reads a pattern once, from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def choices(self) -> frozenset[str]:
        """Up to the end of this group: the best of each branch; none where a branch has none."""
        branches: list[frozenset[str]] = []
        last = False
        while not last:
            best, last = self._branch()
            branches.append(best)
        return frozenset().union(*branches) if all(branches) else frozenset()

    def _branch(self) -> tuple[frozenset[str], bool]:
        """What a branch must hold, and whether it is the last of its group."""
        run, found = "", [frozenset[str]()]
        for kind, held in self._pieces():
            if kind in ("or", "end"):
                return max((*found, _one(run)), key=_worth), kind == "end"
            if kind == "letter":
                run += next(iter(held))
                continue
            found += (_one(run), held)
            run = ""
        return max((*found, _one(run)), key=_worth), True

    def _pieces(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Letters that must be there one by one; groups, with their words; everything else, without."""
        while self._at < len(self._pattern):
            token = _TOKEN.match(self._pattern, self._at)
            if token is None:  # never: any character is one
                return
            self._at = token.end()
            if token["or"] or token["end"]:
                yield ("or" if token["or"] else "end"), frozenset()
            elif token["group"]:
                words = self.choices()
                must = token["group"] in ("(", "(?:", "(?-i:") or token["group"].startswith("(?P")
                yield "other", words if must and not self._optional() else frozenset()
            elif token["class"] or token["kind"] or token["again"]:
                self._optional()
                yield "other", frozenset()
            else:
                letter = (token["escaped"] or token["plain"]).lower()
                times = _TIMES.match(self._pattern, self._at)
                yield ("other", frozenset()) if times else ("letter", frozenset((letter,)))
                self._at = times.end() if times else self._at

    def _optional(self) -> bool:
        """Passes over how often the last piece may stand there; whether that may be never."""
        times = _TIMES.match(self._pattern, self._at)
        self._at = times.end() if times else self._at
        return times is not None and times[0][0] in "*?{"


def _one(run: str) -> frozenset[str]:
    return frozenset((run,)) if len(run) >= _SHORTEST else frozenset()


def _worth(words: frozenset[str]) -> tuple[int, int]:
    """The longer the shortest of them, the better; then the fewer."""
    return (min(map(len, words), default=0), -len(words))


def with_words(name: str) -> str:
    """Return the file of a family with the words of its patterns."""
    path = Path(signatures.__path__[0]) / f"{name}.json"
    lines, found = path.read_text(encoding="utf-8").split("\n"), iter(families()[name].signatures)
    return "\n".join(
        f'   "words": {json.dumps(sorted(literals(next(found).pattern)), ensure_ascii=False)},'
        if line.startswith('   "words": ')
        else line
        for line in lines
    )


if __name__ == "__main__":
    for family in families():
        (Path(signatures.__path__[0]) / f"{family}.json").write_text(with_words(family), encoding="utf-8")
