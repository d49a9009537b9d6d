"""A fact is a value with how it was seen, or the reason why it was not.

An empty list is something seen. Never None, "N/A", 0 or -1 for "could not tell".
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Generic, NoReturn, TypeVar, Union

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple

T_co = TypeVar("T_co", covariant=True)
D = TypeVar("D")


class WhyNot(Enum):
    """Why there is no value, where somebody decides by it."""

    ANY = ""
    NOT_SHOWN = "not shown"  # by a Dockerfile: only the image that is built can answer
    NOT_SUPPORTED = "not supported"  # the device has nothing of the kind
    FAILS = "fails"  # what was asked for does not work
    LOST = "lost"  # the device is gone
    NOT_LOOKED_FOR = "not looked for"  # by the release of gpudoctor that wrote the report


class UnseenError(GpudoctorError):
    """A fact that was asked for could not be seen; `judge.ask` turns this into the answer UNKNOWN."""

    why_not = WhyNot.ANY


class Place(NamedTuple):
    """A file or directory, and the line in it; without a file, a line of the text that was given."""

    file: str
    line: int = 0  # 0 where no line is known
    label: str = ""  # how it is printed where that says more

    def __str__(self) -> str:
        """Return it as it is printed, and as the JSON holds it."""
        if self.label or not self.file:
            return self.label or f"line {self.line}"
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def in_words(self) -> str:
        """Return it as sentences name it, "~/.bashrc, line 118"."""
        return f"{self.file}, line {self.line}" if self.line else self.file

    @classmethod
    def parse(cls, text: str) -> Place:
        """Read what `str` made of a place that has a file and no label."""
        file, _, line = text.rpartition(":")
        return cls(file, int(line)) if file and line.isdecimal() else cls(text)


class Seen(Generic[T_co]):
    """A value, and how it was seen: Place("/sys/module/nvidia/version"), "NVML", "file name"."""

    __slots__ = ("how", "value")

    def __init__(self, value: T_co, how: str | Place) -> None:
        self.value = value
        self.how = how

    def get(self) -> T_co:
        """The value."""
        return self.value

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Seen) and self.how == other.how and bool(self.value == other.value))

    def __hash__(self) -> int:
        return hash((self.value, self.how))

    def __repr__(self) -> str:
        return f"Seen({self.value!r}, {self.how!r})"


class Unseen:
    """No value, and why not, as a sentence a user can act on."""

    __slots__ = ("why", "why_not")

    def __init__(self, why: str, why_not: WhyNot = WhyNot.ANY) -> None:
        self.why = why
        self.why_not = why_not

    def get(self) -> NoReturn:
        """Raise UnseenError with the reason."""
        error = UnseenError(self.why)
        error.why_not = self.why_not
        raise error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unseen) and self.why == other.why

    def __hash__(self) -> int:
        return hash(self.why)

    def __repr__(self) -> str:
        return f"Unseen({self.why!r})"


Fact = Union[Seen[D], Unseen]


def all_unseen(group: Any, why: str | Unseen) -> Any:
    """A group of facts (a NamedTuple) of which nothing was seen; a field that is no Fact keeps its default."""
    blank = dict.fromkeys(group._fields, why if isinstance(why, Unseen) else Unseen(why))
    kept = {name: one for name, one in group._field_defaults.items() if not isinstance(one, (Seen, Unseen))}
    return group(**{**blank, **kept})


def value_or(fact: Fact[D], default: D) -> D:
    """The value, or the default where not knowing does not matter."""
    return fact.value if isinstance(fact, Seen) else default


def how(fact: Fact[D]) -> str | Place:
    """How a fact was seen, "" for one that was not."""
    return fact.how if isinstance(fact, Seen) else ""
