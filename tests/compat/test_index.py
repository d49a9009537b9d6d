"""The matrix and the solver beside the user's own package index and a real resolver, on random samples.

A change must not fail for what was drawn: the sample is the same in each run, and GPUDOCTOR_TEST_SEED draws another.
The seeds are printed where a test fails: `python -m tests.compat.resolver 1 --seed N` asks one question again.
"""

from __future__ import annotations

import os

import pytest

from tests.compat.resolver import outcomes
from tests.compat.triples import denied

SAMPLE = int(os.environ.get("GPUDOCTOR_TEST_SAMPLE", "30"))  # questions: 300 take a quarter of an hour
SEED = int(os.environ.get("GPUDOCTOR_TEST_SEED", "2001"))

pytestmark = pytest.mark.slow


def test_nothing_that_the_index_has_is_denied() -> None:
    wrong, counts = denied(300, SEED)
    assert sum(counts.values()) == 300
    assert wrong == [], f"seed {SEED}"


@pytest.mark.timeout(3000)
def test_the_resolver_agrees() -> None:
    """Every set is taken, and every refusal is the resolver's too, or has a reason that it cannot know."""
    found = list(outcomes(SAMPLE, SEED))
    assert [one for one in found if one.agrees is False] == []
    assert sum(one.agrees is True for one in found) >= SAMPLE // 3, f"seeds from {SEED}: {found}"
