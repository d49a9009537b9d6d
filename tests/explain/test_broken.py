"""Environments that are broken for real: what the programs print, recorded and anew, has its cause."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from compat.matrix import Matrix
from doctor.explain.causes import causes_of
from doctor.explain.reading import read
from tests.explain.breakages import BREAKAGES
from tests.explain.broken import PRINTED, Broken, NoPython, Workshop, explained_rightly, interpreter, recording

MATRIX = Matrix()


def complaint(one: Broken, text: str) -> str:
    """What was told instead, "" where it is right."""
    told = causes_of(read(io.BytesIO(text.encode())), MATRIX)
    return (
        "" if explained_rightly(one, told) else f"{[(each.code, each.confidence) for each in told]} of\n{text[-3000:]}"
    )


def test_there_are_forty() -> None:
    assert len({one.name for one in BREAKAGES}) == len(BREAKAGES) >= 40
    assert {path.stem for path in PRINTED.iterdir()} == {one.name for one in BREAKAGES}


@pytest.mark.parametrize("one", BREAKAGES, ids=[one.name for one in BREAKAGES])
def test_what_was_printed_has_its_cause(one: Broken) -> None:
    assert complaint(one, recording(one)) == ""


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    shop = Workshop(tmp_path_factory.mktemp("broken"))
    yield shop
    shop.close()  # gigabytes: pytest would keep the last three


def _here(one: Broken) -> bool:
    try:
        return bool(interpreter(one.python))
    except NoPython:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    "one",
    [
        pytest.param(one, id=one.name, marks=pytest.mark.skipif(not _here(one), reason=f"needs Python {one.python}"))
        for one in BREAKAGES
    ],
)
def test_what_is_printed_now_has_its_cause(one: Broken, workshop: Workshop) -> None:
    assert complaint(one, workshop.printed(one)) == ""
