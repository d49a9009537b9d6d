from __future__ import annotations

import pytest

from compat.matrix import Matrix
from doctor.model.facts.failure import Unread
from doctor.model.finding import Status
from doctor.rules.shared.engine import judge, load_rules
from tests.machine import machine

CODE = "evidence-incomplete"


@pytest.mark.parametrize(
    ("unread", "kind"),
    [((), Status.NOT_APPLICABLE), ((Unread("the file", "it ends early: 7 bytes of text were read"),), Status.UNKNOWN)],
)
def test_evidence_incomplete(unread: tuple[Unread, ...], kind: Status) -> None:
    [answer] = judge(machine()._replace(unread=unread), Matrix(), load_rules([CODE]))
    assert answer.kind is kind
    assert answer.why == "the file: it ends early: 7 bytes of text were read" or not unread
