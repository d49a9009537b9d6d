"""cuda-headers-missing."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.finding import Status
from tests.machine import machine, seen, toolkit, toolkits, unseen
from tests.rules.case import answer

CODE = "cuda-headers-missing"


@pytest.mark.parametrize(
    ("changes", "named", "kind", "need"),
    [
        ({}, True, Status.OK, ""),
        ({"has_headers": seen(False)}, True, Status.BAD, "cuda"),
        ({"has_headers": seen(False), "kind": "conda"}, True, Status.BAD, "by-hand"),
        ({"has_headers": seen(False), "kind": "wheels"}, False, Status.NOT_APPLICABLE, ""),  # brought for its ptxas
        ({"has_headers": seen(False), "nvcc": unseen("no nvcc")}, True, Status.NOT_APPLICABLE, ""),
        ({"has_headers": unseen("permission denied")}, True, Status.UNKNOWN, ""),
    ],
)
def test_headers(changes: dict[str, Any], named: bool, kind: Status, need: str) -> None:
    found = toolkit(**changes)
    facts = machine(toolkit=toolkits(found) if named else toolkits(found, names=seen(())))
    assert answer(CODE, facts).kind is kind
    assert "".join(as_json(one).product for one in answer(CODE, facts).needs) == need
