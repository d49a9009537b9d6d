"""SECURITY.md names a test for each promise, and says of memory what the tests measure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.hostile.trees import MEMORY_AT_MOST_MIB

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "SECURITY.md").read_text()
PROMISES = re.split(r"\n- ", PAGE.partition("## Promises")[2].partition("\n## ")[0])[1:]


def test_there_are_promises() -> None:
    assert len(PROMISES) > 15


@pytest.mark.parametrize("promise", PROMISES, ids=lambda text: text[:40])
def test_each_promise_names_a_test(promise: str) -> None:
    named = re.findall(r"`(tests/[\w/]+(?:\.py)?)`", promise.replace("\n", " "))
    assert named, promise
    assert [one for one in named if not (ROOT / one).exists()] == []


def test_one_number_for_memory() -> None:
    of_images = re.search(
        r"MEMORY_AT_MOST_KIB = \d+ << 20, (\d+) << 10", (ROOT / "tests/image/test_real.py").read_text()
    )
    assert of_images
    said = re.findall(r"(\d+) MiB of memory", " ".join(PAGE.partition("## How")[0].split()))
    assert said == re.findall(r"and (\d+) MiB of memory", (ROOT / "docs" / "image.md").read_text()) == [of_images[1]]
    assert int(of_images[1]) >= MEMORY_AT_MOST_MIB
