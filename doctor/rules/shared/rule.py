"""What a rule is: one question about each subject of one kind, answered from facts and the matrix alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from compat.base.errors import GpudoctorError
from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.finding import Answer, Status


class Labelled(Protocol):
    """Anything a finding can be about."""

    @property
    def label(self) -> str:
        """How findings name it."""


S = TypeVar("S", bound=Labelled)


class NotApplicable(GpudoctorError):
    """Raised by a rule: there is nothing here that it is about. `judge.ask` turns it into that answer."""


class Subjects(Generic[S]):
    """The things of one kind that a rule is asked about, one by one."""

    __slots__ = ("kind", "of")

    def __init__(self, kind: str, of: Callable[[Facts], Iterable[S]]) -> None:
        """`kind` names one of them ("cuDNN copy"); `of` lists them and may raise UnseenError."""
        self.kind = kind
        self.of = of


class Rule(Generic[S]):
    """One rule; the name of its file is its code, and its page says what is wrong when it is BAD."""

    __slots__ = ("blocks_verdict", "check", "never", "subjects")

    def __init__(
        self,
        subjects: Subjects[S],
        check: Callable[[S, Facts, Matrix], Answer],
        *,
        blocks_verdict: bool = True,
        never: Mapping[Status, str] = MappingProxyType({}),
    ) -> None:
        """`blocks_verdict` is false where UNKNOWN leaves nobody in doubt.

        `never`: the answers of OK, BAD and UNKNOWN that it cannot give, each with the reason.
        """
        self.subjects = subjects
        self.check = check
        self.blocks_verdict = blocks_verdict
        self.never = never
