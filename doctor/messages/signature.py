"""What a message is known by, and what it means: rows, one family of messages a file in `signatures/`."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from compat.base.errors import DataError
from compat.base.record import NamedTuple
from doctor.messages import decide, signatures
from doctor.messages.clues import flexible
from doctor.messages.signatures import table

if TYPE_CHECKING:
    from doctor.messages.clues import Clues

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


class Signature(NamedTuple):
    """One message. A blank in its patterns stands for any run of blanks and line ends: terminals wrap."""

    pattern: str
    words: tuple[
        str, ...
    ]  # in lower case; every match holds one of them (tests/commands/explain/prefilter.py computes them)
    source: str  # who prints it
    means: tuple[Means, ...] = ()  # its causes; all whose conditions hold are reported
    asks: str = ""  # the question that decides, where several are left
    decide: str = ""  # a function of `decide/`, "cudnn.mismatch", that makes further causes of what was captured

    @property
    def compiled(self) -> re.Pattern[str]:
        """Ready to search with."""
        return flexible(self.pattern)

    def causes(self, found: re.Match[str], clues: Clues) -> tuple[Means, ...]:
        """Return what the message means in this text."""
        named = {name: " ".join((text or "").split())[:120] for name, text in found.groupdict().items()}
        fixed = (one._replace(says=one.says.format_map(named)) for one in self.means if _holds(one, clues))
        return (*fixed, *(self.decider(found, clues) if self.decide else ()))

    @property
    def decider(self) -> Decide:
        """The function that `decide` names."""
        family, _, name = self.decide.partition(".")
        return cast("Decide", getattr(importlib.import_module(f"{decide.__name__}.{family}"), name))


class Family(NamedTuple):
    """The signatures of one kind of message."""

    signatures: tuple[Signature, ...]
    general: bool  # words that any program may use, searched only where no message of a known program was found


@lru_cache(maxsize=1)
def families() -> dict[str, Family]:
    """Return all signatures by the name of their file; raises DataError where there are none."""
    folder = signatures.__path__[0]
    names = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".json") and not name.startswith("_"))
    if not names:
        raise DataError(f"{folder} holds no signatures")
    return {name: _family(name, table(name)) for name in names}


def refutations() -> tuple[tuple[frozenset[str], str], ...]:
    """Return codes with the pattern of what refutes them: a text that holds it has another cause."""
    return tuple((frozenset(row["codes"]), _joined(row["by"])) for row in table("_refuted")["refuted"])


def _joined(pattern: str | list[str]) -> str:
    """Join alternatives; "@boxed" stands for those of `_shared.json`."""
    shared: dict[str, list[str]] = table("_shared")
    parts = [pattern] if isinstance(pattern, str) else pattern
    return "|".join(part for one in parts for part in (shared[one[1:]] if one.startswith("@") else (one,)))


def _family(name: str, told: dict[str, Any]) -> Family:
    def means(row: dict[str, Any]) -> Means:
        patterns = {key: _joined(row[key]) for key in ("given", "unless") if key in row}
        return Means(row["code"], row["says"], row["confidence"], **patterns, mends=row.get("fix", ""))

    return Family(
        tuple(
            Signature(
                pattern=_joined(row["pattern"]),
                words=tuple(row["words"]),
                source=row["source"],
                means=tuple(map(means, row.get("means", ()))),
                asks=row.get("asks", ""),
                decide=f"{name}.{row['decide']}" if "decide" in row else "",
            )
            for row in told["signatures"]
        ),
        told.get("general", False),
    )


def _holds(means: Means, clues: Clues) -> bool:
    return (not means.given or clues.has(means.given)) and not (means.unless and clues.has(means.unless))
