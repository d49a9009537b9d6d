"""Faults on our side: a probe that failed, a file that could not be read, an install run that did not end.

Each is a fact like any other: what it kept us from seeing must not pass for healthy.
"""

from __future__ import annotations

from compat.base.record import NamedTuple


class Unread(NamedTuple):
    """The file, or one within an archive."""

    label: str
    why: str  # what is wrong with it, and how much was read all the same


class Failure(NamedTuple):
    """A probe or a rule of ours that failed."""

    probe: str
    error: str  # type and message
    where: str  # file and line in gpudoctor

    @classmethod
    def of(cls, what: str, error: Exception) -> Failure:
        """What failed, where it happened and what it says."""
        import traceback  # late: a run without faults need not load it

        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = "/".join(frame.filename.replace("\\", "/").split("/")[-3:])
        return cls(what, f"{type(error).__name__}: {error}", f"{where}:{frame.lineno}")

    @property
    def label(self) -> str:
        """How findings name it."""
        return f"the {self.probe} probe"
