"""What a message is known by, and what it means: data, one family of messages a file in `signatures/`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from compat.record import NamedTuple

if TYPE_CHECKING:
    from doctor.explain.clues import Clues

_LONGEST_RUN = 160
_RUN = re.compile(r"(\\[sSwWd]|(?<!\\)\])([*+])")
_BLANK = re.compile(r" ([+*?]?)")
MIN_CONFIDENCE = 0.3  # what is less sure than this is not said


class Means(NamedTuple):
    """One cause that a message may have."""

    code: str
    says: str  # one sentence without its full stop; in what a signature holds {names} are groups of its pattern
    confidence: float  # that this is the cause, where the message is there and the conditions hold
    given: str = ""  # pattern that the rest of the text must hold, "" for none
    unless: str = ""  # pattern that it must not hold
    mends: str = ""  # what to do, "" for what the page of its code says


Decide = Callable[["re.Match[str]", "Clues"], Iterable[Means]]


class Signature:
    """One message. A blank in its patterns stands for any run of blanks and line ends: terminals wrap."""

    def __init__(self, pattern: str, *means: Means, source: str, asks: str = "", decide: Decide | None = None) -> None:
        """`means`: its causes; all whose conditions hold are told. `source`: who prints it.

        `asks`: the question that decides, where several are left. `decide` makes further causes of what was captured.
        """
        self.pattern = pattern
        self.means = means
        self.source = source
        self.asks = asks
        self.decide = decide

    @property
    def compiled(self) -> re.Pattern[str]:
        """Ready to search with."""
        return flexible(self.pattern)

    def causes(self, found: re.Match[str], clues: Clues) -> tuple[Means, ...]:
        """What the message means in this text."""
        named = {name: " ".join((text or "").split())[:120] for name, text in found.groupdict().items()}
        fixed = (one._replace(says=one.says.format_map(named)) for one in self.means if _holds(one, clues))
        return (*fixed, *(self.decide(found, clues) if self.decide else ()))


class Family:
    """The signatures of one kind of message; a module of `signatures/` holds one as `FAMILY`."""

    __slots__ = ("general", "signatures")

    def __init__(self, *signatures: Signature, general: bool = False) -> None:
        """`general`: words that any program may use, looked for only where no message of a known one is there."""
        self.signatures = signatures
        self.general = general


@lru_cache(maxsize=1024)
def flexible(pattern: str) -> re.Pattern[str]:
    """The pattern, in which a blank is any run of blanks and line ends; upper and lower case are the same.

    No run is longer than a message needs, so that time stays linear in the text.
    """
    spaced = _BLANK.sub(lambda found: r"\s*" if found[1] in ("*", "?") else r"\s+", pattern)
    bounded = _RUN.sub(lambda found: f"{found[1]}{{{'1' if found[2] == '+' else '0'},{_LONGEST_RUN}}}", spaced)
    return re.compile(bounded, re.IGNORECASE)


def _holds(means: Means, clues: Clues) -> bool:
    return (not means.given or clues.has(means.given)) and not (means.unless and clues.has(means.unless))
