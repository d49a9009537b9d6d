"""A share of the random requests: what the install model says is what uv resolves, or it says that it does not know."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.commands.lock.requests import outcomes

pytestmark = pytest.mark.slow
COUNT, SEED = 12, 4000


def test_the_model_agrees_with_uv() -> None:
    found = list(outcomes(COUNT, SEED))
    kinds = Counter(one.kind for one in found)
    assert kinds["equal"] >= COUNT * 3 // 4, [one for one in found if one.kind != "equal"]
