"""Environments that are broken for real: what the programs print, recorded and anew, has its cause."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from compat.matrix import Matrix
from doctor.messages.causes import causes_of
from doctor.messages.reading import read
from tests.commands.explain.breakages import BREAKAGES
from tests.commands.explain.broken import PRINTED, Broken, Workshop, explained_rightly, recording
from tests.commands.explain.engines import ENGINES

MATRIX = Matrix()
RECORDED = (*BREAKAGES, *ENGINES)
# Those of an interpreter that no index has are recordings: `python -m tests.commands.explain.broken` makes them anew.
OF_AN_INDEX = [one for one in BREAKAGES if not one.python]


def complaint(one: Broken, text: str) -> str:
    """What was told instead, "" where it is right."""
    told = causes_of(read(io.BytesIO(text.encode())), MATRIX)
    return (
        "" if explained_rightly(one, told) else f"{[(each.code, each.confidence) for each in told]} of\n{text[-3000:]}"
    )


def test_there_are_forty() -> None:
    assert len({one.name for one in RECORDED}) == len(RECORDED) >= 40
    assert {path.name.removesuffix(".txt") for path in PRINTED.iterdir()} == {one.name for one in RECORDED}


@pytest.mark.parametrize("one", RECORDED, ids=[one.name for one in RECORDED])
def test_what_was_printed_has_its_cause(one: Broken) -> None:
    assert complaint(one, recording(one)) == ""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    shop = Workshop(tmp_path_factory.mktemp("broken"))
    yield shop
    shop.close()  # gigabytes, which the tests of other modules need


@pytest.mark.slow
@pytest.mark.parametrize("one", OF_AN_INDEX, ids=[one.name for one in OF_AN_INDEX])
def test_what_is_printed_now_has_its_cause(one: Broken, workshop: Workshop) -> None:
    assert complaint(one, workshop.printed(one)) == ""
