"""Which release a row speaks of, and whose GPU code it runs."""

from __future__ import annotations

import pytest

from compat.build import covers, host_of
from compat.matrix import Matrix
from tests.compat.test_fit import ROW


@pytest.mark.parametrize(
    ("versions", "version", "so"),
    [
        ("==0.0.33", "0.0.33", True),
        ("==0.0.33", "0.0.33+cu128", True),
        ("==0.0.33", "0.0.33.post2", False),
        ("==0.0.33.post2", "0.0.33", False),
        ("==0.0.33.post2", "0.0.33.post1", False),
        ("==0.0.33.post2", "0.0.33.post2+cu128", True),
        ("==2.9.0", "2.9", True),
        ("==2.9.0", "2.9.0a0+git1234", True),  # a build of one's own stands for its release
        ("==2.9.*", "2.9.1.post1", True),
        (">=2.9,<3", "2.9.1.post1", True),
    ],
)
def test_covers(versions: str, version: str, so: bool) -> None:
    assert covers(ROW._replace(versions=versions), version) is so


def test_every_row_covers_what_it_names() -> None:
    rows = Matrix().rows("xformers", "builds")
    assert any(".post" in row.versions for row in rows)
    for row in rows:
        named = row.versions.removeprefix("==")
        assert {other.versions for other in rows if covers(other, named)} == {row.versions}


def test_a_package_runs_on_torch_and_not_on_what_runs_on_torch_itself() -> None:
    """f5-tts names bitsandbytes first, and was said to run on it."""
    row = ROW._replace(package="f5-tts", build="", cuda="", pins={"bitsandbytes": ">0.37.0", "torch": ">=2.0.0"})
    assert host_of(row, Matrix()) == "torch"
