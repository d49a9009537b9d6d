"""A file that was made elsewhere ends early, is damaged, or holds more than is read; or an image, more than is kept."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.facts.failure import Unread
from doctor.model.finding import Answer, Status, unknown
from doctor.rules.shared.rule import Rule, Subjects

UNREAD: Subjects[Unread] = Subjects("file that was not read completely", lambda facts: facts.unread)


def check(unread: Unread, facts: Facts, matrix: Matrix) -> Answer:
    """No fault of the machine; but that none was seen in what is there says nothing of the rest."""
    return unknown(f"{unread.label}: {unread.why}")


_NEVER = {Status.OK: "its subjects are what could not be read", Status.BAD: "the machine is not at fault"}
RULE = Rule(UNREAD, check, never=_NEVER)
